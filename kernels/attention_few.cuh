// Attention of a few rows whose key and value heads are H values, of one of the usual sizes.
//
// What a decoding step pays for here is how many instructions stand one after another between the launch ahead and the
// result, each of which waits for the one before. So sizes are constants, what happens twice is one loop of two turns,
// and forms that are rare have kernels of their own.
//
// Blocks, splits and warps share the work as in attention.cuh, a position a team. A thread's part of a split's state is
// one word of 16 bytes: two columns, their maximum, their sum; a query's columns of all splits lie next to each other.
#pragma once
#include "attention_join.cuh"

template <int QUERIES_, int H_>
struct Few {
  static constexpr int QUERIES = QUERIES_, H = H_, WARPS = 8, THREADS = 32 * WARPS;
  static constexpr int UNIT = TEAMS, TILE = WARPS * UNIT;
  static constexpr int LOADS = H / (4 * TEAM);   // of 16 bytes of a key, a lane
  static constexpr int WIDTH = H / 32;           // columns of a value, a lane
  static constexpr int SAME = TEAM / QUERIES;    // lanes of a team that end up with the same score
  static constexpr int HELD = 16;                // splits whose values a thread has in flight
};

template <class F>
struct FewUnit {
  float4 keys[F::LOADS];
  float values[F::UNIT][F::WIDTH];
};

// The rows from `from` to `past` of a unit, keys up to `own`; others stay as they are. `key` and `value` point to the
// lane's values of position 0.
template <class F>
__device__ __forceinline__ void load_rows(FewUnit<F> &x, const AttentionArgs &a, const float *key, const float *value,
                                          int first, int from, int past, int own) {
  const int row = first + (threadIdx.x & 31) / TEAM;
  if (row >= from && row < min(past, own)) {
    const float *p = key + (long long)row * a.key_pitch;
#pragma unroll
    for (int j = 0; j < F::LOADS; j++) x.keys[j] = load_fresh4(p + 4 * TEAM * j);
  }
  const float *p = value + (long long)first * a.value_pitch;
#pragma unroll
  for (int i = 0; i < F::UNIT; i++, p += a.value_pitch)
    if (first + i >= from && first + i < past) load_values<F::WIDTH, false>(x.values[i], p, true);
}

// One head that a warp brings into shared memory, as it is or normed and turned: lane + 32 j of its values. What is
// prepared is used after the wait alone: nothing stands still for it before.
template <class F>
struct FewHead {
  static constexpr int HELD = F::H / 32;
  float weight[HELD], cos[HELD], sin[HELD], v[HELD];

  // Constants.
  __device__ __forceinline__ void prepare(const AttentionArgs &a, const HeadNorm &norm, int row) {
    const int lane = threadIdx.x & 31, half = a.turns.half;
    const float *c = a.turns.cos + (long long)row * half, *s = a.turns.sin + (long long)row * half;
#pragma unroll
    for (int j = 0; j < HELD; j++) {
      const int i = lane + 32 * j, pair = i < half ? i : i - half;
      weight[j] = norm.weight == nullptr ? 1.0f : load_constant(norm.weight + i);
      cos[j] = i < 2 * half ? load_constant(c + pair) : 1.0f;
      sin[j] = i < 2 * half ? load_constant(s + pair) : 0.0f;
    }
  }

  __device__ __forceinline__ void load(const float *src) {
#pragma unroll
    for (int j = 0; j < HELD; j++) v[j] = load_fresh(src + (threadIdx.x & 31) + 32 * j);
  }

  __device__ __forceinline__ void bring(const AttentionArgs &a, const HeadNorm &norm, float *slot, float *table) {
    const int lane = threadIdx.x & 31, half = a.turns.half;
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < HELD; j++) squares = fmaf(v[j], v[j], squares);
    if (norm.present) {
      const float inverse = rsqrtf(warp_sum(squares) * (1.0f / F::H) + norm.eps);
#pragma unroll
      for (int j = 0; j < HELD; j++) v[j] *= inverse * weight[j];
    }
#pragma unroll
    for (int j = 0; j < HELD; j++) slot[lane + 32 * j] = v[j];
    if (half == 0) return;
    __syncwarp();
    float other[HELD];
#pragma unroll
    for (int j = 0; j < HELD; j++) {
      const int i = lane + 32 * j;
      other[j] = slot[i < half ? i + half : i < 2 * half ? i - half : i];
    }
    __syncwarp();
#pragma unroll
    for (int j = 0; j < HELD; j++) {
      const float turned = v[j] * cos[j] + (lane + 32 * j < half ? -other[j] : other[j]) * sin[j];
      slot[lane + 32 * j] = turned;
      if (table != nullptr) table[lane + 32 * j] = turned;
    }
  }
};

// What of the block a warp's head number `number` is (attention.cuh has the same for every form).
template <class F>
__device__ __forceinline__ Head few_head(const AttentionArgs &a, const Range &r, int kv, int split, int number) {
  const int queries = a.block_heads * a.block_rows;
  if (number < queries) {
    const int line = a.block_rows == 1 ? 0 : number / a.block_heads, row = r.row0 + line;
    return Head{row < a.m, row, int(blockIdx.x) * a.block_heads + number - line * a.block_heads, false, number};
  }
  const int row = number - queries, tile = (r.position + row) / F::TILE - r.first_tile;
  const bool mine = (tile < a.splits ? tile : tile % a.splits) == split;
  return Head{a.turns.present && row < min(a.m, r.row0 + a.block_rows) && mine, row, kv, true, F::QUERIES + row};
}

// Where a head lies as it is; where a key of the step's own lands, if this block stores it.
template <class F>
__device__ __forceinline__ const float *few_source(const AttentionArgs &a, const Head &h) {
  return h.key ? a.turns.k + (long long)a.turns.k_pitch * h.row + F::H * h.head
               : a.q + (long long)a.q_pitch * h.row + a.q_unit * h.head;
}

template <class F>
__device__ __forceinline__ float *few_table(const AttentionArgs &a, const Range &r, const Head &h) {
  if (!stores(a, r, h)) return nullptr;
  return const_cast<float *>(a.keys) + (long long)a.key_pitch * (r.position + h.row) + F::H * h.head;
}

template <class F>
struct FewState {
  float peak, sum, held[F::QUERIES][F::WIDTH];
};

// Adds a unit to a warp's state; `at` and from/end are the lane's query's.
template <class F>
__device__ __forceinline__ void add_few(FewState<F> &s, const FewUnit<F> &x, float scale, int position, int from,
                                        int end, const float4 *q, float *weights) {
  const int lane = threadIdx.x & 31, in_team = lane % TEAM;
  float dots[F::QUERIES] = {};
#pragma unroll
  for (int j = 0; j < F::LOADS; j++)
#pragma unroll
    for (int g = 0; g < F::QUERIES; g++) {
      const float4 y = q[g * (F::H / 4) + in_team + TEAM * j], k = x.keys[j];
      dots[g] = fmaf(k.x, y.x, fmaf(k.y, y.y, fmaf(k.z, y.z, fmaf(k.w, y.w, dots[g]))));
    }
#pragma unroll
  for (int by = TEAM / 2, left = F::QUERIES; by > 0; by >>= 1) {
    if (left > 1) {
      left >>= 1;
      const bool upper = lane & by;
#pragma unroll
      for (int n = 0; n < F::QUERIES / 2; n++)
        if (n < left) {
          const float given = upper ? dots[n] : dots[n + left];
          dots[n] = (upper ? dots[n + left] : dots[n]) + __shfl_xor_sync(ALL_LANES, given, by);
        }
    } else {
      dots[0] += __shfl_xor_sync(ALL_LANES, dots[0], by);
    }
  }
  const bool seen = position >= from && position < end;
  const float score = seen ? dots[0] * scale : LOWEST;
  float peak = fmaxf(score, __shfl_xor_sync(ALL_LANES, score, 8));
  peak = fmaxf(s.peak, fmaxf(peak, __shfl_xor_sync(ALL_LANES, peak, 16)));
  const float weight = seen ? power_of_two(score - peak) : 0.0f, kept = power_of_two(s.peak - peak);
  float sum = weight + __shfl_xor_sync(ALL_LANES, weight, 8);
  sum += __shfl_xor_sync(ALL_LANES, sum, 16);
  s.sum = s.sum * kept + sum, s.peak = peak;
  __syncwarp();  // the weights of the unit before have been read
  // [QUERIES][weights of the UNIT positions, what the query keeps, nothing]
  const int query = in_team / F::SAME, team = lane / TEAM;
  if (lane % F::SAME == 0) {
    weights[query * 8 + team] = weight;
    if (team == 0) weights[query * 8 + 4] = kept;
  }
  __syncwarp();
#pragma unroll
  for (int g = 0; g < F::QUERIES; g++) {
    const float4 w = *reinterpret_cast<const float4 *>(weights + g * 8);
    const float keep = weights[g * 8 + 4];
#pragma unroll
    for (int c = 0; c < F::WIDTH; c++) {
      float v = s.held[g][c] * keep;
      v = fmaf(w.x, x.values[0][c], fmaf(w.y, x.values[1][c], v));
      s.held[g][c] = fmaf(w.z, x.values[2][c], fmaf(w.w, x.values[3][c], v));
    }
  }
}

// A thread's columns of the block's queries, from number i on.
template <class F>
__device__ __forceinline__ Place few_place(const AttentionArgs &a, const Range &r, int i) {
  const int g = i / F::H, line = a.block_rows == 1 ? 0 : g / a.block_heads;
  Place at;
  at.row = r.row0 + line, at.head = blockIdx.x * a.block_heads + g - line * a.block_heads, at.column = i % F::H;
  at.there = g < a.block_heads * a.block_rows && at.row < a.m;
  return at;
}

// The number of a query's first state in the partials (attention_join.cuh); a query that is not there has the last row's.
__device__ __forceinline__ int few_partial(const AttentionArgs &a, const Place &at) {
  return (min(at.row, a.m - 1) * a.heads + at.head) * a.splits;
}

// The maximum and sum of a query's states, lane k having those of state number k modulo STATES, and the
// lane's share.
template <int STATES>
__device__ __forceinline__ float join_states(float peak, float sum, Columns &joined) {
  joined.peak = peak;
#pragma unroll
  for (int by = 1; by < STATES; by <<= 1) joined.peak = fmaxf(joined.peak, __shfl_xor_sync(ALL_LANES, joined.peak, by));
  const float share = power_of_two(peak - joined.peak);
  joined.sum = sum * share;
#pragma unroll
  for (int by = 1; by < STATES; by <<= 1) joined.sum += __shfl_xor_sync(ALL_LANES, joined.sum, by);
  return share;
}

// A thread's columns of what the block's warps have, from number i on; those of a warp are of one query.
template <class F>
__device__ __forceinline__ Columns join_few_warps(const float *peaks, const float *sums, const float *held, int i) {
  const int state = i / F::H * F::WARPS + threadIdx.x % F::WARPS;
  Columns joined{};
  const float share = join_states<F::WARPS>(peaks[state], sums[state], joined);
#pragma unroll
  for (int w = 0; w < F::WARPS; w++) {
    const float2 v = *reinterpret_cast<const float2 *>(held + w * F::QUERIES * F::H + i);
    const float weight = __shfl_sync(ALL_LANES, share, w);
    joined.values[0] = fmaf(v.x, weight, joined.values[0]);
    joined.values[1] = fmaf(v.y, weight, joined.values[1]);
  }
  return joined;
}

// Two values, or zeros: one instruction under a predicate, where a branch each would cost more than the load.
__device__ __forceinline__ float2 load_fresh2_if(bool there, const float *p) {
  float2 v = make_float2(0.0f, 0.0f);
  asm volatile("{ .reg .pred there; setp.ne.s32 there, %3, 0; @there ld.global.cg.v2.f32 {%0, %1}, [%2]; }"
               : "+f"(v.x), "+f"(v.y)
               : "l"(p), "r"(int(there))
               : "memory");
  return v;
}

// A thread's columns of what the splits of a query left; the values of 16 of them are in flight together.
template <class F>
__device__ __forceinline__ Columns join_few_splits(const float *values, const float2 *states, int active) {
  Columns joined{LOWEST, 0.0f};
#pragma unroll 1
  for (int s0 = 0; s0 < active; s0 += F::HELD) {
    const int left = active - s0, mine = threadIdx.x % F::HELD;
    const float2 state = mine < left ? load_fresh2(&states[s0 + mine].x) : make_float2(LOWEST, 0.0f);
    float2 v[F::HELD];
#pragma unroll
    for (int j = 0; j < F::HELD; j++) v[j] = load_fresh2_if(j < left, values + s0 * F::H + j * F::H);
    Columns more{};
    const float share = join_states<F::HELD>(state.x, state.y, more);
    const float peak = fmaxf(joined.peak, more.peak);
    const float kept = power_of_two(joined.peak - peak), added = power_of_two(more.peak - peak);
    joined = Columns{peak, joined.sum * kept + more.sum * added, {joined.values[0] * kept, joined.values[1] * kept}};
#pragma unroll
    for (int j = 0; j < F::HELD; j++) {
      const float weight = __shfl_sync(ALL_LANES, share, j) * added;
      joined.values[0] = fmaf(v[j].x, weight, joined.values[0]);
      joined.values[1] = fmaf(v[j].y, weight, joined.values[1]);
    }
  }
  return joined;
}

template <class F>
__device__ __forceinline__ void attention_few(const AttentionArgs &a) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, split = blockIdx.y;
  const int kv = a.block_heads == a.group ? blockIdx.x : blockIdx.x * a.block_heads / a.group;
  const bool turns = a.turns.present;
  float *q = reinterpret_cast<float *>(dynamic_shared), *own = q + F::QUERIES * F::H;
  float *weights = own + (turns ? a.m * F::H : 0), *peaks = weights + F::WARPS * F::QUERIES * 8;
  float *sums = peaks + F::QUERIES * F::WARPS, *held = sums + F::QUERIES * F::WARPS;
  let_next_start();
#if __CUDA_ARCH__ >= 900
  if (a.early == EARLY_NOTHING) wait_for_previous();
#endif
  const Range r = range_of<F>(a, load_position(a.position));
  const int settled = a.early == EARLY_TABLES ? r.position : 0, own_from = turns ? r.position : MOST_ROWS;
  const float *key = a.keys + (long long)kv * F::H + 4 * (lane % TEAM);
  const float *value = a.values + (long long)kv * a.value_unit + F::WIDTH * lane;
  int first = first_unit<F>(a, r, split, warp);
  FewUnit<F> x{};
  load_rows<F>(x, a, key, value, first, first, min(settled, r.past), own_from);
  Head h = few_head<F>(a, r, kv, split, warp);
  HeadNorm norm = norm_of(a, h);
  FewHead<F> head;
  if (h.there) head.prepare(a, norm, r.position + h.row);
  const float *src = few_source<F>(a, h);
  float *table = few_table<F>(a, r, h);
  if (warp < F::QUERIES && (h.key || !h.there))
    for (int c = lane; c < F::H; c += 32) q[warp * F::H + c] = 0.0f;
#if __CUDA_ARCH__ >= 900
  if (a.early != EARLY_NOTHING) wait_for_previous();
#endif
  if (split >= r.active) return;
  if (h.there) head.load(src);
  if (first + F::UNIT > settled && first < r.past)
    load_rows<F>(x, a, key, value, first, max(first, settled), r.past, own_from);
  if (h.there) head.bring(a, norm, q + h.slot * F::H, table);
  // More heads than warps, which is rare: what only they need is not to stand before the first ones.
  const int heads = a.block_heads * a.block_rows + (turns ? a.m : 0);
  if (heads > F::WARPS) {
#pragma unroll 1
    for (int number = warp + F::WARPS; number < heads; number += F::WARPS) {
      h = few_head<F>(a, r, kv, split, number);
      if (!h.there) continue;
      norm = norm_of(a, h);
      head.prepare(a, norm, r.position + h.row);
      head.load(few_source<F>(a, h));
      head.bring(a, norm, q + h.slot * F::H, few_table<F>(a, r, h));
    }
  }
  __syncthreads();

  const int team = lane / TEAM, query = lane % TEAM / F::SAME;
  const int line = a.block_rows == 1 ? 0 : query / a.block_heads;
  const int end = query < a.block_heads * a.block_rows && r.row0 + line < a.m ? r.past0 + line : 0;
  const int from = a.window > 0 ? end - a.window : 0;
  FewState<F> s{LOWEST, 0.0f, {}};
#pragma unroll 1
  while (first < r.past) {
    const int row = first + team;
    if (row >= own_from && row < r.past) {
#pragma unroll
      for (int j = 0; j < F::LOADS; j++)
        x.keys[j] = reinterpret_cast<const float4 *>(own + (row - own_from) * F::H)[lane % TEAM + TEAM * j];
    }
    add_few<F>(s, x, a.scale * LOG2E, row, from, end, reinterpret_cast<const float4 *>(q), weights + warp * F::QUERIES * 8);
    first += F::TILE * a.splits;
    if (first < r.past) load_rows<F>(x, a, key, value, first, first, r.past, own_from);
  }
  if (team == 0 && lane % F::SAME == 0) peaks[query * F::WARPS + warp] = s.peak, sums[query * F::WARPS + warp] = s.sum;
#pragma unroll
  for (int g = 0; g < F::QUERIES; g++) {
    float *to = held + (warp * F::QUERIES + g) * F::H + F::WIDTH * lane;
    if constexpr (F::WIDTH == 4)
      *reinterpret_cast<float4 *>(to) = make_float4(s.held[g][0], s.held[g][1], s.held[g][2], s.held[g][3]);
    else
      *reinterpret_cast<float2 *>(to) = make_float2(s.held[g][0], s.held[g][1]);
  }
  __syncthreads();
  // Whole warps at a time: the lanes of one join the states of their query together, and quantize together. What a
  // thread's first columns need is there before the blocks meet.
  const int columns = a.block_heads * a.block_rows * F::H;
  float2 *states = reinterpret_cast<float2 *>(states_of(a));
  Place at = few_place<F>(a, r, COLUMNS * threadIdx.x);
  Last last(a, at, COLUMNS * threadIdx.x < columns);
  int partial = few_partial(a, at);
#pragma unroll 1
  for (int i = COLUMNS * threadIdx.x; i < columns; i += COLUMNS * F::THREADS) {
    Place to = at;
    if (i >= COLUMNS * F::THREADS) to = few_place<F>(a, r, i);
    const Columns c = join_few_warps<F>(peaks, sums, held, i);
    if (!to.there) continue;
    const int state = few_partial(a, to) + split;
    *reinterpret_cast<float2 *>(a.partials + (long long)state * F::H + to.column) = make_float2(c.values[0], c.values[1]);
    if (to.column == 0) states[state] = make_float2(c.peak, c.sum);
  }
  if (r.active > 1) {
    if (!arrives_last(a.counters + a.row_block * gridDim.x + blockIdx.x, r.active)) return;
  } else {
    __syncthreads();  // a query's state is another warp's
  }
#pragma unroll 1
  for (int i = COLUMNS * threadIdx.x; i < columns; i += COLUMNS * F::THREADS) {
    if (i >= COLUMNS * F::THREADS) {
      at = few_place<F>(a, r, i), last = Last(a, at, true);
      partial = few_partial(a, at);
    }
    const float *values = a.partials + (long long)partial * F::H + at.column;
    store(a, join_few_splits<F>(values, states + partial, r.active), last, at);
  }
}
