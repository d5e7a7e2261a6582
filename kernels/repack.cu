// File rows of a checkpoint as the kernels read them (lowering/repack.py, lowering/packed_rows.py), a chunk of rows at a
// time: once, when a step is loaded. A thread takes a block of 32 values of a row; the target begins as zeros, so that
// padding is not written. File blocks begin at any even byte, mxfp4's at any: they are read in halves of a word.
#include "common.cuh"

struct Chunk {
  const u16 *file;  // the chunk's rows, one behind another
  char *planes;     // the whole matrix
  int rows;         // of the chunk
  int blocks;       // of 32 values in a row
  int first;        // the chunk's first row in the matrix
  int pitch;        // bytes of a row of the first plane
  u16 *scales;      // the plane of q8_0's scales

  __device__ __forceinline__ char *row(int r) const { return planes + (long long)(first + r) * pitch; }
};

struct Piece {
  int row;  // of the chunk
  int block;
};

// The block that this thread takes; false past the last.
__device__ __forceinline__ bool piece_of(const Chunk &c, Piece &p) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  p.row = int(i / u32(c.blocks)), p.block = int(i - u32(p.row) * u32(c.blocks));
  return i < u32(c.rows) * u32(c.blocks);
}

// N words from any even byte on.
template <int N>
__device__ __forceinline__ void read_words(const u16 *from, u32 (&w)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) w[i] = u32(from[2 * i]) | u32(from[2 * i + 1]) << 16;
}

__device__ __forceinline__ void store16(char *to, u32 a, u32 b, u32 c, u32 d) {
  *reinterpret_cast<uint4 *>(to) = make_uint4(a, b, c, d);
}

// ---- formats of 256 values ------------------------------------------------------------------------------------------
constexpr int Q4_K_BYTES = 144, Q5_K_BYTES = 176, Q6_K_BYTES = 210;

// The scale and min, six bits each, of block s of the eight in the 12 bytes of a file block (three words).
__device__ __forceinline__ u16 scale_and_min(const u32 (&w)[3], int s) {
  auto byte = [&](int i) { return (i < 4 ? w[0] : i < 8 ? w[1] : w[2]) >> (8 * (i & 3)) & 0xffu; };
  u32 scale, min;
  if (s < 4) {
    scale = byte(s) & 63, min = byte(s + 4) & 63;
  } else {
    scale = (byte(s + 4) & 15) | (byte(s - 4) >> 6) << 4;
    min = (byte(s + 4) >> 4) | (byte(s) >> 6) << 4;
  }
  return u16(scale | min << 8);
}

// Four bits of each of 32 values, from bit `shift` of the bytes at `from`: the quants plane's 16 bytes.
__device__ __forceinline__ void store_low_bits(const u16 *from, int shift, char *to) {
  u32 w[8];
  read_words<8>(from, w);
#pragma unroll
  for (int i = 0; i < 8; i++) w[i] = w[i] >> shift & 0x0f0f0f0fu;
  store16(to, w[0] | w[4] << 4, w[1] | w[5] << 4, w[2] | w[6] << 4, w[3] | w[7] << 4);
}

// q4_k and q5_k: what their blocks share. `high` is bytes of a row before its scales, beside the quants.
template <int BYTES, int QUANTS_AT>
__device__ __forceinline__ void repack_with_mins(const Chunk &c, const Piece &p, int high) {
  const int super = p.block / 8, s = p.block % 8;
  const u16 *file = c.file + ((long long)p.row * (c.blocks / 8) + super) * (BYTES / 2);
  char *row = c.row(p.row), *scales = row + c.blocks * 16 + high;
  store_low_bits(file + QUANTS_AT / 2 + s / 2 * 16, s % 2 * 4, row + p.block * 16);
  u32 packed[3];
  read_words<3>(file + 2, packed);
  reinterpret_cast<u16 *>(scales)[p.block] = scale_and_min(packed, s);
  if (s == 0) {
    u32 both[1];
    read_words<1>(file, both);
    reinterpret_cast<u32 *>(scales + c.blocks * 2)[super] = both[0];
  }
}

__device__ __forceinline__ void repack_q4_k(const Chunk &c, const Piece &p) {
  repack_with_mins<Q4_K_BYTES, 16>(c, p, 0);
}

__device__ __forceinline__ void repack_q5_k(const Chunk &c, const Piece &p) {
  repack_with_mins<Q5_K_BYTES, 48>(c, p, c.blocks * 4);
  const int super = p.block / 8, s = p.block % 8;
  u32 w[8], high = 0;  // bit s of 32 bytes
  read_words<8>(c.file + ((long long)p.row * (c.blocks / 8) + super) * (Q5_K_BYTES / 2) + 8, w);
#pragma unroll
  for (int t = 0; t < 8; t++) high |= (w[t] >> s & 0x01010101u) << t;
  reinterpret_cast<u32 *>(c.row(p.row) + c.blocks * 16)[p.block] = high;
}

__device__ __forceinline__ void repack_q6_k(const Chunk &c, const Piece &p) {
  const int super = p.block / 8, half = p.block % 8 / 4, k = p.block % 4;
  const u16 *file = c.file + ((long long)p.row * (c.blocks / 8) + super) * (Q6_K_BYTES / 2);
  char *row = c.row(p.row), *high = row + c.blocks * 16, *scales = high + c.blocks * 8;
  store_low_bits(file + half * 32 + k % 2 * 16, k / 2 * 4, row + p.block * 16);
  u32 w[8], upper[2] = {};
  read_words<8>(file + 64 + half * 16, w);
#pragma unroll
  for (int t = 0; t < 8; t++) upper[t / 4] |= ((w[t] >> (2 * k) & 0x03030303u) ^ 0x02020202u) << (2 * (t % 4));
  reinterpret_cast<uint2 *>(high)[p.block] = make_uint2(upper[0], upper[1]);
  reinterpret_cast<u16 *>(scales)[p.block] = file[96 + p.block % 8];
  if (p.block % 8 == 0) reinterpret_cast<u16 *>(scales + c.blocks * 2)[super] = file[104];
}

// ---- formats of 32 values -------------------------------------------------------------------------------------------
__device__ __forceinline__ void repack_q8_0(const Chunk &c, const Piece &p) {
  const u16 *file = c.file + ((long long)p.row * c.blocks + p.block) * 17;
  u32 w[8];
  read_words<8>(file + 1, w);
  char *to = c.row(p.row) + p.block * QBLOCK;
  store16(to, w[0], w[1], w[2], w[3]);
  store16(to + 16, w[4], w[5], w[6], w[7]);
  c.scales[(long long)(c.first + p.row) * c.blocks + p.block] = file[0];
}

__device__ __forceinline__ void repack_q4_0(const Chunk &c, const Piece &p) {
  const u16 *file = c.file + ((long long)p.row * c.blocks + p.block) * 9;
  u32 w[4];
  read_words<4>(file + 1, w);
  char *row = c.row(p.row);
  store16(row + p.block * 16, w[0] ^ 0x88888888u, w[1] ^ 0x88888888u, w[2] ^ 0x88888888u, w[3] ^ 0x88888888u);
  reinterpret_cast<u16 *>(row + c.blocks * 16)[p.block] = file[0];
}

// Byte b of the file holds the codes of values b and b + 16; of a plane, those of 2b and 2b + 1.
__device__ __forceinline__ void repack_mxfp4(const Chunk &c, const Piece &p) {
  const unsigned char *file =
      reinterpret_cast<const unsigned char *>(c.file) + ((long long)p.row * c.blocks + p.block) * 17;
  u32 low[2] = {}, high[2] = {};
#pragma unroll
  for (int b = 0; b < 16; b++) {
    const u32 byte = file[1 + b];
    low[b / 8] |= (byte & 15) << (4 * (b % 8));
    high[b / 8] |= (byte >> 4) << (4 * (b % 8));
  }
  char *row = c.row(p.row);
  store16(row + p.block * 16, low[0], low[1], high[0], high[1]);
  row[c.blocks * 16 + p.block] = char(file[0]);
}

#define REPACK(name)                                                                                                 \
  extern "C" __global__ void __launch_bounds__(256) repack_##name##_rows(                                           \
      const u16 *file, char *planes, int rows, int blocks, int first, int pitch, u16 *scales) {                       \
    const Chunk c{file, planes, rows, blocks, first, pitch, scales};                                                \
    Piece p;                                                                                                         \
    let_next_start();                                                                                                \
    wait_for_previous();                                                                                             \
    if (piece_of(c, p)) repack_##name(c, p);                                                                         \
  }

REPACK(q8_0)
REPACK(q4_0)
REPACK(q4_k)
REPACK(q5_k)
REPACK(q6_k)
REPACK(mxfp4)

// Rows of plain values, padded: a thread takes 16 bytes of a row. `bytes` of a row are even.
extern "C" __global__ void __launch_bounds__(256) repack_plain_rows(const u16 *file, char *planes, int rows, int bytes,
                                                                    int first, int pitch) {
  let_next_start();
  wait_for_previous();
  const u32 words = u32(pitch) / 16, i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= u32(rows) * words) return;
  const u32 row = i / words, c = (i - row * words) * 16;
  const u16 *from = file + ((long long)row * bytes + c) / 2;
  u32 w[4] = {};
#pragma unroll
  for (int k = 0; k < 8; k++)
    if (int(c) + 2 * k < bytes) w[k / 2] |= u32(from[k]) << (16 * (k % 2));
  store16(planes + (long long)(first + int(row)) * pitch + c, w[0], w[1], w[2], w[3]);
}
