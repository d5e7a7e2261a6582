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
#include "attention_few.cuh"
#include "bulk.cuh"

template <int QUERIES_, int H_>
struct One {
  static constexpr int QUERIES = QUERIES_, H = H_;
  static constexpr int BLOCKS = 16, WARPS = 8, THREADS = 32 * WARPS;
  // On a multiprocessor. Three, of 80 registers, begin beside the launch ahead: 0.6 us slower in a chain of streams.
  static constexpr int TOGETHER = 2;
  static constexpr int EACH = 4, TILE = WARPS * EACH;  // positions of a warp, of a block
  static constexpr int PITCH = H + 4;                  // of a tile's rows: words of a column are in banks of their own
  static constexpr int PAIR = H / 64;                  // columns of each half of a head, a lane
  static constexpr int LANES = 4, WIDTH = H / 32;      // lanes that share rows of values, and the columns of one
  static constexpr int SUMS = QUERIES * WIDTH;         // of a lane; with the lanes of other rows it shares them out
  static constexpr int HELD = SUMS < WARPS ? 1 : SUMS / WARPS;
  static constexpr int STATES = QUERIES * WARPS, MINE = STATES < 32 ? 1 : STATES / 32;
  static constexpr int SLICE = QUERIES * H < 32 * BLOCKS ? 32 : QUERIES * H / BLOCKS;  // results that a block stores
  static constexpr int RANKS = H / SLICE;                                              // blocks that store a query's
};

template <class F>
struct OneShared {
  float keys[F::TILE * F::PITCH], values[F::TILE * F::PITCH];
  float q[F::QUERIES * F::H], own[F::H];       // queries; the step's own key
  float weights[F::QUERIES * (F::TILE + 4)];   // of positions, on the scale of their warp
  float peaks[F::STATES];                      // of [query][warp]
  float results[F::BLOCKS * F::SLICE];         // that the cluster's blocks sent
  float2 states[F::BLOCKS];                    // with their maximum and sum
  u64 counted;                                 // the barrier that counts the bytes of both
};

// ---- clusters -------------------------------------------------------------------------------------------------------
__device__ __forceinline__ u32 address_in(u32 address, u32 rank) {
  u32 there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

// Sends values to another block, where `counted` counts their bytes.
template <int V>
__device__ __forceinline__ void send(u32 to, const float *v, u32 counted) {
#define SEND "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes"
  if constexpr (V == 1)
    asm volatile(SEND ".f32 [%0], %1, [%2];" ::"r"(to), "f"(v[0]), "r"(counted) : "memory");
  else if constexpr (V == 2)
    asm volatile(SEND ".v2.f32 [%0], {%1, %2}, [%3];" ::"r"(to), "f"(v[0]), "f"(v[1]), "r"(counted) : "memory");
  else
    asm volatile(SEND ".v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]),
                 "r"(counted)
                 : "memory");
#undef SEND
}

// ---- shares of sums -------------------------------------------------------------------------------------------------
// Adds up values over the lanes that differ in the bits FROM to TO: of what is left halves change places, so that each
// lane ends with the sums from number share_of on; with that of one alone, the lanes of the last bits have the same.
template <int N, int FROM, int TO>
__device__ __forceinline__ void share_sums(float (&v)[N]) {
#pragma unroll
  for (int by = FROM, left = N; by >= TO; by >>= 1) {
    if (left > 1) {
      left >>= 1;
      const bool upper = threadIdx.x & by;
#pragma unroll
      for (int n = 0; n < N / 2; n++)
        if (n < left) {
          const float given = upper ? v[n] : v[n + left];
          v[n] = (upper ? v[n + left] : v[n]) + __shfl_xor_sync(ALL_LANES, given, by);
        }
    } else {
      v[0] += __shfl_xor_sync(ALL_LANES, v[0], by);
    }
  }
}

template <int N, int FROM, int TO>
__device__ __forceinline__ int share_of() {
  int first = 0;
#pragma unroll
  for (int by = FROM, left = N; by >= TO && left > 1; by >>= 1) {
    left >>= 1;
    if (threadIdx.x & by) first += left;
  }
  return first;
}

// ---- what comes in --------------------------------------------------------------------------------------------------
// Begins to copy the tile's rows from `from` to `to`, and fills those from `past` on with zeros; keys up to `own` alone.
template <class F>
__device__ __forceinline__ void copy_tile(const AttentionArgs &a, OneShared<F> &s, int kv, int tile, int from, int to,
                                          int past, int own) {
  constexpr int FOURS = F::H / 4, ROWS = F::THREADS / FOURS;
  const int four = threadIdx.x % FOURS, first = threadIdx.x / FOURS;
  const float *key = a.keys + (long long)kv * F::H + 4 * four, *value = a.values + (long long)kv * a.value_unit + 4 * four;
#pragma unroll
  for (int i = 0; i < F::TILE; i += ROWS) {
    const int row = tile + first + i, at = (first + i) * F::PITCH + 4 * four;
    if (row >= past) {
      *reinterpret_cast<float4 *>(s.keys + at) = *reinterpret_cast<float4 *>(s.values + at) = make_float4(0, 0, 0, 0);
    } else if (row >= from && row < to) {
      copy16(s.values + at, value + (long long)row * a.value_pitch);
      if (row != own) copy16(s.keys + at, key + (long long)row * a.key_pitch);
    }
  }
}

template <int V>
__device__ __forceinline__ void load_columns(float *v, const float *p) {
  if constexpr (V == 2) {
    const float2 two = load_fresh2(p);
    v[0] = two.x, v[1] = two.y;
  } else {
    v[0] = load_fresh(p);
  }
}

template <int V>
__device__ __forceinline__ void load_constant_columns(float *v, const float *p) {
#pragma unroll
  for (int i = 0; i < V; i++) v[i] = load_constant(p + i);
}

// A head that a warp brings in: of each half of it PAIR columns a lane, from `column` of the half on.
template <class F>
struct OneHead {
  static constexpr int PAIR = F::PAIR, HALF = F::H / 2;
  float weight[2 * PAIR], cos[PAIR], sin[PAIR], v[2 * PAIR];

  __device__ __forceinline__ void prepare(const AttentionArgs &a, const HeadNorm &norm, int position, int column) {
#pragma unroll
    for (int i = 0; i < 2 * PAIR; i++) weight[i] = 1.0f;
#pragma unroll
    for (int i = 0; i < PAIR; i++) cos[i] = 1.0f, sin[i] = 0.0f;
    if (norm.weight != nullptr) {
      load_constant_columns<PAIR>(weight, norm.weight + column);
      load_constant_columns<PAIR>(weight + PAIR, norm.weight + HALF + column);
    }
    if (a.turns.half > 0) {
      load_constant_columns<PAIR>(cos, a.turns.cos + (long long)position * HALF + column);
      load_constant_columns<PAIR>(sin, a.turns.sin + (long long)position * HALF + column);
    }
  }

  __device__ __forceinline__ void load(const float *head, int column) {
    load_columns<PAIR>(v, head + column);
    load_columns<PAIR>(v + PAIR, head + HALF + column);
  }

  __device__ __forceinline__ void bring(const HeadNorm &norm, float *slot, float *table, int column) {
    float inverse = 1.0f;
    if (norm.present) {
      float squares = 0.0f;
#pragma unroll
      for (int i = 0; i < 2 * PAIR; i++) squares = fmaf(v[i], v[i], squares);
      inverse = rsqrtf(warp_sum(squares) * (1.0f / F::H) + norm.eps);
    }
#pragma unroll
    for (int i = 0; i < PAIR; i++) {
      const float low = v[i] * weight[i] * inverse, high = v[PAIR + i] * weight[PAIR + i] * inverse;
      put(low * cos[i] - high * sin[i], slot, table, column + i);
      put(high * cos[i] + low * sin[i], slot, table, HALF + column + i);
    }
  }

  __device__ __forceinline__ static void put(float x, float *slot, float *table, int column) {
    slot[column] = x;
    if (table != nullptr) table[column] = x;
  }
};

// ---- the parts of the chain -----------------------------------------------------------------------------------------
// The weights of the warp's positions of a tile, and their maxima, into shared memory; `scale` is that of the scores.
template <class F>
__device__ __forceinline__ void weigh(OneShared<F> &s, int tile, int own, int from, int past, int queries, float scale) {
  constexpr int SCORES = F::QUERIES * F::EACH, SAME = SCORES < 32 ? 32 / SCORES : 1;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, column = F::PAIR * lane, first = F::EACH * warp;
  float k[F::EACH][2 * F::PAIR], dots[SCORES];
#pragma unroll
  for (int i = 0; i < F::EACH; i++) {
    const float *row = tile + first + i == own ? s.own : s.keys + (first + i) * F::PITCH;
#pragma unroll
    for (int c = 0; c < 2 * F::PAIR; c++) k[i][c] = row[c / F::PAIR * (F::H / 2) + column + c % F::PAIR];
  }
#pragma unroll
  for (int g = 0; g < F::QUERIES; g++) {
    float q[2 * F::PAIR];
#pragma unroll
    for (int c = 0; c < 2 * F::PAIR; c++) q[c] = s.q[g * F::H + c / F::PAIR * (F::H / 2) + column + c % F::PAIR];
#pragma unroll
    for (int i = 0; i < F::EACH; i++) {
      float d = k[i][0] * q[0];
#pragma unroll
      for (int c = 1; c < 2 * F::PAIR; c++) d = fmaf(k[i][c], q[c], d);
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

  __device__ __forceinline__ void add(const OneShared<F> &s, bool again) {
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
    const float *rows = s.values + group * F::EACH * F::PITCH + warp * (F::H / F::WARPS) + lane % F::LANES * F::WIDTH;
#pragma unroll
    for (int i = 0; i < F::EACH; i++)
#pragma unroll
      for (int c = 0; c < F::WIDTH; c++) v[i][c] = rows[i * F::PITCH + c];
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

// ---- the kernel -----------------------------------------------------------------------------------------------------
template <class F>
__device__ __forceinline__ void attention_one(const AttentionArgs &a) {
  __shared__ __align__(16) OneShared<F> s;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, rank = blockIdx.x, head_column = F::PAIR * lane;
  const int head0 = blockIdx.y * a.block_heads, kv = head0 / a.group, queries = a.block_heads;
  let_next_start();
  if (a.early == EARLY_NOTHING) wait_for_previous();
  const int position = load_position(a.position), past = position + 1;
  const int settled = a.early == EARLY_TABLES ? position : 0, own = a.turns.present ? position : MOST_ROWS;
  const int from = a.window > 0 ? max(0, past - a.window) : 0, first_tile = from / F::TILE;
  const int tiles = position / F::TILE + 1 - first_tile, active = min(F::BLOCKS, tiles);
  const int tile0 = (first_tile + rank) * F::TILE;
  if (threadIdx.x == 0) {
    const u32 counted = shared_address(&s.counted);
    init_barrier(counted);
    barriers_begun();
    expect_bytes(counted, active * int(sizeof(float) * F::SLICE + sizeof(float2)));
  }
  __syncwarp();
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  const bool busy = rank < active;
  if (busy) copy_tile<F>(a, s, kv, tile0, tile0, min(settled, past), past, own);
  // The warp's head: a query, or behind those the step's own key, where a tile of this block has it.
  const bool has_own = own == position && (position / F::TILE - first_tile) % F::BLOCKS == rank;
  const int heads = queries + has_own;
  const bool key = warp == queries;
  HeadNorm norm{key ? a.turns.k_norm.present : a.turns.q_norm.present,
                key ? a.turns.k_norm.weight : a.turns.q_norm.weight, key ? a.turns.k_norm.eps : a.turns.q_norm.eps};
  const float *k = a.turns.k + kv * F::H;
  const float *source = key ? k : a.q + (long long)(head0 + warp) * a.q_unit;
  float *table = const_cast<float *>(a.keys) + (long long)a.key_pitch * position + kv * F::H;
  if (head0 != kv * a.group) table = nullptr;  // another block's heads come first: it stores the key
  OneHead<F> head;
  if (busy && warp < heads) head.prepare(a, norm, position, head_column);
  for (int g = queries + warp; busy && g < F::QUERIES; g += F::WARPS)
    for (int c = lane; c < F::H; c += 32) s.q[g * F::H + c] = 0.0f;
  const int first = 32 * warp, part = rank * F::SLICE + first;  // of the results that this warp joins and stores
  const bool joins = first < F::SLICE && part < queries * F::H;
  const int column = head0 * F::H + part + 4 * (lane % 8) + share_of<4, 16, 8>();
  float sink = LOWEST;
  if (joins && a.sinks != nullptr) sink = load_constant(a.sinks + column / F::H) * LOG2E;
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");  // all have begun to count
  if (a.early != EARLY_NOTHING) wait_for_previous();

  if (busy) {
    if (warp < heads) head.load(source, head_column);
    if (tile0 + F::TILE > settled) copy_tile<F>(a, s, kv, tile0, max(tile0, settled), past, MOST_ROWS, own);
    if (warp < heads) head.bring(norm, key ? s.own : s.q + warp * F::H, key ? table : nullptr, head_column);
    if (heads > F::WARPS && warp == 0) {  // eight queries, and the key
      norm = HeadNorm{a.turns.k_norm.present, a.turns.k_norm.weight, a.turns.k_norm.eps};
      head.prepare(a, norm, position, head_column);
      head.load(k, head_column);
      head.bring(norm, s.own, table, head_column);
    }
    OneState<F> state;
#pragma unroll 1
    for (int tile = tile0; tile < past; tile += F::TILE * F::BLOCKS) {
      if (tile > tile0) {
        __syncthreads();  // all have read the tile before
        copy_tile<F>(a, s, kv, tile, tile, past, past, own);
      }
      wait_for_own_copies();
      __syncthreads();
      weigh<F>(s, tile, own, from, past, queries, a.scale * LOG2E);
      __syncthreads();
      state.add(s, tile > tile0);
    }
    state.send_parts(s, rank, queries);
  }
  if (!joins) return;
  asm volatile(
      "{ .reg .pred over; look: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], 0; @!over bra look; }" ::"r"(
          shared_address(&s.counted))
      : "memory");
  float result[1] = {join_blocks<F>(s, first, active, sink)};
  if (a.gate != nullptr) result[0] *= activate(a.gate_act, load_fresh(a.gate + column));
  if (a.y.base != nullptr) a.y.at(0)[column] = result[0];
  if (a.quantized.to.planes > 0) store_quantized<1>(a.quantized.to, a.quantized.at(0), column, result, true);
}
