// RMSNorm of one row by one block, with what may come before it; shared by the norm, gather and product kernels.
#pragma once
#include "common.cuh"

struct NormArgs {
  float eps;
  const float *weight;  // [cols] or null
  const float *add;     // rows added before the norm, or null
  int add_pitch;
  float *sum;  // where the sum is kept, or null
  int sum_pitch;
  int has_pre;  // a norm of the row itself comes first
  const float *pre_weight;
  float pre_eps;
  Rows y;  // y.base null: no f32 result
  Quantized quantized;
};

// The norm of the one row that a launch reads, as it is staged: it is f32 until then.
struct InputNorm {
  int present;
  const float *weight;  // [cols] or null
  float eps;
};

// The parameters of a norm, in the order that selection passes them, and their struct (rows and cols for the quants).
#define NORM_PARAMS                                                                                                 \
  float eps, const float *weight, const float *add, int add_pitch, float *sum, int sum_pitch, int has_pre,          \
      const float *pre_weight, float pre_eps, float *norm_y, int norm_y_pitch, const int *norm_y_row, i8 *norm_q,   \
      int norm_q_planes
#define NORM_ARGS(rows, cols)                                                                                       \
  NormArgs {                                                                                                        \
    eps, weight, add, add_pitch, sum, sum_pitch, has_pre, pre_weight, pre_eps, Rows{norm_y, norm_y_pitch, norm_y_row}, \
        Quantized { norm_q, norm_q_planes, rows, cols }                                                             \
  }

template <int V>
__device__ __forceinline__ void read_fresh(const float *p, float (&v)[V]) {
  if constexpr (V == 4) {
    const float4 f = load_fresh4(p);
    v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w;
  } else {
    v[0] = load_fresh(p);
  }
}

template <int V>
__device__ __forceinline__ void write_values(float *p, const float (&v)[V]) {
  if constexpr (V == 4) {
    *reinterpret_cast<float4 *>(p) = make_float4(v[0], v[1], v[2], v[3]);
  } else {
    *p = v[0];
  }
}

template <int V>
__device__ __forceinline__ void read_values(const float *p, float (&v)[V]) {
  if constexpr (V == 4) {
    const float4 f = *reinterpret_cast<const float4 *>(p);
    v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w;
  } else {
    v[0] = *p;
  }
}

// A norm's weights from column c on; ones where it has none.
template <int V>
__device__ __forceinline__ void read_weights(const float *weight, int c, float (&v)[V]) {
  if (weight != nullptr) {
    read_values<V>(weight + c, v);
  } else {
#pragma unroll
    for (int i = 0; i < V; i++) v[i] = 1.0f;
  }
}

// Reads rows that another block may have written.
struct FreshReader {
  const float *row;
  template <int V>
  __device__ __forceinline__ void read(int c, float (&v)[V]) const {
    read_fresh<V>(row + c, v);
  }
  __device__ __forceinline__ bool by_fours() const { return aligned16(row); }
};

// Whether a norm's rows can be taken four values at a time; a sandwiched norm takes the other way, which is shorter.
__device__ __forceinline__ bool norm_by_fours(const NormArgs &a, int cols) {
  const u64 bits = reinterpret_cast<u64>(a.weight) | reinterpret_cast<u64>(a.add) | reinterpret_cast<u64>(a.sum) |
                   reinterpret_cast<u64>(a.pre_weight) | reinterpret_cast<u64>(a.y.base);
  return (bits & 15) == 0 && ((cols | a.add_pitch | a.sum_pitch | a.y.pitch) & 3) == 0;
}

__device__ __forceinline__ float inverse_rms(float squares, int cols, float eps, float *scratch) {
  return 1.0f / sqrtf(block_sum(squares, scratch) / float(cols) + eps);
}

// Loads of each operand that a thread has in flight; the way for rows that are not aligned is kept short instead.
template <int V>
constexpr int HELD = V == 4 ? 4 : 1;

// Reads a row, adds what is added, keeps the sum, leaves sum * weight in `buffer`: the thread's share of the squares.
template <int V, class Reader>
__device__ __forceinline__ float sum_row(const Reader &reader, const NormArgs &a, int row, int cols, float inner,
                                         float *buffer) {
  const int step = blockDim.x * V;
  float squares = 0.0f;
#pragma unroll 1
  for (int first = threadIdx.x * V; first < cols; first += step * HELD<V>) {
    float v[HELD<V>][V], added[HELD<V>][V] = {}, weight[HELD<V>][V];
#pragma unroll
    for (int h = 0; h < HELD<V>; h++)
      if (first + h * step < cols) reader.template read<V>(first + h * step, v[h]);
    if (a.add != nullptr) {
      const float *add = a.add + (long long)a.add_pitch * row + first;
#pragma unroll
      for (int h = 0; h < HELD<V>; h++)
        if (first + h * step < cols) read_fresh<V>(add + h * step, added[h]);
    }
#pragma unroll
    for (int h = 0; h < HELD<V>; h++)
      if (first + h * step < cols) read_weights<V>(a.weight, first + h * step, weight[h]);
#pragma unroll
    for (int h = 0; h < HELD<V>; h++) {
      const int c = first + h * step;
      if (c >= cols) break;
      if (V == 1 && a.has_pre) {
        float pre[V];
        read_weights<V>(a.pre_weight, c, pre);
#pragma unroll
        for (int i = 0; i < V; i++) v[h][i] *= inner * pre[i];
      }
#pragma unroll
      for (int i = 0; i < V; i++) {
        v[h][i] += added[h][i];
        squares += v[h][i] * v[h][i];
      }
      if (a.sum != nullptr) write_values<V>(a.sum + (long long)a.sum_pitch * row + c, v[h]);
#pragma unroll
      for (int i = 0; i < V; i++) v[h][i] *= weight[h][i];
      write_values<V>(buffer + c, v[h]);
    }
  }
  return squares;
}

// One row by the whole block, V values a load. `buffer` holds cols floats of shared memory, `scratch` 32.
template <int V, class Reader>
__device__ __forceinline__ void norm_by(const Reader &reader, const NormArgs &a, int row, int cols, float *buffer,
                                        float *scratch) {
  float inner = 1.0f;
  if (V == 1 && a.has_pre) {
    float squares = 0.0f;
#pragma unroll 1
    for (int c = threadIdx.x * V; c < cols; c += blockDim.x * V) {
      float v[V];
      reader.template read<V>(c, v);
#pragma unroll
      for (int i = 0; i < V; i++) squares += v[i] * v[i];
    }
    inner = inverse_rms(squares, cols, a.pre_eps, scratch);
  }
  const float inverse = inverse_rms(sum_row<V>(reader, a, row, cols, inner, buffer), cols, a.eps, scratch);
  float *y = a.y.base == nullptr ? nullptr : a.y.at(row);
#pragma unroll (V == 4 ? 2 : 1)
  for (int c0 = 0; c0 < cols; c0 += blockDim.x * V) {  // uniform over the block: the quantizing lanes act together
    const int c = c0 + threadIdx.x * V;
    float v[V] = {};
    if (c < cols) {
      read_values<V>(buffer + c, v);
#pragma unroll
      for (int i = 0; i < V; i++) v[i] *= inverse;
      if (y != nullptr) write_values<V>(y + c, v);
    }
    if (a.quantized.planes > 0) store_quantized<V>(a.quantized, row, c, v, c < cols);
  }
  __syncthreads();  // the buffer may be used again
}

template <class Reader>
__device__ __forceinline__ void norm_row(const Reader &reader, const NormArgs &a, int row, int cols, float *buffer,
                                         float *scratch) {
  if (!a.has_pre && reader.by_fours() && norm_by_fours(a, cols))
    norm_by<4>(reader, a, row, cols, buffer, scratch);
  else
    norm_by<1>(reader, a, row, cols, buffer, scratch);
}
