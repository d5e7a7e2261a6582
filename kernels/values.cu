// Products by a plain f32 matrix [k, n], as a step computes with small constants (a gate's projections).
//
// A block takes 32 neighbouring outputs of one row of x and one share of the k rows of the matrix: its warps deal them
// among themselves, a lane an output, so that each load of a warp is 128 bytes in a row. The warps' sums are then added
// in order; those of several shares wait in `partials`, and the block that arrives last of its outputs adds them.
#include "common.cuh"

constexpr int WARPS = 8;

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    gemv_values(const float *x, int x_pitch, const float *w, const float *bias, float *y, int y_pitch, const int *y_row,
                int k, int n, int share, float *partials, u32 *counters) {
  __shared__ float sums[WARPS][32];
  let_next_start();
  wait_for_previous();
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, splits = gridDim.z;
  const int output = blockIdx.x * 32 + lane, past = min(k, int(blockIdx.z + 1) * share);
  const float *row = x + (long long)x_pitch * blockIdx.y;
  float sum = 0.0f;
  if (output < n) {
#pragma unroll 8
    for (int i = blockIdx.z * share + warp; i < past; i += WARPS) sum += row[i] * w[(long long)n * i + output];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  const bool mine = warp == 0 && output < n;
  float total = sums[0][lane];
#pragma unroll
  for (int i = 1; i < WARPS; i++) total += sums[i][lane];
  if (splits > 1) {
    const long long place = (long long)n * blockIdx.y + output, pitch = (long long)n * gridDim.y;
    if (mine) partials[pitch * blockIdx.z + place] = total;
    if (!arrives_last(counters + gridDim.x * blockIdx.y + blockIdx.x, splits) || !mine) return;
    total = 0.0f;
#pragma unroll 8
    for (int s = 0; s < splits; s++) total += load_fresh(partials + pitch * s + place);
  }
  if (mine) {
    if (bias != nullptr) total += bias[output];
    const Rows to{y, y_pitch, y_row};
    to.at(blockIdx.y)[output] = total;
  }
}
