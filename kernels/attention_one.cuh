// Attention of one row whose splits are the blocks of one cluster, for heads of H values, one of the usual sizes, that
// are turned as a whole or not at all.
//
// As in attention_few.cuh all that counts is how many things wait for each other after the launch ahead has ended:
//   - tiles of keys and values go into shared memory by copies that no register and no other load waits for;
//   - a warp brings one query in, normed and turned, and each warp scores four positions with every query: a lane has
//     the same columns of all of them, so that a query is read from shared memory once a warp;
//   - one barrier later a warp adds up its own columns of all of the block's positions, so that no warps are joined;
//   - a block's part of the results goes straight into the shared memory of the block that stores it, which counts the
//     bytes that come: nothing waits for fences, counters or global memory.
// A block of the cluster stores a slice of the results, and needs all of its blocks, with positions or without.
#pragma once
#include "attention_one_in.cuh"

// ---- the parts of the chain -----------------------------------------------------------------------------------------
// The lane's columns of the queries; of two they stay in registers from tile to tile. With fewer than 81 a thread three
// blocks would lie on a multiprocessor: the chip puts clusters as densely as it can where there is room first, and they
// take the longer.
template <class F>
struct OneQueries {
  static constexpr bool KEPT = F::QUERIES <= 2;
  float kept[KEPT ? F::QUERIES : 1][F::WIDTH];

  __device__ __forceinline__ void load(const OneShared<F> &s) {
    if constexpr (KEPT)
#pragma unroll
      for (int g = 0; g < F::QUERIES; g++) shared_columns(kept[g], s.q + g * F::H + F::WIDTH * (threadIdx.x & 31));
  }

  __device__ __forceinline__ void get(float (&q)[F::WIDTH], const OneShared<F> &s, int g) const {
    if constexpr (KEPT)
#pragma unroll
      for (int c = 0; c < F::WIDTH; c++) q[c] = kept[g][c];
    else
      shared_columns(q, s.q + g * F::H + F::WIDTH * (threadIdx.x & 31));
  }
};

// The weights of the warp's positions of a tile, and their maxima, into shared memory; `scale` is that of the scores.
template <class F>
__device__ __forceinline__ void weigh(OneShared<F> &s, const OneQueries<F> &q, const OneTile<F> &held, int tile, int own, int from, int past, int queries, float scale) {
  constexpr int SCORES = F::QUERIES * F::EACH, SAME = SCORES < 32 ? 32 / SCORES : 1;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, column = F::WIDTH * lane, first = F::EACH * warp;
  float k[F::EACH][F::WIDTH], dots[SCORES];
#pragma unroll
  for (int i = 0; i < F::EACH; i++)
    shared_columns(k[i], (tile + first + i == own ? s.own : held.keys + (first + i) * F::PITCH) + column);
#pragma unroll
  for (int g = 0; g < F::QUERIES; g++) {
    float x[F::WIDTH];
    q.get(x, s, g);
#pragma unroll
    for (int i = 0; i < F::EACH; i++) {
      float d = k[i][0] * x[0];
#pragma unroll
      for (int c = 1; c < F::WIDTH; c++) d = fmaf(k[i][c], x[c], d);
      dots[g * F::EACH + i] = d;
    }
  }
  share_sums<SCORES, 16, 1>(dots);
  const int score = share_of<SCORES, 16, 1>(), query = score / F::EACH, at = score % F::EACH, row = tile + first + at;
  const bool seen = query < queries && row >= from && row < past;
  const float x = seen ? dots[0] * scale : LOWEST;
  float peak = x;
#pragma unroll
  for (int by = SAME; by < SAME * F::EACH; by <<= 1) peak = fmaxf(peak, __shfl_xor_sync(ALL_LANES, peak, by));
  if (lane % SAME == 0) {
    s.weights[query * (F::TILE + 4) + first + at] = seen ? power_of_two(x - peak) : 0.0f;
    if (at == 0) s.peaks[query * F::WARPS + warp] = peak;
  }
}

// What a lane has of the tiles so far: sums of the values of its rows, of its columns; and of the states [query][warp]
// that it looks after, which are those of numbers lane + 32 n, the maximum over all warps, and the sum of weights.
template <class F>
struct OneState {
  float sums[F::SUMS] = {}, peak[F::MINE], sum[F::MINE] = {};

  __device__ __forceinline__ void add(const OneShared<F> &s, const OneTile<F> &held, bool again) {
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, group = lane / F::LANES;
    float share[F::MINE];
#pragma unroll
    for (int n = 0; n < F::MINE; n++) {
      const int state = (lane + 32 * n) % F::STATES, query = state / F::WARPS;
      const float mine = s.peaks[state];
      float most = mine;
#pragma unroll
      for (int by = 1; by < F::WARPS; by <<= 1) most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, by));
      if (again) {
        most = fmaxf(most, peak[n]);
        const float kept = power_of_two(peak[n] - most);
        sum[n] *= kept;
#pragma unroll
        for (int g = 4 * n; g < 4 * n + 4 && g < F::QUERIES; g++) {
          const float keep = __shfl_sync(ALL_LANES, kept, g % 4 * F::WARPS);
#pragma unroll
          for (int c = 0; c < F::WIDTH; c++) sums[g * F::WIDTH + c] *= keep;
        }
      }
      peak[n] = most, share[n] = power_of_two(mine - most);
      if (warp == 0) {
        const float *w = s.weights + query * (F::TILE + 4) + state % F::WARPS * F::EACH;
        const float4 four = *reinterpret_cast<const float4 *>(w);
        sum[n] = fmaf(four.x + four.y + (four.z + four.w), share[n], sum[n]);
      }
    }
    float v[F::EACH][F::WIDTH];
    const float *rows = held.values + group * F::EACH * F::PITCH + warp * (F::H / F::WARPS) + lane % F::LANES * F::WIDTH;
#pragma unroll
    for (int i = 0; i < F::EACH; i++) shared_columns(v[i], rows + i * F::PITCH);
#pragma unroll
    for (int g = 0; g < F::QUERIES; g++) {
      const float4 four = *reinterpret_cast<const float4 *>(s.weights + g * (F::TILE + 4) + group * F::EACH);
      const float scale = __shfl_sync(ALL_LANES, share[g / 4], g % 4 * F::WARPS + group);
      const float w[F::EACH] = {four.x * scale, four.y * scale, four.z * scale, four.w * scale};
#pragma unroll
      for (int i = 0; i < F::EACH; i++)
#pragma unroll
        for (int c = 0; c < F::WIDTH; c++) sums[g * F::WIDTH + c] = fmaf(w[i], v[i][c], sums[g * F::WIDTH + c]);
    }
  }

  // Sends the block's part of all results to the blocks that store them.
  __device__ __forceinline__ void send_parts(OneShared<F> &s, int rank, int queries) {
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const u32 counted = shared_address(&s.counted);
    share_sums<F::SUMS, 16, F::LANES>(sums);
    const int share = share_of<F::SUMS, 16, F::LANES>(), query = share / F::WIDTH;
    const int result = query * F::H + warp * (F::H / F::WARPS) + lane % F::LANES * F::WIDTH + share % F::WIDTH;
    // Where there are fewer sums than lanes that share them, one lane of those with the same sends it.
    constexpr int SAME = F::SUMS < F::WARPS ? F::WARPS / F::SUMS : 1;
    if (lane / F::LANES % SAME == 0 && query < queries) {
      const u32 to = result / F::SLICE;
      const u32 at = shared_address(s.results + rank * F::SLICE + result % F::SLICE);
      send<F::HELD>(address_in(at, to), sums, address_in(counted, to));
    }
    if (warp > 0) return;
#pragma unroll
    for (int n = 0; n < F::MINE; n++) {
#pragma unroll
      for (int by = 1; by < F::WARPS; by <<= 1) sum[n] += __shfl_xor_sync(ALL_LANES, sum[n], by);
      const int state = lane + 32 * n, of = state / F::WARPS;
      if (state < F::STATES && of < queries && lane % F::WARPS < F::RANKS) {
        const u32 to = of * F::RANKS + lane % F::WARPS;
        const float both[2] = {peak[n], sum[n]};
        send<2>(address_in(shared_address(s.states + rank), to), both, address_in(counted, to));
      }
    }
  }
};

// Joins what `active` blocks sent of 32 results, from number `first` of the block's slice on: a lane ends with one, that
// of number share_of<4, 16, 8> of the four from 4 * (lane % 8) on. `sink` joins their maximum and sum.
template <class F>
__device__ __forceinline__ float join_blocks(const OneShared<F> &s, int first, int active, float sink) {
  constexpr int SOURCES = F::BLOCKS / 4;
  const int lane = threadIdx.x & 31;
  float peak[SOURCES], sum[SOURCES], v[4] = {}, most = sink, total = 0.0f;
#pragma unroll
  for (int j = 0; j < SOURCES; j++) {
    const int source = lane / 8 + 4 * j;
    peak[j] = LOWEST, sum[j] = 0.0f;
    if (source < active) peak[j] = s.states[source].x, sum[j] = s.states[source].y;
    most = fmaxf(most, peak[j]);
  }
  most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, 8));
  most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, 16));
#pragma unroll
  for (int j = 0; j < SOURCES; j++) {
    const int source = lane / 8 + 4 * j;
    float4 part = make_float4(0, 0, 0, 0);
    if (source < active)
      part = *reinterpret_cast<const float4 *>(s.results + source * F::SLICE + first + 4 * (lane % 8));
    const float share = power_of_two(peak[j] - most);
    total = fmaf(sum[j], share, total);
    v[0] = fmaf(part.x, share, v[0]), v[1] = fmaf(part.y, share, v[1]);
    v[2] = fmaf(part.z, share, v[2]), v[3] = fmaf(part.w, share, v[3]);
  }
  share_sums<4, 16, 8>(v);
  total += __shfl_xor_sync(ALL_LANES, total, 8);
  total += __shfl_xor_sync(ALL_LANES, total, 16);
  if (sink > LOWEST) total += power_of_two(sink - most);
  return total > 0.0f ? __fdividef(v[0], total) : 0.0f;
}

// Parameters in registers from here on: what first reads them later would wait for a cache that has not got them yet.
__device__ __forceinline__ void hold(int &x) { asm volatile("" : "+r"(x)); }
__device__ __forceinline__ void hold(float &x) { asm volatile("" : "+f"(x)); }
template <class T>
__device__ __forceinline__ void hold(T *&p) {
  asm volatile("" : "+l"(p));
}
template <class... T>
__device__ __forceinline__ void at_hand(T &...x) {
  (..., hold(x));
}

// Where the 32 results that a warp joins are stored, and what joins them; `first` of the block's slice, of `queries`.
template <class F>
struct OneResult {
  int first, column;  // the lane's result, in the row
  bool present;
  float sink;
  Rows y;
  QuantizedRows quantized;

  __device__ __forceinline__ OneResult(const AttentionArgs &a, int head0, int rank)
      : first(threadIdx.x & ~31), sink(LOWEST), y(a.y), quantized(a.quantized) {
    const int part = rank * F::SLICE + first, lane = threadIdx.x & 31;
    present = first < F::SLICE && part < a.block_heads * F::H;
    column = head0 * F::H + part + 4 * (lane % 8) + share_of<4, 16, 8>();
    if (present && a.sinks != nullptr) sink = load_constant(a.sinks + column / F::H) * LOG2E;
    at_hand(y.base, y.pitch, y.row);
    at_hand(quantized.to.base, quantized.to.planes, quantized.to.rows, quantized.to.cols, quantized.first, quantized.row);
  }

  __device__ __forceinline__ void store(const AttentionArgs &a, const OneShared<F> &s, int active) const {
    float result[1] = {join_blocks<F>(s, first, active, sink)};
    if (a.gate != nullptr) result[0] *= activate(a.gate_act, load_fresh(a.gate + column));
    if (y.base != nullptr) y.at(0)[column] = result[0];
    if (quantized.to.planes > 0) store_quantized<1>(quantized.to, quantized.at(0), column, result, true);
  }
};

// Adds up the block's tiles. Those of all slots but one are on their way; each further one goes where the last was read.
template <class F>
__device__ __forceinline__ void walk_tiles(OneShared<F> &s, OneState<F> &state, const OneTables<F> &tables,
                                           const OneSpan<F> &at, int queries, float scale) {
  int slot = 0, free = F::SLOTS - 1;
  OneQueries<F> q;
#pragma unroll 1
  for (int tile = at.tile;; tile += F::STEP) {
    const int next = tile + (F::SLOTS - 1) * F::STEP;
    const OneTile<F> &held = tile_in<F>(slot);
    wait_for_copies<F::SLOTS - 2>();
    __syncthreads();  // all have read the tile before
    if (next < at.past) tables.copy(tile_in<F>(free), at, next, next, at.past);
    end_copies();
    if (tile == at.tile) q.load(s);
    weigh<F>(s, q, held, tile, at.own, at.from, at.past, queries, scale);
    __syncthreads();
    state.add(s, held, tile > at.tile);
    if (tile + F::STEP >= at.past) break;
    free = slot, slot = slot + 1 < F::SLOTS ? slot + 1 : 0;
  }
}

// ---- the kernel -----------------------------------------------------------------------------------------------------
template <class F>
__device__ __forceinline__ void attention_one(const AttentionArgs &a) {
  __shared__ OneShared<F> s;
  const int warp = threadIdx.x >> 5, rank = blockIdx.x, column = F::PAIR * (threadIdx.x & 31);
  const int head0 = blockIdx.y * a.block_heads, kv = head0 / a.group, queries = a.block_heads;
  const u32 counted = shared_address(&s.counted);
  let_next_start();
  if (a.early == EARLY_NOTHING) wait_for_previous();
  const int position = load_position(a.position);
  // While it is on its way: all that does not follow from it.
  if (threadIdx.x == 0) init_barrier(counted), barriers_begun();
  __syncwarp();
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  const bool key = warp == queries;  // the warp's head: a query, or behind those the step's own key
  HeadNorm norm = key ? a.turns.k_norm : a.turns.q_norm;
  float scale = a.scale * LOG2E;  // of scores
  at_hand(norm.present, norm.eps, scale);
  const float *k = a.turns.k + kv * F::H, *source = key ? k : a.q + (long long)(head0 + warp) * a.q_unit;
  OneHead<F> head;
  head.weigh(norm, column);
  for (int i = queries * F::H + threadIdx.x; i < F::QUERIES * F::H; i += F::THREADS) s.q[i] = 0.0f;
  const OneResult<F> result(a, head0, rank);

  const OneSpan<F> at(a, position, rank);
  const OneTables<F> tables{a.keys + kv * F::H, a.values + (long long)kv * a.value_unit, a.key_pitch, a.value_pitch};
  const bool busy = rank < at.active;
#pragma unroll 1
  for (int i = 0; busy && i < F::SLOTS - 1; i++) tables.copy_settled(tile_in<F>(i), at, at.tile + i * F::STEP);
  if (threadIdx.x == 0) expect_bytes(counted, at.active * int(sizeof(float) * F::SLICE + sizeof(float2)));
  const int heads = queries + (at.own == position && at.last);  // the key, if a tile here has it
  float *table = const_cast<float *>(tables.keys) + (long long)a.key_pitch * position;
  if (head0 != kv * a.group) table = nullptr;  // another block's heads come first: it stores the key
  head.place(a, position, column);
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");  // all have begun to count
  if (a.early != EARLY_NOTHING) wait_for_previous();

  if (busy) {
    if (warp < heads) head.load(source, column);
#pragma unroll 1
    for (int i = 0; i < F::SLOTS - 1; i++) tables.copy_unsettled(tile_in<F>(i), at, at.tile + i * F::STEP), end_copies();
    if (warp < heads) head.bring(norm, key ? s.own : s.q + warp * F::H, key ? table : nullptr, column);
    if (heads > F::WARPS && warp == 0) {  // eight queries, and the key
      norm = a.turns.k_norm;
      head.weigh(norm, column);
      head.load(k, column);
      head.bring(norm, s.own, table, column);
    }
    OneState<F> state;
    walk_tiles<F>(s, state, tables, at, queries, scale);
    state.send_parts(s, rank, queries);
  }
  if (!result.present) return;
  wait_for_phase(counted, 0);
  result.store(a, s, at.active);
}
