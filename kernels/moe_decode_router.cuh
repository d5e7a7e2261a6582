// The router of a mixture of one row. A block has a row of it or a few, and a thread multiplies the four values of x that
// it has staged itself: what it needs of a row comes before the wait, and no thread waits for another's part of x.
#pragma once
#include "moe_decode_stage.cuh"

// Four neighbouring values of a stored row, with their scales as they are stored.
struct Four {
  uint4 w;
  u32 super;
  u16 scale;
};

// Values 4f..4f+3 of a row of quantized values.
template <int FORMAT>
__device__ __forceinline__ void load_quants(Four &to, const Matrix &m, int r, int k, int f) {
  const char *row = m.row(r);
  const int block = f >> 3, j = f & 7;
  if constexpr (FORMAT == FORMAT_Q8_0) {
    to.w.x = load_word(row + 4 * f);
    to.scale = load_scale(m.scales(r) + 2 * block);
  } else {
    if constexpr (FORMAT == FORMAT_MXFP4)
      to.w.x = load_scale(row + 16 * block + 2 * j);
    else
      to.w.x = load_word(row + 16 * block + 4 * (j & 3));
    if constexpr (FORMAT == FORMAT_Q6_K) to.w.y = load_word(row + k / 2 + 8 * block + (j & 4));
    Block<FORMAT> b;
    load_scales<FORMAT>(b, row, k, block);
    to.scale = b.scale;
    if constexpr (HAS_SUPERS<FORMAT>) to.super = b.super;
  }
}

// By quantized x: `by` the four, `scale` their block's.
template <int FORMAT>
__device__ __forceinline__ float sum_quants(const Four &four, int f, u32 by, float scale) {
  const int j = f & 7;
  if constexpr (FORMAT == FORMAT_Q8_0) {
    return half_to_float(four.scale) * scale * float(__dp4a(int(four.w.x), int(by), 0));
  } else {
    u32 q = four.w.x >> (j & 4);
    if constexpr (FORMAT == FORMAT_MXFP4)
      q = decode_mxfp4(four.w.x);
    else if constexpr (FORMAT == FORMAT_Q6_K)
      q = ((q << 2) & 0x3c3c3c3cu) | ((four.w.y << (6 - 2 * (j & 3))) & 0xc0c0c0c0u);
    else
      q &= 0x0f0f0f0fu;
    const Block<FORMAT> b{{}, {}, four.scale, four.super};
    const BlockScales by_block = scales_of<FORMAT>(b);
    float sum = (j < 4 ? by_block.low : by_block.high) * float(__dp4a(int(q), int(by), 0));
    if constexpr (HAS_MINS<FORMAT>) sum -= by_block.min * float(__dp4a(0x01010101, int(by), 0));
    return scale * sum;
  }
}

// A block's rows are taken by items: a row's values that its threads take at a time.
struct Item {
  Matrix matrix;  // the router's, or the shared expert's gate, which is one row more
  int row, f;
};

__device__ __forceinline__ int turns_of(const MoeArgs &a) { return (a.width + 4 * MOE_THREADS - 1) / (4 * MOE_THREADS); }

// Of the row after `number` others, the turn.
__device__ __forceinline__ Item item_at(const MoeArgs &a, int number, int turn) {
  const int row = blockIdx.x + gridDim.x * number;
  const bool routes = row < a.experts;
  return {pick(routes, a.router, a.column), routes ? row : row - a.experts, int(threadIdx.x) + MOE_THREADS * turn};
}

template <int FORMAT>
__device__ __forceinline__ void load_item(const MoeArgs &a, const Item &at, Four &to) {
  if (at.f >= (a.width + 3) / 4) return;
  const char *row = at.matrix.row(at.row);
  if (at.matrix.format == FORMAT_F32) {
    to.w = load_weights(row + 16 * at.f);
  } else if (at.matrix.format <= FORMAT_BF16) {
    const uint2 both = load_words(row + 8 * at.f);
    to.w.x = both.x, to.w.y = both.y;
  } else if constexpr (FORMAT > FORMAT_BF16) {
    load_quants<FORMAT>(to, at.matrix, at.row, a.width, at.f);
  }
}

__device__ __forceinline__ float dot4(const float4 &w, const float4 &x) {
  return w.x * x.x + w.y * x.y + w.z * x.z + w.w * x.w;
}

template <int FORMAT, int PLANES>
__device__ __forceinline__ float sum_item(const MoeArgs &a, const Item &at, const Four &four, const char *x,
                                          const float4 *plain) {
  if (at.f >= (a.width + 3) / 4) return 0.0f;
  if (at.matrix.format == FORMAT_F32) return dot4(decode_four<FORMAT_F32>(four.w, 0), plain[at.f]);
  if (at.matrix.format == FORMAT_F16) return dot4(decode_four<FORMAT_F16>(four.w, 0), plain[at.f]);
  if (at.matrix.format == FORMAT_BF16) return dot4(decode_four<FORMAT_BF16>(four.w, 0), plain[at.f]);
  if constexpr (FORMAT > FORMAT_BF16) {
    const u32 by = reinterpret_cast<const u32 *>(x)[swizzled_pair<FORMAT>(at.f / 4) * 4 + at.f % 4];
    return sum_quants<FORMAT>(four, at.f, by, reinterpret_cast<const float *>(x + PLANES * a.width)[at.f / 8]);
  }
  return 0.0f;
}

// What a thread holds of its block's rows before the wait; further items are loaded when their turn comes.
constexpr int ITEMS_HELD = 4;
using Held = Four[ITEMS_HELD];

// Items in order: the turns of a row, then the next row.
struct Items {
  int number, turn;

  __device__ __forceinline__ bool left(const MoeArgs &a) const {
    return blockIdx.x + gridDim.x * number < a.experts + (a.column.w != nullptr);
  }
  __device__ __forceinline__ void next(int turns) {
    if (++turn == turns) turn = 0, number++;
  }
};

template <int FORMAT>
__device__ __forceinline__ void hold_items(const MoeArgs &a, Items &ahead, Held &held) {
  const int turns = turns_of(a);
#pragma unroll
  for (int i = 0; i < ITEMS_HELD; i++) {
    if (!ahead.left(a)) return;
    load_item<FORMAT>(a, item_at(a, ahead.number, ahead.turn), held[i]);
    ahead.next(turns);
  }
}

// Whether each block has at most one row, and all of it at hand.
__device__ __forceinline__ bool one_row(const MoeArgs &a) {
  return router_rows(a) <= gridDim.x && turns_of(a) <= ITEMS_HELD;
}

// A thread's part of the block's one row.
template <int FORMAT, int PLANES>
__device__ __forceinline__ float sum_row(const MoeArgs &a, const Item &first, const Held &held, const char *x,
                                         const float4 *plain) {
  if (blockIdx.x >= router_rows(a)) return 0.0f;
  float sum = 0.0f;
  Item at = first;
#pragma unroll
  for (int i = 0; i < ITEMS_HELD; i++, at.f += MOE_THREADS) {
    if (MOE_THREADS * 4 * i >= a.width) break;
    sum += sum_item<FORMAT, PLANES>(a, at, held[i], x, plain);
  }
  return sum;
}

// Two sums over the warp's lanes at once.
__device__ __forceinline__ float2 warp_sums(float2 v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) {
    v.x += __shfl_xor_sync(ALL_LANES, v.x, d);
    v.y += __shfl_xor_sync(ALL_LANES, v.y, d);
  }
  return v;
}

// What each warp adds to the block's rows: partial[row][warp].
template <int FORMAT, int PLANES>
__device__ __forceinline__ void sum_items(const MoeArgs &a, Held &held, Items &ahead, const char *x, const float4 *plain,
                                          float *partial) {
  const int turns = turns_of(a), lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float sum = 0.0f;
#pragma unroll 1
  for (Items at{0, 0}; at.left(a);) {
#pragma unroll
    for (int i = 0; i < ITEMS_HELD; i++) {
      if (!at.left(a)) break;
      sum += sum_item<FORMAT, PLANES>(a, item_at(a, at.number, at.turn), held[i], x, plain);
      if (at.turn == turns - 1) {
        sum = warp_sum(sum);
        if (lane == 0) partial[at.number * MOE_WARPS + warp] = sum;
        sum = 0.0f;
      }
      at.next(turns);
    }
    if (at.left(a)) hold_items<FORMAT>(a, ahead, held);
  }
}

// The bias of the row that a warp tells first.
__device__ __forceinline__ float router_bias_of(const MoeArgs &a, int number) {
  const int row = blockIdx.x + gridDim.x * number;
  return row < a.experts && a.router_bias != nullptr ? load_constant(a.router_bias + row) : 0.0f;
}

// Tells the block's outputs, a warp each: what the warps have added, times the factor of x, and the bias.
template <int DOWN>
__device__ __forceinline__ void tell_router(const MoeArgs &a, const DecodePlan &p, const float *partial, float factor,
                                            float bias) {
#pragma unroll 1
  for (int number = threadIdx.x >> 5; blockIdx.x + gridDim.x * number < router_rows(a);) {
    const float sum = sum_of_warps(partial + number * MOE_WARPS) * factor + bias;
    if ((threadIdx.x & 31) == 0) tell(told_orders<DOWN>(a, p) + blockIdx.x + gridDim.x * number, order_of(sum));
    number += MOE_WARPS;
    bias = router_bias_of(a, number);
  }
}
