// Which experts each row takes, by which weights, and the (row, expert) pairs in groups of one expert.
#pragma once
#include "moe_args.cuh"

// A float as a whole number of the same order, at least 1; NaN is the largest, and both zeros are one.
__device__ __forceinline__ u32 order_of(float v) {
  if (v != v) return ~0u;
  const u32 bits = __float_as_uint(v + 0.0f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

// One row by one warp: each round finds the best of what comes after the last, of equal ones the lowest index. The
// order of the scores is that of the router's outputs.
__device__ __forceinline__ void choose(const MoeArgs &a, const float *logits, int *chosen, float *weights) {
  const int lane = threadIdx.x & 31;
  u32 before = 0;
  int at = 0, mine = 0;
  float value = 0.0f, most = 0.0f;
#pragma unroll 1
  for (int t = 0; t < a.top_k; t++) {
    u32 best = 0;
    int best_at = a.experts;
#pragma unroll 4
    for (int e = lane; e < a.experts; e += 32) {
      const u32 key = order_of(logits[e]);
      const bool open = t == 0 || key < before || (key == before && e > at);
      if (open && key > best) best = key, best_at = e;
    }
    before = __reduce_max_sync(ALL_LANES, best);
    at = int(__reduce_min_sync(ALL_LANES, u32(best == before ? best_at : a.experts)));
    const float found = logits[at];
    if (t == 0) most = found;
    if (t == lane) mine = at, value = found;
  }
  const float share = lane < a.top_k ? expf(value - most) : 0.0f;
  float total = 0.0f;
  if (a.renormalize) {
    total = share;
  } else {
#pragma unroll 4
    for (int e = lane; e < a.experts; e += 32) total += expf(logits[e] - most);
  }
  total = warp_sum(total);
  if (lane < a.top_k) chosen[lane] = mine, weights[lane] = share / total;
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
      t.keys()[i] = a.router_bias == nullptr ? sum : sum + a.router_bias[i % a.experts];
    }
    __syncthreads();
    if (warp < count) {
      const int pair = (first + warp) * a.top_k;
      choose(a, t.keys() + warp * a.experts, t.chosen() + pair, t.chosen_weight() + pair);
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
