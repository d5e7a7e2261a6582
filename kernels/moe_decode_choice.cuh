// A mixture of one row: what every block makes of the router's outputs.
#pragma once
#include "moe_decode_router.cuh"

template <int FORMAT, int PLANES, int STEPS, int N>
__device__ __forceinline__ void sum_stored(const Batch<FORMAT, STEPS, N> &b, int word, int words, const char *x, int k,
                                           float (&sums)[1][N]) {
  if constexpr (IN_BLOCKS<FORMAT>)
    sum_blocks<FORMAT, INPUT_OF<PLANES>, 1, STEPS>(b, word, words, x, PLANES, 1, sums);
  else
    sum_batch<FORMAT, PLANES, 1, STEPS>(b, word, words, x, k, sums);
}

// ---- the choice -----------------------------------------------------------------------------------------------------
// Orders of experts, and which they are.
struct Candidates {
  u32 *orders;
  int *experts;
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

// How many of `count` orders in shared memory, read by fours, come before number `at`: those that are larger, and of equal
// ones the first.
__device__ __forceinline__ int orders_before(const u32 *orders, int count, u32 order, int at) {
  int before = 0;
#pragma unroll 8
  for (int i = 0; i < count; i += 4) {
    const uint4 o = *reinterpret_cast<const uint4 *>(orders + i);
    before += (o.x > order - (i < at)) + (o.y > order - (i + 1 < at)) + (o.z > order - (i + 2 < at)) +
              (o.w > order - (i + 3 < at));
  }
  return before;
}

template <int FORMAT>
__device__ __forceinline__ RowsAt rows_at(const Matrix &m, int row) {
  return {m.row(row), FORMAT == FORMAT_Q8_0 ? m.scales(row) : nullptr};
}

// Where a chosen expert's rows are; before the choice, the shared expert's.
template <int FORMAT, int DOWN>
__device__ __forceinline__ void find_rows(const MoeArgs &a, int slot, int expert, Choice &choice) {
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

constexpr int PART = 32;  // experts of which a warp takes the best

// The best of all parts, whole fours of them.
__device__ __forceinline__ int best_room(const MoeArgs &a) {
  return ((a.experts + PART - 1) / PART * min(PART, a.top_k) + 3) & ~3;
}

// The row's experts, once all blocks have told the router's outputs: each warp takes the best of 32, and of these each
// thread finds the place of one.
template <int FORMAT, int DOWN>
__device__ __forceinline__ void hear_choice(const MoeArgs &a, const DecodePlan &p, u32 *orders, const Candidates &best,
                                            Choice &choice) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, parts = (a.experts + PART - 1) / PART;
  const int each = min(PART, a.top_k);
#pragma unroll 1
  for (int part = warp; part < parts; part += MOE_WARPS) {
    const int expert = PART * part + lane;
    u32 order = SHUT;
    if (expert < a.experts) {
      do {
        order = listen(told_orders<DOWN>(a, p) + expert);
      } while (order == 0);
    }
    orders[expert] = order;
    __syncwarp();
    // Those that are none are the last of the last part.
    const int place = order == SHUT ? lane : orders_before(orders + PART * part, PART, order, lane);
    if (place < each) best.orders[part * each + place] = order, best.experts[part * each + place] = expert;
  }
  const int count = parts * each;
  if (threadIdx.x < ((4 - count) & 3)) best.orders[count + threadIdx.x] = SHUT;
  __syncthreads();
  if (a.groups > 1) {
    if (warp == 0) {
      choose<1>(a, orders, choice.chosen, choice.weights);
      __syncwarp();
      if (lane < a.top_k) find_rows<FORMAT, DOWN>(a, lane, choice.chosen[lane], choice);
    }
  } else {
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += MOE_THREADS) {
      const u32 order = best.orders[i];
      const int place = orders_before(best.orders, count, order, i);
      if (place >= a.top_k || order == SHUT) continue;
      const int expert = best.experts[i];
      choice.chosen[place] = expert, choice.orders[place] = order;
      find_rows<FORMAT, DOWN>(a, place, expert, choice);
    }
  }
  __syncthreads();
}

// The weights of the chosen, by one warp; behind them the shared expert's.
template <int DOWN>
__device__ __forceinline__ void weigh(const MoeArgs &a, const DecodePlan &p, const u32 *orders, Choice &choice) {
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
  if (lane == 0) {
    u32 order = 0;
    while (a.column.w != nullptr && order == 0) order = listen(told_orders<DOWN>(a, p) + a.experts);
    choice.weights[a.top_k] = order == 0 ? 1.0f : activate(ACT_SIGMOID, value_of(order));
  }
}
