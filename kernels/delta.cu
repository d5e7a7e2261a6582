// The gated delta rule over a step's rows, its output normed by heads and gated by silu(z).
//
// The columns of a head's state S [keys][values] do not meet in the rule, so a block holds COLUMNS of them in registers,
// all keys, reads them once, moves them over all rows and writes them once. With kS and qS of the state before a row,
//   error = beta (v - decay kS),  S <- decay S + k error,  o = (decay qS + (q k) error) / sqrt(d):
// both products are of one pass. The norm needs the whole head: a block's share of o waits in `partials`, and the block
// that arrives last of a head's norms all rows of it.
#include "common.cuh"
#include "sequences.cuh"

constexpr int COLUMNS = 16;
constexpr int GROUPS = COLUMNS / 4;  // lanes side by side, four columns each

struct DeltaArgs {
  const float *q;
  int q_pitch;
  const float *k;
  int k_pitch;
  const float *v;
  int v_pitch;
  const float *z;
  int z_pitch;
  const float *beta;   // [m][heads]
  const float *decay;  // [m][heads]
  float *state;        // [heads][d][d]
  const float *norm_weight;
  int m;
  int group;  // value heads a key head
  int d;
  float scale;  // 1 / sqrt(d)
  float eps;
  float *partials;  // [m][heads][d]
  u32 *counters;    // [heads]
  Rows y;
  Quantized quantized;
};

__device__ __forceinline__ float4 read_four(const float *p) {
  return aligned16(p) ? *reinterpret_cast<const float4 *>(p) : make_float4(p[0], p[1], p[2], p[3]);
}

__device__ __forceinline__ void write_four(float *p, const float (&v)[4]) {
  if (aligned16(p)) {
    *reinterpret_cast<float4 *>(p) = make_float4(v[0], v[1], v[2], v[3]);
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++) p[i] = v[i];
  }
}

__device__ __forceinline__ void add_product(float4 &sum, float by, const float4 &v) {
  sum.x += by * v.x, sum.y += by * v.y, sum.z += by * v.z, sum.w += by * v.w;
}

__device__ __forceinline__ float4 plus(const float4 &a, const float4 &b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// The sum over the lanes of a warp that have the same columns.
__device__ __forceinline__ float keys_sum(float v) {
#pragma unroll
  for (int i = GROUPS; i < 32; i <<= 1) v += __shfl_xor_sync(ALL_LANES, v, i);
  return v;
}

__device__ __forceinline__ float4 keys_sum(const float4 &v) {
  return make_float4(keys_sum(v.x), keys_sum(v.y), keys_sum(v.z), keys_sum(v.w));
}

// What a thread needs of one row: its keys of q and k, its columns of v, the head's gates.
template <int K>
struct Row {
  float q[K];
  float k[K];
  float4 v;
  float beta;
  float decay;
};

template <int K, int LANES>
__device__ __forceinline__ Row<K> read_row(const DeltaArgs &a, int r, int head, int heads, int key0, int column) {
  Row<K> row;
  const int from = head / a.group * a.d;
  const float *q = a.q + (long long)a.q_pitch * r + from, *k = a.k + (long long)a.k_pitch * r + from;
#pragma unroll
  for (int i = 0; i < K; i++) {
    const int key = key0 + LANES * i;
    row.q[i] = key < a.d ? q[key] : 0.0f;
    row.k[i] = key < a.d ? k[key] : 0.0f;
  }
  row.v = read_four(a.v + (long long)a.v_pitch * r + head * a.d + column);
  row.beta = a.beta[r * heads + head];
  row.decay = a.decay[r * heads + head];
  return row;
}

// Norms and gates one head of all rows, a warp a row; a lane takes four values, FOURS times.
template <int WARPS, int FOURS>
__device__ __forceinline__ void norm_head(const DeltaArgs &a, int head, int heads) {
  const int lane = threadIdx.x & 31;
#pragma unroll 1
  for (int r = threadIdx.x >> 5; r < a.m; r += WARPS) {
    const float *from = a.partials + ((long long)r * heads + head) * a.d;
    const float *z = a.z + (long long)a.z_pitch * r + head * a.d;
    float4 o[FOURS], weight[FOURS], gate[FOURS];
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < FOURS; j++) {
      const int c = 4 * (lane + 32 * j);
      o[j] = c < a.d ? load_fresh4(from + c) : make_float4(0, 0, 0, 0);
      if (c < a.d) weight[j] = read_four(a.norm_weight + c), gate[j] = read_four(z + c);
    }
#pragma unroll
    for (int j = 0; j < FOURS; j++)
      squares += o[j].x * o[j].x + o[j].y * o[j].y + o[j].z * o[j].z + o[j].w * o[j].w;
    const float inverse = 1.0f / sqrtf(warp_sum(squares) / float(a.d) + a.eps);
#pragma unroll
    for (int j = 0; j < FOURS; j++) {
      const int c = 4 * (lane + 32 * j);
      float v[4] = {};
      if (c < a.d) {
        v[0] = o[j].x * inverse * weight[j].x * activate(ACT_SILU, gate[j].x);
        v[1] = o[j].y * inverse * weight[j].y * activate(ACT_SILU, gate[j].y);
        v[2] = o[j].z * inverse * weight[j].z * activate(ACT_SILU, gate[j].z);
        v[3] = o[j].w * inverse * weight[j].w * activate(ACT_SILU, gate[j].w);
        if (a.y.base != nullptr) write_four(a.y.at(r) + head * a.d + c, v);
      }
      if (a.quantized.planes > 0) store_quantized<4>(a.quantized, r, head * a.d + c, v, c < a.d);
    }
  }
}

// A thread holds K keys of four columns: heads of at most K * 32 * WARPS / GROUPS values.
template <int K, int WARPS>
__device__ __forceinline__ void delta(const DeltaArgs &a) {
  constexpr int LANES = WARPS * 32 / GROUPS;
  __shared__ float4 key_sums[2][WARPS][GROUPS], query_sums[2][WARPS][GROUPS];
  __shared__ float dots[2][WARPS];
  const int head = blockIdx.y, heads = gridDim.y, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int group = threadIdx.x % GROUPS, key0 = threadIdx.x / GROUPS, column = blockIdx.x * COLUMNS + 4 * group;
  float *state = a.state + ((long long)head * a.d + key0) * a.d + column;
  const long long step = (long long)LANES * a.d;
  let_next_start();
#if __CUDA_ARCH__ >= 900
  // The state may not be read before the wait, but may be on its way to the second-level cache: two lanes a sector.
#pragma unroll
  for (int i = 0; i < K; i++)
    if (group % 2 == 0 && key0 + LANES * i < a.d) asm volatile("prefetch.global.L2 [%0];" ::"l"(state + step * i));
#endif
  wait_for_previous();

  float4 s[K];
#pragma unroll
  for (int i = 0; i < K; i++) s[i] = key0 + LANES * i < a.d ? load_fresh4(state + step * i) : make_float4(0, 0, 0, 0);
  Row<K> next = read_row<K, LANES>(a, 0, head, heads, key0, column);
#pragma unroll 1
  for (int r = 0; r < a.m; r++) {
    const Row<K> row = next;
    if (r + 1 < a.m) next = read_row<K, LANES>(a, r + 1, head, heads, key0, column);
    float4 by_key = make_float4(0, 0, 0, 0), by_query = make_float4(0, 0, 0, 0);
    float dot = 0.0f;
#pragma unroll
    for (int i = 0; i < K; i++) {
      add_product(by_key, row.k[i], s[i]);
      add_product(by_query, row.q[i], s[i]);
      dot += row.q[i] * row.k[i];
    }
    by_key = keys_sum(by_key), by_query = keys_sum(by_query), dot = keys_sum(dot);
    const int turn = r & 1;  // the sums of the row before may still be read
    if (lane < GROUPS) key_sums[turn][warp][lane] = by_key, query_sums[turn][warp][lane] = by_query;
    if (lane == 0) dots[turn][warp] = dot;
    __syncthreads();
    by_key = key_sums[turn][0][group], by_query = query_sums[turn][0][group], dot = dots[turn][0];
#pragma unroll
    for (int i = 1; i < WARPS; i++) {
      by_key = plus(by_key, key_sums[turn][i][group]);
      by_query = plus(by_query, query_sums[turn][i][group]);
      dot += dots[turn][i];
    }
    const float4 error = make_float4(
        row.beta * (row.v.x - row.decay * by_key.x), row.beta * (row.v.y - row.decay * by_key.y),
        row.beta * (row.v.z - row.decay * by_key.z), row.beta * (row.v.w - row.decay * by_key.w));
#pragma unroll
    for (int i = 0; i < K; i++)
      s[i] = make_float4(row.decay * s[i].x + row.k[i] * error.x, row.decay * s[i].y + row.k[i] * error.y,
                         row.decay * s[i].z + row.k[i] * error.z, row.decay * s[i].w + row.k[i] * error.w);
    if (threadIdx.x < GROUPS)
      *reinterpret_cast<float4 *>(a.partials + ((long long)r * heads + head) * a.d + column) =
          make_float4(a.scale * (row.decay * by_query.x + dot * error.x), a.scale * (row.decay * by_query.y + dot * error.y),
                      a.scale * (row.decay * by_query.z + dot * error.z), a.scale * (row.decay * by_query.w + dot * error.w));
  }
#pragma unroll
  for (int i = 0; i < K; i++)
    if (key0 + LANES * i < a.d) *reinterpret_cast<float4 *>(state + step * i) = s[i];
  if (arrives_last(a.counters + head, gridDim.x)) norm_head<WARPS, (K * LANES + 127) / 128>(a, head, heads);
}

#define DELTA(K, WARPS)                                                                                             \
  extern "C" __global__ void __launch_bounds__(32 * WARPS) delta_k##K(                                              \
      const float *q, int q_pitch, const float *k, int k_pitch, const float *v, int v_pitch, const float *z, int z_pitch, \
      const float *beta, const float *decay, float *state, const float *norm_weight, int m, int group, int d,       \
      float scale, float eps, float *partials, u32 *counters, float *y, int y_pitch, const int *y_row, i8 *qout,    \
      int q_planes) {                                                                                               \
    const DeltaArgs a{q, q_pitch, k, k_pitch, v, v_pitch, z, z_pitch, beta, decay, state, norm_weight, m, group, d, \
                      scale, eps, partials, counters, Rows{y, y_pitch, y_row},                                      \
                      Quantized{qout, q_planes, m, int(gridDim.y) * d}};                                            \
    delta<K, WARPS>(a);                                                                                             \
  }

// Several sequences, each with its own state; their shares of o and their counters lie one after another.
struct SequenceDelta {
  const float *q, *k, *v, *z, *beta, *decay;
  float *state, *y;
  i8 *quantized;
};

#define SEQUENCE_PARAMS(i)                                                                                         \
  const float *q##i, const float *k##i, const float *v##i, const float *z##i, const float *beta##i,               \
      const float *decay##i, float *state##i, float *y##i, i8 *qout##i
#define SEQUENCE(i) \
  case i: s = SequenceDelta{q##i, k##i, v##i, z##i, beta##i, decay##i, state##i, y##i, qout##i}; break;

#define DELTA_SEQUENCES(K, WARPS)                                                                                   \
  extern "C" __global__ void __launch_bounds__(32 * WARPS) delta_k##K##_sequences(                                  \
      EACH_SEQUENCE(SEQUENCE_PARAMS), int q_pitch, int k_pitch, int v_pitch, int z_pitch, const float *norm_weight, \
      int m, int group, int d, float scale, float eps, float *partials, u32 *counters, int y_pitch,                 \
      const int *y_row, int q_planes) {                                                                             \
    SequenceDelta s;                                                                                                \
    ONE_OF(blockIdx.z, SEQUENCE)                                                                                    \
    const int heads = gridDim.y;                                                                                    \
    const DeltaArgs a{s.q, q_pitch, s.k, k_pitch, s.v, v_pitch, s.z, z_pitch, s.beta, s.decay, s.state,             \
                      norm_weight, m, group, d, scale, eps, partials + (long long)blockIdx.z * m * heads * d,       \
                      counters + blockIdx.z * heads, Rows{s.y, y_pitch, y_row},                                     \
                      Quantized{s.quantized, q_planes, m, heads * d}};                                              \
    delta<K, WARPS>(a);                                                                                             \
  }

DELTA(4, 4)
DELTA_SEQUENCES(4, 4)
DELTA(8, 4)
DELTA_SEQUENCES(8, 4)
DELTA(16, 8)
DELTA_SEQUENCES(16, 8)
