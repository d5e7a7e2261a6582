// Every head's keys or values of a latent table's rows (DeepSeek-V2, section 2.1): the first values of each row by one
// matrix a head, for a wide chunk that attends to them expanded.
//
// A block computes POSITIONS rows of OUTPUTS outputs: of a chunk of inputs at a time, the table's values and the
// decoded weights lie in shared memory, input by input, and a thread adds the products of 8 rows by 4 outputs. Which
// rows there are follows from the position on the device; blocks past them end at once.
#include "blocks.cuh"

constexpr int POSITIONS = 128, OUTPUTS = 64, CHUNK = 32;
constexpr int THREADS = 256;
constexpr int ROWS_A_THREAD = 8, OUTPUTS_A_THREAD = 4;
constexpr int PAD = 4;  // keeps rows of 16 bytes, and neighbouring inputs in other banks

struct ExpandArgs {
  const float *table;
  int pitch;  // of a table row
  const char *w;
  int w_rows, w_cols, w_pitch;  // stored rows, values and bytes of one
  int latent, width, outputs;   // a head's inputs and outputs; every head's outputs
  int rows;                     // those after the position that there are
  const int *position;
  float *y;
  int y_pitch;
};

struct Tile {
  float x[CHUNK][POSITIONS + PAD];
  float w[CHUNK][OUTPUTS + PAD];
};

// 32 values of a stored row, from value c0 on, which begins a block; those past the row are zeros.
template <int FORMAT>
__device__ __forceinline__ void decode_run(const ExpandArgs &a, int row, int c0, float (&v)[CHUNK]) {
  const char *stored = a.w + (long long)row * a.w_pitch;
  if constexpr (IN_BLOCKS<FORMAT>) {
    Block<FORMAT> b;
    u32 q[8];
    load_block<FORMAT>(b, stored, a.w_cols, c0 / QBLOCK);
    decode_block<FORMAT>(b, q);
    const BlockScales s = scales_of<FORMAT>(b);
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
      v[i] = float(i8(q[i / 4] >> (8 * (i % 4)))) * (i < CHUNK / 2 ? s.low : s.high) - s.min;
  } else if constexpr (FORMAT == FORMAT_Q8_0) {
    const long long scales = ((long long)a.w_rows * a.w_pitch + 255) & ~255LL;
    const float s = half_to_float(load_scale(a.w + scales + ((long long)row * (a.w_cols / QBLOCK) + c0 / QBLOCK) * 2));
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const uint4 words = load_weights(stored + c0 + 16 * h);
#pragma unroll
      for (int i = 0; i < 16; i++) v[16 * h + i] = float(i8(word_of(words, i / 4) >> (8 * (i % 4)))) * s;
    }
  } else {
#pragma unroll
    for (int i = 0; i < CHUNK; i++) {
      const int c = min(c0 + i, a.w_cols - 1);
      float value;
      if constexpr (FORMAT == FORMAT_F32)
        value = reinterpret_cast<const float *>(stored)[c];
      else if constexpr (FORMAT == FORMAT_F16)
        value = half_to_float(reinterpret_cast<const u16 *>(stored)[c]);
      else
        value = bf16_to_float(reinterpret_cast<const u16 *>(stored)[c]);
      v[i] = c0 + i < a.w_cols ? value : 0.0f;
    }
  }
}

// The weights of inputs k0.. of outputs n0.. into the tile. BY_OUTPUTS: a stored row is one output, of
// [heads * width][latent]; otherwise one input of a head, of [heads * latent][width].
template <int FORMAT, bool BY_OUTPUTS>
__device__ __forceinline__ void hold_weights(const ExpandArgs &a, Tile &t, int n0, int k0) {
  float v[CHUNK];
  if constexpr (BY_OUTPUTS) {
    if (threadIdx.x >= OUTPUTS) return;
    const int n = threadIdx.x;
    decode_run<FORMAT>(a, min(n0 + n, a.outputs - 1), k0, v);
#pragma unroll
    for (int k = 0; k < CHUNK; k++) t.w[k][n] = v[k];
  } else {
    constexpr int RUNS = OUTPUTS / CHUNK;
    if (threadIdx.x >= CHUNK * RUNS) return;
    // The lanes of a warp take neighbouring inputs of one run of a head's outputs.
    const int k = threadIdx.x % CHUNK, run = threadIdx.x / CHUNK;
    const int n = min(n0 + CHUNK * run, a.outputs - CHUNK), head = n / a.width;
    decode_run<FORMAT>(a, head * a.latent + min(k0 + k, a.latent - 1), n - head * a.width, v);
    const bool there = k0 + k < a.latent;
#pragma unroll
    for (int i = 0; i < CHUNK; i++) t.w[k][CHUNK * run + i] = there ? v[i] : 0.0f;
  }
}

// The table's values k0.. of rows p0.. into the tile; rows and inputs that are not there are zeros.
__device__ __forceinline__ void hold_rows(const ExpandArgs &a, Tile &t, int p0, int k0, int count) {
#pragma unroll 4
  for (int i = threadIdx.x; i < POSITIONS * CHUNK; i += THREADS) {
    const int k = i % CHUNK, p = i / CHUNK;
    const bool there = p0 + p < count && k0 + k < a.latent;
    t.x[k][p] = there ? a.table[(long long)(p0 + p) * a.pitch + k0 + k] : 0.0f;
  }
}

template <int FORMAT, bool BY_OUTPUTS>
__device__ __forceinline__ void expand(const ExpandArgs &a) {
  __shared__ __align__(16) Tile t;
  const int n0 = blockIdx.x * OUTPUTS, p0 = blockIdx.y * POSITIONS;
  const int across = threadIdx.x % (OUTPUTS / OUTPUTS_A_THREAD), down = threadIdx.x / (OUTPUTS / OUTPUTS_A_THREAD);
  let_next_start();
  wait_for_previous();
  const int count = *a.position + a.rows;
  if (p0 >= count) return;
  float sums[ROWS_A_THREAD][OUTPUTS_A_THREAD] = {};
#pragma unroll 1
  for (int k0 = 0; k0 < a.latent; k0 += CHUNK) {
    hold_weights<FORMAT, BY_OUTPUTS>(a, t, n0, k0);
    hold_rows(a, t, p0, k0, count);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < CHUNK; k++) {
      const float4 low = *reinterpret_cast<const float4 *>(&t.x[k][ROWS_A_THREAD * down]);
      const float4 high = *reinterpret_cast<const float4 *>(&t.x[k][ROWS_A_THREAD * down + 4]);
      const float4 w = *reinterpret_cast<const float4 *>(&t.w[k][OUTPUTS_A_THREAD * across]);
      const float x[ROWS_A_THREAD] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
      for (int i = 0; i < ROWS_A_THREAD; i++) {
        sums[i][0] = fmaf(x[i], w.x, sums[i][0]);
        sums[i][1] = fmaf(x[i], w.y, sums[i][1]);
        sums[i][2] = fmaf(x[i], w.z, sums[i][2]);
        sums[i][3] = fmaf(x[i], w.w, sums[i][3]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < ROWS_A_THREAD; i++) {
    const int p = p0 + ROWS_A_THREAD * down + i;
#pragma unroll
    for (int j = 0; j < OUTPUTS_A_THREAD; j++) {
      const int n = n0 + OUTPUTS_A_THREAD * across + j;
      if (p < count && n < a.outputs) a.y[(long long)p * a.y_pitch + n] = sums[i][j];
    }
  }
}

#define EXPAND_(name, suffix, FORMAT, BY_OUTPUTS)                                                                     \
  extern "C" __global__ void __launch_bounds__(THREADS) latent_##name##_##suffix(                                     \
      const float *table, int pitch, const char *w, int w_rows, int w_cols, int w_pitch, int latent, int width,       \
      int outputs, int rows, const int *position, float *y, int y_pitch) {                                            \
    const ExpandArgs a{table, pitch, w, w_rows, w_cols, w_pitch, latent, width, outputs, rows, position, y, y_pitch}; \
    expand<FORMAT, BY_OUTPUTS>(a);                                                                                    \
  }
#define EXPAND(name, suffix, FORMAT, BY_OUTPUTS) EXPAND_(name, suffix, FORMAT, BY_OUTPUTS)

EXPAND(FORMAT_NAME, by_outputs, FORMAT_CODE, true)
EXPAND(FORMAT_NAME, by_inputs, FORMAT_CODE, false)
