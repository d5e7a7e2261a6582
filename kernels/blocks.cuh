// Stored rows in blocks of 32 values of four to six bits: how they lie in a row, and as int8 in registers.
//
// A row holds one plane after the other, of k values (lowering/packed_rows.py writes them), padded to 32 bytes:
//   quants   16 bytes a block. Byte b holds the low four bits of value b, and above them those of value b + 16;
//            of mxfp4, byte b holds values 2b and 2b + 1.
//   high     q5_k: 4 bytes a block; bit 8 (i % 4) + i / 4 is the fifth bit of value i.
//            q6_k: 8 bytes a block; word i / 16 has the upper two bits of value i at 8 (i % 4) + 2 (i / 4 % 4).
//   scales   q4_0: f16. q4_k, q5_k: u8 scale, u8 min. q6_k: an i8 for each half of the block. mxfp4: u8 exponent.
//   supers   for each 256 values. q4_k, q5_k: f16 d, f16 dmin. q6_k: f16 d.
// Values of q4_0 and q6_k are stored as two's complement of four and six bits.
#pragma once
#include "common.cuh"

enum Format {
  FORMAT_F32,
  FORMAT_F16,
  FORMAT_BF16,
  FORMAT_Q8_0,
  FORMAT_Q4_0,
  FORMAT_Q4_K,
  FORMAT_Q5_K,
  FORMAT_Q6_K,
  FORMAT_MXFP4
};

template <int FORMAT>
constexpr bool IN_BLOCKS = FORMAT >= FORMAT_Q4_0;  // 16 bytes hold a block of 32 values
template <int FORMAT>
constexpr bool HAS_MINS = FORMAT == FORMAT_Q4_K || FORMAT == FORMAT_Q5_K;
template <int FORMAT>
constexpr bool HAS_SUPERS = HAS_MINS<FORMAT> || FORMAT == FORMAT_Q6_K;

__device__ __forceinline__ u32 load_word(const void *p) {
  u32 v;
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}

__device__ __forceinline__ uint2 load_words(const void *p) {
  uint2 v;
  asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
  return v;
}

__device__ __forceinline__ u16 load_byte(const void *p) {
  u16 v;
  asm volatile("ld.global.nc.u8 %0, [%1];" : "=h"(v) : "l"(p));
  return v;
}

__device__ __forceinline__ u32 word_of(const uint4 &w, int j) { return j == 0 ? w.x : j == 1 ? w.y : j == 2 ? w.z : w.w; }

// What is loaded of one block; fields that a format has not are never touched.
template <int FORMAT>
struct Block {
  uint4 quants;
  uint2 high;
  u16 scale;
  u32 super;
};

// Bytes of a row before its scales. Unsigned, as everything that is added to a row's address: it then takes two instructions.
template <int FORMAT>
__device__ __forceinline__ u32 scales_at(u32 k) {
  return k / 2 + (FORMAT == FORMAT_Q5_K ? k / 8 : FORMAT == FORMAT_Q6_K ? k / 4 : 0);
}

template <int FORMAT>
__device__ __forceinline__ void load_scales(Block<FORMAT> &b, const char *row, u32 k, u32 block) {
  const u32 at = scales_at<FORMAT>(k);
  if constexpr (FORMAT == FORMAT_MXFP4)
    b.scale = load_byte(row + at + block);
  else
    b.scale = load_scale(row + at + 2 * block);
  if constexpr (HAS_MINS<FORMAT>)
    b.super = load_word(row + at + k / 16 + block / 8 * 4);
  else if constexpr (HAS_SUPERS<FORMAT>)
    b.super = load_scale(row + at + k / 16 + block / 8 * 2);
}

template <int FORMAT>
__device__ __forceinline__ void load_block(Block<FORMAT> &b, const char *row, u32 k, u32 block) {
  b.quants = load_weights(row + 16 * block);
  if constexpr (FORMAT == FORMAT_Q5_K) b.high.x = load_word(row + k / 2 + 4 * block);
  if constexpr (FORMAT == FORMAT_Q6_K) b.high = load_words(row + k / 2 + 8 * block);
  load_scales<FORMAT>(b, row, k, block);
}

// A byte of a word as a float: as the low mantissa of 2^23, which is taken off. A conversion would take four times as long.
template <int BYTE>
__device__ __forceinline__ float byte_to_float(u32 w) {
  return __uint_as_float(__byte_perm(w, 0x4b000000u, 0x7440 | BYTE)) - 8388608.0f;
}

// What a block's int8 are multiplied by: `low` its first 16, `high` the others; then `min` is taken off.
struct BlockScales {
  float low, high, min;
};

template <int FORMAT>
__device__ __forceinline__ BlockScales scales_of(const Block<FORMAT> &b) {
  if constexpr (FORMAT == FORMAT_Q4_0) {
    const float d = half_to_float(b.scale) * (1.0f / 16.0f);
    return {d, d, 0.0f};
  } else if constexpr (FORMAT == FORMAT_MXFP4) {  // 2^(e - 128): the int8 are twice the values
    const float d = __uint_as_float(b.scale < 2 ? 0x00200000u << b.scale : u32(b.scale - 1) << 23);
    return {d, d, 0.0f};
  } else if constexpr (FORMAT == FORMAT_Q6_K) {
    const float d = half_to_float(u16(b.super)) * 0.25f;
    return {d * float(i8(b.scale)), d * float(i8(b.scale >> 8)), 0.0f};
  } else {
    const float d = half_to_float(u16(b.super)) * byte_to_float<0>(b.scale);
    return {d, d, half_to_float(u16(b.super >> 16)) * byte_to_float<1>(b.scale)};
  }
}

// Four of mxfp4's values, doubled, as int8, from the lower 16 bits of `codes`. A selector's top bit gives the sign of
// a byte of the table instead of the byte, which is 0 here: one look-up finds the positive ones, one the others.
__device__ __forceinline__ u32 decode_mxfp4(u32 codes) {
  u32 positive, negative;  // __byte_perm would drop the selectors' top bits
  asm("prmt.b32 %0, 0x03020100, 0x0c080604, %1;" : "=r"(positive) : "r"(codes));
  asm("prmt.b32 %0, 0x03020100, 0x0c080604, %1;" : "=r"(negative) : "r"(codes ^ 0x8888u));
  return (0x80808080u + positive - negative) ^ 0x80808080u;
}

// A block as 32 int8, in order: q4_0's values times 16, q6_k's times 4, mxfp4's times 2.
template <int FORMAT>
__device__ __forceinline__ void decode_block(const Block<FORMAT> &b, u32 (&q)[8]) {
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const u32 w = word_of(b.quants, j);
    if constexpr (FORMAT == FORMAT_MXFP4) {
      q[2 * j] = decode_mxfp4(w);
      q[2 * j + 1] = decode_mxfp4(w >> 16);
    } else if constexpr (FORMAT == FORMAT_Q4_0) {
      q[j] = (w << 4) & 0xf0f0f0f0u;
      q[4 + j] = w & 0xf0f0f0f0u;
    } else if constexpr (FORMAT == FORMAT_Q6_K) {
      q[j] = ((w << 2) & 0x3c3c3c3cu) | ((b.high.x << (6 - 2 * j)) & 0xc0c0c0c0u);
      q[4 + j] = ((w >> 2) & 0x3c3c3c3cu) | ((b.high.y << (6 - 2 * j)) & 0xc0c0c0c0u);
    } else {
      q[j] = w & 0x0f0f0f0fu;
      q[4 + j] = (w >> 4) & 0x0f0f0f0fu;
      if constexpr (FORMAT == FORMAT_Q5_K) {
        q[j] |= (b.high.x << (4 - j)) & 0x10101010u;
        q[4 + j] |= (b.high.x >> j) & 0x10101010u;
      }
    }
  }
}

// Value c of a row: where few are read.
template <int FORMAT>
__device__ __forceinline__ float value_in_block(const char *row, int k, int c) {
  const int block = c / 32, i = c % 32;
  Block<FORMAT> b;
  load_scales<FORMAT>(b, row, k, block);
  const BlockScales scales = scales_of<FORMAT>(b);
  const bool paired = FORMAT == FORMAT_MXFP4;
  const u32 byte = reinterpret_cast<const unsigned char *>(row)[16 * block + (paired ? i / 2 : i % 16)];
  const u32 low = (byte >> (4 * (paired ? i % 2 : i / 16))) & 15;
  int q;
  if constexpr (FORMAT == FORMAT_MXFP4) {
    q = i8(decode_mxfp4(low));
  } else if constexpr (FORMAT == FORMAT_Q4_0) {
    q = i8(low << 4);
  } else if constexpr (FORMAT == FORMAT_Q6_K) {
    const u32 high = load_word(row + k / 2 + 8 * block + i / 16 * 4);
    q = i8(low << 2 | (high >> (8 * (i % 4) + 2 * (i / 4 % 4)) & 3) << 6);
  } else {
    q = low;
    if constexpr (FORMAT == FORMAT_Q5_K) q |= (load_word(row + k / 2 + 4 * block) >> (8 * (i % 4) + i / 4) & 1) << 4;
  }
  return float(q) * (i < 16 ? scales.low : scales.high) - scales.min;
}
