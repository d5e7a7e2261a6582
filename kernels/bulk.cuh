// Copies of many bytes into shared memory that arrive at a barrier there: one thread asks, those who wait see all of it.
// Of compute_90.
#pragma once
#include "copies.cuh"

#if __CUDA_ARCH__ >= 900
// A barrier at which one thread arrives each phase. Other threads see it past a barrier of the block or warp.
__device__ __forceinline__ void init_barrier(u32 barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

// After the barriers' beginnings, before a copy is asked for.
__device__ __forceinline__ void barriers_begun() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// The one arrival of a phase, which is over once so many bytes have come too.
__device__ __forceinline__ void expect_bytes(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Addresses and bytes are multiples of 16.
__device__ __forceinline__ void copy_bulk(u32 to, const void *from, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}

// Waits until the barrier's phase of this parity is over.
__device__ __forceinline__ void wait_for_phase(u32 barrier, u32 parity) {
  u32 over;
  do {
    asm volatile(
        "{\n.reg .pred over;\nmbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\nselp.u32 %0, 1, 0, over;\n}"
        : "=r"(over)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (over == 0);
}
#endif
