// Products of one row x by stored rows that each warp copies into a ring of its own in shared memory: of x quantized in
// one plane by rows of q8_0 or in blocks of 32 values, of f32 x by rows of f16 and bf16.
//
// A load into a register is waited for through one of six scoreboards, and the compiler gives all loads that outlive a
// branch the same: who waits for one of them waits for all that are in flight, x's included, and the norm at the head
// would begin when the last of the weights is there. Copies that arrive at barriers in shared memory hold no register
// and no scoreboard. A slot holds a chunk of N rows, whole rows where they fit; no two warps wait for each other but to
// stage x and to quantize a tile.
#pragma once
#include "bulk.cuh"
#include "gemv.cuh"

#if __CUDA_ARCH__ >= 900
constexpr int RING_SLOTS = 2;  // of a warp
constexpr int RING_WARPS = WIDE_THREADS / 32;
constexpr int PLANES_OF_A_ROW = 4;  // quants, high bits, scales, supers; some have no bytes

template <int FORMAT>
constexpr bool PLAIN_ROWS = FORMAT == FORMAT_F16 || FORMAT == FORMAT_BF16;

// What the entries of rings take x as.
template <int FORMAT>
constexpr int RING_INPUT = PLAIN_ROWS<FORMAT> ? INPUT_F32 : INPUT_Q8;

// The values of a row that its chunk of this number holds: of plain rows the last may be shorter.
template <int FORMAT>
__device__ __forceinline__ u32 values_of_chunk(u32 values, int k, int chunk) {
  return PLAIN_ROWS<FORMAT> ? min(values, u32(k) - chunk * values) : values;
}

// Whether all of a row lies together, so that it may be one copy. q8_0's scales lie behind all rows.
template <int FORMAT>
constexpr bool WHOLE_ROWS = FORMAT != FORMAT_Q8_0;

template <int FORMAT>
__device__ __forceinline__ u32 plane_bytes(int plane, u32 values) {
  if (PLAIN_ROWS<FORMAT>) return plane == 0 ? 2 * values : 0;
  if (FORMAT == FORMAT_Q8_0) return plane == 0 ? values : plane == 2 ? values / 16 : 0;
  const u32 high = FORMAT == FORMAT_Q5_K ? values / 8 : FORMAT == FORMAT_Q6_K ? values / 4 : 0;
  const u32 scales = FORMAT == FORMAT_MXFP4 ? values / 32 : values / 16;
  const u32 supers = HAS_MINS<FORMAT> ? values / 64 : HAS_SUPERS<FORMAT> ? values / 128 : 0;
  return plane == 0 ? values / 2 : plane == 1 ? high : plane == 2 ? scales : supers;
}

template <int FORMAT>
__device__ __forceinline__ u32 plane_at(int plane, u32 values) {
  if (PLAIN_ROWS<FORMAT>) return plane == 0 ? 0 : 2 * values;
  if (FORMAT == FORMAT_Q8_0) return plane < 2 ? 0 : plane == 2 ? values : values + values / 16;
  const u32 supers = plane == 3 ? plane_bytes<FORMAT>(2, values) : 0;
  return plane == 0 ? 0 : plane == 1 ? values / 2 : scales_at<FORMAT>(values) + supers;
}

// Where a lane reads a row of a chunk in shared memory: its first block, of each plane.
struct RowPlanes {
  const char *quants, *high, *scales, *supers;
};

template <int FORMAT>
constexpr int HIGH_OF_BLOCK = FORMAT == FORMAT_Q5_K ? 4 : FORMAT == FORMAT_Q6_K ? 8 : 0;
template <int FORMAT>
constexpr int SCALES_OF_BLOCK = FORMAT == FORMAT_MXFP4 ? 1 : 2;
template <int FORMAT>
constexpr int SUPERS_OF_EIGHT = HAS_MINS<FORMAT> ? 4 : HAS_SUPERS<FORMAT> ? 2 : 0;

template <int FORMAT>
__device__ __forceinline__ RowPlanes planes_at(const char *row, u32 values, int block) {
  return {row + 16 * block, row + plane_at<FORMAT>(1, values) + HIGH_OF_BLOCK<FORMAT> * block,
          row + plane_at<FORMAT>(2, values) + SCALES_OF_BLOCK<FORMAT> * block,
          row + plane_at<FORMAT>(3, values) + SUPERS_OF_EIGHT<FORMAT> * (block / 8)};
}

// Moves on by blocks, a multiple of eight of them.
template <int FORMAT>
__device__ __forceinline__ void move_on(RowPlanes &at, int blocks) {
  at.quants += 16 * blocks, at.high += HIGH_OF_BLOCK<FORMAT> * blocks;
  at.scales += SCALES_OF_BLOCK<FORMAT> * blocks, at.supers += SUPERS_OF_EIGHT<FORMAT> * (blocks / 8);
}

// The block `ahead` blocks on, a multiple of eight.
template <int FORMAT>
__device__ __forceinline__ Block<FORMAT> block_at(const RowPlanes &at, int ahead) {
  Block<FORMAT> b;
  const char *high = at.high + HIGH_OF_BLOCK<FORMAT> * ahead, *scale = at.scales + SCALES_OF_BLOCK<FORMAT> * ahead;
  const char *super = at.supers + SUPERS_OF_EIGHT<FORMAT> * (ahead / 8);
  b.quants = *reinterpret_cast<const uint4 *>(at.quants + 16 * ahead);
  if constexpr (FORMAT == FORMAT_Q5_K) b.high.x = *reinterpret_cast<const u32 *>(high);
  if constexpr (FORMAT == FORMAT_Q6_K) b.high = *reinterpret_cast<const uint2 *>(high);
  if constexpr (FORMAT == FORMAT_MXFP4)
    b.scale = *reinterpret_cast<const unsigned char *>(scale);
  else
    b.scale = *reinterpret_cast<const u16 *>(scale);
  if constexpr (HAS_MINS<FORMAT>)
    b.super = *reinterpret_cast<const u32 *>(super);
  else if constexpr (HAS_SUPERS<FORMAT>)
    b.super = *reinterpret_cast<const u16 *>(super);
  return b;
}

// A warp's ring. A slot's rows lie `row_bytes` apart; each is one copy where a slot holds all that is of it, else one a
// plane.
struct Ring {
  u32 slots;     // shared addresses: of its first slot, and of its first barrier
  u32 barriers;
  u32 row_bytes;
  u32 values;  // of a chunk
  int chunks;  // of a row
};

// What a warp asks for next, and its lane's part of it.
struct Asking {
  int tile, pass, chunk, slot;
  bool in_a_row;       // its rows lie one behind another
  const char *row;     // the stored row that the lane copies
  const char *scales;  // and q8_0's of it, which lie behind all rows
};

// Where nothing is quantized, a tile is what one warp takes at a time, and consecutive ones go to different blocks: all
// multiprocessors then have as many to a few rows. Quantized, a tile is a block's, as of other entries.
__device__ __forceinline__ int first_tile(const GemvArgs &a) {
  return a.quantized.planes > 0 ? blockIdx.x : blockIdx.x + gridDim.x * (threadIdx.x >> 5);
}

__device__ __forceinline__ int tile_step(const GemvArgs &a) {
  return a.quantized.planes > 0 ? gridDim.x : gridDim.x * RING_WARPS;
}

template <bool GLU, int N>
__device__ __forceinline__ int first_of_warp(const GemvArgs &a, int tile, int pass) {
  return a.quantized.planes > 0 ? first_output<GLU, N>(a, tile, pass) : tile * OUTPUTS<GLU, N>;
}

// The part that a tile is in. A launch of one part takes no look at the others: their fields cost as many instructions as
// a third of a row's sums.
template <bool ONE_PART>
__device__ __forceinline__ Place part_of(const GemvArgs &a, int tile) {
  return ONE_PART ? Place{0, tile} : place_of(a, tile);
}

// The rows of what a warp asks for next: stored row i of them is the lane's.
template <int FORMAT, bool GLU, int N, bool ONE_PART>
__device__ __forceinline__ void find_rows(const GemvArgs &a, Asking &next, int i) {
  const Place at = part_of<ONE_PART>(a, next.tile);
  const int part = GLU ? i / OUTPUTS<GLU, N> : at.part, n = PART_FIELD(a, part, n);
  const int output = first_of_warp<GLU, N>(a, at.tile, next.pass);
  const int row = min(output + i % OUTPUTS<GLU, N>, n - 1);  // past the end: the last row again, and nothing stored
  const char *w = PART_FIELD(a, part, w);
  next.row = w + (long long)row * a.pitch;
  if constexpr (FORMAT == FORMAT_Q8_0)
    next.scales = w + (((long long)n * a.pitch + 255) & ~255LL) + (long long)row * (a.pitch / 16);
  next.in_a_row = !GLU && output + N <= n;
}

// Asks for the next slot's rows. Whole rows of one matrix that lie one behind another are one copy.
template <int FORMAT, bool GLU, int N, bool ONE_PART>
__device__ __forceinline__ void ask_next(const GemvArgs &a, const Ring &ring, Asking &next, int tiles) {
  if (next.tile >= tiles) return;
  const bool whole = WHOLE_ROWS<FORMAT> && ring.chunks == 1;
  const int lane = threadIdx.x & 31, i = whole ? lane : lane / PLANES_OF_A_ROW, plane = lane % PLANES_OF_A_ROW;
  if (next.chunk == 0) find_rows<FORMAT, GLU, N, ONE_PART>(a, next, min(i, N - 1));
  const u32 barrier = ring.barriers + 8 * next.slot, slot = ring.slots + next.slot * N * ring.row_bytes;
  const u32 to = slot + i * ring.row_bytes, values = values_of_chunk<FORMAT>(ring.values, a.k, next.chunk);
  if (lane == 0) expect_bytes(barrier, N * (PLAIN_ROWS<FORMAT> ? plane_bytes<FORMAT>(0, values) : ring.row_bytes));
  __syncwarp();
  if (!whole) {
    if (const u32 bytes = plane_bytes<FORMAT>(plane, values); i < N && bytes > 0) {
      const char *from = FORMAT == FORMAT_Q8_0 && plane == 2 ? next.scales : next.row + plane_at<FORMAT>(plane, a.k);
      from += next.chunk * (PLAIN_ROWS<FORMAT> ? plane_bytes<FORMAT>(plane, ring.values) : bytes);
      copy_bulk(to + plane_at<FORMAT>(plane, ring.values), from, bytes, barrier);
    }
  } else if (!next.in_a_row) {
    if (i < N) copy_bulk(to, next.row, ring.row_bytes, barrier);
  } else if (lane == 0) {
    copy_bulk(slot, next.row, N * ring.row_bytes, barrier);
  }
  next.slot = (next.slot + 1) % RING_SLOTS;
  if (++next.chunk < ring.chunks) return;
  next.chunk = 0;
  if (++next.pass < a.passes) return;
  next.pass = 0, next.tile += tile_step(a);
}

// Adds a chunk's products, from block `first` of x on. A chunk is a whole number of turns; the steps of a turn follow one
// another without a branch, so that one's loads pass another's sums.
constexpr int STEPS_A_TURN = 2;

// Of q8_0: a lane takes 16 values of each row at a step.
template <int N>
__device__ __forceinline__ void sum_chunk_of_words(const char *rows, const Ring &ring, const char *shared, int k,
                                                   int first, float (&sums)[1][N]) {
  const int lane = threadIdx.x & 31;
  const uint4 *x = reinterpret_cast<const uint4 *>(shared) + 2 * first + lane;
  const float *x_scales = reinterpret_cast<const float *>(shared + k) + first + lane / 2;
  const char *quants = rows + 16 * lane, *scales = rows + ring.values + 2 * (lane / 2);
#pragma unroll 1
  for (int turns = ring.values / (512 * STEPS_A_TURN); turns > 0; turns--) {
#pragma unroll
    for (int u = 0; u < STEPS_A_TURN; u++) {
      const uint4 words = x[32 * u];
      const float xs = x_scales[16 * u];
#pragma unroll
      for (int i = 0; i < N; i++) {
        const uint4 w = *reinterpret_cast<const uint4 *>(quants + i * ring.row_bytes + 512 * u);
        const u16 scale = *reinterpret_cast<const u16 *>(scales + i * ring.row_bytes + 32 * u);
        sums[0][i] += half_to_float(scale) * xs * float(dot16(w, words));
      }
    }
    x += 32 * STEPS_A_TURN, x_scales += 16 * STEPS_A_TURN;
    quants += 512 * STEPS_A_TURN, scales += 32 * STEPS_A_TURN;
  }
}

// Of plain rows by f32 x: a lane takes 8 values of each row at a step. Where it finds its two float4 of x is the same at
// every step, a step being a multiple of what they are swizzled by.
template <int FORMAT, int N>
__device__ __forceinline__ void sum_chunk_of_values(const char *rows, const Ring &ring, const char *shared, int first,
                                                    u32 values, float (&sums)[1][N]) {
  constexpr int FOURS = VALUES<FORMAT> / 4;
  const int lane = threadIdx.x & 31;
  const float4 *x = reinterpret_cast<const float4 *>(shared) + first * (QBLOCK / 4);
  const char *words = rows + 16 * lane;
#pragma unroll 1
  for (int turns = values / (32 * VALUES<FORMAT> * STEPS_A_TURN); turns > 0; turns--) {
#pragma unroll
    for (int u = 0; u < STEPS_A_TURN; u++) {
      uint4 w[N];
#pragma unroll
      for (int i = 0; i < N; i++) w[i] = *reinterpret_cast<const uint4 *>(words + i * ring.row_bytes + 512 * u);
#pragma unroll
      for (int j = 0; j < FOURS; j++) {
        const float4 v = x[32 * FOURS * u + swizzled<FORMAT>(FOURS * lane + j)];
#pragma unroll
        for (int i = 0; i < N; i++) {
          const float4 four = decode_four<FORMAT>(w[i], j);
          sums[0][i] += four.x * v.x + four.y * v.y + four.z * v.z + four.w * v.w;
        }
      }
    }
    x += 32 * FOURS * STEPS_A_TURN, words += 512 * STEPS_A_TURN;
  }
}

template <int FORMAT, int N>
__device__ __forceinline__ void sum_chunk(const char *rows, const Ring &ring, const char *shared, int k, int first,
                                          float (&sums)[1][N]) {
  const int lane = threadIdx.x & 31;
  const uint4 *x = reinterpret_cast<const uint4 *>(shared) + 2 * first;
  const float *x_scales = reinterpret_cast<const float *>(shared + k) + first;
  RowPlanes at[N];
#pragma unroll
  for (int i = 0; i < N; i++) at[i] = planes_at<FORMAT>(rows + i * ring.row_bytes, ring.values, lane);
  constexpr int TURN = 32 * STEPS_A_TURN;
#pragma unroll 1
  for (int turns = ring.values / (TURN * QBLOCK); turns > 0; turns--) {
#pragma unroll
    for (int u = 0; u < TURN; u += 32) {
      Block<FORMAT> b[N];
#pragma unroll
      for (int i = 0; i < N; i++) b[i] = block_at<FORMAT>(at[i], u);
      sum_row_of_blocks<FORMAT, N>(b, x + 2 * u, x_scales + u, k / QBLOCK, lane, sums[0]);
    }
    x += 2 * TURN, x_scales += TURN;
#pragma unroll
    for (int i = 0; i < N; i++) move_on<FORMAT>(at[i], TURN);
  }
}

// The sums of all of a warp's rows, as they arrive.
template <int FORMAT, bool GLU, int N, bool ONE_PART>
__device__ __forceinline__ void sum_ring(const GemvArgs &a, const Ring &ring, Asking &next, int tiles, char *slots,
                                         const char *shared, float factor, float (&stages)[2][QBLOCK]) {
  int tile = first_tile(a), pass = 0, odd = 0, slot = 0;
  u32 parity = 0;
#pragma unroll 1
  while (tile < tiles) {
    const Place at = part_of<ONE_PART>(a, tile);
    const int first = first_of_warp<GLU, N>(a, at.tile, pass);
    const float added = added_to_output<1, GLU, N>(a, first, 0);
    float sums[1][N] = {};
#pragma unroll 1
    for (int chunk = 0; chunk < ring.chunks; chunk++) {
      wait_for_phase(ring.barriers + 8 * slot, parity);
      const char *rows = slots + slot * N * ring.row_bytes;
      const int from = chunk * int(ring.values / QBLOCK);
      if constexpr (PLAIN_ROWS<FORMAT>)
        sum_chunk_of_values<FORMAT, N>(rows, ring, shared, from, values_of_chunk<FORMAT>(ring.values, a.k, chunk), sums);
      else if constexpr (FORMAT == FORMAT_Q8_0)
        sum_chunk_of_words<N>(rows, ring, shared, a.k, from, sums);
      else
        sum_chunk<FORMAT, N>(rows, ring, shared, a.k, from, sums);
      __syncwarp();  // every lane has read the slot
      ask_next<FORMAT, GLU, N, ONE_PART>(a, ring, next, tiles);
      if (++slot == RING_SLOTS) slot = 0, parity ^= 1;
    }
    finish_outputs<1, GLU, N, false>(a, at, first, 0, sums, factor, added, stages[odd]);
    const int done = tile;
    if (++pass == a.passes) {
      pass = 0, tile += tile_step(a);
      if (a.quantized.planes > 0) quantize_tile<1>(a, 0, done * QBLOCK, stages[odd]), odd ^= 1;
    }
  }
}

// f32 x, asked for: a thread's share is in flight together, where loads into registers came in turns of four. A row that
// lies at no multiple of 16 bytes is loaded.
template <int FORMAT>
__device__ __forceinline__ void ask_for_values(const GemvArgs &a, char *shared) {
  const float *x = reinterpret_cast<const float *>(a.x);
  if (!aligned16(x)) {
    stage_f32<FORMAT, 1>(a, 0, reinterpret_cast<float *>(shared));
    return;
  }
#pragma unroll 2
  for (int f = threadIdx.x; f < a.k / 4; f += threads())
    copy16(reinterpret_cast<float4 *>(shared) + swizzled<FORMAT>(f), x + 4 * f);
}

template <int FORMAT, bool GLU, int N>
__device__ __forceinline__ void gemv_ring(const GemvArgs &a, int values, int ring_at) {
  __shared__ float stages[2][QBLOCK];
  __shared__ float4 scratch4[8];
  __shared__ u64 full[RING_WARPS][RING_SLOTS];
  char *shared = reinterpret_cast<char *>(dynamic_shared);
  const int warp = threadIdx.x >> 5;
  int tiles = a.part[0].tiles;
  if (!GLU) tiles += a.part[1].tiles + a.part[2].tiles + a.part[3].tiles;

  const int chunks = PLAIN_ROWS<FORMAT> ? (a.k + values - 1) / values : a.k / values;
  const u32 chunk_bytes = plane_at<FORMAT>(3, values) + plane_bytes<FORMAT>(3, values);
  const u32 row_bytes = WHOLE_ROWS<FORMAT> && chunks == 1 ? a.pitch : chunk_bytes;
  char *slots = shared + ring_at + warp * RING_SLOTS * N * row_bytes;
  const Ring ring{shared_address(slots), shared_address(full[warp]), row_bytes, u32(values), chunks};
  if ((threadIdx.x & 31) == 0) {
#pragma unroll
    for (int s = 0; s < RING_SLOTS; s++) init_barrier(ring.barriers + 8 * s);
    barriers_begun();
  }
  __syncwarp();
  constexpr int INPUT = RING_INPUT<FORMAT>;
  if (a.x_norm.present) stage_norm_weights<FORMAT, INPUT>(a, shared);
  Asking next{first_tile(a), 0, 0, 0, false, nullptr, nullptr};
  ask_next<FORMAT, GLU, N, GLU>(a, ring, next, tiles);
  let_next_start();
  wait_for_previous();
  // x is asked for behind one slot a warp, not behind all of them: it comes when they have. The others fill meanwhile.
  if (a.x_norm.present)
    ask_for_row<FORMAT, INPUT>(a, shared);
  else if constexpr (INPUT == INPUT_F32)
    ask_for_values<FORMAT>(a, shared);
  else
    stage_q8<FORMAT, 1>(a, 0, shared);
#pragma unroll 1
  for (int s = 1; s < RING_SLOTS; s++) ask_next<FORMAT, GLU, N, GLU>(a, ring, next, tiles);
  float *scratch = reinterpret_cast<float *>(scratch4);
  if (a.x_norm.present)
    stage_weighed<FORMAT, INPUT>(a, shared, scratch);
  else if (INPUT == INPUT_F32)
    wait_for_own_copies();
  __syncthreads();
  const float factor = a.x_norm.present ? factor_of_norm(a, scratch) : 1.0f;

  if (GLU || a.parts == 1)
    sum_ring<FORMAT, GLU, N, true>(a, ring, next, tiles, slots, shared, factor, stages);
  else
    sum_ring<FORMAT, GLU, N, false>(a, ring, next, tiles, slots, shared, factor, stages);
}
#endif
