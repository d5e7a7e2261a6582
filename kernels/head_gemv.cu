// Products of a row of heads, each by a matrix of its own, of one format (-DFORMAT_CODE, -DFORMAT_NAME).
//
// The matrices lie head after head in stored rows, each row one output or one input. They are small (a few hundred values
// each way), so that a block has little to stream: it takes a tile of one head's outputs for one row of x, every lane its
// own loads, all of a thread's first ones issued before the wait for the previous launch. Rows of x are neighbours in the
// grid, and share the weights in the second-level cache.
#include "gemv_sums.cuh"

extern __shared__ uint4 dynamic_shared[];

struct HeadArgs {
  const void *x;  // f32 rows, or a buffer of quantized ones
  int x_pitch;
  int x_unit;  // values of an f32 row from one head to the next
  int planes;  // of quantized x; 0: f32
  const char *w;
  int pitch;  // bytes of a stored row
  int heads;
  int inputs;
  int outputs;
  int m;
  int lanes;  // neighbouring lanes that share a stored row
  Rows y;
  int y_unit;

  __device__ __forceinline__ Quantized quantized() const {
    return Quantized{reinterpret_cast<i8 *>(const_cast<void *>(x)), planes, m, heads * inputs};
  }
  __device__ __forceinline__ const float *f32(int row, int head) const {
    return reinterpret_cast<const float *>(x) + (long long)x_pitch * row + (long long)x_unit * head;
  }
  __device__ __forceinline__ const char *stored(int row) const { return w + (long long)row * pitch; }
  // Where the scales of a stored row of q8_0 lie, of `rows` in all.
  __device__ __forceinline__ const char *scales(int row, int rows) const {
    const long long plane = ((long long)rows * pitch + 255) & ~255LL;
    return w + plane + (long long)row * (pitch / QBLOCK) * 2;
  }
};

// ---- rows are outputs: a group of lanes walks along four stored rows -----------------------------------------------
constexpr int PAIRS = 2;  // of NR stored rows
constexpr int STEPS = 2;

template <int FORMAT, int INPUT>
__device__ __forceinline__ void sum_word(const Batch<FORMAT, 1> &b, int word, int words, const char *shared,
                                         const HeadArgs &a, float (&sums)[1][NR]) {
  if constexpr (IN_BLOCKS<FORMAT>)
    sum_blocks<FORMAT, INPUT, 1, 1>(b, word, words, shared, a.planes, 1, sums);
  else if constexpr (INPUT == INPUT_F32)
    sum_batch<FORMAT, 0, 1, 1>(b, word, words, shared, a.inputs, sums);
  else if (a.planes == 1)
    sum_batch<FORMAT, 1, 1, 1>(b, word, words, shared, a.inputs, sums);
  else
    sum_batch<FORMAT, 2, 1, 1>(b, word, words, shared, a.inputs, sums);
}

// The head of x that a block multiplies, as the sums read it.
template <int FORMAT, int INPUT>
__device__ __forceinline__ void stage_head(const HeadArgs &a, int row, int head, int words, char *shared) {
  if constexpr (INPUT == INPUT_F32) {
    stage_f32_row<FORMAT>(a.f32(row, head), a.inputs, words * VALUES<FORMAT> / 4, reinterpret_cast<float4 *>(shared));
  } else {
    const Quantized x = a.quantized();
    const int first = head * a.inputs, blocks = a.inputs / QBLOCK;
    for (int p = 0; p < a.planes; p++)
      stage_plane<FORMAT>(x.plane(p, row) + first, a.inputs / 16, reinterpret_cast<uint4 *>(shared + p * a.inputs));
    float *scales = reinterpret_cast<float *>(shared + a.planes * a.inputs);
    stage_scales<FORMAT>(x.plane(0, row) + first, a.planes == 2 ? x.plane(1, row) + first : nullptr,
                         x.scales(row) + first / QBLOCK, blocks, scales, scales + blocks);
  }
}

template <int FORMAT, int INPUT>
__device__ __forceinline__ void rows_as_outputs(const HeadArgs &a) {
  char *shared = reinterpret_cast<char *>(dynamic_shared);
  const int words = IN_BLOCKS<FORMAT> ? a.inputs / QBLOCK : a.pitch / 16;
  const int row = blockIdx.x, head = blockIdx.z;
  const int lane = threadIdx.x & (a.lanes - 1), group = threadIdx.x / a.lanes;
  const int first = (blockIdx.y * (THREADS / a.lanes) + group) * PAIRS * NR;
  Streams at[PAIRS];
#pragma unroll
  for (int i = 0; i < PAIRS * NR; i++) {
    const int stored = head * a.outputs + min(first + i, a.outputs - 1);  // past the end: the last again, not stored
    at[i / NR].w[i % NR] = a.stored(stored);
    at[i / NR].scale[i % NR] = FORMAT == FORMAT_Q8_0 ? a.scales(stored, a.heads * a.outputs) : a.w;
  }
  Batch<FORMAT, 1> batch[STEPS][PAIRS];
  auto load = [&](int word) {
#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
      for (int p = 0; p < PAIRS; p++) load_batch<FORMAT>(batch[s][p], at[p], word + s * a.lanes, words, a.inputs);
  };
  load(lane);
  let_next_start();
  wait_for_previous();
  stage_head<FORMAT, INPUT>(a, row, head, words, shared);
  __syncthreads();
  float sums[PAIRS][1][NR] = {};
#pragma unroll 1
  for (int word = lane; word - lane < words; word += STEPS * a.lanes) {
    if (word != lane) load(word);
#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
      for (int p = 0; p < PAIRS; p++)
        sum_word<FORMAT, INPUT>(batch[s][p], word + s * a.lanes, words, shared, a, sums[p]);
  }
  float *y = a.y.at(row) + (long long)a.y_unit * head;
#pragma unroll
  for (int i = 0; i < PAIRS * NR; i++) {
    float total = sums[i / NR][0][i % NR];
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) {  // the same order whatever the lanes, which are a power of two
      const float other = __shfl_xor_sync(ALL_LANES, total, d);
      if (d < a.lanes) total += other;
    }
    if (lane == (i & (a.lanes - 1)) && first + i < a.outputs) y[first + i] = total;
  }
}

// ---- rows are inputs: a thread holds the outputs of its 16 bytes and walks down the rows -----------------------------
template <int FORMAT>
constexpr int DEPTH = IN_BLOCKS<FORMAT> ? 4 : 8;  // stored rows in flight

// Value i of a head of x, whichever form it has.
__device__ __forceinline__ float value_of_head(const HeadArgs &a, int row, int head, int i) {
  if (a.planes == 0) return a.f32(row, head)[i];
  const Quantized x = a.quantized();
  const int c = head * a.inputs + i;
  float q = float(x.plane(0, row)[c]);
  if (a.planes == 2) q += float(x.plane(1, row)[c]) * (1.0f / 254.0f);
  return q * x.scales(row)[c / QBLOCK];
}

// Adds x times the values of 16 bytes of a stored row; x times a block's min is kept apart, as all its values have it.
template <int FORMAT>
__device__ __forceinline__ void add_scaled(const Block<FORMAT> &b, float x, float (&sums)[VALUES<FORMAT>], float &mins) {
  float low = x, high = x;
  u32 q[8];
  if constexpr (IN_BLOCKS<FORMAT>) {
    decode_block<FORMAT>(b, q);
    const BlockScales scales = scales_of<FORMAT>(b);
    low = x * scales.low, high = x * scales.high;
    if constexpr (HAS_MINS<FORMAT>) mins += x * scales.min;
  } else if constexpr (FORMAT == FORMAT_Q8_0) {
    low = high = x * half_to_float(b.scale);
  }
#pragma unroll
  for (int j = 0; j < VALUES<FORMAT> / 4; j++) {
    float4 w;
    if constexpr (IN_BLOCKS<FORMAT>)
      w = bytes_to_floats(q[j]);
    else
      w = decode_four<FORMAT>(b.quants, j);
    const float by = j < 4 ? low : high;
    sums[4 * j] += by * w.x, sums[4 * j + 1] += by * w.y, sums[4 * j + 2] += by * w.z, sums[4 * j + 3] += by * w.w;
  }
}

template <int FORMAT>
__device__ __forceinline__ void rows_as_inputs(const HeadArgs &a) {
  constexpr int V = VALUES<FORMAT>;
  const int words = IN_BLOCKS<FORMAT> ? a.outputs / QBLOCK : a.pitch / 16;
  const int row = blockIdx.x, head = blockIdx.z;
  const int lane = threadIdx.x & (a.lanes - 1), group = threadIdx.x / a.lanes, groups = THREADS / a.lanes;
  const int word = blockIdx.y * a.lanes + lane;
  float *partial = reinterpret_cast<float *>(dynamic_shared), *x = partial + THREADS * V;
  Block<FORMAT> held[DEPTH<FORMAT>];
  auto load = [&](int input) {
#pragma unroll
    for (int u = 0; u < DEPTH<FORMAT>; u++) {
      const int i = input + u * groups, stored = head * a.inputs + i;
      if (i < a.inputs && word < words)
        load_stored<FORMAT>(held[u], a.stored(stored), FORMAT == FORMAT_Q8_0 ? a.scales(stored, a.heads * a.inputs) : a.w,
                            a.outputs, word);
    }
  };
  load(group);
  let_next_start();
  wait_for_previous();
  for (int i = threadIdx.x; i < a.inputs; i += THREADS) x[i] = value_of_head(a, row, head, i);
  __syncthreads();
  float sums[V] = {}, mins = 0.0f;
#pragma unroll 1
  for (int input = group; input < a.inputs; input += groups * DEPTH<FORMAT>) {
    if (input != group) load(input);
#pragma unroll
    for (int u = 0; u < DEPTH<FORMAT>; u++) {
      const int i = input + u * groups;
      if (i < a.inputs && word < words) add_scaled<FORMAT>(held[u], x[i], sums, mins);
    }
  }
#pragma unroll
  for (int v = 0; v < V; v += 4)
    reinterpret_cast<float4 *>(partial)[(threadIdx.x * V + v) / 4] =
        make_float4(sums[v] - mins, sums[v + 1] - mins, sums[v + 2] - mins, sums[v + 3] - mins);
  __syncthreads();
  float *y = a.y.at(row) + (long long)a.y_unit * head;
  const int width = a.lanes * V, column = blockIdx.y * width;
  for (int c = threadIdx.x; c < width && column + c < a.outputs; c += THREADS) {
    float total = partial[c];
#pragma unroll 4
    for (int g = 1; g < groups; g++) total += partial[g * width + c];
    y[column + c] = total;
  }
}

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define HEAD_GEMV(suffix, call)                                                                                        \
  extern "C" __global__ void __launch_bounds__(THREADS) JOIN(JOIN(head_gemv_, FORMAT_NAME), suffix)(                   \
      const void *x, int x_pitch, int x_unit, int planes, const char *w, int pitch, int heads, int inputs, int outputs,   \
      int m, int lanes, float *y, int y_pitch, const int *y_row, int y_unit) {                                         \
    call(HeadArgs{x, x_pitch, x_unit, planes, w, pitch, heads, inputs, outputs, m, lanes, Rows{y, y_pitch, y_row},     \
                  y_unit});                                                                                            \
  }

HEAD_GEMV(_inputs, rows_as_inputs<FORMAT_CODE>)
HEAD_GEMV(_f32_outputs, (rows_as_outputs<FORMAT_CODE, INPUT_F32>))
#if FORMAT_CODE >= 3
HEAD_GEMV(_q8_outputs, (rows_as_outputs<FORMAT_CODE, INPUT_Q8>))
#endif
