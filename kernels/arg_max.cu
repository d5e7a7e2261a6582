// The lowest index of each row's largest value, by several blocks a row; the last of them finishes it.
#include "common.cuh"

constexpr int THREADS = 256;

// A value and its index as one number that orders as they do: a larger value first, then a lower index. Floats order
// as their bits once negative ones are inverted; both zeros are one value, and every NaN is above infinity.
__device__ __forceinline__ u64 key_of(float v, int index) {
  const u32 bits = __float_as_uint(v + 0.0f);
  const u32 ordered = v != v ? 0xffffffffu : (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
  return (u64(ordered) << 32) | (0xffffffffu - u32(index));
}

__device__ __forceinline__ u64 larger(u64 a, u64 b) { return a > b ? a : b; }

__device__ __forceinline__ u64 block_largest(u64 key, u64 *scratch) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) key = larger(key, __shfl_xor_sync(ALL_LANES, key, d));
  if ((threadIdx.x & 31) == 0) scratch[threadIdx.x >> 5] = key;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < THREADS / 32; w++) key = larger(key, scratch[w]);
  return key;
}

extern "C" __global__ void __launch_bounds__(THREADS) arg_max_rows(const float *x, int x_pitch, int n, int *out,
                                                                   u64 *partials, u32 *counters, int *token,
                                                                   int *position) {
  __shared__ u64 scratch[THREADS / 32];
  let_next_start();
  wait_for_previous();
  const int row = blockIdx.y;
  const float *values = x + (long long)x_pitch * row;
  u64 key = 0;
#pragma unroll 4
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
    key = larger(key, key_of(values[i], i));
  key = block_largest(key, scratch);
  u64 *mine = partials + (long long)row * gridDim.x;
  if (threadIdx.x == 0) mine[blockIdx.x] = key;
  if (!arrives_last(counters + row, gridDim.x)) return;
  key = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += THREADS) {
    u64 other;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(other) : "l"(mine + i) : "memory");
    key = larger(key, other);
  }
  key = block_largest(key, scratch);
  if (threadIdx.x == 0) {
    const int index = int(0xffffffffu - u32(key));
    out[row] = index;
    // Rows of a step that moves on are one each of its sequences.
    if (token != nullptr) {
      token[row] = index;
      position[row] += 1;
    }
  }
}
