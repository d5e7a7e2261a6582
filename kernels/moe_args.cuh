// A mixture of experts by one grid whose blocks wait for each other: what it is given, and what lies in shared memory.
//
// A step's rows are taken in passes of up to `pass_rows`. A pass:
//   1  the router's products, shared out over all warps, each a range of a stored row; its partial sums go to `logits`
//   -  all blocks meet; meanwhile the shared expert's gated pair, which waits for no choice
//   2  every block chooses each row's experts from the same sums, and sorts the (row, expert) pairs by expert into
//      groups of up to RT pairs of one expert, so that a group reads its expert's rows once
//   3  gate and up: a warp an output of a group
//   -  all blocks meet; meanwhile the first rows of `down` come to the second-level cache
//   4  down: a block takes tiles of outputs, its warps share a tile's groups, and their sums are added in order
#pragma once
#include "gemv_sums.cuh"
#include "norm.cuh"

constexpr int MOE_WARPS = 16;
constexpr int MOE_THREADS = 32 * MOE_WARPS;
constexpr int FORMAT_VALUES = FORMAT_MXFP4 + 1;  // f32 [inputs][outputs], as no checkpoint's rows lie
constexpr int ACT_CLAMPED = ACT_SQUARE + 1;
constexpr int MOST_KEPT = 32;  // experts of a row, a lane each
constexpr float CLAMPED_SLOPE = 1.702f;

struct Matrix {
  const char *w;  // null: there is none
  int format;
  int pitch;  // bytes of a stored row
  int words;  // 16-byte loads of its values
  int rows;

  __device__ __forceinline__ const char *row(int r) const { return w + (long long)r * pitch; }
  // q8_0's scales of a row, which lie behind all rows' quants.
  __device__ __forceinline__ const char *scales(int r) const {
    const long long first = ((long long)rows * pitch + 255) & ~255LL;
    return w + first + (long long)r * (pitch / QBLOCK) * 2;
  }
};

// One of two matrices field by field: a choice of references would put the arguments into local memory.
__device__ __forceinline__ Matrix pick(bool first, const Matrix &a, const Matrix &b) {
  return {first ? a.w : b.w, first ? a.format : b.format, first ? a.pitch : b.pitch, first ? a.words : b.words,
          first ? a.rows : b.rows};
}

struct MoeArgs {
  const void *x;  // f32 rows, or a buffer of quantized rows
  int x_pitch;    // of f32 rows; of quantized ones, their planes
  const float *router_x;  // the f32 rows that a router of plain rows or values reads
  int router_x_pitch;
  int width;
  int m;
  int experts;
  int top_k;
  int renormalize;
  int groups;  // of experts, at most a warp's lanes
  int kept_groups;
  int group_best;  // scores that rank a group
  float routed_scale;
  int hidden;
  int act;
  float limit;
  Matrix router;
  Matrix column;  // the shared expert's gate, one output
  Matrix gate;
  Matrix up;
  Matrix down;
  const float *router_bias;
  const float *gate_bias;
  const float *up_bias;
  const float *down_bias;
  int shared_hidden;
  Matrix shared_gate;
  Matrix shared_up;
  Matrix shared_down;
  Rows y;
  const float *plus;  // rows added to the result, or null
  int plus_pitch;
  float *logits;    // [segments][pass_rows][experts]
  float *columns;   // [column_segments][pass_rows]
  float *h;         // [pass_rows * top_k][hidden]
  float *shared_h;  // [pass_rows][shared_hidden]
  u32 *counters;    // arrivals, and those at the end
  int pass_rows;
  int choosers;         // rows whose experts are chosen at a time, a warp each
  int segments;         // ranges of a router's row
  int column_segments;  // of the shared expert's gate
  int split;            // warps that share a tile's groups
  int shared_segments;  // ranges of a row of the shared expert's down
  int rows_at;          // bytes before the staged rows in shared memory
  int room;             // bytes of them
  int shared_at;        // where the shared expert's hidden rows lie beside all others; -1: in their place
  InputNorm x_norm;
  int x_at;  // where its row lies in shared memory, f32 and behind that quantized
  int normed;
  NormArgs norm;
};

// The parameters of a mixture that every entry has, in the order that selection passes them, and what is made of them.
#define MATRIX_PARAMS(name) const char *name##_w, int name##_format, int name##_pitch, int name##_words, int name##_rows
#define MATRIX_ARGS(name) \
  Matrix { name##_w, name##_format, name##_pitch, name##_words, name##_rows }

#define MOE_PARAMS                                                                                                     \
  const void *x, int x_pitch, const float *router_x, int router_x_pitch, int width, int m, int experts, int top_k,     \
      int renormalize, int groups, int kept_groups, int group_best, float routed_scale, int hidden, int act,           \
      float limit, MATRIX_PARAMS(router), MATRIX_PARAMS(column), MATRIX_PARAMS(gate), MATRIX_PARAMS(up),               \
      MATRIX_PARAMS(down), const float *router_bias, const float *gate_bias, const float *up_bias,                     \
      const float *down_bias, int shared_hidden, MATRIX_PARAMS(shared_gate), MATRIX_PARAMS(shared_up),                 \
      MATRIX_PARAMS(shared_down), float *y, int y_pitch, const int *y_row, const float *plus, int plus_pitch

#define MOE_ARGS                                                                                                       \
  x, x_pitch, router_x, router_x_pitch, width, m, experts, top_k, renormalize, groups, kept_groups, group_best,        \
      routed_scale, hidden, act, limit, MATRIX_ARGS(router), MATRIX_ARGS(column), MATRIX_ARGS(gate), MATRIX_ARGS(up),  \
      MATRIX_ARGS(down), router_bias, gate_bias, up_bias, down_bias, shared_hidden, MATRIX_ARGS(shared_gate),          \
      MATRIX_ARGS(shared_up), MATRIX_ARGS(shared_down), Rows{y, y_pitch, y_row}, plus, plus_pitch

extern __shared__ uint4 dynamic_shared[];

// ---- shared memory --------------------------------------------------------------------------------------------------
// Words of shared memory, one array after the other; selection/moe.py counts them too. Their places are worked out
// where they are needed: kept, they would take registers from loads in flight.
struct Tables {
  int pairs;      // the most of a pass
  int pass_rows;  // likewise
  int groups;
  int pass;  // rows of this pass
  int row0;  // the first of them
  u32 target;  // arrivals that end the next wait

  __device__ __forceinline__ int *words(int at) const { return reinterpret_cast<int *>(dynamic_shared) + at; }
  __device__ __forceinline__ float *floats(int at) const { return reinterpret_cast<float *>(dynamic_shared) + at; }
  // Pairs of a row and an expert that it takes, best first, ...
  __device__ __forceinline__ int *chosen() const { return words(0); }
  __device__ __forceinline__ float *chosen_weight() const { return floats(pairs); }
  // ... and sorted: the row is within the pass, a head begins a group.
  __device__ __forceinline__ int *expert() const { return words(2 * pairs); }
  __device__ __forceinline__ int *row() const { return words(3 * pairs); }
  __device__ __forceinline__ float *weight() const { return floats(4 * pairs); }
  __device__ __forceinline__ int *head() const { return words(5 * pairs); }
  __device__ __forceinline__ int *start() const { return words(6 * pairs); }  // [pairs + 1] each group's first pair
  __device__ __forceinline__ float *column() const { return floats(7 * pairs + 1); }  // the shared expert's weights
  // [MOE_WARPS][pass_rows][NR] of a tile
  __device__ __forceinline__ float *sums() const { return floats(7 * pairs + 1 + pass_rows); }
  // [choosers][experts] the router's outputs as whole numbers of their order
  __device__ __forceinline__ u32 *orders() const {
    return reinterpret_cast<u32 *>(words(7 * pairs + 1 + (1 + MOE_WARPS * NR) * pass_rows));
  }
};

__device__ __forceinline__ char *staged_rows(const MoeArgs &a) {
  return reinterpret_cast<char *>(dynamic_shared) + a.rows_at;
}

// ---- blocks that wait for each other ------------------------------------------------------------------------------
// The arrivals only grow during a launch, and the last block at its end puts them back to zero. Every block of the grid
// is resident (selection sees to it, and the runtime checks it), so that each wait ends.
__device__ __forceinline__ void arrive(const MoeArgs &a, Tables &t) {
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(a.counters), "r"(1) : "memory");
  t.target += gridDim.x;
}

__device__ __forceinline__ void wait_for_all(const MoeArgs &a, const Tables &t) {
  if (threadIdx.x == 0) {
    u32 seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(a.counters) : "memory");
    } while (seen < t.target);
  }
  __syncthreads();
}

// Of the activations that experts have; sigmoid(v) is v's part of silu.
__device__ __forceinline__ float joined(int act, float limit, float gate, float up) {
  float g = gate, u = up, slope = 1.0f;
  if (act == ACT_CLAMPED) {
    g = gate > limit ? limit : gate;  // a NaN stays one
    u = (up > limit ? limit : (up < -limit ? -limit : up)) + 1.0f;
    slope = CLAMPED_SLOPE;
  }
  if (act == ACT_GELU || act == ACT_GELU_TANH) return activate(act == ACT_GELU ? ACT_GELU : ACT_GELU_TANH, g) * u;
  return g / (1.0f + expf(-slope * g)) * u;
}
