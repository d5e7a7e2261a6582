// What a product is given, and how its row or rows x come into shared memory: as they are, quantized, or normed first.
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

// Where the norm's weights lie, and of f32 x what they make of it: where x belongs, or behind quantized x.
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

// Where the row lies as it came, behind those.
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

// The row that was asked for, times the norm's weights; the factor that its values have in common is left out, which takes
// the whole block to find: products are linear in it, and the quants do not depend on it. Each warp leaves its part of the
// squares in `scratch`.
template <int FORMAT, int INPUT>
__device__ __forceinline__ void stage_weighed(const GemvArgs &a, char *shared, float *scratch) {
  float4 *held = held_row<FORMAT, INPUT>(a, shared), *row = row_as_it_came<FORMAT, INPUT>(a, held);
  const int groups = a.k / 4, blocks = a.k / QBLOCK;
  const int all = INPUT == INPUT_F32 ? words_of<FORMAT>(a) * VALUES<FORMAT> / 4 : groups;
  float *scales = reinterpret_cast<float *>(shared + a.x_pitch * a.k), *sums = scales + blocks;
  float squares = 0.0f;
  wait_for_own_copies();
#pragma unroll 1
  for (int f0 = 0; f0 < all; f0 += threads()) {  // uniform over the block: the quantizing lanes act together
    const int f = f0 + threadIdx.x;
    float4 v = make_float4(0, 0, 0, 0);
    if (f < groups) {
      v = row[f];
      const float4 w = held[held_at<FORMAT, INPUT>(f)];
      squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
      v = make_float4(v.x * w.x, v.y * w.y, v.z * w.z, v.w * w.w);
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
  squares = warp_sum(squares);
  if ((threadIdx.x & 31) == 0) scratch[threadIdx.x >> 5] = squares;
}

// The factor, once all warps have left their squares.
__device__ __forceinline__ float factor_of_norm(const GemvArgs &a, const float *scratch) {
  float sum = 0.0f;
#pragma unroll 1
  for (int w = 0; w < warps(); w += 4) {
    const float4 four = *reinterpret_cast<const float4 *>(scratch + w);
    sum += (four.x + four.y) + (four.z + four.w);
  }
  return 1.0f / sqrtf(sum / float(a.k) + a.x_norm.eps);
}
