// A streaming read of a buffer: the ceiling that kernels which read their weights once are measured against.
#include "common.cuh"

constexpr int THREADS = 1024;
constexpr int LOADS = 4;  // 16-byte loads that a thread has in flight

// out ^= the exclusive or of all 32-bit words of `words` times 16 bytes: something that depends on every byte read.
extern "C" __global__ void __launch_bounds__(THREADS) stream_words(const uint4 *data, int words, u32 *out) {
  __shared__ u32 shares[THREADS / 32];
  let_next_start();
  wait_for_previous();
  u32 share = 0;
  const int step = gridDim.x * THREADS;
  for (long long first = (long long)blockIdx.x * THREADS + threadIdx.x; first < words; first += (long long)step * LOADS) {
    uint4 held[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; i++)
      held[i] = first + (long long)step * i < words ? load_weights(data + first + (long long)step * i) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int i = 0; i < LOADS; i++) share ^= held[i].x ^ held[i].y ^ held[i].z ^ held[i].w;
  }
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) share ^= __shfl_xor_sync(ALL_LANES, share, d);
  if (threadIdx.x % 32 == 0) shares[threadIdx.x / 32] = share;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < THREADS / 32; w++) share ^= shares[w];
    atomicXor(out, share);
  }
}
