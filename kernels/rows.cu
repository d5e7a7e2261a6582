// Norms, gathers and rotations of rows.
#include "blocks.cuh"
#include "norm.cuh"
#include "rope.cuh"
#include "sequences.cuh"

extern __shared__ float4 dynamic_shared[];

// ---- norm: one block a unit of a row --------------------------------------------------------------------------------
// m counts the units of all rows. Units of x and of y may lie apart in their rows; the other operands hold them in order.
extern "C" __global__ void __launch_bounds__(512) norm_rows(const float *x, int x_pitch, int x_unit, int units,
                                                            int y_unit, int m, int cols, NORM_PARAMS) {
  __shared__ float scratch[32];
  let_next_start();
  wait_for_previous();
  NormArgs a = NORM_ARGS(m, cols);
  const int row = blockIdx.x / units, unit = blockIdx.x - row * units;
  if (a.y.base != nullptr) a.y = Rows{a.y.at(row) + (long long)y_unit * unit, 0, nullptr};
  const FreshReader reader{x + (long long)x_pitch * row + (long long)x_unit * unit};
  norm_row(reader, a, blockIdx.x, cols, reinterpret_cast<float *>(dynamic_shared), scratch);
}

// ---- gather ---------------------------------------------------------------------------------------------------------
// A stored row decoded and scaled; each value it reads is stored in `y` too, where there is one.
template <int FORMAT>
struct StoredReader {
  const char *row;
  const u16 *scales;
  int cols;
  float scale;
  float *y;

  __device__ __forceinline__ float value(int c) const {
    float v;
    if constexpr (IN_BLOCKS<FORMAT>)
      v = value_in_block<FORMAT>(row, cols, c);
    else if (FORMAT == FORMAT_F32)
      v = reinterpret_cast<const float *>(row)[c];
    else if (FORMAT == FORMAT_F16)
      v = half_to_float(reinterpret_cast<const u16 *>(row)[c]);
    else if (FORMAT == FORMAT_BF16)
      v = bf16_to_float(reinterpret_cast<const u16 *>(row)[c]);
    else
      v = float(reinterpret_cast<const i8 *>(row)[c]) * half_to_float(scales[c / QBLOCK]);
    return v * scale;
  }
  template <int V>
  __device__ __forceinline__ void read(int c, float (&v)[V]) const {
#pragma unroll
    for (int i = 0; i < V; i++) v[i] = value(c + i);
    if (y != nullptr) write_values<V>(y + c, v);
  }
  __device__ __forceinline__ bool by_fours() const { return !IN_BLOCKS<FORMAT> && aligned16(y); }
};

template <int FORMAT>
__device__ __forceinline__ StoredReader<FORMAT> stored_row(const char *table, int table_rows, int cols, int pitch,
                                                           const int *index, float scale, const Rows &y, int r) {
  const int row = max(0, min(table_rows - 1, index[r]));
  const long long scales = ((long long)table_rows * pitch + 255) & ~255LL;
  return {table + (long long)row * pitch,
          reinterpret_cast<const u16 *>(table + scales + (long long)row * (cols / QBLOCK) * 2), cols, scale,
          y.base == nullptr ? nullptr : y.at(r)};
}

// One block a row: the row alone, or the row and its norm.
template <int FORMAT>
__device__ __forceinline__ void gather(const StoredReader<FORMAT> &reader, bool normed, const NormArgs &a, int cols) {
  __shared__ float scratch[32];
  if (normed) {
    norm_row(reader, a, blockIdx.x, cols, reinterpret_cast<float *>(dynamic_shared), scratch);
    return;
  }
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    float v[1];
    reader.template read<1>(c, v);
  }
}

#define GATHER(name, FORMAT)                                                                                         \
  extern "C" __global__ void __launch_bounds__(512) gather_##name(                                                  \
      const char *table, int table_rows, int cols, int pitch, const int *index, int m, float scale, float *y,        \
      int y_pitch, const int *y_row, int normed, NORM_PARAMS) {                                                      \
    let_next_start();                                                                                                \
    wait_for_previous();                                                                                             \
    const Rows to{y, y_pitch, y_row};                                                                                \
    const NormArgs a = NORM_ARGS(m, cols);                                                                           \
    gather<FORMAT>(stored_row<FORMAT>(table, table_rows, cols, pitch, index, scale, to, blockIdx.x), normed, a, cols); \
  }

GATHER(f32, FORMAT_F32)
GATHER(f16, FORMAT_F16)
GATHER(bf16, FORMAT_BF16)
GATHER(q8_0, FORMAT_Q8_0)
GATHER(q4_0, FORMAT_Q4_0)
GATHER(q4_k, FORMAT_Q4_K)
GATHER(q5_k, FORMAT_Q5_K)
GATHER(q6_k, FORMAT_Q6_K)
GATHER(mxfp4, FORMAT_MXFP4)

// ---- rope: one warp a head, several sides in one launch -------------------------------------------------------------
struct Side {
  const float *x;
  int x_pitch;
  int x_unit;
  Rows y;
  int y_unit;
  int heads;  // a row
  HeadNorm norm;
};

#define SIDE_PARAMS(i)                                                                                               \
  const float *x##i, int x_pitch##i, int x_unit##i, float *y##i, int y_pitch##i, const int *y_row##i, int y_unit##i, \
      int heads##i, int normed##i, const float *weight##i, float eps##i
#define SIDE_ARGS(i)                                                                                                \
  Side {                                                                                                            \
    x##i, x_pitch##i, x_unit##i, Rows{y##i, y_pitch##i, y_row##i}, y_unit##i, heads##i, HeadNorm { normed##i, weight##i, eps##i } \
  }

constexpr int SIDES = 4;

struct Turned {
  const float *cos, *sin;
  const int *position;
  int hd, half;
};

__device__ __forceinline__ void turn_sides(const Turned &t, const Side (&sides)[SIDES]) {
  const int row = blockIdx.y;
  int head = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  Side side = sides[0];
#pragma unroll
  for (int i = 1; i < SIDES; i++)
    if (head >= side.heads) head -= side.heads, side = sides[i];
  if (head >= side.heads) return;
  const long long turn = (long long)((t.position == nullptr ? 0 : *t.position) + row) * t.half;
  turn_head(side.x + (long long)side.x_pitch * row + (long long)side.x_unit * head,
            side.y.at(row) + (long long)side.y_unit * head, t.cos + turn, t.sin + turn, t.hd, t.half, side.norm);
}

extern "C" __global__ void __launch_bounds__(128) rope_heads(const float *cos, const float *sin, const int *position,
                                                             int hd, int half, int m, SIDE_PARAMS(0), SIDE_PARAMS(1),
                                                             SIDE_PARAMS(2), SIDE_PARAMS(3)) {
  let_next_start();
  wait_for_previous();
  const Side sides[SIDES] = {SIDE_ARGS(0), SIDE_ARGS(1), SIDE_ARGS(2), SIDE_ARGS(3)};
  turn_sides(Turned{cos, sin, position, hd, half}, sides);
}

// Of several sequences each its own position, and where its sides are read and land.
struct SequenceSide {
  const float *x;
  float *y;
  const int *y_row;
};

#define OWN_SIDE_PARAMS(i, s) const float *x##i##s, float *y##i##s, const int *y_row##i##s
#define ROPE_PARAMS(i)                                                                                       \
  const int *position##i, OWN_SIDE_PARAMS(i, _0), OWN_SIDE_PARAMS(i, _1), OWN_SIDE_PARAMS(i, _2), \
      OWN_SIDE_PARAMS(i, _3)
#define OWN_SIDE(i, s) SequenceSide{x##i##s, y##i##s, y_row##i##s}
#define ROPE(i)                                                                                                      \
  case i:                                                                                                           \
    position = position##i;                                                                                         \
    own[0] = OWN_SIDE(i, _0), own[1] = OWN_SIDE(i, _1), own[2] = OWN_SIDE(i, _2), own[3] = OWN_SIDE(i, _3);       \
    break;
#define COMMON_SIDE_PARAMS(s)                                                                                        \
  int x_pitch##s, int x_unit##s, int y_pitch##s, int y_unit##s, int heads##s, int normed##s, const float *weight##s, \
      float eps##s
#define COMMON_SIDE(s)                                                                                    \
  Side {                                                                                                  \
    own[s].x, x_pitch##s, x_unit##s, Rows{own[s].y, y_pitch##s, own[s].y_row}, y_unit##s, heads##s,       \
        HeadNorm { normed##s, weight##s, eps##s }                                                         \
  }

extern "C" __global__ void __launch_bounds__(128)
    rope_sequences(EACH_SEQUENCE(ROPE_PARAMS), const float *cos, const float *sin, int hd, int half, int m,
                   COMMON_SIDE_PARAMS(0), COMMON_SIDE_PARAMS(1), COMMON_SIDE_PARAMS(2), COMMON_SIDE_PARAMS(3)) {
  let_next_start();
  wait_for_previous();
  const int *position;
  SequenceSide own[SIDES];
  ONE_OF(blockIdx.z, ROPE)
  const Side sides[SIDES] = {COMMON_SIDE(0), COMMON_SIDE(1), COMMON_SIDE(2), COMMON_SIDE(3)};
  turn_sides(Turned{cos, sin, position, hd, half}, sides);
}
