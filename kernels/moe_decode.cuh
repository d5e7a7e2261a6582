// A mixture of experts of one row, streamed at the memory's speed: its formats are the entry's, and a block waits for
// others only where it loads what they tell (moe_told.cuh).
//
// The row's products are shared out over all warps of the grid, as even as they come:
//   1  the router: a block takes rows of it, and its warps share each; outputs are told as whole numbers of their order
//   2  every block chooses by itself
//   3  gate and up: a warp takes a row of both, the shared expert's first; what it makes is told
//   4  down: a warp takes an output, or shares it: the rows of all chosen experts, one behind the other
// What can be loaded before it is waited for, is: the router's rows before the launch ahead has ended, the shared expert's
// before the choice, and the rows of down before the hidden values that they are multiplied by.
#pragma once
#include "moe_decode_choice.cuh"

// ---- a warp's loads -------------------------------------------------------------------------------------------------
// A warp's loads are a sequence of batches: of its pairs of rows of gate and up, one after another, then of its outputs of
// down. One batch is summed while the next is on its way.
template <int FORMAT>
constexpr int PAIR_STEPS = IN_BLOCKS<FORMAT> ? 2 : 4;
// Of an output of down fewer: the hidden rows are staged while two batches are on their way.
template <int FORMAT>
constexpr int DOWN_LOADS = IN_BLOCKS<FORMAT> ? 3 : 6;

enum Holds { NOTHING, PAIR_ROWS, DOWN_ROWS };

template <int FORMAT>
struct Loads {
  int holds;
  int unit;  // a pair, or an output
  int word;  // the first lane's first
  Batch<FORMAT, PAIR_STEPS<FORMAT>> batch;
  u32 scales[NR];  // of q8_0, two a word: those of a lane's own loads would take four times the registers
};

// Where the next batch comes from: pairs first; then outputs of down, by tiles of a block's warps.
struct Cursor {
  bool down;
  int unit;  // or a tile
  int word;  // or a batch of the warp's share
};

// Among the chosen, the shared expert behind them, and within its outputs.
struct PairAt {
  int slot, output;
};

__device__ __forceinline__ PairAt pair_at(const MoeArgs &a, const DecodePlan &p, int unit) {
  const int routed = unit - a.shared_hidden;
  if (routed < 0) return {a.top_k, unit};
  const int slot = quotient(routed, p.per_hidden);
  return {slot, routed - slot * a.hidden};
}

// A row behind an expert's first, and its scales; all rows of an expert take less than 4 GiB.
template <int FORMAT>
__device__ __forceinline__ RowsAt row_at(const RowsAt &rows, u32 bytes) {
  return {rows.w + bytes, FORMAT == FORMAT_Q8_0 ? rows.scale + bytes / (QBLOCK / 2) : rows.w};
}

template <int FORMAT>
__device__ __forceinline__ void load_pair(const MoeArgs &a, const DecodePlan &p, const Choice &choice, Cursor &at,
                                          Loads<FORMAT> &to) {
  const PairAt pair = pair_at(a, p, at.unit);
  const u32 bytes = u32(pair.output) * u32(a.gate.pitch);
  const RowsAt gate = row_at<FORMAT>(choice.gate[pair.slot], bytes), up = row_at<FORMAT>(choice.up[pair.slot], bytes);
  const Streams s{{gate.w, up.w}, {gate.scale, up.scale}};
  const int lane = threadIdx.x & 31;
  to.holds = PAIR_ROWS, to.unit = at.unit, to.word = at.word;
  if constexpr (FORMAT == FORMAT_Q8_0) {
#pragma unroll
    for (int i = 0; i < NR; i++) {
#pragma unroll
      for (int u = 0; u < PAIR_STEPS<FORMAT>; u++) {
        const int word = at.word + 32 * u + lane;
        if (word < a.gate.words) to.batch.w[u][i].quants = load_weights(s.w[i] + 16 * word);
      }
      if (at.word + 4 * lane < a.gate.words) to.scales[i] = load_word(s.scale[i] + at.word + 4 * lane);
    }
  } else {
    load_batch<FORMAT>(to.batch, s, at.word + lane, a.gate.words, a.width);
  }
  at.word += 32 * PAIR_STEPS<FORMAT>;
  if (at.word >= a.gate.words) at.word = 0, at.unit += gridDim.x * MOE_WARPS;
}

struct DownShare {
  int first, last;  // words of an output's rows that are the warp's
};

__device__ __forceinline__ DownShare down_share(const DecodePlan &p) {
  const int each = (((p.down_words + (1 << p.split_bits) - 1) >> p.split_bits) + 3) & ~3;  // whole words of scales
  const int first = ((threadIdx.x >> 5) & ((1 << p.split_bits) - 1)) * each;
  return {first, min(p.down_words, first + each)};
}

// A block of one format as one of another: fields that a format has not are never touched.
template <int TO, int FROM>
__device__ __forceinline__ Block<TO> same_block(const Block<FROM> &b) {
  return {b.quants, b.high, b.scale, b.super};
}

template <int FORMAT, int DOWN>
__device__ __forceinline__ void load_down(const MoeArgs &a, const DecodePlan &p, const Choice &choice, Cursor &at,
                                          Loads<FORMAT> &to) {
  const DownShare share = down_share(p);
  to.holds = DOWN_ROWS, to.word = share.first + at.word * (32 * DOWN_LOADS<DOWN>);
  to.unit = (at.unit * MOE_WARPS + int(threadIdx.x >> 5)) >> p.split_bits;
  const bool inside = to.unit < a.width;
  const u32 routed_bytes = u32(to.unit) * u32(a.down.pitch), shared_bytes = u32(to.unit) * u32(a.shared_down.pitch);
#pragma unroll
  for (int u = 0; u < DOWN_LOADS<DOWN>; u++) {
    const int word = to.word + 32 * u + (threadIdx.x & 31);
    if (!inside || word >= share.last) continue;
    const int slot = min(quotient(word, p.per_words), a.top_k);
    const bool shared = slot == a.top_k;
    const char *row = choice.down[slot].w + (shared ? shared_bytes : routed_bytes);
    Block<DOWN> block;
    if constexpr (DOWN == FORMAT_Q8_0)
      block.quants = load_weights(row + 16 * (word - slot * a.down.words));
    else
      load_stored<DOWN>(block, row, row, shared ? a.shared_hidden : a.hidden, word - slot * a.down.words);
    to.batch.w[u / NR][u % NR] = same_block<FORMAT>(block);
  }
  if constexpr (DOWN == FORMAT_Q8_0) {
#pragma unroll
    for (int i = 0; i < NR; i++) {
      const int word = to.word + 128 * i + 4 * (threadIdx.x & 31);
      if (!inside || word >= share.last) continue;
      const int slot = min(quotient(word, p.per_words), a.top_k);
      const u32 bytes = slot == a.top_k ? shared_bytes : routed_bytes;
      to.scales[i] = load_word(choice.down[slot].scale + bytes / (QBLOCK / 2) + (word - slot * a.down.words));
    }
  }
  if (++at.word >= p.down_batches) at.word = 0, at.unit += gridDim.x;
}

// ---- sums -----------------------------------------------------------------------------------------------------------
// The scale of the load that lies 32 * step + lane behind a batch's first, of which each lane holds four loads' scales.
__device__ __forceinline__ u16 scale_of(u32 scales, int step) {
  const int lane = threadIdx.x & 31;
  const u32 both = __shfl_sync(ALL_LANES, scales, 8 * step + lane / 4);
  return u16(lane & 2 ? both >> 16 : both);
}

template <int FORMAT, int DOWN, int PLANES>
__device__ __forceinline__ void sum_pair(const MoeArgs &a, const DecodePlan &p, const Choice &choice,
                                         Loads<FORMAT> &loads, const char *x, float (&sums)[1][NR]) {
  const int lane = threadIdx.x & 31;
  if constexpr (FORMAT == FORMAT_Q8_0) {
#pragma unroll
    for (int u = 0; u < PAIR_STEPS<FORMAT>; u++)
#pragma unroll
      for (int i = 0; i < NR; i++) loads.batch.w[u][i].scale = scale_of(loads.scales[i], u);
  }
  sum_stored<FORMAT, PLANES>(loads.batch, loads.word + lane, a.gate.words, x, a.width, sums);
  if (loads.word + 32 * PAIR_STEPS<FORMAT> < a.gate.words) return;  // more of the rows is to come
  float gate = warp_sum(sums[0][0]), up = warp_sum(sums[0][1]);
  sums[0][0] = sums[0][1] = 0.0f;
  const PairAt pair = pair_at(a, p, loads.unit);
  const bool shared = pair.slot == a.top_k;
  u32 *to = told_hidden(a) + pair.slot * a.down.words * VALUES<DOWN> + pair.output;
  if (lane == 0) {
    if (!shared && a.gate_bias != nullptr) gate += a.gate_bias[choice.chosen[pair.slot] * a.hidden + pair.output];
    if (!shared && a.up_bias != nullptr) up += a.up_bias[choice.chosen[pair.slot] * a.hidden + pair.output];
    tell(to, told(joined(a.act, a.limit, gate, up)));
  }
  if constexpr (PLANES == 0) {  // loads of a stored row go past its end
    const int hidden = shared ? a.shared_hidden : a.hidden, words = shared ? a.shared_down.words : a.down.words;
    if (lane > 0 && pair.output == hidden - 1 && pair.output + lane < words * VALUES<DOWN>) tell(to + lane, told(0.0f));
  }
}

// Adds a batch's products; true where it is the last of the output's.
template <int FORMAT, int DOWN, int PLANES>
__device__ __forceinline__ bool sum_down(const MoeArgs &a, const DecodePlan &p, const Choice &choice,
                                         Loads<FORMAT> &loads, const char *hidden, float &sum) {
  const int lane = threadIdx.x & 31;
  const DownShare share = down_share(p);
  const bool inside = loads.unit < a.width, begins = inside && loads.word == 0;
  float plus = 0.0f;  // on its way while the products are summed
  if (begins && lane == 0 && a.plus != nullptr) plus = load_fresh(a.plus + loads.unit);
  if (begins && lane < a.top_k && a.down_bias != nullptr)
    sum += choice.weights[lane] * a.down_bias[choice.chosen[lane] * a.width + loads.unit];
#pragma unroll
  for (int u = 0; u < DOWN_LOADS<DOWN>; u++) {
    const int word = loads.word + 32 * u + lane;
    Batch<DOWN, 1, 1> one;
    one.w[0][0] = same_block<DOWN>(loads.batch.w[u / NR][u % NR]);
    if constexpr (DOWN == FORMAT_Q8_0) one.w[0][0].scale = scale_of(loads.scales[u / 4], u % 4);
    if (!inside || word >= share.last) continue;
    float s[1][1] = {};
    sum_stored<DOWN, PLANES>(one, word, p.down_words, hidden, p.down_words * VALUES<DOWN>, s);
    sum += choice.weights[min(quotient(word, p.per_words), a.top_k)] * s[0][0];
  }
  sum += plus;
  return loads.word + 32 * DOWN_LOADS<DOWN> >= share.first + p.down_batches * (32 * DOWN_LOADS<DOWN>);
}

// An output's sum over its warps, in their order.
__device__ __forceinline__ void store_output(const MoeArgs &a, const DecodePlan &p, int output, float &sum,
                                             float *shares) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, split = 1 << p.split_bits;
  float v = warp_sum(sum);
  sum = 0.0f;
  if (split > 1) {
    if (lane == 0) shares[warp] = v;
    __syncthreads();
    v = 0.0f;
#pragma unroll 1
    for (int s = 0; s < split; s++) v += shares[(warp & ~(split - 1)) + s];
    __syncthreads();
  }
  if (lane == 0 && (warp & (split - 1)) == 0 && output < a.width) a.y.at(0)[output] = v;
}

// ---- the kernel -----------------------------------------------------------------------------------------------------
struct Places {  // in shared memory
  char *x, *hidden;
  float4 *plain, *raw;
  u32 *orders;
  float *partial;
};

// Waits, a warp in each block alone, for the values of pairs that are among the last to be taken. Were every thread to ask
// for its own all the while, whatever is still being streamed would come later.
template <int DOWN>
__device__ __forceinline__ void wait_for_last_pairs(const MoeArgs &a, const DecodePlan &p) {
  const int units = a.shared_hidden + a.top_k * a.hidden, tiles = (units + MOE_WARPS - 1) / MOE_WARPS;
  const int tile = max(0, tiles - 1 - int(threadIdx.x & 31));
  const PairAt pair = pair_at(a, p, min(units, (tile + 1) * MOE_WARPS) - 1);
  const u32 *word = told_hidden(a) + pair.slot * a.down.words * VALUES<DOWN> + pair.output;
  u32 seen;
  do {
    seen = listen(word);
  } while (seen == 0);
}

template <int DOWN, int PLANES>
__device__ __forceinline__ void hear_hidden(const MoeArgs &a, const DecodePlan &p, const Places &at, Choice &choice,
                                            u32 *before) {
  const int warp = threadIdx.x >> 5;
  if (warp == 0) wait_for_last_pairs<DOWN>(a, p);
  if (warp == 1) weigh(a, at.orders, choice);
  __syncthreads();
  hear_rows<DOWN, PLANES>(a, p, at.raw, at.hidden);
  __syncthreads();
  if (threadIdx.x == 0) *before = arrive_in_order(a.counters, gridDim.x);
  if constexpr (PLANES > 0 && HAS_MINS<DOWN>) stage_sums(at.hidden, 1, p.down_words * VALUES<DOWN>, PLANES);
}

// A warp's sums, of a batch as it comes.
struct Sums {
  float pair[1][NR];
  float output;
};

template <int FORMAT, int DOWN, int PLANES>
__device__ __forceinline__ void take(const MoeArgs &a, const DecodePlan &p, const Places &at, const Choice &choice,
                                     Loads<FORMAT> &loads, Sums &sums, float *shares) {
  if (loads.holds == PAIR_ROWS) {
    sum_pair<FORMAT, DOWN, PLANES>(a, p, choice, loads, at.x, sums.pair);
  } else if (loads.holds == DOWN_ROWS) {
    if (sum_down<FORMAT, DOWN, PLANES>(a, p, choice, loads, at.hidden, sums.output))
      store_output(a, p, loads.unit, sums.output, shares);
  }
}

template <int FORMAT, int DOWN>
__device__ __forceinline__ void load_next(const MoeArgs &a, const DecodePlan &p, const Choice &choice, Cursor &at,
                                          Loads<FORMAT> &loads) {
  if (!at.down && at.unit >= a.shared_hidden + a.top_k * a.hidden) at = Cursor{true, int(blockIdx.x), 0};
  loads.holds = NOTHING;
  if (!at.down)
    load_pair<FORMAT>(a, p, choice, at, loads);
  else if (at.unit == blockIdx.x || at.unit * (MOE_WARPS >> p.split_bits) < a.width)
    load_down<FORMAT, DOWN>(a, p, choice, at, loads);
}

// The shared expert's first rows of a warp come to the second-level cache while the choice is made.
__device__ __forceinline__ void ask_for_shared(const MoeArgs &a, const Choice &choice, int unit) {
  if (unit >= a.shared_hidden) return;
  const long long row = (long long)unit * a.gate.pitch;
#pragma unroll 1
  for (int at = 128 * (threadIdx.x & 31); at < a.gate.pitch; at += 4096) {
    ask_for(choice.gate[a.top_k].w + row + at);
    ask_for(choice.up[a.top_k].w + row + at);
  }
}

// The pairs of gate and up, then the outputs of down. Two batches are on their way at a time, in registers of their own: a
// copy of one would wait for it. The first of down lies in the first of them.
template <int FORMAT, int DOWN, int PLANES>
__device__ __forceinline__ void mix(const MoeArgs &a, const DecodePlan &p, const Places &at, Candidates &candidates,
                                    Choice &choice, u32 *before, float *shares) {
  const int warp = threadIdx.x >> 5, units = a.shared_hidden + a.top_k * a.hidden, step = gridDim.x * MOE_WARPS;
  Cursor cursor{false, int(blockIdx.x) * MOE_WARPS + warp, 0};
  ask_for_shared(a, choice, cursor.unit);
  hear_choice<FORMAT, DOWN>(a, p, at.orders, candidates, choice);
  const int pairs = cursor.unit < units ? (units - cursor.unit + step - 1) / step : 0;
  const int batches = (a.gate.words + 32 * PAIR_STEPS<FORMAT> - 1) / (32 * PAIR_STEPS<FORMAT>);
  Loads<FORMAT> first{}, second{};
  Sums sums{};
  bool skips = (pairs * batches) % 2 != 0, heard_all = false;
#pragma unroll 1
  do {
    if (!skips) {
      if (first.holds == DOWN_ROWS && !heard_all) {
        hear_hidden<DOWN, PLANES>(a, p, at, choice, before);
        heard_all = true;
      }
      take<FORMAT, DOWN, PLANES>(a, p, at, choice, first, sums, shares);
      load_next<FORMAT, DOWN>(a, p, choice, cursor, first);
    }
    skips = false;
    take<FORMAT, DOWN, PLANES>(a, p, at, choice, second, sums, shares);
    load_next<FORMAT, DOWN>(a, p, choice, cursor, second);
  } while (first.holds != NOTHING || second.holds != NOTHING);
}

template <int FORMAT, int DOWN, int PLANES>
__device__ __forceinline__ void moe_decode(const MoeArgs &a, const DecodePlan &p) {
  __shared__ Candidates candidates;
  __shared__ Choice choice;
  __shared__ float scratch[32];
  __shared__ float shares[MOE_WARPS];
  __shared__ u32 before;  // blocks that had heard all hidden rows when this one had
  char *shared = reinterpret_cast<char *>(dynamic_shared);
  const Places at{shared,
                  shared + p.hidden_at,
                  p.plain_at < 0 ? nullptr : reinterpret_cast<float4 *>(shared + p.plain_at),
                  reinterpret_cast<float4 *>(shared + p.raw_at),
                  reinterpret_cast<u32 *>(shared + p.orders_at),
                  reinterpret_cast<float *>(shared + p.partial_at)};
  let_next_start();
  const RouterAt first = router_at(a, p, int(threadIdx.x >> 5) >> p.router_bits);
  Block<FORMAT> held{};
  load_router<FORMAT>(a, first, held);
  if (a.x_norm.present) stage_norm_weights(a, at.plain);
  find_shared_rows<FORMAT, DOWN>(a, choice);
  wait_for_previous();
  if (a.x_norm.present)
    stage_normed<FORMAT, PLANES>(a, at.x, at.plain, scratch);
  else
    stage_row<FORMAT, PLANES>(a, at.x, at.plain);
  __syncthreads();
  if constexpr (PLANES > 0 && HAS_MINS<FORMAT>) stage_sums(at.x, 1, a.width, PLANES);
  tell_router<FORMAT, DOWN, PLANES>(a, p, first, held, at.x, at.plain, at.partial);
  mix<FORMAT, DOWN, PLANES>(a, p, at, candidates, choice, &before, shares);
  __syncthreads();
  if (before == gridDim.x - 1) forget(told_hidden(a), p.down_words * VALUES<DOWN> + router_rows(a));
  if (a.normed && arrives_last(a.counters + 1, gridDim.x)) {
    const FreshReader reader{a.y.at(0)};
    norm_row(reader, a.norm, 0, a.width, reinterpret_cast<float *>(shared), scratch);
  }
}
