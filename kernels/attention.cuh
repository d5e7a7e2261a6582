// Causal attention of a step's rows over key and value tables, split over positions.
//
// A block takes a few queries (heads of one key head, rows of the step) and one split of the positions. Each of its
// warps goes through units of a few positions by itself: teams of 8 lanes score a position with every query, each lane
// ends up with one query's score of one position, a running softmax follows, and the lanes add the values by columns.
// The warps' states are joined in shared memory. A split's state waits in `partials`, and the block that arrives last
// for its queries joins them. Where there are few positions, one split sees them all and nothing waits.
//
// What a decoding step pays for is latency, so the chain of things that wait for each other is kept short:
//   - which positions a split takes follows from the position on the device, and grids from shapes alone. A position
//     that nothing in the step writes is read before the launch ahead has ended, and the rows that a warp reads first
//     are asked into the second-level cache then: the tables' older rows come from memory while the launch ahead ends;
//   - a warp's keys and values of a unit are all in flight together, 16 bytes a lane where the sizes allow;
//   - a unit's weights cost one exponential a lane and pass through shared memory, not one shuffle each;
//   - exponentials are powers of two, of scores scaled by log2(e), one instruction each, so that every thread that
//     joins states works out their shares for itself: one barrier joins the warps of a block, and what joins the splits
//     loads their states and their values together.
#pragma once
#include "attention_join.cuh"

// ---- the kernel -----------------------------------------------------------------------------------------------------
// The block's queries into shared memory, [QUERIES][hd]; those that are not there are zeros.
template <class F>
__device__ __forceinline__ void hold_queries(const AttentionArgs &a, const Range &r, float *q) {
  const int head0 = blockIdx.x * a.block_heads;
  for (int i = threadIdx.x; i < F::QUERIES * a.hd; i += F::THREADS) {
    const int g = i / a.hd, c = i - g * a.hd, row = r.row0 + g / a.block_heads, head = head0 + g % a.block_heads;
    float v = 0.0f;
    if (g < a.block_heads * a.block_rows && row < a.m) {
      const float *from = a.q + (long long)a.q_pitch * row + (long long)a.q_unit * head + c;
      if constexpr (F::TAILED)
        if (c >= a.head)
          from = a.q_tail + (long long)a.q_tail_pitch * row + (long long)(a.hd - a.head) * head + c - a.head;
      v = *from;
    }
    q[i] = v;
  }
}

template <class F>
__device__ __forceinline__ void attention(const AttentionArgs &a) {
  float *q = reinterpret_cast<float *>(dynamic_shared);
  float *scratch = q + F::QUERIES * a.hd, *states = scratch + F::WARPS * F::SCRATCH;
  const int warp = threadIdx.x >> 5, split = blockIdx.y, kv = blockIdx.x * a.block_heads / a.group;
  const Tables t{a.keys + (long long)kv * (F::TAILED ? a.head : a.hd), a.values + (long long)kv * a.value_unit};
  let_next_start();
  int position = 0;
#if __CUDA_ARCH__ >= 900
  if (a.early) {
    position = load_position(a.position);
    const Range r = range_of<F>(a, position);
    ask_for_unit<F>(a, t, first_unit<F>(a, r, split, warp), r.past);
  }
  wait_for_previous();
  if (!a.early) position = load_position(a.position);
#else
  position = load_position(a.position);
#endif
  const Range r = range_of<F>(a, position);
  if (split >= r.active) return;

  Unit<F> x;
  int first = first_unit<F>(a, r, split, warp);
  if (first < r.past) load_unit<F>(x, a, t, first, r.past);
  hold_queries<F>(a, r, q);
  const int head0 = blockIdx.x * a.block_heads;
  const Place at(a, r, head0, a.block_heads, COLUMNS * threadIdx.x);
  __syncthreads();

  const Scorer<F> me(a, r);
  State<F> s;
  s.peak = LOWEST, s.sum = 0.0f;
#pragma unroll
  for (int g = 0; g < F::QUERIES; g++)
#pragma unroll
    for (int c = 0; c < F::PARTS; c++)
#pragma unroll
      for (int i = 0; i < F::VECTOR; i++) s.held[g][c][i] = 0.0f;
#pragma unroll 1
  while (first < r.past) {
    add_unit<F>(s, x, a, t, me, first, r.past, reinterpret_cast<const float4 *>(q), scratch + warp * F::SCRATCH);
    first += F::TILE * a.splits;
    if (first < r.past) load_unit<F>(x, a, t, first, r.past);
  }
  const int blocks = a.join == 1 ? 1 : gridDim.x;
  const bool alone = blocks * r.active == 1;
  join_warps<F>(a, s, me, r, at, split, busy_warps<F>(a, r, split), alone, states);
  if (alone) return;
  const int joined = a.join == 1 ? blockIdx.x : 0;
  if (arrives_last(a.counters + a.row_block * gridDim.x + joined, blocks * r.active))
    join_splits<F>(a, r, at, joined * a.block_heads, blocks * a.block_heads);
}
