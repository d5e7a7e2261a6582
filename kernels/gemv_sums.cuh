// The stored rows of a product in flight, and their sums with x in shared memory; x's layout there is decided here.
#pragma once
#include "blocks.cuh"

enum Input { INPUT_F32, INPUT_Q8 };

constexpr int THREADS = 256;        // of a block of most entries
constexpr int WIDE_THREADS = 512;  // of one that has a multiprocessor for itself

// Threads and warps of the block.
__device__ __forceinline__ int threads() { return blockDim.x; }
__device__ __forceinline__ int warps() { return blockDim.x >> 5; }
constexpr int NR = 2;  // stored rows a warp takes together, where nothing says otherwise

template <int FORMAT>
constexpr int VALUES = IN_BLOCKS<FORMAT> ? 32 : FORMAT == FORMAT_F32 ? 4 : FORMAT == FORMAT_Q8_0 ? 16 : 8;  // in 16 bytes

// ---- x in shared memory ------------------------------------------------------------------------------------------
// f32: float4 number f of a row lies at f ^ ((f >> 3) & mask), so that lanes reading VALUES neighbours each do not meet
// in a bank. The exclusive or stays within the 16-byte group of one lane.
template <int FORMAT>
__device__ __forceinline__ int swizzled(int f) {
  return f ^ ((f >> 3) & (VALUES<FORMAT> / 4 - 1));
}

// 16 bytes of quantized x: a lane that takes whole blocks reads them in pairs, swizzled so that eight lanes meet in no
// bank.
template <int FORMAT>
__device__ __forceinline__ int swizzled_pair(int word) {
  return IN_BLOCKS<FORMAT> ? word ^ ((word >> 3) & 1) : word;
}

__device__ __forceinline__ int dot16(const uint4 &a, const uint4 &b) {
  int d = __dp4a(int(a.x), int(b.x), 0);
  d = __dp4a(int(a.y), int(b.y), d);
  d = __dp4a(int(a.z), int(b.z), d);
  return __dp4a(int(a.w), int(b.w), d);
}

// A row of f32 x, its last group filled up with zeros: `groups` float4, by the whole block.
template <int FORMAT>
__device__ __forceinline__ void stage_f32_row(const float *x, int k, int groups, float4 *to) {
  if (aligned16(x) && k % 4 == 0) {
#pragma unroll 4
    for (int f = threadIdx.x; f < groups; f += threads())
      to[swizzled<FORMAT>(f)] = 4 * f < k ? *reinterpret_cast<const float4 *>(x + 4 * f) : make_float4(0, 0, 0, 0);
  } else {
#pragma unroll 1
    for (int f = threadIdx.x; f < groups; f += threads()) {
      const int c = 4 * f;
      to[swizzled<FORMAT>(f)] = make_float4(c < k ? x[c] : 0.0f, c + 1 < k ? x[c + 1] : 0.0f,
                                            c + 2 < k ? x[c + 2] : 0.0f, c + 3 < k ? x[c + 3] : 0.0f);
    }
  }
}

// One plane of a row of quantized x.
template <int FORMAT>
__device__ __forceinline__ void stage_plane(const i8 *plane, int words, uint4 *to) {
  const uint4 *from = reinterpret_cast<const uint4 *>(plane);
#pragma unroll 4
  for (int i = threadIdx.x; i < words; i += threads()) to[swizzled_pair<FORMAT>(i)] = from[i];
}

__device__ __forceinline__ int sum16(const uint4 &bytes) {
  return dot16(bytes, make_uint4(0x01010101u, 0x01010101u, 0x01010101u, 0x01010101u));
}

__device__ __forceinline__ int sum32(const i8 *p) {
  const uint4 *words = reinterpret_cast<const uint4 *>(p);
  return sum16(words[0]) + sum16(words[1]);
}

// The scales of a row of quantized x, and where weights have mins, the sums of what its blocks stand for.
template <int FORMAT>
__device__ __forceinline__ void stage_scales(const i8 *first, const i8 *second, const float *from, int blocks,
                                             float *scales, float *sums) {
  if constexpr (HAS_MINS<FORMAT>) {
#pragma unroll 1
    for (int i = threadIdx.x; i < blocks; i += threads()) {
      float sum = float(sum32(first + i * QBLOCK));
      if (second != nullptr) sum += float(sum32(second + i * QBLOCK)) * (1.0f / 254.0f);
      scales[i] = from[i];
      sums[i] = from[i] * sum;
    }
  } else {
#pragma unroll 2
    for (int i = threadIdx.x; i < blocks; i += threads()) scales[i] = from[i];
  }
}

// ---- weights in flight -------------------------------------------------------------------------------------------
template <int FORMAT, int STEPS, int N = NR>
struct Batch {
  Block<FORMAT> w[STEPS][N];
};

// 16 bytes of a stored row, with the scales of their values; `scale` is the row's of q8_0.
template <int FORMAT>
__device__ __forceinline__ void load_stored(Block<FORMAT> &b, const char *row, const char *scale, int k, int word) {
  if constexpr (IN_BLOCKS<FORMAT>) {
    load_block<FORMAT>(b, row, k, word);
  } else {
    b.quants = load_weights(row + (long long)word * 16);
    if (FORMAT == FORMAT_Q8_0) b.scale = load_scale(scale + (word >> 1) * 2);
  }
}

template <int N>
struct StreamsOf {  // the N stored rows a warp is at
  const char *w[N];
  const char *scale[N];
};

using Streams = StreamsOf<NR>;

// One step of a batch: a lane's 16 bytes of each row.
template <int FORMAT, int N>
__device__ __forceinline__ void load_step(Block<FORMAT> (&b)[N], const StreamsOf<N> &s, int word, int words, int k) {
  if (word >= words) return;
#pragma unroll
  for (int i = 0; i < N; i++) load_stored<FORMAT>(b[i], s.w[i], s.scale[i], k, word);
}

template <int FORMAT, int STEPS, int N>
__device__ __forceinline__ void load_batch(Batch<FORMAT, STEPS, N> &b, const StreamsOf<N> &s, int word0, int words, int k) {
#pragma unroll
  for (int u = 0; u < STEPS; u++) load_step<FORMAT>(b.w[u], s, word0 + 32 * u, words, k);
}

// Four int8 of a word as floats: the biased byte as the low mantissa of 2^23, less 2^23 + 128.
__device__ __forceinline__ float4 bytes_to_floats(u32 w) {
  const u32 u = w ^ 0x80808080u;
  return make_float4(__uint_as_float(__byte_perm(u, 0x4b000000u, 0x7440)) - 8388736.0f,
                     __uint_as_float(__byte_perm(u, 0x4b000000u, 0x7441)) - 8388736.0f,
                     __uint_as_float(__byte_perm(u, 0x4b000000u, 0x7442)) - 8388736.0f,
                     __uint_as_float(__byte_perm(u, 0x4b000000u, 0x7443)) - 8388736.0f);
}

// Values 4j..4j+3 of 16 bytes of stored row, without a block's scale.
template <int FORMAT>
__device__ __forceinline__ float4 decode_four(const uint4 &w, int j) {
  if constexpr (FORMAT == FORMAT_F32) {
    return make_float4(__uint_as_float(w.x), __uint_as_float(w.y), __uint_as_float(w.z), __uint_as_float(w.w));
  } else if constexpr (FORMAT == FORMAT_Q8_0) {
    return bytes_to_floats(word_of(w, j));
  } else {
    const u32 a = word_of(w, 2 * j), b = word_of(w, 2 * j + 1);
    if constexpr (FORMAT == FORMAT_F16)
      return make_float4(half_to_float(u16(a)), half_to_float(u16(a >> 16)), half_to_float(u16(b)),
                         half_to_float(u16(b >> 16)));
    else
      return make_float4(__uint_as_float(a << 16), __uint_as_float(a & 0xffff0000u), __uint_as_float(b << 16),
                         __uint_as_float(b & 0xffff0000u));
  }
}

// Products of blocks of 32 values by f32 x, of which `rows` rows are there: the blocks' values are decoded whole where
// they have mins.
template <int FORMAT, int RT, int N>
__device__ __forceinline__ void sum_blocks_f32(const Block<FORMAT> (&b)[N], int word, int words, const char *shared,
                                               int rows, float (&sums)[RT][N]) {
  u32 q[N][8];
  BlockScales scales[N];
#pragma unroll
  for (int i = 0; i < N; i++) {
    decode_block<FORMAT>(b[i], q[i]);
    scales[i] = scales_of<FORMAT>(b[i]);
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    float dots[RT][N] = {};
#pragma unroll
    for (int j = 4 * half; j < 4 * half + 4; j++) {
      float4 w[N];
#pragma unroll
      for (int i = 0; i < N; i++) {
        w[i] = bytes_to_floats(q[i][j]);
        if constexpr (HAS_MINS<FORMAT>)
          w[i] = make_float4(fmaf(w[i].x, scales[i].low, -scales[i].min), fmaf(w[i].y, scales[i].low, -scales[i].min),
                             fmaf(w[i].z, scales[i].low, -scales[i].min), fmaf(w[i].w, scales[i].low, -scales[i].min));
      }
#pragma unroll
      for (int r = 0; r < RT; r++) {
        if (r > 0 && r >= rows) break;
        const float4 x = reinterpret_cast<const float4 *>(shared)[r * words * 8 + swizzled<FORMAT>(word * 8 + j)];
#pragma unroll
        for (int i = 0; i < N; i++)
          dots[r][i] += w[i].x * x.x + w[i].y * x.y + w[i].z * x.z + w[i].w * x.w;
      }
    }
#pragma unroll
    for (int r = 0; r < RT; r++)
#pragma unroll
      for (int i = 0; i < N; i++)
        sums[r][i] += HAS_MINS<FORMAT> ? dots[r][i] : (half == 0 ? scales[i].low : scales[i].high) * dots[r][i];
  }
}

// Four words of int8 by four of x.
__device__ __forceinline__ int dot_words(const u32 *q, const uint4 &x, int d) {
#pragma unroll
  for (int j = 0; j < 4; j++) d = __dp4a(int(q[j]), int(word_of(x, j)), d);
  return d;
}

// The same of unsigned bytes.
__device__ __forceinline__ int dot_unsigned(const u32 *q, const uint4 &x) {
  int d = 0;
#pragma unroll
  for (int j = 0; j < 4; j++) asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(d) : "r"(q[j]), "r"(word_of(x, j)));
  return d;
}

// A block as the products read it: of q4_k, whose values have no sign, the second half stays where it lies in its bytes,
// 16 times as large.
template <int FORMAT>
__device__ __forceinline__ void split_block(const Block<FORMAT> &b, u32 (&q)[8]) {
  if constexpr (FORMAT == FORMAT_Q4_K) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      q[j] = word_of(b.quants, j) & 0x0f0f0f0fu;
      q[4 + j] = word_of(b.quants, j) & 0xf0f0f0f0u;
    }
  } else {
    decode_block<FORMAT>(b, q);
  }
}

// Adds one plane's products, shared out by `share`, to each stored row's; q6_k's halves apart, q4_k's 16 times as large.
template <int FORMAT, int N>
__device__ __forceinline__ void sum_plane(const u32 (&q)[N][8], const uint4 *plane, int word, float share,
                                          float (&lows)[N], float (&highs)[N]) {
  const uint4 low = plane[swizzled_pair<FORMAT>(2 * word)], high = plane[swizzled_pair<FORMAT>(2 * word + 1)];
#pragma unroll
  for (int i = 0; i < N; i++) {
    if constexpr (FORMAT == FORMAT_Q4_K) {
      lows[i] += share * float(16 * dot_unsigned(q[i], low) + dot_unsigned(q[i] + 4, high));
      continue;
    }
    const int first = dot_words(q[i], low, 0);
    if constexpr (FORMAT == FORMAT_Q6_K) {
      lows[i] += share * float(first);
      highs[i] += share * float(dot_words(q[i] + 4, high, 0));
    } else {
      lows[i] += share * float(dot_words(q[i] + 4, high, first));
    }
  }
}

// The blocks' products by one row of x, of its one plane or of two (`second`, or null).
template <int FORMAT, int N>
__device__ __forceinline__ void sum_planes(const u32 (&q)[N][8], const BlockScales (&scales)[N], const uint4 *plane,
                                           const uint4 *second, int word, float x_scale, float x_sum, float (&sums)[N]) {
  const float xs = x_scale * (FORMAT == FORMAT_Q4_K ? 1.0f / 16.0f : 1.0f);
  float lows[N] = {}, highs[N] = {};
  sum_plane<FORMAT>(q, plane, word, 1.0f, lows, highs);
  if (second != nullptr) sum_plane<FORMAT>(q, second, word, 1.0f / 254.0f, lows, highs);
#pragma unroll
  for (int i = 0; i < N; i++) {
    float dot = scales[i].low * lows[i];
    if constexpr (FORMAT == FORMAT_Q6_K) dot += scales[i].high * highs[i];
    sums[i] += xs * dot;
    if constexpr (HAS_MINS<FORMAT>) sums[i] -= scales[i].min * x_sum;
  }
}

// Products of blocks of 32 values by quantized x, whose blocks are the same.
template <int FORMAT, int RT, int N>
__device__ __forceinline__ void sum_blocks_q8(const Block<FORMAT> (&b)[N], int word, int words, const char *shared,
                                              int planes, float (&sums)[RT][N]) {
  const float *x_scales = reinterpret_cast<const float *>(shared + RT * planes * words * QBLOCK);
  u32 q[N][8];
  BlockScales scales[N];
#pragma unroll
  for (int i = 0; i < N; i++) {
    split_block<FORMAT>(b[i], q[i]);
    scales[i] = scales_of<FORMAT>(b[i]);
  }
#pragma unroll
  for (int r = 0; r < RT; r++) {
    const uint4 *plane = reinterpret_cast<const uint4 *>(shared) + r * planes * words * 2;
    const float x_sum = HAS_MINS<FORMAT> ? x_scales[(RT + r) * words + word] : 0.0f;
    sum_planes<FORMAT, N>(q, scales, plane, planes == 2 ? plane + words * 2 : nullptr, word, x_scales[r * words + word],
                          x_sum, sums[r]);
  }
}

// The same of one row of x of one plane: `plane` and `x_scales` from a step's first block on, of which the lane takes
// block `lane`; the blocks' sums lie `blocks` behind their scales.
template <int FORMAT, int N>
__device__ __forceinline__ void sum_row_of_blocks(const Block<FORMAT> (&b)[N], const uint4 *plane, const float *x_scales,
                                                  int blocks, int lane, float (&sums)[N]) {
  u32 q[N][8];
  BlockScales scales[N];
#pragma unroll
  for (int i = 0; i < N; i++) {
    split_block<FORMAT>(b[i], q[i]);
    scales[i] = scales_of<FORMAT>(b[i]);
  }
  const float x_sum = HAS_MINS<FORMAT> ? x_scales[blocks + lane] : 0.0f;
  sum_planes<FORMAT, N>(q, scales, plane, nullptr, lane, x_scales[lane], x_sum, sums);
}

// Adds one step's products to the sums; PLANES of quantized x, 0 for f32.
template <int FORMAT, int PLANES, int RT, int N>
__device__ __forceinline__ void sum_step(const Block<FORMAT> (&b)[N], int word, int words, const char *shared, int k,
                                         float (&sums)[RT][N]) {
  if (word >= words) return;
  if constexpr (PLANES == 0) {
    constexpr int FOURS = VALUES<FORMAT> / 4;
    float dots[RT][N] = {};
#pragma unroll
    for (int j = 0; j < FOURS; j++) {
      float4 w[N];
#pragma unroll
      for (int i = 0; i < N; i++) w[i] = decode_four<FORMAT>(b[i].quants, j);
#pragma unroll
      for (int r = 0; r < RT; r++) {
        const float4 x = reinterpret_cast<const float4 *>(shared)[r * words * FOURS + swizzled<FORMAT>(word * FOURS + j)];
#pragma unroll
        for (int i = 0; i < N; i++)
          dots[r][i] += w[i].x * x.x + w[i].y * x.y + w[i].z * x.z + w[i].w * x.w;
      }
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
      const float scale = FORMAT == FORMAT_Q8_0 ? half_to_float(b[i].scale) : 1.0f;
#pragma unroll
      for (int r = 0; r < RT; r++) sums[r][i] += scale * dots[r][i];
    }
  } else {
    const float *scales = reinterpret_cast<const float *>(shared + RT * PLANES * k);
#pragma unroll
    for (int r = 0; r < RT; r++) {
      const uint4 x = reinterpret_cast<const uint4 *>(shared)[r * PLANES * words + word];
      const float xs = scales[r * (words >> 1) + (word >> 1)];
      uint4 residual{};
      if (PLANES == 2) residual = reinterpret_cast<const uint4 *>(shared)[(r * PLANES + 1) * words + word];
#pragma unroll
      for (int i = 0; i < N; i++) {
        float dot = float(dot16(b[i].quants, x));
        if (PLANES == 2) dot += float(dot16(b[i].quants, residual)) * (1.0f / 254.0f);
        sums[r][i] += half_to_float(b[i].scale) * xs * dot;
      }
    }
  }
}

// The same of any format: of blocks of 32 values the planes are counted at run time, which costs a branch a block.
template <int FORMAT, int INPUT, int RT, int N>
__device__ __forceinline__ void sum_any(const Block<FORMAT> (&b)[N], int word, int words, const char *shared, int k,
                                        int planes, int rows, float (&sums)[RT][N]) {
  if constexpr (IN_BLOCKS<FORMAT>) {
    if (word >= words) return;
    if constexpr (INPUT == INPUT_F32)
      sum_blocks_f32<FORMAT, RT>(b, word, words, shared, rows, sums);
    else
      sum_blocks_q8<FORMAT, RT>(b, word, words, shared, planes, sums);
  } else if constexpr (INPUT == INPUT_F32) {
    sum_step<FORMAT, 0, RT>(b, word, words, shared, k, sums);
  } else if (planes == 1) {
    sum_step<FORMAT, 1, RT>(b, word, words, shared, k, sums);
  } else {
    sum_step<FORMAT, 2, RT>(b, word, words, shared, k, sums);
  }
}

// Whole batches.
template <int FORMAT, int PLANES, int RT, int STEPS, int N>
__device__ __forceinline__ void sum_batch(const Batch<FORMAT, STEPS, N> &b, int word0, int words, const char *shared, int k,
                                          float (&sums)[RT][N]) {
#pragma unroll
  for (int u = 0; u < STEPS; u++) sum_step<FORMAT, PLANES, RT>(b.w[u], word0 + 32 * u, words, shared, k, sums);
}

template <int FORMAT, int INPUT, int RT, int STEPS, int N>
__device__ __forceinline__ void sum_blocks(const Batch<FORMAT, STEPS, N> &b, int word0, int words, const char *shared,
                                           int planes, int rows, float (&sums)[RT][N]) {
#pragma unroll
  for (int u = 0; u < STEPS; u++)
    sum_any<FORMAT, INPUT, RT>(b.w[u], word0 + 32 * u, words, shared, 0, planes, rows, sums);
}
