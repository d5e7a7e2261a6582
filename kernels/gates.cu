// A delta rule's two gates, beta = sigmoid(b) and decay = exp(-exp(a_log) softplus(a + dt_bias)): of given b and a, or of
// x by two plain f32 matrices [k, heads].
#include "common.cuh"

__device__ __forceinline__ float decay_of(float a, float dt_bias, float a_log) {
  const float v = a + dt_bias;
  const float softplus = fmaxf(v, 0.0f) + log1pf(expf(-fabsf(v)));
  return expf(-expf(a_log) * softplus);
}

extern "C" __global__ void __launch_bounds__(256) gates_each(const float *b, const float *a, const float *dt_bias,
                                                             const float *a_log, float *beta, float *decay, int n,
                                                             int heads) {
  let_next_start();
  wait_for_previous();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int head = i % heads;
  if (b != nullptr) beta[i] = activate(ACT_SIGMOID, b[i]);
  decay[i] = decay_of(a[i], dt_bias[head], a_log[head]);
}

// ---- with their products ----------------------------------------------------------------------------------------
// A block takes 32 heads of both matrices, a share of their k rows and up to ROWS rows of x: a lane is a head, the warps
// deal the share's k rows among themselves, and each warp's first HELD of them are in flight before the launch waits.
constexpr int WARPS = 8;
constexpr int HELD = 8;
constexpr int ROWS = 4;

struct Weights {
  float b[HELD];
  float a[HELD];
};

template <bool CONSTANT>
__device__ __forceinline__ void load_rows(Weights &w, const float *wb, const float *wa, int first, int end, int heads,
                                          int head) {
#pragma unroll
  for (int j = 0; j < HELD; j++) {
    const int i = first + WARPS * j;
    const bool valid = i < end && head < heads;
    const long long at = (long long)heads * i + head;
    w.b[j] = !valid ? 0.0f : CONSTANT ? load_constant(wb + at) : wb[at];
    w.a[j] = !valid ? 0.0f : CONSTANT ? load_constant(wa + at) : wa[at];
  }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    gate_projections(const float *x, int x_pitch, const float *wb, const float *wa, const float *dt_bias,
                     const float *a_log, float *beta, float *decay, int m, int k, int heads, int share, int constant,
                     float *partials, u32 *counters) {
  __shared__ float sums[WARPS][2][ROWS][32];
  let_next_start();
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, head = blockIdx.x * 32 + lane;
  const int begin = blockIdx.y * share, end = min(k, begin + share);
  const int row0 = blockIdx.z * ROWS, rows = min(ROWS, m - row0);
  Weights w;
  if (constant) load_rows<true>(w, wb, wa, begin + warp, end, heads, head);
  wait_for_previous();
  if (!constant) load_rows<false>(w, wb, wa, begin + warp, end, heads, head);

  float b[ROWS] = {}, a[ROWS] = {};
#pragma unroll 1
  for (int first = begin + warp; first < end; first += WARPS * HELD) {
    if (first != begin + warp) load_rows<false>(w, wb, wa, first, end, heads, head);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      if (r >= rows) break;
      const float *values = x + (long long)x_pitch * (row0 + r);
#pragma unroll
      for (int j = 0; j < HELD; j++) {
        const float v = values[min(first + WARPS * j, k - 1)];  // past the share by weights of 0
        b[r] += v * w.b[j];
        a[r] += v * w.a[j];
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) sums[warp][0][r][lane] = b[r], sums[warp][1][r][lane] = a[r];
  __syncthreads();
  // From here on a thread is one gate (0: beta, 1: decay) of one row and head.
  const int which = warp / ROWS, r = warp % ROWS;
  const bool mine = r < rows && head < heads;
  const long long place = ((long long)(row0 + r) * 2 + which) * heads + head, pitch = 2LL * m * heads;
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < WARPS; i++) total += sums[i][which][r][lane];
  if (mine) partials[pitch * blockIdx.y + place] = total;
  if (!arrives_last(counters + blockIdx.z * gridDim.x + blockIdx.x, gridDim.y) || !mine) return;
  total = 0.0f;
#pragma unroll 8
  for (int s = 0; s < gridDim.y; s++) total += load_fresh(partials + pitch * s + place);
  const long long gate = (long long)(row0 + r) * heads + head;
  if (which == 0)
    beta[gate] = activate(ACT_SIGMOID, total);
  else
    decay[gate] = decay_of(total, dt_bias[head], a_log[head]);
}
