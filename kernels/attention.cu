// Causal attention of a step's rows over key and value tables, split over positions.
//
// A block takes one row, G heads of one key head and one range of positions. Its warps take four positions at a time,
// each for itself: teams of 8 lanes score a position, a running softmax follows, and the lanes add the values by columns.
// The warps' states are joined in shared memory; a split's state (values, maximum, sum) waits in `partials`, and the
// block that arrives last for its heads joins the splits. Which positions a split takes follows from the position on the
// device, so that the grid depends on nothing but shapes.
#include "common.cuh"

constexpr int WARPS = 8;
constexpr int THREADS = 32 * WARPS;
constexpr int TEAM = 8;                // lanes that share a position's key
constexpr int TEAMS = 32 / TEAM;       // positions a warp takes together
constexpr int MOST_SPLITS = 64;
constexpr float LOWEST = -3.0e38f;

struct AttentionArgs {
  const float *q;
  int q_pitch;
  const float *keys;
  int key_pitch;
  const float *values;
  int value_pitch;
  const int *position;
  int group;      // query heads a key head
  int per_block;  // of them, in one block: at most G
  int hd;
  int vd;
  int window;  // 0: none
  const float *sinks;
  float scale;
  int splits;
  int join;  // blocks of heads that one block joins: 1, or all of a row's
  float *partials;
  u32 *counters;
  Rows y;
  Quantized quantized;
};

extern __shared__ float4 dynamic_shared[];

// A split's state of one head in partials: vd values, then the maximum and the sum.
__device__ __forceinline__ float *partial_of(const AttentionArgs &a, int row, int heads, int head, int split) {
  return a.partials + (((long long)row * heads + head) * a.splits + split) * (a.vd + 2);
}

// One warp's running state: of each head the maximum and sum of its weights so far (the same in every lane), and of the
// values the lane's columns, 2 * lane + 64 * c and the next.
template <int G, int C>
struct State {
  float peak[G];
  float sum[G];
  float2 held[G][C];
};

// The scores of this lane's team's position with every head, in all lanes of the team.
template <int G>
__device__ __forceinline__ void score(const AttentionArgs &a, const float *key, const float *q, float (&dots)[G]) {
  const int lane = threadIdx.x % TEAM, fours = a.hd / 4;
#pragma unroll
  for (int g = 0; g < G; g++) dots[g] = 0.0f;
#pragma unroll 1
  for (int f0 = lane; f0 < fours; f0 += 4 * TEAM) {
    float4 k[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
      k[j] = f0 + j * TEAM < fours ? *reinterpret_cast<const float4 *>(key + 4 * (f0 + j * TEAM)) : make_float4(0, 0, 0, 0);
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int f = min(f0 + j * TEAM, fours - 1);
#pragma unroll
      for (int g = 0; g < G; g++) {
        const float4 x = reinterpret_cast<const float4 *>(q)[g * fours + f];
        dots[g] += k[j].x * x.x + k[j].y * x.y + k[j].z * x.z + k[j].w * x.w;
      }
    }
  }
#pragma unroll
  for (int g = 0; g < G; g++) {
#pragma unroll
    for (int d = TEAM / 2; d > 0; d >>= 1) dots[g] += __shfl_xor_sync(ALL_LANES, dots[g], d);
    dots[g] *= a.scale;
  }
}

// Adds positions first..first + 3 (those before `end`) to the warp's state.
template <int G, int C>
__device__ __forceinline__ void add_positions(const AttentionArgs &a, const float *keys, const float *values, int first,
                                              int end, const float *q, State<G, C> &s) {
  const int lane = threadIdx.x & 31, mine = first + lane / TEAM;
  // The values' loads are in flight while the keys are scored.
  float2 v[TEAMS][C];
#pragma unroll
  for (int t = 0; t < TEAMS; t++)
#pragma unroll
    for (int c = 0; c < C; c++) {
      const int column = 2 * lane + 64 * c;
      v[t][c] = first + t < end && column < a.vd
                    ? *reinterpret_cast<const float2 *>(values + (long long)(first + t) * a.value_pitch + column)
                    : make_float2(0, 0);
    }
  float dots[G];
  score<G>(a, keys + (long long)min(mine, end - 1) * a.key_pitch, q, dots);
#pragma unroll
  for (int g = 0; g < G; g++) {
    float peak = mine < end ? dots[g] : LOWEST;
#pragma unroll
    for (int d = TEAM; d < 32; d <<= 1) peak = fmaxf(peak, __shfl_xor_sync(ALL_LANES, peak, d));
    peak = fmaxf(peak, s.peak[g]);
    const float weight = mine < end ? expf(dots[g] - peak) : 0.0f, kept = expf(s.peak[g] - peak);
    float total = weight;
#pragma unroll
    for (int d = TEAM; d < 32; d <<= 1) total += __shfl_xor_sync(ALL_LANES, total, d);
    s.peak[g] = peak;
    s.sum[g] = s.sum[g] * kept + total;
#pragma unroll
    for (int c = 0; c < C; c++) s.held[g][c].x *= kept, s.held[g][c].y *= kept;
#pragma unroll
    for (int t = 0; t < TEAMS; t++) {
      const float w = __shfl_sync(ALL_LANES, weight, t * TEAM);
#pragma unroll
      for (int c = 0; c < C; c++) s.held[g][c].x += w * v[t][c].x, s.held[g][c].y += w * v[t][c].y;
    }
  }
}

// Joins the warps' states and stores the split's: `shared` holds [WARPS][G] maxima and sums, then [WARPS][G][vd].
template <int G, int C>
__device__ __forceinline__ void store_split(const AttentionArgs &a, const State<G, C> &s, int row, int all_heads,
                                            int head0, int split, float *shared) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float *peaks = shared, *sums = shared + WARPS * G, *held = shared + 2 * WARPS * G;
  if (lane == 0) {
#pragma unroll
    for (int g = 0; g < G; g++) peaks[warp * G + g] = s.peak[g], sums[warp * G + g] = s.sum[g];
  }
  __syncthreads();
#pragma unroll
  for (int g = 0; g < G; g++) {
    float peak = LOWEST;
#pragma unroll
    for (int w = 0; w < WARPS; w++) peak = fmaxf(peak, peaks[w * G + g]);
    const float share = expf(s.peak[g] - peak);
#pragma unroll
    for (int c = 0; c < C; c++) {
      const int column = 2 * lane + 64 * c;
      if (column < a.vd)
        *reinterpret_cast<float2 *>(held + (warp * G + g) * a.vd + column) =
            make_float2(s.held[g][c].x * share, s.held[g][c].y * share);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < a.per_block * a.vd; i += THREADS) {
    const int g = i / a.vd, c = i - g * a.vd;
    float v = 0.0f;
#pragma unroll
    for (int w = 0; w < WARPS; w++) v += held[(w * G + g) * a.vd + c];
    partial_of(a, row, all_heads, head0 + g, split)[c] = v;
  }
  if (threadIdx.x < a.per_block) {
    const int g = threadIdx.x;
    float peak = LOWEST, sum = 0.0f;
#pragma unroll
    for (int w = 0; w < WARPS; w++) peak = fmaxf(peak, peaks[w * G + g]);
#pragma unroll
    for (int w = 0; w < WARPS; w++) sum += sums[w * G + g] * expf(peaks[w * G + g] - peak);
    *reinterpret_cast<float2 *>(partial_of(a, row, all_heads, head0 + g, split) + a.vd) = make_float2(peak, sum);
  }
}

// Each split's share of each of `heads` heads from head0 on, into shares [heads][splits]; one warp a head.
__device__ __forceinline__ void share_splits(const AttentionArgs &a, int row, int all_heads, int head0, int heads,
                                             float *shares) {
  const int lane = threadIdx.x & 31;
#pragma unroll 1
  for (int h = threadIdx.x >> 5; h < heads; h += WARPS) {
    float2 state[MOST_SPLITS / 32];
    float peak = a.sinks != nullptr ? a.sinks[head0 + h] : LOWEST;
#pragma unroll
    for (int j = 0; j < MOST_SPLITS / 32; j++) {
      const int s = lane + 32 * j;
      state[j] = s < a.splits ? load_fresh2(partial_of(a, row, all_heads, head0 + h, s) + a.vd) : make_float2(LOWEST, 0);
      peak = fmaxf(peak, state[j].x);
    }
    peak = warp_max(peak);
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < MOST_SPLITS / 32; j++) {
      state[j].x = expf(state[j].x - peak);
      sum += state[j].x * state[j].y;
    }
    sum = warp_sum(sum);
    if (a.sinks != nullptr) sum += expf(a.sinks[head0 + h] - peak);
#pragma unroll
    for (int j = 0; j < MOST_SPLITS / 32; j++)
      if (lane + 32 * j < a.splits) shares[h * a.splits + lane + 32 * j] = sum > 0.0f ? state[j].x / sum : 0.0f;
  }
}

constexpr int SPLITS_HELD = 16;  // splits whose values a thread has in flight

// Joins the splits of `heads` heads from head0 on; two columns a thread. The first values are in flight while the
// shares are made.
__device__ __forceinline__ void join_splits(const AttentionArgs &a, int row, int all_heads, int head0, int heads,
                                            float *shares) {
  const int columns = heads * a.vd;
#pragma unroll 1
  for (int c0 = 0; c0 < columns; c0 += 2 * THREADS) {  // uniform over the block: the quantizing lanes act together
    const int flat = c0 + 2 * threadIdx.x, h = min(flat / a.vd, heads - 1), column = flat - h * a.vd;
    const float *from = partial_of(a, row, all_heads, head0 + h, 0) + column;
    float v[2] = {};
#pragma unroll 1
    for (int s0 = 0; s0 < a.splits; s0 += SPLITS_HELD) {
      float2 p[SPLITS_HELD];
#pragma unroll
      for (int j = 0; j < SPLITS_HELD; j++)
        p[j] = flat < columns && s0 + j < a.splits ? load_fresh2(from + (long long)(s0 + j) * (a.vd + 2)) : make_float2(0, 0);
      if (c0 == 0 && s0 == 0) {
        share_splits(a, row, all_heads, head0, heads, shares);
        __syncthreads();
      }
#pragma unroll
      for (int j = 0; j < SPLITS_HELD; j++) {
        const float share = s0 + j < a.splits ? shares[h * a.splits + s0 + j] : 0.0f;
        v[0] += share * p[j].x;
        v[1] += share * p[j].y;
      }
    }
    if (a.y.base != nullptr && flat < columns) {
      float *y = a.y.at(row) + head0 * a.vd + flat;
      y[0] = v[0], y[1] = v[1];
    }
    if (a.quantized.planes > 0) store_quantized<2>(a.quantized, row, head0 * a.vd + flat, v, flat < columns);
  }
}

template <int G, int C>
__device__ __forceinline__ void attention(const AttentionArgs &a) {
  float *q = reinterpret_cast<float *>(dynamic_shared);  // [G][hd]
  float *after = q + G * a.hd;
  const int row = blockIdx.z, split = blockIdx.y, all_heads = gridDim.x * a.per_block;
  const int head0 = blockIdx.x * a.per_block, kv = head0 / a.group;
  let_next_start();
  wait_for_previous();

  const int past = *a.position + row + 1;  // positions this row sees end here
  for (int i = threadIdx.x; i < G * a.hd; i += THREADS)
    q[i] = i < a.per_block * a.hd ? a.q[(long long)a.q_pitch * row + head0 * a.hd + i] : 0.0f;
  const int from = a.window > 0 ? max(0, past - a.window) : 0;
  const int share = (past - from + a.splits - 1) / a.splits;
  const int begin = from + split * share, end = min(past, begin + share);
  __syncthreads();

  State<G, C> s;
#pragma unroll
  for (int g = 0; g < G; g++) {
    s.peak[g] = LOWEST, s.sum[g] = 0.0f;
#pragma unroll
    for (int c = 0; c < C; c++) s.held[g][c] = make_float2(0, 0);
  }
#pragma unroll 1
  for (int first = begin + (threadIdx.x >> 5) * TEAMS; first < end; first += WARPS * TEAMS)
    add_positions<G, C>(a, a.keys + kv * a.hd, a.values + kv * a.vd, first, end, q, s);
  store_split<G, C>(a, s, row, all_heads, head0, split, after);

  const int joined = blockIdx.x / a.join * a.join;
  const int blocks = min(a.join, int(gridDim.x) - joined);
  if (arrives_last(a.counters + row * gridDim.x + joined, blocks * a.splits))
    join_splits(a, row, all_heads, joined * a.per_block, blocks * a.per_block, q);
}

#define ATTENTION(G, C)                                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS) attention_g##G##_c##C(                                        \
      const float *q, int q_pitch, const float *keys, int key_pitch, const float *values, int value_pitch,            \
      const int *position, int m, int group, int per_block, int hd, int vd, int window, const float *sinks,           \
      float scale, int splits, int join, float *partials, u32 *counters, float *y, int y_pitch, const int *y_row,     \
      i8 *qout, int q_planes) {                                                                                       \
    const AttentionArgs a{q, q_pitch, keys, key_pitch, values, value_pitch, position, group, per_block, hd, vd,       \
                          window, sinks, scale, splits, join, partials, counters, Rows{y, y_pitch, y_row},            \
                          Quantized{qout, q_planes, m, int(gridDim.x) * per_block * vd}};                             \
    attention<G, C>(a);                                                                                               \
  }

ATTENTION(2, 2)
ATTENTION(4, 2)
ATTENTION(8, 2)
ATTENTION(2, 4)
ATTENTION(8, 4)
