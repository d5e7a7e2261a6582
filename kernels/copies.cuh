// Copies from global into shared memory that a thread does not wait for until it asks to (cp.async).
//
// What a head brings into shared memory comes this way: loads into registers are counted together with those of the
// weights that are on their way, so that whoever waited for the one would wait for the other.
#pragma once
#include "common.cuh"

__device__ __forceinline__ u32 shared_address(const void *p) {
  u64 address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
  return u32(address);
}

// 16 bytes, both ends at a multiple of 16; by way of the second-level cache, so that what another launch wrote is read.
__device__ __forceinline__ void copy16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

// What the thread has asked for since the last end is a group of copies.
__device__ __forceinline__ void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// All groups of the thread are there but the last LEFT of them; what others have asked for, behind a barrier.
template <int LEFT>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

// What the thread has copied is there; what others have, behind a barrier.
__device__ __forceinline__ void wait_for_own_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
