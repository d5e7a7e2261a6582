// Products of a few rows x by a matrix of stored rows, streamed at the memory's speed.
//
// A warp takes N stored rows at a time and walks along them: each lane loads 16 bytes of each row at a step, STEPS steps
// a batch, and asks for the next batch before it sums the present one, also across the warp's next rows. The first batch
// is loaded before the wait for the previous launch, since weights are constants. x lies in shared memory, quantized or
// f32, and is read once for the N rows. (The compiler counts both batches on one scoreboard, so that the present one is
// summed when the next is there too; rings, gemv_ring.cuh, know no such thing.)
//
// Of one row, x may come as it was before its norm: each block then norms it, and quantizes it where it is to be so, on
// its way into shared memory. The row is short and its weights are on the way already, so this costs less than a norm by
// the block that ends last, during which nothing is in flight.
//
// A block takes a tile of outputs (of its warps' passes and the outputs that a warp takes together), then the tile
// gridDim.x further on. blockIdx.y counts groups of up to RT rows of x. What may follow in the same launch: a norm of the
// whole row (by the block that arrives last), heads turned (by the block that completes a group of whole heads), or
// quantization (within a tile of 32).
#pragma once
#include "gemv_stage.cuh"

// ---- where a warp is -----------------------------------------------------------------------------------------------
// Outputs that a warp computes together: of a gated pair each takes a row of both matrices.
template <bool GLU, int N>
constexpr int OUTPUTS = GLU ? N / 2 : N;

// The first output that this warp computes in a pass of a tile.
template <bool GLU, int N>
__device__ __forceinline__ int first_output(const GemvArgs &a, int tile, int pass) {
  return (tile * warps() * a.passes + (threadIdx.x >> 5) * a.passes + pass) * OUTPUTS<GLU, N>;
}

template <int FORMAT, bool GLU, int N>
__device__ __forceinline__ StreamsOf<N> streams_at(const GemvArgs &a, int tile, int pass) {
  const Place at = place_of(a, tile);
  const int output = first_output<GLU, N>(a, at.tile, pass);
  StreamsOf<N> s;
#pragma unroll
  for (int i = 0; i < N; i++) {
    const int part = GLU ? i / OUTPUTS<GLU, N> : at.part;
    const int n = PART_FIELD(a, part, n);
    const char *w = PART_FIELD(a, part, w);
    const int row = min(output + i % OUTPUTS<GLU, N>, n - 1);  // past the end: the last row again, and nothing stored
    s.w[i] = w + (long long)row * a.pitch;
    const long long scales = ((long long)n * a.pitch + 255) & ~255LL;
    s.scale[i] = FORMAT == FORMAT_Q8_0 ? w + scales + (long long)row * (a.pitch / QBLOCK) * 2 : w;
  }
  return s;
}

// ---- what follows a product -----------------------------------------------------------------------------------------
// The quantized form of a tile of 32 outputs, from `stage` [RT][32]: warp r takes row r. The next tile goes to another
// stage, and the one after it is behind another barrier.
template <int RT>
__device__ __forceinline__ void quantize_tile(const GemvArgs &a, int row0, int column, const float *stage) {
  __syncthreads();
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  if (warp < RT && row0 + warp < a.m) {
    const float v[1] = {stage[warp * QBLOCK + lane]};
    store_quantized<1>(a.quantized, row0 + warp, column + lane, v, true);
  }
}

// arrives_last by warps: true in every lane of the last of `total`, all of whose writes are then visible to it.
__device__ __forceinline__ bool warp_arrives_last(u32 *counter, u32 total) {
  __syncwarp();
  u32 before = 0;
  if ((threadIdx.x & 31) == 0)
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(total - 1) : "memory");
  before = __shfl_sync(ALL_LANES, before, 0);
  __syncwarp();
  return before == total - 1;
}

// Turns the heads of the group that this tile completes, if it does.
template <int RT, int N>
__device__ __forceinline__ void turn_group(const GemvArgs &a, int tile, int row0, int position) {
  const Place at = place_of(a, tile);
  if (!PART_FIELD(a, at.part, turned)) return;  // uniform over the block
  const int group = at.tile / a.group_tiles;
  const int tiles = PART_FIELD(a, at.part, tiles), n = PART_FIELD(a, at.part, n);
  const int first = tile - at.tile + group * a.group_tiles;  // the group's counter is its first tile's
  const int all = min(a.group_tiles, tiles - group * a.group_tiles);
  const int of_a_group = a.part[0].tiles + a.part[1].tiles + a.part[2].tiles + a.part[3].tiles;
  u32 *counter = a.counters + (long long)blockIdx.y * of_a_group + first;
  // Of one row of x there is little to turn: the warp that arrives last does, and no other waits for it.
  constexpr bool ALONE = RT == 1;
  if (ALONE ? !warp_arrives_last(counter, u32(all) * warps()) : !arrives_last(counter, all)) return;
  int column0 = 0;  // of the part, in the waiting products
#pragma unroll
  for (int p = 0; p < PARTS - 1; p++) column0 += p < at.part ? a.part[p].n : 0;
  const int per_group = a.group_tiles * warps() * a.passes * N / a.hd;
  const int heads = min(per_group, n / a.hd - group * per_group);
  const HeadNorm norm{PART_FIELD(a, at.part, norm.present), PART_FIELD(a, at.part, norm.weight),
                      PART_FIELD(a, at.part, norm.eps)};
  const Rows y{PART_FIELD(a, at.part, y.base), PART_FIELD(a, at.part, y.pitch), PART_FIELD(a, at.part, y.row)};
  const int rows = min(RT, a.m - row0), unit = PART_FIELD(a, at.part, y_unit);
#pragma unroll 1
  for (int i = ALONE ? 0 : threadIdx.x >> 5; i < heads * rows; i += ALONE ? 1 : warps()) {
    const int row = row0 + i / heads, head = group * per_group + i % heads;
    const long long turn = (long long)(position + row) * a.half;
    turn_head(a.product + (long long)row * a.product_pitch + column0 + head * a.hd,
              y.at(row) + (long long)unit * head, a.cos + turn, a.sin + turn, a.hd, a.half, norm);
  }
}

// ---- the kernel -----------------------------------------------------------------------------------------------------
extern __shared__ uint4 dynamic_shared[];

// One output's value to where it belongs: its own rows, or where what follows reads it.
template <int RT, bool FOLDS>
__device__ __forceinline__ void store_output(const GemvArgs &a, const Place &at, int row0, int r, int output, float v,
                                             float *stage) {
  if (a.quantized.planes > 0) stage[r * QBLOCK + output % QBLOCK] = v;
  const bool waits = a.then == THEN_NORM || (a.then == THEN_TURN && PART_FIELD(a, at.part, turned));
  if (FOLDS && waits) {
    int column = output;
#pragma unroll
    for (int p = 0; p < PARTS - 1; p++) column += p < at.part ? a.part[p].n : 0;
    a.product[(long long)(row0 + r) * a.product_pitch + column] = v;
    return;
  }
  const Rows y{PART_FIELD(a, at.part, y.base), PART_FIELD(a, at.part, y.pitch), PART_FIELD(a, at.part, y.row)};
  if (y.base != nullptr) y.at(row0 + r)[output] = v;
}

template <int M, int WITHIN>
__device__ __forceinline__ float sum_lanes_within(const float (&v)[M]) {
  if constexpr (M == 1) {
    float sum = v[0];
#pragma unroll
    for (int d = WITHIN; d > 0; d >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, d);
    return sum;
  } else {
    const bool upper = threadIdx.x & WITHIN;
    float half[M / 2];
#pragma unroll
    for (int i = 0; i < M / 2; i++) {
      const float sent = upper ? v[i] : v[i + M / 2];
      half[i] = (upper ? v[i + M / 2] : v[i]) + __shfl_xor_sync(ALL_LANES, sent, WITHIN);
    }
    return sum_lanes_within<M / 2, WITHIN / 2>(half);
  }
}

// M sums over the warp's lanes, M a power of two: lane l gets that of value l / (32 / M). Half of the values go each way
// at every step, so that it takes little more than the steps of one sum.
template <int M>
__device__ __forceinline__ float sum_lanes(const float (&v)[M]) {
  return sum_lanes_within<M, 16>(v);
}

// What is added to this lane's output, of those from `first` on, asked for before its product is summed.
template <int RT, bool GLU, int N>
__device__ __forceinline__ float added_to_output(const GemvArgs &a, int first, int row0) {
  if (GLU || a.residual == nullptr) return 0.0f;
  const int r = (threadIdx.x & 31) / N, output = first + (threadIdx.x & 31) % N;
  if (r >= RT || row0 + r >= a.m || output >= a.part[0].n) return 0.0f;  // a residual has one part
  return load_fresh(a.residual + (long long)a.residual_pitch * (row0 + r) + output);
}

// Sums over the warp's lanes, times the factor of x, then one lane an output (and row of x) stores it; `first` is the warp's
// first in its part.
template <int RT, bool GLU, int N, bool FOLDS>
__device__ __forceinline__ void finish_outputs(const GemvArgs &a, const Place &at, int first, int row0,
                                               float (&sums)[RT][N], float factor, float added, float *stage) {
  constexpr int WIDE = OUTPUTS<GLU, N>, ALL = RT * N, EACH = 32 / ALL;
  const int lane = threadIdx.x & 31, r = lane / WIDE;
  float values[ALL];
#pragma unroll
  for (int i = 0; i < ALL; i++) values[i] = sums[i / N][i % N];
  const float total = sum_lanes(values) * factor;
  const int from = (r * N + lane % WIDE) * EACH;
  // This lane's output, and of a gated pair the other matrix's.
  float v = __shfl_sync(ALL_LANES, total, from), up = 0.0f;
  if (GLU) up = __shfl_sync(ALL_LANES, total, from + WIDE * EACH);
  const int output = first + lane % WIDE;
  if (r >= RT || row0 + r >= a.m || output >= PART_FIELD(a, at.part, n)) return;
  const float *bias = PART_FIELD(a, at.part, bias);
  if (bias != nullptr) v += bias[output];
  if (GLU) {
    if (a.part[1].bias != nullptr) up += a.part[1].bias[output];
    v = activate(a.act, v) * up;
  }
  v += added;
  store_output<RT, FOLDS>(a, at, row0, r, output, v, stage);
}

template <int FORMAT, int INPUT, int RT, int STEPS, bool GLU, int N, bool ROLLING, bool FOLDS>
__device__ __forceinline__ void gemv_rows(const GemvArgs &a, int row0) {
  __shared__ float stages[2][RT * QBLOCK];
  __shared__ float4 scratch4[8];
  float *scratch = reinterpret_cast<float *>(scratch4);
  char *shared = reinterpret_cast<char *>(dynamic_shared);
  const int lane = threadIdx.x & 31, words = words_of<FORMAT>(a);
  int tiles = a.part[0].tiles;
  if (!GLU) tiles += a.part[1].tiles + a.part[2].tiles + a.part[3].tiles;

  // Known where it can be: a wide block's registers are all taken, and one that is spilled while a load is on its way to it
  // waits for the load.
  constexpr bool ONE_PASS = GLU && ROLLING && WIDE_THREADS / 32 * OUTPUTS<GLU, N> == QBLOCK;
  const int passes = ONE_PASS ? 1 : a.passes;
  int tile = blockIdx.x, pass = 0, odd = 0;
  StreamsOf<N> at = streams_at<FORMAT, GLU, N>(a, tile, 0);
  Batch<FORMAT, STEPS, N> batch;
  // Entries that one row of x takes.
  constexpr bool ONE_ROW = RT == 1 || (IN_BLOCKS<FORMAT> && INPUT == INPUT_F32);
  if (ONE_ROW && a.x_norm.present) stage_norm_weights<FORMAT, INPUT>(a, shared);
  load_batch<FORMAT>(batch, at, lane, words, a.k);
  let_next_start();
  wait_for_previous();
  int position = 0;  // asked for early, before it is needed
  if (FOLDS && a.then == THEN_TURN && a.position != nullptr) position = *a.position;
  if (ONE_ROW && a.x_norm.present)
    ask_for_row<FORMAT, INPUT>(a, shared), stage_weighed<FORMAT, INPUT>(a, shared, scratch);
  else if constexpr (INPUT == INPUT_F32)
    stage_f32<FORMAT, RT>(a, row0, reinterpret_cast<float *>(shared));
  else
    stage_q8<FORMAT, RT>(a, row0, shared);
  __syncthreads();
  const float factor = ONE_ROW && a.x_norm.present ? factor_of_norm(a, scratch) : 1.0f;

  while (tile < tiles) {
    const float added = added_to_output<RT, GLU, N>(a, first_output<GLU, N>(a, tile, pass), row0);
    float sums[RT][N] = {};
    int next_tile = tile, next_pass = pass + 1;
    if (next_pass == passes) next_tile = tile + gridDim.x, next_pass = 0;
#pragma unroll 1
    for (int word = lane; word - lane < words; word += 32 * STEPS) {
      int ahead = word + 32 * STEPS;
      if (ahead - lane >= words) {  // what is loaded now is of the warp's next rows, if it has any
        ahead = next_tile < tiles ? lane : words;
        if (next_tile < tiles) at = streams_at<FORMAT, GLU, N>(a, next_tile, next_pass);
      }
      Batch<FORMAT, STEPS, N> next;
      if (!ROLLING) load_batch<FORMAT>(next, at, ahead, words, a.k);
#pragma unroll
      for (int u = 0; u < STEPS; u++) {
        sum_any<FORMAT, INPUT, RT>(batch.w[u], word + 32 * u, words, shared, a.k, a.x_pitch, a.m - row0, sums);
        if (ROLLING) load_step<FORMAT>(batch.w[u], at, ahead + 32 * u, words, a.k);
      }
      if (!ROLLING) batch = next;
    }
    const Place here = place_of(a, tile);
    const int first = first_output<GLU, N>(a, here.tile, pass);
    finish_outputs<RT, GLU, N, FOLDS>(a, here, first, row0, sums, factor, added, stages[odd]);
    if (next_pass == 0) {  // the tile is complete
      if (a.quantized.planes > 0) quantize_tile<RT>(a, row0, tile * QBLOCK, stages[odd]), odd ^= 1;
      if (FOLDS && a.then == THEN_TURN) turn_group<RT, N>(a, tile, row0, position);
    }
    tile = next_tile, pass = next_pass;
  }

  if (FOLDS && a.then == THEN_NORM && arrives_last(a.counters + blockIdx.y, gridDim.x)) {
    const int cols = a.part[0].n;
#pragma unroll 1
    for (int row = row0; row < min(row0 + RT, a.m); row++) {
      const FreshReader reader{a.product + (long long)row * a.product_pitch};
      norm_row(reader, a.norm, row, cols, reinterpret_cast<float *>(shared), scratch);
    }
  }
}

template <int FORMAT, int INPUT, int RT, int STEPS, bool GLU, int N, bool ROLLING, bool FOLDS>
__device__ __forceinline__ void gemv(const GemvArgs &a) {
  if constexpr (IN_BLOCKS<FORMAT> && INPUT == INPUT_F32) {  // the rows of x shared out over the groups, up to RT each
    const int rows = (a.m + gridDim.y - 1) / gridDim.y, row0 = blockIdx.y * rows;
    GemvArgs group = a;  // a copy costs registers: only where it is needed
    group.m = min(a.m, row0 + rows);
    gemv_rows<FORMAT, INPUT, RT, STEPS, GLU, N, ROLLING, FOLDS>(group, row0);
  } else {
    gemv_rows<FORMAT, INPUT, RT, STEPS, GLU, N, ROLLING, FOLDS>(a, blockIdx.y * RT);
  }
}
