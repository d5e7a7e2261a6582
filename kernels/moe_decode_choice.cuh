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

// Where a stored row begins, and its scales.
struct RowsAt {
  const char *w, *scale;
};

struct Choice {
  const char *scales[6];  // before gate's, up's and down's, then the shared expert's
  int chosen[MOST_KEPT];
  u32 orders[MOST_KEPT];  // of the chosen
  float weights[MOST_KEPT + 1];
};

// How many of `count` orders in shared memory, read by fours, come before number `at`: those that are larger, and of equal
// ones the first.
__device__ __forceinline__ int orders_before(const u32 *orders, int count, u32 order, int at) {
  int before[4] = {};
#pragma unroll 8
  for (int i = 0; i < count; i += 4) {
    const uint4 o = *reinterpret_cast<const uint4 *>(orders + i);
    const u32 last = order - (i + 3 < at);
    before[0] += o.x > last, before[1] += o.y > last, before[2] += o.z > last, before[3] += o.w > last;
  }
  const uint4 own = *reinterpret_cast<const uint4 *>(orders + (at & ~3));
  const int ahead = at & 3;
  const int equal = (ahead > 0 && own.x == order) + (ahead > 1 && own.y == order) + (ahead > 2 && own.z == order);
  return (before[0] + before[1]) + (before[2] + before[3]) + equal;
}

// Of q8_0, whose scales lie apart; needed once the block has met.
template <int FORMAT, int DOWN>
__device__ __forceinline__ void find_scales(const MoeArgs &a, Choice &choice) {
  if (threadIdx.x > 0) return;
  if constexpr (FORMAT == FORMAT_Q8_0) {
    choice.scales[0] = a.gate.scales(0), choice.scales[1] = a.up.scales(0);
    choice.scales[3] = a.shared_gate.scales(0), choice.scales[4] = a.shared_up.scales(0);
  }
  if constexpr (DOWN == FORMAT_Q8_0)
    choice.scales[2] = a.down.scales(0), choice.scales[5] = a.shared_down.scales(0);
}

// Of an expert's matrix number `which`, the shared expert's behind them.
template <int FORMAT>
__device__ __forceinline__ RowsAt row_at(const Choice &choice, int which, const char *w, int pitch, int row) {
  const char *scales = FORMAT == FORMAT_Q8_0 ? choice.scales[which] + (long long)row * (pitch / (QBLOCK / 2)) : w;
  return {w + (long long)row * pitch, scales};
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
    }
  } else {
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += MOE_THREADS) {
      const u32 order = best.orders[i];
      const int expert = best.experts[i];
      const int place = orders_before(best.orders, count, order, i);
      if (place >= a.top_k || order == SHUT) continue;
      choice.chosen[place] = expert, choice.orders[place] = order;
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
