// Which experts each row takes, by which weights, and the (row, expert) pairs in groups of one expert.
#pragma once
#include "moe_args.cuh"

// A float as a whole number of the same order, at least 1; NaN is the largest, and both zeros are one.
__device__ __forceinline__ u32 order_of(float v) {
  if (v != v) return ~0u;
  const u32 bits = __float_as_uint(v + 0.0f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float value_of(u32 order) {
  return __uint_as_float(order >> 31 ? order & 0x7fffffffu : ~order);
}

constexpr u32 SHUT = 0;  // the order of an expert that is not to be chosen, below every number's

struct Place {
  u32 order;
  int at;
};

constexpr Place BEFORE_ALL{~0u, -1};

// By a warp: of experts [first, end) the best that comes after `last`, of equal ones the lowest. UNROLL: a kernel that
// rarely comes here keeps it short.
template <int UNROLL>
__device__ __forceinline__ Place next_best(const u32 *orders, int first, int end, Place last) {
  u32 best = SHUT;
  int best_at = end;
#pragma unroll UNROLL
  for (int e = first + (threadIdx.x & 31); e < end; e += 32) {
    const u32 order = orders[e];
    const bool open = order < last.order || (order == last.order && e > last.at);
    if (open && order > best) best = order, best_at = e;
  }
  const u32 found = __reduce_max_sync(ALL_LANES, best);
  return {found, int(__reduce_min_sync(ALL_LANES, u32(best == found ? best_at : end)))};
}

// By a warp, a lane a group: shuts all but the groups whose best scores, as many as `group_best`, sum highest, of equal
// sums the lowest. `most` is the largest of the router's outputs.
template <int UNROLL>
__device__ __forceinline__ void shut_groups(const MoeArgs &a, u32 *orders, float most) {
  const int lane = threadIdx.x & 31, size = a.experts / a.groups;
  u32 mine = 0;
#pragma unroll 1
  for (int g = 0; g < a.groups; g++) {
    Place last = next_best<UNROLL>(orders, g * size, (g + 1) * size, BEFORE_ALL);
    u32 order = last.order;  // of one score as of the router's output, which no rounding makes equal to another
    if (a.group_best > 1) {
      float sum = expf(value_of(last.order) - most);
#pragma unroll 1
      for (int t = 1; t < a.group_best; t++) {
        last = next_best<UNROLL>(orders, g * size, (g + 1) * size, last);
        sum += expf(value_of(last.order) - most);
      }
      order = order_of(sum);
    }
    if (lane == g) mine = order;
  }
  int above = 0;
#pragma unroll 4
  for (int g = 0; g < a.groups; g++) {
    const u32 other = __shfl_sync(ALL_LANES, mine, g);
    above += other > mine || (other == mine && g < lane);
  }
  const u32 kept = __ballot_sync(ALL_LANES, lane < a.groups && above < a.kept_groups);
  __syncwarp();  // every lane has read the last group
#pragma unroll 1
  for (int e = lane; e < a.experts; e += 32)
    if (!(kept >> (e / size) & 1)) orders[e] = SHUT;
  __syncwarp();
}

// One row by one warp, a round an expert. The order of the scores is that of the router's outputs.
template <int UNROLL = 4>
__device__ __forceinline__ void choose(const MoeArgs &a, u32 *orders, int *chosen, float *weights) {
  const int lane = threadIdx.x & 31;
  Place last = next_best<UNROLL>(orders, 0, a.experts, BEFORE_ALL);
  const float most = value_of(last.order);
  float total = 0.0f;
  if (!a.renormalize) {
#pragma unroll UNROLL
    for (int e = lane; e < a.experts; e += 32) total += expf(value_of(orders[e]) - most);
  }
  if (a.groups > 1) {
    shut_groups<UNROLL>(a, orders, most);
    last = BEFORE_ALL;
  }
  int mine = 0;
  float share = 0.0f;
#pragma unroll 1
  for (int t = 0; t < a.top_k; t++) {
    if (t > 0 || a.groups > 1) last = next_best<UNROLL>(orders, 0, a.experts, last);
    if (t == lane) mine = last.at, share = expf(value_of(last.order) - most);
  }
  total = warp_sum(a.renormalize ? share : total);
  if (lane < a.top_k) chosen[lane] = mine, weights[lane] = share / total * a.routed_scale;
}

// All rows of the pass, from the sums of the router's segments.
__device__ __forceinline__ void choose_all(const MoeArgs &a, const Tables &t) {
  const int warp = threadIdx.x >> 5;
#pragma unroll 1
  for (int first = 0; first < t.pass; first += a.choosers) {
    const int count = min(a.choosers, t.pass - first);
#pragma unroll 1
    for (int i = threadIdx.x; i < count * a.experts; i += MOE_THREADS) {
      const float *from = a.logits + first * a.experts + i;
      float sum = 0.0f;
#pragma unroll 8
      for (int s = 0; s < a.segments; s++) sum += load_fresh(from + (long long)s * t.pass * a.experts);
      t.orders()[i] = order_of(a.router_bias == nullptr ? sum : sum + a.router_bias[i % a.experts]);
    }
    __syncthreads();
    if (warp < count) {
      const int pair = (first + warp) * a.top_k;
      choose(a, t.orders() + warp * a.experts, t.chosen() + pair, t.chosen_weight() + pair);
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int r = threadIdx.x; r < t.pass; r += MOE_THREADS) {
    float sum = 0.0f;
    if (a.column.w != nullptr)
      for (int s = 0; s < a.column_segments; s++) sum += load_fresh(a.columns + s * t.pass + r);
    t.column()[r] = a.column.w == nullptr ? 1.0f : activate(ACT_SIGMOID, sum);
  }
}

// The pairs sorted by expert, then by row, in groups of up to RT of one expert. One row's pairs are a group each.
template <int RT>
__device__ __forceinline__ void group_pairs(const MoeArgs &a, Tables &t) {
  const int pairs = t.pass * a.top_k, lane = threadIdx.x & 31;
#pragma unroll 1
  for (int p = threadIdx.x; p < pairs; p += MOE_THREADS) {
    const int expert = t.chosen()[p];
    int place = p, within = 0;
    if (RT > 1) {
      place = 0;
#pragma unroll 4
      for (int q = 0; q < pairs; q++) {
        const int other = t.chosen()[q];
        const bool same_before = other == expert && q < p;
        within += same_before;
        place += same_before || other < expert;
      }
    }
    t.expert()[place] = expert;
    t.row()[place] = p / a.top_k;
    t.weight()[place] = t.chosen_weight()[p];
    t.head()[place] = within % RT == 0;
  }
  __syncthreads();
  int groups = 0;  // counted by every warp, stored by the first
#pragma unroll 1
  for (int first = 0; first < pairs; first += 32) {
    const bool head = first + lane < pairs && t.head()[first + lane] != 0;
    const u32 heads = __ballot_sync(ALL_LANES, head);
    if (threadIdx.x < 32 && head) t.start()[groups + __popc(heads & ((1u << lane) - 1))] = first + lane;
    groups += __popc(heads);
  }
  if (threadIdx.x == 0) t.start()[groups] = pairs;
  t.groups = groups;
  __syncthreads();
}
