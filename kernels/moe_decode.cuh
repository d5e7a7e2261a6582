// A mixture of experts of one row, streamed at the memory's speed: its formats are the entry's, and a block waits for
// others only where it loads what they tell (moe_told.cuh).
//
// The row's products are shared out over all warps of the grid, as even as they come:
//   1  the router: a block takes rows of it (moe_decode_router.cuh); outputs are told as whole numbers of their order
//   2  every block chooses by itself (moe_decode_choice.cuh)
//   3  gate and up: a warp takes a row of both, the shared expert's first; what it makes is told
//   4  down: a warp takes an output, or shares it: the rows of all chosen experts, one behind the other
// What can be loaded before it is waited for, is: the router's rows before the launch ahead has ended, the shared expert's
// before the choice, and the rows of down before the hidden values that they are multiplied by.
#pragma once
#include "moe_decode_choice.cuh"

// ---- a warp's loads -------------------------------------------------------------------------------------------------
// A warp takes its pairs of rows of gate and up batch by batch, then its outputs of down. Of pairs one batch is on its way
// at a time: the compiler counts all loads that outlive a branch together, so that of two the first would be waited for
// with the second, and the block's other warps have theirs on the way meanwhile. Of down there are two, in registers of
// their own: a copy of one would wait for it, and so would a branch around its sum.
template <int FORMAT>
constexpr int PAIR_STEPS = IN_BLOCKS<FORMAT> ? 2 : 4;
template <int FORMAT>
constexpr int DOWN_LOADS = IN_BLOCKS<FORMAT> ? 3 : 6;

template <int FORMAT>
struct PairLoads {
  Batch<FORMAT, PAIR_STEPS<FORMAT>> batch;
  u32 scales[NR];  // of q8_0, two a word: those of a lane's own loads would take four times the registers
};

template <int FORMAT>
struct DownLoads {
  Block<FORMAT> w[DOWN_LOADS<FORMAT>];
  u32 scales[(DOWN_LOADS<FORMAT> + 3) / 4];
  float plus;
};

// Which batch comes next: a pair or a tile of outputs, and within it.
struct Cursor {
  int number;  // of a warp's batches
  int unit;    // a pair, or a tile
  int word;    // the first lane's, or a batch of the warp's share
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

template <int FORMAT>
__device__ __forceinline__ void next_pair(const MoeArgs &a, Cursor &at) {
  at.number++;
  at.word += 32 * PAIR_STEPS<FORMAT>;
  if (at.word >= a.gate.words) at.word = 0, at.unit += gridDim.x * MOE_WARPS;
}

template <int FORMAT>
__device__ __forceinline__ void load_pair(const MoeArgs &a, const DecodePlan &p, const Choice &choice, int count,
                                          Cursor &at, PairLoads<FORMAT> &to) {
  if (at.number < count) {
    const PairAt pair = pair_at(a, p, at.unit);
    const bool shared = pair.slot == a.top_k;
    const int row = shared ? pair.output : choice.chosen[pair.slot] * a.hidden + pair.output, first = shared ? 3 : 0;
    const RowsAt gate = row_at<FORMAT>(choice, first, shared ? a.shared_gate.w : a.gate.w, a.gate.pitch, row);
    const RowsAt up = row_at<FORMAT>(choice, first + 1, shared ? a.shared_up.w : a.up.w, a.gate.pitch, row);
    const Streams s{{gate.w, up.w}, {gate.scale, up.scale}};
    const int lane = threadIdx.x & 31;
    if constexpr (FORMAT == FORMAT_Q8_0) {
#pragma unroll
      for (int u = 0; u < PAIR_STEPS<FORMAT>; u++) {
        const int word = at.word + 32 * u + lane;
        if (word >= a.gate.words) continue;
#pragma unroll
        for (int i = 0; i < NR; i++) to.batch.w[u][i].quants = load_weights(s.w[i] + 16 * word);
      }
      if (at.word + 4 * lane < a.gate.words) {
#pragma unroll
        for (int i = 0; i < NR; i++) to.scales[i] = load_word(s.scale[i] + at.word + 4 * lane);
      }
    } else {
      load_batch<FORMAT>(to.batch, s, at.word + lane, a.gate.words, a.width);
    }
  }
  next_pair<FORMAT>(a, at);
}

struct DownShare {
  int first, last;  // words of an output's rows that are the warp's
};

__device__ __forceinline__ DownShare down_share(const DecodePlan &p) {
  const int each = (((p.down_words + (1 << p.split_bits) - 1) >> p.split_bits) + 3) & ~3;  // whole words of scales
  const int first = ((threadIdx.x >> 5) & ((1 << p.split_bits) - 1)) * each;
  return {first, min(p.down_words, first + each)};
}

__device__ __forceinline__ int output_at(const DecodePlan &p, const Cursor &at) {
  return (at.unit * MOE_WARPS + int(threadIdx.x >> 5)) >> p.split_bits;
}

__device__ __forceinline__ void next_outputs(const DecodePlan &p, Cursor &at) {
  at.number++;
  if (++at.word >= p.down_batches) at.word = 0, at.unit += gridDim.x;
}

// Of an output, the row of the expert in a slot.
template <int DOWN>
__device__ __forceinline__ RowsAt down_row(const MoeArgs &a, const Choice &choice, int slot, int output) {
  if (slot < a.top_k)
    return row_at<DOWN>(choice, 2, a.down.w, a.down.pitch, choice.chosen[slot] * a.width + output);
  return row_at<DOWN>(choice, 5, a.shared_down.w, a.shared_down.pitch, output);
}

template <int DOWN>
__device__ __forceinline__ void load_down(const MoeArgs &a, const DecodePlan &p, const Choice &choice, Cursor &at,
                                          DownLoads<DOWN> &to) {
  const DownShare share = down_share(p);
  const int first = share.first + at.word * (32 * DOWN_LOADS<DOWN>), output = output_at(p, at);
  const int last = output < a.width ? share.last : 0, lane = threadIdx.x & 31;
  to.plus = 0.0f;
#pragma unroll
  for (int u = 0; u < DOWN_LOADS<DOWN>; u++) {
    const int word = first + 32 * u + lane;
    if (word >= last) continue;
    const int slot = min(quotient(word, p.per_words), a.top_k);
    const char *row = down_row<DOWN>(a, choice, slot, output).w;
    if constexpr (DOWN == FORMAT_Q8_0)
      to.w[u].quants = load_weights(row + 16 * (word - slot * a.down.words));
    else
      load_stored<DOWN>(to.w[u], row, row, slot == a.top_k ? a.shared_hidden : a.hidden, word - slot * a.down.words);
  }
  if constexpr (DOWN == FORMAT_Q8_0) {
#pragma unroll
    for (int i = 0; i < (DOWN_LOADS<DOWN> + 3) / 4; i++) {
      const int word = first + 128 * i + 4 * lane;
      if (word >= last) continue;
      const int slot = min(quotient(word, p.per_words), a.top_k);
      to.scales[i] = load_word(down_row<DOWN>(a, choice, slot, output).scale + (word - slot * a.down.words));
    }
  }
  if (first == 0 && last > 0 && lane == 0 && a.plus != nullptr) to.plus = load_fresh(a.plus + output);
  next_outputs(p, at);
}

// ---- sums -----------------------------------------------------------------------------------------------------------
// The scale of the load that lies 32 * step + lane behind a batch's first, of which each lane holds four loads' scales.
__device__ __forceinline__ u16 scale_of(u32 scales, int step) {
  const int lane = threadIdx.x & 31;
  const u32 both = __shfl_sync(ALL_LANES, scales, 8 * step + lane / 4);
  return u16(lane & 2 ? both >> 16 : both);
}

// Adds the products of a lane's load of N rows, if it is before `end`; FULL: it is. No branch around it: one load's sums
// begin before another's end.
template <bool FULL, int FORMAT, int PLANES, int N>
__device__ __forceinline__ void add_step(const Block<FORMAT> (&b)[N], int word, int end, int words, const char *x, int k,
                                         float (&sums)[N]) {
  const int at = FULL ? word : min(word, words - 1);
  __builtin_assume(at < words);
  Batch<FORMAT, 1, N> one;
#pragma unroll
  for (int i = 0; i < N; i++) one.w[0][i] = b[i];
  float s[1][N] = {};
  sum_stored<FORMAT, PLANES>(one, at, words, x, k, s);
#pragma unroll
  for (int i = 0; i < N; i++) sums[i] += FULL || word < end ? s[0][i] : 0.0f;
}

template <bool FULL, int FORMAT, int PLANES>
__device__ __forceinline__ void add_pair(const MoeArgs &a, const PairLoads<FORMAT> &loads, int word, const char *x,
                                         float (&sums)[NR]) {
#pragma unroll
  for (int u = 0; u < PAIR_STEPS<FORMAT>; u++)
    add_step<FULL, FORMAT, PLANES>(loads.batch.w[u], word + 32 * u + int(threadIdx.x & 31), a.gate.words, a.gate.words, x,
                                   a.width, sums);
}

template <bool FULL, int DOWN, int PLANES>
__device__ __forceinline__ void add_outputs(const DecodePlan &p, const DownLoads<DOWN> &loads, int first, int last,
                                            const char *hidden, float (&sums)[1]) {
#pragma unroll
  for (int u = 0; u < DOWN_LOADS<DOWN>; u++) {
    Block<DOWN> one[1] = {loads.w[u]};
    if constexpr (DOWN == FORMAT_Q8_0) one[0].scale = scale_of(loads.scales[u / 4], u % 4);
    add_step<FULL, DOWN, PLANES>(one, first + 32 * u + int(threadIdx.x & 31), last, p.down_words, hidden,
                                 p.down_words * VALUES<DOWN>, sums);
  }
}

template <int FORMAT, int DOWN, int PLANES>
__device__ __forceinline__ void take_pair(const MoeArgs &a, const DecodePlan &p, const Choice &choice, Cursor &at,
                                          PairLoads<FORMAT> &loads, const char *x, float (&sums)[1][NR]) {
  const int lane = threadIdx.x & 31;
  if constexpr (FORMAT == FORMAT_Q8_0) {
#pragma unroll
    for (int u = 0; u < PAIR_STEPS<FORMAT>; u++)
#pragma unroll
      for (int i = 0; i < NR; i++) loads.batch.w[u][i].scale = scale_of(loads.scales[i], u);
  }
  if (at.word + 32 * PAIR_STEPS<FORMAT> <= a.gate.words)
    add_pair<true, FORMAT, PLANES>(a, loads, at.word, x, sums[0]);
  else
    add_pair<false, FORMAT, PLANES>(a, loads, at.word, x, sums[0]);
  const bool ends = at.word + 32 * PAIR_STEPS<FORMAT> >= a.gate.words;
  const PairAt pair = pair_at(a, p, at.unit);
  next_pair<FORMAT>(a, at);
  if (!ends) return;  // more of the rows is to come
  float gate = warp_sum(sums[0][0]), up = warp_sum(sums[0][1]);
  sums[0][0] = sums[0][1] = 0.0f;
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

// Adds a batch's products; the hidden values are weighed already.
template <int DOWN, int PLANES>
__device__ __forceinline__ void sum_down(const MoeArgs &a, const DecodePlan &p, const Choice &choice, const Cursor &at,
                                         DownLoads<DOWN> &loads, const char *hidden, float &sum) {
  const int lane = threadIdx.x & 31, output = output_at(p, at);
  const DownShare share = down_share(p);
  const int first = share.first + at.word * (32 * DOWN_LOADS<DOWN>), last = output < a.width ? share.last : 0;
  if (first == 0 && last > 0 && lane < a.top_k && a.down_bias != nullptr)
    sum += choice.weights[lane] * a.down_bias[choice.chosen[lane] * a.width + output];
  float sums[1] = {};
  if (first + 32 * DOWN_LOADS<DOWN> <= last)
    add_outputs<true, DOWN, PLANES>(p, loads, first, last, hidden, sums);
  else
    add_outputs<false, DOWN, PLANES>(p, loads, first, last, hidden, sums);
  sum += sums[0];
  sum += loads.plus;
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
  float4 *plain;
  u32 *orders;
  float *partial;
};

template <int DOWN, int PLANES>
__device__ __forceinline__ void take_down(const MoeArgs &a, const DecodePlan &p, const Choice &choice, Cursor &at,
                                          DownLoads<DOWN> &loads, const char *hidden, float &sum, float *shares) {
  sum_down<DOWN, PLANES>(a, p, choice, at, loads, hidden, sum);
  if (at.word == p.down_batches - 1) store_output(a, p, output_at(p, at), sum, shares);
  next_outputs(p, at);
}

// The shared expert's first rows of a warp come to the second-level cache while the choice is made.
__device__ __forceinline__ void ask_for_shared(const MoeArgs &a, int unit) {
  if (unit >= a.shared_hidden) return;
  const long long row = (long long)unit * a.gate.pitch;
#pragma unroll 1
  for (int at = 128 * (threadIdx.x & 31); at < a.gate.pitch; at += 4096) {
    ask_for(a.shared_gate.w + row + at);
    ask_for(a.shared_up.w + row + at);
  }
}

// A warp's outputs, whose first two batches are on their way, as the hidden values come. Where a warp has an output for
// itself, its first batch waits only for the values that it is multiplied by. Returns, in the first thread, how many
// blocks had heard all hidden values before this one.
template <int DOWN, int PLANES>
__device__ __forceinline__ u32 take_outputs(const MoeArgs &a, const DecodePlan &p, const Places &at, const Choice &choice,
                                            Cursor &ahead, int outputs, DownLoads<DOWN> &first, DownLoads<DOWN> &second,
                                            float *shares) {
  const int fours = p.down_words * (VALUES<DOWN> / 4), own = 32 * DOWN_LOADS<DOWN> * (VALUES<DOWN> / 4);
  const bool parts = !HAS_MINS<DOWN> && p.split_bits == 0 && outputs > 0;
  const int early = parts ? min(fours, (own + MOE_THREADS - 1) & -MOE_THREADS) : fours;
  Cursor done{0, int(blockIdx.x), 0};
  float sum = 0.0f;
  hear_rows<DOWN, PLANES>(a, p, choice.weights, 0, early, at.hidden);
  __syncthreads();
  if (early < fours) {
    take_down<DOWN, PLANES>(a, p, choice, done, first, at.hidden, sum, shares);
    hear_rows<DOWN, PLANES>(a, p, choice.weights, early, fours, at.hidden);
    __syncthreads();
  }
  u32 before = 0;
  if (threadIdx.x == 0) before = arrive(a.counters, gridDim.x);
  if constexpr (PLANES > 0 && HAS_MINS<DOWN>) stage_sums(at.hidden, 1, p.down_words * VALUES<DOWN>, PLANES);
  bool first_is_done = early < fours;
#pragma unroll 1
  while (done.number < outputs) {
    if (!first_is_done) {
      take_down<DOWN, PLANES>(a, p, choice, done, first, at.hidden, sum, shares);
      if (done.number >= outputs) break;
    }
    first_is_done = false;
    if (ahead.number < outputs) load_down<DOWN>(a, p, choice, ahead, first);
    take_down<DOWN, PLANES>(a, p, choice, done, second, at.hidden, sum, shares);
    if (ahead.number < outputs) load_down<DOWN>(a, p, choice, ahead, second);
  }
  return before;
}

// The pairs of gate and up, then the outputs of down.
template <int FORMAT, int DOWN, int PLANES>
__device__ __forceinline__ u32 mix(const MoeArgs &a, const DecodePlan &p, const Places &at, const Candidates &candidates,
                                   Choice &choice, float *shares) {
  constexpr int WORDS = 32 * PAIR_STEPS<FORMAT>;
  const int warp = threadIdx.x >> 5, units = a.shared_hidden + a.top_k * a.hidden, blocks = gridDim.x, block = blockIdx.x;
  const int unit = block * MOE_WARPS + warp, step = blocks * MOE_WARPS, each = MOE_WARPS >> p.split_bits;
  const int count = unit < units ? (units - unit + step - 1) / step * ((a.gate.words + WORDS - 1) / WORDS) : 0;
  Cursor ahead{0, unit, 0}, done = ahead;
  PairLoads<FORMAT> loads{};
  float sums[1][NR] = {};
  ask_for_shared(a, unit);
  hear_choice<FORMAT, DOWN>(a, p, at.orders, candidates, choice);
  load_pair<FORMAT>(a, p, choice, count, ahead, loads);
  if (warp == 1) weigh<DOWN>(a, p, at.orders, choice);
#pragma unroll 1
  while (count > 0) {
    take_pair<FORMAT, DOWN, PLANES>(a, p, choice, done, loads, at.x, sums);
    if (ahead.number >= count) break;
    load_pair<FORMAT>(a, p, choice, count, ahead, loads);
  }
  const int tiles = (a.width + each - 1) / each;
  const int outputs = block < tiles ? (tiles - block + blocks - 1) / blocks * p.down_batches : 0;
  Cursor down_ahead{0, block, 0};
  DownLoads<DOWN> first{}, second{};
  load_down<DOWN>(a, p, choice, down_ahead, first);
  load_down<DOWN>(a, p, choice, down_ahead, second);
  __syncthreads();  // the experts' weights are there
  return take_outputs<DOWN, PLANES>(a, p, at, choice, down_ahead, outputs, first, second, shares);
}

template <int FORMAT, int DOWN, int PLANES>
__device__ __forceinline__ void moe_decode(const MoeArgs &a, const DecodePlan &p) {
  __shared__ Choice choice;
  __shared__ __align__(16) float scratch[32];
  __shared__ float shares[MOE_WARPS];
  __shared__ u32 before;  // blocks that had heard all hidden rows when this one had
  char *shared = reinterpret_cast<char *>(dynamic_shared);
  const Places at{shared,
                  shared + p.hidden_at,
                  p.plain_at < 0 ? nullptr : reinterpret_cast<float4 *>(shared + p.plain_at),
                  reinterpret_cast<u32 *>(shared + p.orders_at),
                  reinterpret_cast<float *>(shared + p.partial_at)};
  let_next_start();
  Held held;
  Items items{0, 0};
  hold_items<FORMAT>(a, items, held);
  if (a.x_norm.present) copy_norm_weights(a, at.plain);
  const float bias = router_bias_of(a, threadIdx.x >> 5);
  find_scales<FORMAT, DOWN>(a, choice);
  const bool one = one_row(a);
  const Item item = item_at(a, 0, 0);
  const float per_value = 1.0f / float(a.width);
  wait_for_previous();
  float squares = 0.0f;
  if (a.x_norm.present) {
    squares = stage_weighed<FORMAT, PLANES>(a, at.x, at.plain);
  } else {
    stage_row<FORMAT, PLANES>(a, at.x, at.plain);
    __syncthreads();
  }
  if (one) {
    const float product = sum_row<FORMAT, PLANES>(a, item, held, at.x, at.plain);
    const float2 both = warp_sums(make_float2(squares, product));
    if ((threadIdx.x & 31) == 0) scratch[threadIdx.x >> 5] = both.x, at.partial[threadIdx.x >> 5] = both.y;
  } else {
    squares = warp_sum(squares);
    if ((threadIdx.x & 31) == 0) scratch[threadIdx.x >> 5] = squares;
    sum_items<FORMAT, PLANES>(a, held, items, at.x, at.plain, at.partial);
  }
  __syncthreads();
  const float factor = a.x_norm.present ? rsqrtf(sum_of_warps(scratch) * per_value + a.x_norm.eps) : 1.0f;
  tell_router<DOWN>(a, p, at.partial, factor, bias);
  if (a.x_norm.present) scale_staged<FORMAT, PLANES>(a, at.x, factor);
  if constexpr (PLANES > 0 && HAS_MINS<FORMAT>) {
    __syncthreads();
    stage_sums(at.x, 1, a.width, PLANES);
  }
  u32 *best = reinterpret_cast<u32 *>(shared + p.best_at);
  const Candidates candidates{best, reinterpret_cast<int *>(best) + best_room(a)};
  const u32 arrived = mix<FORMAT, DOWN, PLANES>(a, p, at, candidates, choice, shares);
  if (threadIdx.x == 0) before = arrived;
  __syncthreads();
  if (before == gridDim.x - 1) forget(told_hidden(a), p.down_words * VALUES<DOWN> + router_rows(a));
  if (a.normed && arrives_last(a.counters + 1, gridDim.x)) {
    const FreshReader reader{a.y.at(0)};
    norm_row(reader, a.norm, 0, a.width, reinterpret_cast<float *>(shared), scratch);
  }
}
