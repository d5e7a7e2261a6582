// A mixture of one row up to its choice: the router's outputs, told to all blocks, and what every block makes of them.
#pragma once
#include "moe_decode_stage.cuh"

template <int FORMAT, int PLANES, int STEPS, int N>
__device__ __forceinline__ void sum_stored(const Batch<FORMAT, STEPS, N> &b, int word, int words, const char *x, int k,
                                           float (&sums)[1][N]) {
  if constexpr (IN_BLOCKS<FORMAT>)
    sum_blocks<FORMAT, INPUT_OF<PLANES>, 1, STEPS>(b, word, words, x, PLANES, 1, sums);
  else
    sum_batch<FORMAT, PLANES, 1, STEPS>(b, word, words, x, k, sums);
}

template <int FORMAT>
__device__ __forceinline__ const char *scales_of_row(const Matrix &m, int row) {
  return FORMAT == FORMAT_Q8_0 ? m.scales(row) : m.w;
}

// ---- the router -----------------------------------------------------------------------------------------------------
// What a warp takes of its block's row number `number`: words from `word` on, by its lanes.
struct RouterAt {
  int row, word, last;
  Matrix matrix;  // the router's, or the shared expert's gate, which is one row more
};

__device__ __forceinline__ RouterAt router_at(const MoeArgs &a, const DecodePlan &p, int number) {
  const int row = blockIdx.x + gridDim.x * number, part = (threadIdx.x >> 5) & ((1 << p.router_bits) - 1);
  const bool routes = row < a.experts;
  const Matrix m = pick(routes, a.router, a.column);
  const int each = (m.words + (1 << p.router_bits) - 1) >> p.router_bits;
  const int last = row < router_rows(a) ? min(m.words, (part + 1) * each) : 0;
  return {routes ? row : row - a.experts, part * each + int(threadIdx.x & 31), last, m};
}

template <int FORMAT>
__device__ __forceinline__ void load_router(const MoeArgs &a, const RouterAt &at, Block<FORMAT> &held) {
  if (at.word >= at.last) return;
  if (FORMAT <= FORMAT_BF16 || at.matrix.format <= FORMAT_BF16)
    held.quants = load_weights(at.matrix.row(at.row) + 16 * at.word);
  else
    load_stored<FORMAT>(held, at.matrix.row(at.row), scales_of_row<FORMAT>(at.matrix, at.row), a.width, at.word);
}

// A load of a plain row by x in f32, in order.
template <int PLAIN>
__device__ __forceinline__ float sum_plain(const uint4 &quants, const float4 *x, int word) {
  constexpr int FOURS = VALUES<PLAIN> / 4;
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < FOURS; j++) {
    const float4 w = decode_four<PLAIN>(quants, j), by = x[word * FOURS + j];
    sum += w.x * by.x + w.y * by.y + w.z * by.z + w.w * by.w;
  }
  return sum;
}

template <int FORMAT, int PLANES>
__device__ __forceinline__ float sum_router(const MoeArgs &a, const RouterAt &at, const Block<FORMAT> &held,
                                            const char *x, const float4 *plain) {
  if (at.matrix.format == FORMAT_F32) return sum_plain<FORMAT_F32>(held.quants, plain, at.word);
  if (at.matrix.format == FORMAT_F16) return sum_plain<FORMAT_F16>(held.quants, plain, at.word);
  if (at.matrix.format == FORMAT_BF16) return sum_plain<FORMAT_BF16>(held.quants, plain, at.word);
  float sums[1][1] = {};
  if constexpr (FORMAT > FORMAT_BF16) {
    Batch<FORMAT, 1, 1> one;
    one.w[0][0] = held;
    sum_stored<FORMAT, PLANES>(one, at.word, at.matrix.words, x, a.width, sums);
  }
  return sums[0][0];
}

// The block's router outputs; `held` is the warp's first load, of `at`.
template <int FORMAT, int DOWN, int PLANES>
__device__ __forceinline__ void tell_router(const MoeArgs &a, const DecodePlan &p, RouterAt at, Block<FORMAT> &held,
                                            const char *x, const float4 *plain, float *partial) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, bits = p.router_bits;
#pragma unroll 1
  for (int number = warp >> bits; blockIdx.x + gridDim.x * number < router_rows(a);) {
    float sum = 0.0f;
#pragma unroll 1
    while (at.word < at.last) {
      sum += sum_router<FORMAT, PLANES>(a, at, held, x, plain);
      at.word += 32;
      load_router<FORMAT>(a, at, held);
    }
    sum = warp_sum(sum);
    if (lane == 0) partial[(number << bits) + (warp & ((1 << bits) - 1))] = sum;
    number += MOE_WARPS >> bits;
    at = router_at(a, p, number);
    load_router<FORMAT>(a, at, held);
  }
  __syncthreads();
  const int row = blockIdx.x + gridDim.x * threadIdx.x;
  if (row >= router_rows(a)) return;
  float sum = row < a.experts && a.router_bias != nullptr ? a.router_bias[row] : 0.0f;
#pragma unroll 1
  for (int s = 0; s < 1 << bits; s++) sum += partial[(threadIdx.x << bits) + s];
  tell(told_orders<DOWN>(a, p) + row, order_of(sum));
}

// ---- the choice -----------------------------------------------------------------------------------------------------
constexpr int LANE_ORDERS = 4;
constexpr int WARP_ORDERS = 32 * LANE_ORDERS;
constexpr int MOST_EXPERTS = MOE_WARPS * WARP_ORDERS;  // of which each warp's best are as many as one warp takes, at most

struct Candidates {
  u32 orders[WARP_ORDERS];
  int experts[WARP_ORDERS];
};

// Where an expert's rows of a matrix begin, and their scales.
struct RowsAt {
  const char *w, *scale;
};

struct Choice {
  RowsAt gate[MOST_KEPT + 1], up[MOST_KEPT + 1], down[MOST_KEPT + 1];  // of the chosen, then of the shared expert
  int chosen[MOST_KEPT];
  u32 orders[MOST_KEPT];  // of the chosen
  float weights[MOST_KEPT + 1];
};

__device__ __forceinline__ void order_pair(u32 &order, int &expert, u32 &later, int &later_expert) {
  const bool turned = later > order || (later == order && later_expert < expert);
  const u32 o = order;
  const int e = expert;
  if (turned) order = later, expert = later_expert, later = o, later_expert = e;
}

// The best `kept` of at most WARP_ORDERS experts by one warp, of equal ones the lowest: each lane sorts its own, and the
// one that a round takes from has its next one ready.
__device__ __forceinline__ void take_best(const u32 *orders, const int *experts, int first, int count, int kept,
                                          u32 *best_orders, int *best) {
  const int lane = threadIdx.x & 31;
  u32 o[LANE_ORDERS];
  int e[LANE_ORDERS];
#pragma unroll
  for (int i = 0; i < LANE_ORDERS; i++) {
    const int at = lane + 32 * i;
    o[i] = at < count ? orders[at] : SHUT;
    e[i] = experts == nullptr || at >= count ? first + at : experts[at];
  }
  order_pair(o[0], e[0], o[1], e[1]), order_pair(o[2], e[2], o[3], e[3]);
  order_pair(o[0], e[0], o[2], e[2]), order_pair(o[1], e[1], o[3], e[3]);
  order_pair(o[1], e[1], o[2], e[2]);
#pragma unroll 1
  for (int t = 0; t < kept; t++) {
    const u32 most = __reduce_max_sync(ALL_LANES, o[0]);
    const int at = int(__reduce_min_sync(ALL_LANES, o[0] == most ? u32(e[0]) : ~0u));
    if (lane == 0) best_orders[t] = most, best[t] = at;
    if (o[0] == most && e[0] == at) {
#pragma unroll
      for (int i = 1; i < LANE_ORDERS; i++) o[i - 1] = o[i], e[i - 1] = e[i];
      o[LANE_ORDERS - 1] = SHUT;
    }
  }
}

template <int FORMAT>
__device__ __forceinline__ RowsAt rows_at(const Matrix &m, int row) {
  return {m.row(row), FORMAT == FORMAT_Q8_0 ? m.scales(row) : nullptr};
}

// Where the chosen experts' rows are, a lane each; before the choice, the shared expert's.
template <int FORMAT, int DOWN>
__device__ __forceinline__ void find_rows(const MoeArgs &a, Choice &choice) {
  const int slot = threadIdx.x;
  if (slot >= a.top_k) return;
  const int expert = choice.chosen[slot];
  choice.gate[slot] = rows_at<FORMAT>(a.gate, expert * a.hidden);
  choice.up[slot] = rows_at<FORMAT>(a.up, expert * a.hidden);
  choice.down[slot] = rows_at<DOWN>(a.down, expert * a.width);
}

template <int FORMAT, int DOWN>
__device__ __forceinline__ void find_shared_rows(const MoeArgs &a, Choice &choice) {
  if (a.shared_hidden == 0 || threadIdx.x > 0) return;
  choice.gate[a.top_k] = rows_at<FORMAT>(a.shared_gate, 0);
  choice.up[a.top_k] = rows_at<FORMAT>(a.shared_up, 0);
  choice.down[a.top_k] = rows_at<DOWN>(a.shared_down, 0);
}

// The row's experts, once all blocks have told the router's outputs.
template <int FORMAT, int DOWN>
__device__ __forceinline__ void hear_choice(const MoeArgs &a, const DecodePlan &p, u32 *orders, Candidates &candidates,
                                            Choice &choice) {
  const int warp = threadIdx.x >> 5;
#pragma unroll 1
  for (int e = threadIdx.x; e < router_rows(a); e += MOE_THREADS) {
    u32 order;
    do {
      order = listen(told_orders<DOWN>(a, p) + e);
    } while (order == 0);
    orders[e] = order;
  }
  __syncthreads();
  const int parts = (a.experts + WARP_ORDERS - 1) / WARP_ORDERS;
  if (a.groups > 1) {
    if (warp == 0) choose<1>(a, orders, choice.chosen, choice.weights);
  } else {
    const u32 *from = orders + warp * WARP_ORDERS;
    const int *named = nullptr;
    int count = a.experts - warp * WARP_ORDERS;
    bool last = parts == 1;
#pragma unroll 1
    while (true) {
      if (warp < (last ? 1 : parts))
        take_best(from, named, warp * WARP_ORDERS, min(count, WARP_ORDERS), a.top_k,
                  last ? choice.orders : candidates.orders + warp * a.top_k,
                  last ? choice.chosen : candidates.experts + warp * a.top_k);
      if (last) break;
      __syncthreads();
      from = candidates.orders, named = candidates.experts, count = parts * a.top_k, last = true;
    }
  }
  if (warp == 0) {
    __syncwarp();
    find_rows<FORMAT, DOWN>(a, choice);
  }
  __syncthreads();
}

// The weights of the chosen, by one warp; behind them the shared expert's.
__device__ __forceinline__ void weigh(const MoeArgs &a, const u32 *orders, Choice &choice) {
  const int lane = threadIdx.x & 31;
  if (a.groups <= 1) {
    const float most = value_of(choice.orders[0]);
    const float share = lane < a.top_k ? expf(value_of(choice.orders[lane]) - most) : 0.0f;
    float total = share;
    if (!a.renormalize) {
      total = 0.0f;
#pragma unroll 1
      for (int e = lane; e < a.experts; e += 32) total += expf(value_of(orders[e]) - most);
    }
    total = warp_sum(total);
    if (lane < a.top_k) choice.weights[lane] = share / total * a.routed_scale;
  }
  if (lane == 0)
    choice.weights[a.top_k] = a.column.w == nullptr ? 1.0f : activate(ACT_SIGMOID, value_of(orders[a.experts]));
}
