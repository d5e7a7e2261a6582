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

// ---- queries --------------------------------------------------------------------------------------------------------
template <class F>
__device__ __forceinline__ Head head_of(const AttentionArgs &a, const Range &r, int split, int number) {
  const int queries = a.block_heads * a.block_rows, head0 = blockIdx.x * a.block_heads;
  if (number < queries) {
    const int line = number / a.block_heads, row = r.row0 + line;
    return Head{row < a.m, row, head0 + number - line * a.block_heads, false, number};
  }
  const int row = number - queries;
  const bool seen = a.turns.present && row < min(a.m, r.row0 + a.block_rows) &&
                    ((r.position + row) / F::TILE - r.first_tile) % a.splits == split;
  return Head{seen, row, head0 / a.group, true, F::QUERIES + row};
}

template <int MOST>
__device__ __forceinline__ void prepare_head(const AttentionArgs &a, const Range &r, const Head &h, float *q,
                                             Turned<MOST> &t) {
  if (h.there) t.prepare(a.turns, norm_of(a, h), r.position + h.row, a.hd, q + h.slot * a.hd);
}

template <int MOST>
__device__ __forceinline__ void turn_head(const AttentionArgs &a, const Range &r, const Head &h, float *q,
                                          Turned<MOST> &t) {
  if (!h.there) return;
  const float *src = h.key ? a.turns.k + (long long)a.turns.k_pitch * h.row + a.hd * h.head
                           : a.q + (long long)a.q_pitch * h.row + a.q_unit * h.head;
  float *table = reinterpret_cast<float *>(const_cast<Stored *>(a.keys)) +
                 (long long)a.key_pitch * (r.position + h.row) + a.hd * h.head;  // of f32, where heads are turned
  t.load(a.turns, src, a.hd);
  t.finish(a.turns, norm_of(a, h), a.hd, q + h.slot * a.hd, stores(a, r, h) ? table : nullptr);
}

// A query as it is.
template <class F>
__device__ __forceinline__ void hold_query(const AttentionArgs &a, const Head &h, float *q) {
  if (h.key || !h.there) return;
  const float *src = a.q + (long long)a.q_pitch * h.row + (long long)a.q_unit * h.head;
  const float *tail = a.q_tail + (long long)a.q_tail_pitch * h.row + (a.hd - a.head) * h.head - a.head;
#pragma unroll 4
  for (int c = threadIdx.x & 31; c < a.hd; c += 32) q[h.slot * a.hd + c] = F::TAILED && c >= a.head ? tail[c] : src[c];
}

// ---- the kernel -----------------------------------------------------------------------------------------------------
template <class F>
__device__ __forceinline__ void attention(const AttentionArgs &a) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, split = blockIdx.y;
  const int head0 = blockIdx.x * a.block_heads, kv = head0 / a.group;
  const bool turns = F::TURNS && a.turns.present;
  // The block's queries, [QUERIES][hd], then the step's own keys where they are turned here.
  float *q = reinterpret_cast<float *>(dynamic_shared), *own = q + F::QUERIES * a.hd;
  float *scratch = own + (turns ? a.m * a.hd : 0), *states = scratch + F::WARPS * F::SCRATCH;
  let_next_start();
  int position = 0;
#if __CUDA_ARCH__ >= 900
  if (a.early == EARLY_NOTHING) wait_for_previous();
#endif
  position = load_position(a.position);
  const Range r = range_of<F>(a, position);
  const int settled = a.early == EARLY_TABLES ? position : 0;  // the tables' rows before it are there already
  Tables t{a.keys + (long long)kv * (F::TAILED ? a.head : a.hd), a.values + (long long)kv * a.value_unit, own,
           turns ? position : MOST_ROWS};
  int first = first_unit<F>(a, r, split, warp);
  Unit<F> x;
  load_keys<F>(x, a, t, first, first, min(settled, r.past), 0);
  load_unit_values<F>(x, a, t, first, first, min(settled, r.past));
#if __CUDA_ARCH__ >= 900
  if (a.early == EARLY_POSITION) ask_for_unit<F>(a, t, first, r.past);
#endif
  Head h = head_of<F>(a, r, split, warp);
  Turned<F::WIDEST> head;
  if constexpr (F::TURNS)
    if (turns) prepare_head(a, r, h, q, head);
  if (warp < F::QUERIES && (h.key || !h.there))
    for (int c = lane; c < a.hd; c += 32) q[warp * a.hd + c] = 0.0f;
  const Place at(a, r, head0, a.block_heads, COLUMNS * threadIdx.x);
  const Scorer<F> me(a, r);
#if __CUDA_ARCH__ >= 900
  if (a.early != EARLY_NOTHING) wait_for_previous();
#endif
  if (split >= r.active) return;

  if (first + F::UNIT > settled) {
    load_unit_values<F, false>(x, a, t, first, settled, r.past);
    if (!turns) load_keys<F, false>(x, a, t, first, settled, r.past, 0);
  }
  if constexpr (F::TURNS) {
    if (turns) {
      turn_head(a, r, h, q, head);
      h = head_of<F>(a, r, split, warp + F::WARPS);
      prepare_head(a, r, h, q, head);
      turn_head(a, r, h, q, head);
    }
  }
  if (!turns) hold_query<F>(a, h, q);
  __syncthreads();
  if (turns && first + F::UNIT > settled) load_keys<F, false>(x, a, t, first, settled, r.past, 0);

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
    if (first >= r.past) break;
    load_keys<F>(x, a, t, first, first, r.past, 0);
    load_unit_values<F>(x, a, t, first, first, r.past);
  }
  const int blocks = a.join == 1 ? 1 : gridDim.x;
  const bool alone = blocks * r.active == 1;
  join_warps<F>(a, s, me, r, at, split, busy_warps<F>(a, r, split), alone, states);
  if (alone) return;
  const int joined = a.join == 1 ? blockIdx.x : 0;
  if (arrives_last(a.counters + a.row_block * gridDim.x + joined, blocks * r.active))
    join_splits<F>(a, r, at, joined * a.block_heads, blocks * a.block_heads);
}
