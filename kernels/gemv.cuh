// Products of a few rows x by a matrix of stored rows, streamed at the memory's speed.
//
// A warp takes N stored rows at a time and walks along them: each lane loads 16 bytes of each row at a step, STEPS steps
// a batch, and holds the next batch in flight while it sums the present one, also across the warp's next rows. The first
// batch is loaded before the wait for the previous launch, since weights are constants. x lies in shared memory,
// quantized or f32, and is read once for the N rows.
//
// Of one row, x may come as it was before its norm: each block then norms it, and quantizes it where it is to be so, on
// its way into shared memory. The row is short and its weights are on the way already, so this costs less than a norm by
// the block that ends last, during which nothing is in flight.
//
// A block takes a tile of outputs (of its warps' passes and the outputs that a warp takes together), then the tile gridDim.x further on. blockIdx.y
// counts groups of up to RT rows of x. What may follow in the same launch: a norm of the whole row (by the block that arrives
// last), heads turned (by the block that completes a group of whole heads), or quantization (within a tile of 32).
#pragma once
#include "copies.cuh"
#include "gemv_sums.cuh"
#include "norm.cuh"
#include "parts.cuh"

enum Then { THEN_NOTHING, THEN_NORM, THEN_TURN };

struct GemvArgs {
  const void *x;  // f32 rows, or a buffer of quantized rows
  int x_pitch;    // of f32 rows; of quantized ones, their planes
  InputNorm x_norm;
  int k;
  int m;
  int pitch;   // bytes of a stored row
  int passes;  // times a warp takes rows for one tile
  int parts;
  Part part[PARTS];
  int then;
  float *product;  // where a product waits for what follows: m rows of product_pitch values, parts side by side
  int product_pitch;
  u32 *counters;
  NormArgs norm;
  const float *cos;
  const float *sin;
  const int *position;
  int hd;
  int half;
  int group_tiles;  // tiles that hold a whole number of heads
  Quantized quantized;
  const float *residual;  // rows added to the product, or null
  int residual_pitch;
  int act;  // of the gated pair
};

// The 16-byte loads of a stored row's values.
template <int FORMAT>
__device__ __forceinline__ int words_of(const GemvArgs &a) {
  return IN_BLOCKS<FORMAT> ? a.k / QBLOCK : a.pitch / 16;
}

// ---- x in shared memory ------------------------------------------------------------------------------------------
template <int FORMAT, int RT>
__device__ __forceinline__ void stage_f32(const GemvArgs &a, int row0, float *shared) {
  const int groups = words_of<FORMAT>(a) * VALUES<FORMAT> / 4;  // float4 a row, whole 16-byte groups of weights
  const int rows = IN_BLOCKS<FORMAT> ? min(RT, a.m - row0) : RT;  // blocks of 32 values take the rows there are
#pragma unroll 1
  for (int r = 0; r < rows; r++) {
    const float *x = reinterpret_cast<const float *>(a.x) + (long long)a.x_pitch * min(row0 + r, a.m - 1);
    stage_f32_row<FORMAT>(x, a.k, groups, reinterpret_cast<float4 *>(shared) + r * groups);
  }
}

// Quantized: for each row its planes, one after the other; after all rows their scales, and where weights have mins, the
// sums of what the blocks stand for. A thread takes whole blocks, all of whose loads are in flight together.
template <int FORMAT, int RT>
__device__ __forceinline__ void stage_q8(const GemvArgs &a, int row0, char *shared) {
  const int planes = a.x_pitch, blocks = a.k / QBLOCK;
  const Quantized x{reinterpret_cast<i8 *>(const_cast<void *>(a.x)), planes, a.m, a.k};
  float *scales = reinterpret_cast<float *>(shared + RT * planes * a.k), *sums = scales + RT * blocks;
#pragma unroll 1
  for (int r = 0; r < RT; r++) {
    const int row = min(row0 + r, a.m - 1);
#pragma unroll 1
    for (int i = threadIdx.x; i < blocks; i += threads()) {
      const float scale = x.scales(row)[i];
      float sum = 0.0f;
#pragma unroll 1
      for (int p = 0; p < planes; p++) {
        const uint4 *from = reinterpret_cast<const uint4 *>(x.plane(p, row)) + 2 * i;
        const uint4 low = from[0], high = from[1];
        uint4 *to = reinterpret_cast<uint4 *>(shared + (r * planes + p) * a.k);
        to[swizzled_pair<FORMAT>(2 * i)] = low, to[swizzled_pair<FORMAT>(2 * i + 1)] = high;
        if constexpr (HAS_MINS<FORMAT>) sum += float(sum16(low) + sum16(high)) * (p == 0 ? 1.0f : 1.0f / 254.0f);
      }
      scales[r * blocks + i] = scale;
      if constexpr (HAS_MINS<FORMAT>) sums[r * blocks + i] = scale * sum;
    }
  }
}

// Where the row is held between its norm's two walks, f32: where f32 x belongs, or behind quantized x.
template <int FORMAT, int INPUT>
__device__ __forceinline__ float4 *held_row(const GemvArgs &a, char *shared) {
  if constexpr (INPUT == INPUT_F32) return reinterpret_cast<float4 *>(shared);
  const int scales = (HAS_MINS<FORMAT> ? 2 : 1) * (a.k / QBLOCK) * 4;
  return reinterpret_cast<float4 *>(shared + ((a.x_pitch * a.k + scales + 15) & ~15));
}

template <int FORMAT, int INPUT>
__device__ __forceinline__ int held_at(int f) {
  return INPUT == INPUT_F32 ? swizzled<FORMAT>(f) : f;
}

// Where the row lies as it came, behind its normed form.
template <int FORMAT, int INPUT>
__device__ __forceinline__ float4 *row_as_it_came(const GemvArgs &a, float4 *held) {
  return held + (INPUT == INPUT_F32 ? words_of<FORMAT>(a) * VALUES<FORMAT> / 4 : a.k / 4);
}

// Before the weights are asked for: the norm's own, which are few, where the thread will find them. Each thread touches
// its own places alone.
template <int FORMAT, int INPUT>
__device__ __forceinline__ void stage_norm_weights(const GemvArgs &a, char *shared) {
  float4 *held = held_row<FORMAT, INPUT>(a, shared);
#pragma unroll 1
  for (int f = threadIdx.x; f < a.k / 4; f += threads()) {
    float4 *to = held + held_at<FORMAT, INPUT>(f);
    if (a.x_norm.weight == nullptr)
      *to = make_float4(1, 1, 1, 1);
    else
      copy16(to, a.x_norm.weight + 4 * f);
  }
}

// Four neighbouring values as int8 of a block of 32, of which eight lanes have a share: `first` of them, and `second` what
// is left where there are two planes. Rounded as store_quantized does.
struct QuantizedFour {
  u32 first, second;
  float scale;
};

// Rounds to the nearest integer, to even from the middle, in the low bits: one addition instead of a conversion.
constexpr float TO_INTEGER = 12582912.0f;  // 1.5 * 2^23

__device__ __forceinline__ u32 low_bytes(float a, float b, float c, float d) {
  return __byte_perm(__byte_perm(__float_as_uint(a), __float_as_uint(b), 0x0040),
                     __byte_perm(__float_as_uint(c), __float_as_uint(d), 0x0040), 0x5410);
}

// 1 / s, s being of a middling size: an approximation and one step towards it, rounded as a division is but where all bits
// of s's significand are set (Markstein, 1990).
__device__ __forceinline__ float inverse_of(float s) {
  float near;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(s));
  return fmaf(fmaf(-s, near, 1.0f), near, near);
}

__device__ __forceinline__ QuantizedFour quantize_four(const float4 &v, int planes) {
  float amax = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
#pragma unroll
  for (int d = 4; d > 0; d >>= 1) amax = fmaxf(amax, __shfl_xor_sync(ALL_LANES, amax, d));
  const float whole = divide_by(amax, 127.0f, 1.0f / 127.0f);
  const float s = whole < LEAST_SCALE ? 0.0f : whole;
  const float inverse = s == 0.0f ? 0.0f : inverse_of(s);
  const float ratio[4] = {divide_by(v.x, s, inverse), divide_by(v.y, s, inverse), divide_by(v.z, s, inverse),
                          divide_by(v.w, s, inverse)};
  float q[4];
#pragma unroll
  for (int i = 0; i < 4; i++) q[i] = ratio[i] + TO_INTEGER;
  QuantizedFour out{low_bytes(q[0], q[1], q[2], q[3]), 0, s};
  if (planes == 2) {
    float left[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float finer = (ratio[i] - (q[i] - TO_INTEGER)) * 254.0f;
      left[i] = fmaxf(-127.0f, fminf(127.0f, finer)) + TO_INTEGER;
    }
    out.second = low_bytes(left[0], left[1], left[2], left[3]);
  }
  return out;
}

// The sum of four int8 a lane, over the eight lanes of a block.
__device__ __forceinline__ float sum_block(u32 bytes) {
  int sum = __dp4a(int(bytes), 0x01010101, 0);
#pragma unroll
  for (int d = 4; d > 0; d >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, d);
  return float(sum);
}

// The row as it came, asked for: each thread its own places.
template <int FORMAT, int INPUT>
__device__ __forceinline__ void ask_for_row(const GemvArgs &a, char *shared) {
  const float *x = reinterpret_cast<const float *>(a.x);
  float4 *row = row_as_it_came<FORMAT, INPUT>(a, held_row<FORMAT, INPUT>(a, shared));
#pragma unroll 1
  for (int f = threadIdx.x; f < a.k / 4; f += threads()) copy16(row + f, x + 4 * f);
}

// The row that was asked for, normed: its squares meet in `scratch`, a float a warp, and a barrier is all that stands between the two walks.
template <int FORMAT, int INPUT>
__device__ __forceinline__ void stage_normed(const GemvArgs &a, char *shared, float *scratch) {
  float4 *held = held_row<FORMAT, INPUT>(a, shared), *row = row_as_it_came<FORMAT, INPUT>(a, held);
  const int groups = a.k / 4, blocks = a.k / QBLOCK;
  wait_for_own_copies();
  float squares = 0.0f;
#pragma unroll 1
  for (int f0 = threadIdx.x; f0 < groups; f0 += 2 * threads()) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int f = f0 + h * threads();
      if (f >= groups) break;
      const float4 v = row[f];
      float4 &w = held[held_at<FORMAT, INPUT>(f)];
      squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
      w = make_float4(v.x * w.x, v.y * w.y, v.z * w.z, v.w * w.w);
    }
  }
  squares = warp_sum(squares);
  if ((threadIdx.x & 31) == 0) scratch[threadIdx.x >> 5] = squares;
  __syncthreads();
  float sum = 0.0f;
#pragma unroll 1
  for (int w = 0; w < warps(); w += 4) {
    const float4 four = *reinterpret_cast<const float4 *>(scratch + w);
    sum += (four.x + four.y) + (four.z + four.w);
  }
  const float inverse = 1.0f / sqrtf(sum / float(a.k) + a.x_norm.eps);
  const int all = INPUT == INPUT_F32 ? words_of<FORMAT>(a) * VALUES<FORMAT> / 4 : groups;
  float *scales = reinterpret_cast<float *>(shared + a.x_pitch * a.k), *sums = scales + blocks;
#pragma unroll 1
  for (int f0 = 0; f0 < all; f0 += threads()) {  // uniform over the block: the quantizing lanes act together
    const int f = f0 + threadIdx.x;
    float4 v = make_float4(0, 0, 0, 0);
    if (f < groups) {
      v = held[held_at<FORMAT, INPUT>(f)];
      v = make_float4(v.x * inverse, v.y * inverse, v.z * inverse, v.w * inverse);
    }
    if constexpr (INPUT == INPUT_F32) {
      if (f < all) held[held_at<FORMAT, INPUT>(f)] = v;
    } else {
      const QuantizedFour q = quantize_four(v, a.x_pitch);
      float sum = 0.0f;
      if constexpr (HAS_MINS<FORMAT>) {
        sum = sum_block(q.first);
        if (a.x_pitch == 2) sum += sum_block(q.second) * (1.0f / 254.0f);
      }
      if (f < groups) {
        u32 *to = reinterpret_cast<u32 *>(shared + swizzled_pair<FORMAT>(f / 4) * 16) + f % 4;
        *to = q.first;
        if (a.x_pitch == 2) to[a.k / 4] = q.second;
        if (f % 8 == 0) {
          scales[f / 8] = q.scale;
          if constexpr (HAS_MINS<FORMAT>) sums[f / 8] = q.scale * sum;
        }
      }
    }
  }
}

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
  u32 *counter = a.counters + (long long)blockIdx.y * (a.part[0].tiles + a.part[1].tiles + a.part[2].tiles + a.part[3].tiles) + first;
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

// Sums over the warp's lanes, then one lane an output (and row of x) stores it; `first` is the warp's first in its part.
template <int RT, bool GLU, int N, bool FOLDS>
__device__ __forceinline__ void finish_outputs(const GemvArgs &a, const Place &at, int first, int row0,
                                               float (&sums)[RT][N], float added, float *stage) {
  constexpr int WIDE = OUTPUTS<GLU, N>, ALL = RT * N, EACH = 32 / ALL;
  const int lane = threadIdx.x & 31, r = lane / WIDE;
  float values[ALL];
#pragma unroll
  for (int i = 0; i < ALL; i++) values[i] = sums[i / N][i % N];
  const float total = sum_lanes(values);
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
    ask_for_row<FORMAT, INPUT>(a, shared), stage_normed<FORMAT, INPUT>(a, shared, scratch);
  else if constexpr (INPUT == INPUT_F32)
    stage_f32<FORMAT, RT>(a, row0, reinterpret_cast<float *>(shared));
  else
    stage_q8<FORMAT, RT>(a, row0, shared);
  __syncthreads();

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
    finish_outputs<RT, GLU, N, FOLDS>(a, here, first, row0, sums, added, stages[odd]);
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
