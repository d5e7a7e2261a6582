// Causal attention of a step's rows over key and value tables, split over positions.
//
// A block takes one row, G heads of one key head and one range of positions, in tiles of TILE positions: scores by teams
// of 8 lanes, a running softmax by one warp a head, then the values. A split's unnormalised result, maximum and sum wait
// in `partials`; the block that arrives last for its heads joins the splits. Which positions a split takes follows from
// the position on the device, so that the grid depends on nothing but shapes.
#include "common.cuh"

constexpr int THREADS = 256;
constexpr int TILE = 64;
constexpr int TEAM = 8;  // lanes that share a position's key
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

// Scores of TILE positions from `first` on, into scores [G][TILE]; positions past `end` score LOWEST.
template <int G>
__device__ __forceinline__ void score_tile(const AttentionArgs &a, const float *keys, int first, int end,
                                           const float *q, float *scores) {
  const int team = threadIdx.x / TEAM, lane = threadIdx.x % TEAM, fours = a.hd / 4;
#pragma unroll
  for (int t = 0; t < TILE; t += THREADS / TEAM) {
    const int p = first + t + team;
    float dots[G] = {};
    const float *key = keys + (long long)min(p, end - 1) * a.key_pitch;
#pragma unroll 4
    for (int f = lane; f < fours; f += TEAM) {
      const float4 k = *reinterpret_cast<const float4 *>(key + 4 * f);
#pragma unroll
      for (int g = 0; g < G; g++) {
        const float4 x = reinterpret_cast<const float4 *>(q)[g * fours + f];
        dots[g] += k.x * x.x + k.y * x.y + k.z * x.z + k.w * x.w;
      }
    }
#pragma unroll
    for (int g = 0; g < G; g++) {
#pragma unroll
      for (int d = TEAM / 2; d > 0; d >>= 1) dots[g] += __shfl_xor_sync(ALL_LANES, dots[g], d);
      if (lane == 0) scores[g * TILE + t + team] = p < end ? dots[g] * a.scale : LOWEST;
    }
  }
}

// Turns a tile's scores of one head into weights against the running maximum; one warp a head.
// running [G][2]: maximum and sum; shrink [G]: what the values so far are multiplied by.
__device__ __forceinline__ void soften_tile(float *scores, float *running, float *shrink, int first, int end) {
  const int lane = threadIdx.x & 31;
  const float a = scores[lane], b = scores[lane + 32];
  const float before = running[0];
  const float peak = fmaxf(before, warp_max(fmaxf(a, b)));
  const float ea = first + lane < end ? expf(a - peak) : 0.0f, eb = first + lane + 32 < end ? expf(b - peak) : 0.0f;
  const float total = warp_sum(ea + eb), kept = expf(before - peak);
  scores[lane] = ea;
  scores[lane + 32] = eb;
  __syncwarp();
  if (lane == 0) {
    running[0] = peak;
    running[1] = running[1] * kept + total;
    *shrink = kept;
  }
}

// Joins the splits of `heads` heads from `head0` on: a warp a 32-column piece of a head (all of it to one block).
__device__ __forceinline__ void join_splits(const AttentionArgs &a, int row, int all_heads, int head0, int heads) {
  const int lane = threadIdx.x & 31, pieces = (a.vd + 31) / 32;
  const int columns = a.quantized.planes > 0 ? heads * a.vd : heads * pieces * 32;
#pragma unroll 1
  for (int c0 = (threadIdx.x >> 5) * 32; c0 < columns; c0 += THREADS) {
    // Quantized blocks run across heads; otherwise each piece stays within one.
    const int flat = c0 + lane;
    const bool packed = a.quantized.planes > 0;
    const int head = head0 + (packed ? flat / a.vd : c0 / 32 / pieces);
    const int column = packed ? flat % a.vd : (c0 / 32 % pieces) * 32 + lane;
    float v[1] = {};
    if (column < a.vd) {
      float peak = a.sinks != nullptr ? a.sinks[head] : LOWEST;
#pragma unroll 4
      for (int s = 0; s < a.splits; s++) peak = fmaxf(peak, load_fresh(partial_of(a, row, all_heads, head, s) + a.vd));
      float sum = a.sinks != nullptr ? expf(a.sinks[head] - peak) : 0.0f;
#pragma unroll 4
      for (int s = 0; s < a.splits; s++) {
        const float *p = partial_of(a, row, all_heads, head, s);
        const float share = expf(load_fresh(p + a.vd) - peak);
        sum += load_fresh(p + a.vd + 1) * share;
        v[0] += load_fresh(p + column) * share;
      }
      v[0] = sum > 0.0f ? v[0] / sum : 0.0f;
      if (a.y.base != nullptr) a.y.at(row)[head * a.vd + column] = v[0];
    }
    if (packed) store_quantized<1>(a.quantized, row, head0 * a.vd + flat, v, true);
  }
}

template <int G>
__device__ __forceinline__ void attention(const AttentionArgs &a) {
  float *q = reinterpret_cast<float *>(dynamic_shared);  // [G][hd]
  float *scores = q + G * a.hd;                          // [G][TILE]
  float *running = scores + G * TILE;                    // [G][2]
  float *shrink = running + 2 * G;                       // [G]
  float *sums = shrink + 2 * G;                          // [slots][G][vd]
  const int row = blockIdx.z, split = blockIdx.y, all_heads = gridDim.x * a.per_block;
  const int head0 = blockIdx.x * a.per_block, kv = head0 / a.group;
  let_next_start();
  wait_for_previous();

  for (int i = threadIdx.x; i < G * a.hd; i += THREADS)
    q[i] = i < a.per_block * a.hd ? a.q[(long long)a.q_pitch * row + head0 * a.hd + i] : 0.0f;
  if (threadIdx.x < G) running[2 * threadIdx.x] = LOWEST, running[2 * threadIdx.x + 1] = 0.0f;
  const int past = *a.position + row + 1;  // positions this row sees end here
  const int from = a.window > 0 ? max(0, past - a.window) : 0;
  const int share = (past - from + a.splits - 1) / a.splits;
  const int begin = from + split * share, end = min(past, begin + share);
  const float *keys = a.keys + kv * a.hd, *values = a.values + kv * a.vd;

  // Two columns a thread; where they do not fill the block, positions are dealt to slots of threads.
  const int pairs = a.vd / 2, slots = THREADS / pairs, slot = threadIdx.x / pairs, pair = threadIdx.x % pairs;
  float2 held[G] = {};
  __syncthreads();
#pragma unroll 1
  for (int first = begin; first < end; first += TILE) {
    score_tile<G>(a, keys, first, end, q, scores);
    __syncthreads();
    for (int g = threadIdx.x >> 5; g < G; g += THREADS / 32)
      soften_tile(scores + g * TILE, running + 2 * g, shrink + g, first, end);
    __syncthreads();
    if (slot < slots) {
#pragma unroll
      for (int g = 0; g < G; g++) held[g].x *= shrink[g], held[g].y *= shrink[g];
      const int count = min(TILE, end - first);
#pragma unroll 4
      for (int p = slot; p < count; p += slots) {
        const float2 v =
            *reinterpret_cast<const float2 *>(values + (long long)(first + p) * a.value_pitch + 2 * pair);
#pragma unroll
        for (int g = 0; g < G; g++) {
          held[g].x += scores[g * TILE + p] * v.x;
          held[g].y += scores[g * TILE + p] * v.y;
        }
      }
    }
    __syncthreads();
  }
  if (slot < slots) {
#pragma unroll
    for (int g = 0; g < G; g++)
      *reinterpret_cast<float2 *>(sums + ((long long)slot * G + g) * a.vd + 2 * pair) = held[g];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < a.per_block * (a.vd + 2); i += THREADS) {
    const int g = i / (a.vd + 2), c = i % (a.vd + 2);
    float v = 0.0f;
    if (c < a.vd) {
      for (int s = 0; s < slots; s++) v += sums[(s * G + g) * a.vd + c];
    } else {
      v = running[2 * g + c - a.vd];
    }
    partial_of(a, row, all_heads, head0 + g, split)[c] = v;
  }
  const int joined = blockIdx.x / a.join;
  const int blocks = min(a.join, int(gridDim.x) - joined * a.join);
  if (arrives_last(a.counters + row * gridDim.x + joined * a.join, blocks * a.splits))
    join_splits(a, row, all_heads, joined * a.join * a.per_block, blocks * a.per_block);
}

#define ATTENTION(G)                                                                                                  \
  extern "C" __global__ void __launch_bounds__(THREADS) attention_g##G(                                               \
      const float *q, int q_pitch, const float *keys, int key_pitch, const float *values, int value_pitch,            \
      const int *position, int m, int group, int per_block, int hd, int vd, int window, const float *sinks,           \
      float scale, int splits, int join, float *partials, u32 *counters, float *y, int y_pitch, const int *y_row,     \
      i8 *qout, int q_planes) {                                                                                       \
    const AttentionArgs a{q, q_pitch, keys, key_pitch, values, value_pitch, position, group, per_block, hd, vd,       \
                          window, sinks, scale, splits, join, partials, counters, Rows{y, y_pitch, y_row},            \
                          Quantized{qout, q_planes, m, int(gridDim.x) * per_block * vd}};                             \
    attention<G>(a);                                                                                                  \
  }

ATTENTION(1)
ATTENTION(2)
ATTENTION(4)
ATTENTION(8)
