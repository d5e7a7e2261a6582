// Values that blocks of one grid wait for, each a word of memory that is zero until it is told.
//
// A barrier costs a block its stores' way to memory, an arrival's and a waiting load's, one after another; then comes the
// load of what was waited for. Here that load is the wait: whoever needs a value loads it until it is there. Words are
// zero before a launch, and once all have been heard, the block that hears last puts them back to zero.
#pragma once
#include "common.cuh"

// A float as a word that is never zero; both zeros are one.
__device__ __forceinline__ u32 told(float v) { return __float_as_uint(v + 0.0f) ^ 0x80000000u; }
__device__ __forceinline__ float heard(u32 word) { return __uint_as_float(word ^ 0x80000000u); }

// Each word is all that its reader learns, so it needs no order beside other accesses.
__device__ __forceinline__ void tell(u32 *p, u32 word) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(word) : "memory");
}

__device__ __forceinline__ u32 listen(const u32 *p) {
  u32 word;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(p) : "memory");
  return word;
}

__device__ __forceinline__ uint4 listen4(const u32 *p) {
  uint4 w;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
               : "l"(p)
               : "memory");
  return w;
}

__device__ __forceinline__ bool missing(const uint4 &w) { return min(min(w.x, w.y), min(w.z, w.w)) == 0; }

// How many arrived before; what each had listened to was there when it arrived. Wraps to zero.
__device__ __forceinline__ u32 arrive(u32 *counter, u32 total) {
  u32 before;
  asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(total - 1) : "memory");
  return before;
}

// Zeros by the whole block.
__device__ __forceinline__ void forget(u32 *words, int count) {
#pragma unroll 1
  for (int i = threadIdx.x; i < (count + 3) / 4; i += blockDim.x)
    asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(words + 4 * i), "r"(0) : "memory");
}
