// The sums of a tile of a tensor-core product: fragments of the chunks in shared memory, and what is made of them.
#pragma once
#include "gemm_stage.cuh"

// ---- products of fragments ------------------------------------------------------------------------------------------
// Int32 sums begin at the bits of 1.5 * 2^23. Those of 32 products of int8 stay below 2^22 in size, so that the bits of
// the result are the float 1.5 * 2^23 + sum: one subtraction makes the sum a float, exactly.
constexpr u32 FLOAT_BITS = 0x4b400000u;

__device__ __forceinline__ float sum_of(u32 bits) { return __uint_as_float(bits) - 12582912.0f; }

__device__ __forceinline__ void multiply32(u32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(FLOAT_BITS));
}

__device__ __forceinline__ void multiply16(u32 (&d)[4], u32 a0, u32 a1, u32 b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %7, %7, %7};"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(a0), "r"(a1), "r"(b), "r"(FLOAT_BITS));
}

__device__ __forceinline__ void load_matrices(u32 (&d)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ float4 load_shared4(u32 address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address)
               : "memory");
  return v;
}

__device__ __forceinline__ uint2 load_shared2(u32 address) {
  uint2 v;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address) : "memory");
  return v;
}

// Where a lane reads of a chunk's first block. Those of the block's values lie behind it in other bits alone, so that
// an exclusive or leads from block to block; rows are whole multiples of them apart.
struct Reads {
  u32 stored;
  u32 high;
  u32 x;
  u32 scales;
  u32 x_scales;
};

template <int FORMAT, int NT>
__device__ __forceinline__ Reads reads_of() {
  using At = Stage<FORMAT, NT>;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, row0 = (warp >> 1) * 32, side = warp & 1;
  Reads at;
  at.stored = IN_BLOCKS<FORMAT> ? narrow_word(row0 + lane, 0) : wide_word(row0 + (lane & 15), lane >> 4);
  at.high = At::HIGH + (row0 + (lane >> 2)) * HIGH_BYTES<FORMAT>;
  at.x = At::X + (FORMAT == FORMAT_MXFP4 ? wide_word(8 * side + (lane >> 2), lane >> 1 & 1) + (lane & 1) * 8
                                         : wide_word(16 * (lane >> 4) + 8 * side + (lane & 7), lane >> 3 & 1));
  at.scales = At::SCALES + 4 * (row0 + (lane >> 2) * 4);
  at.x_scales = At::X_SCALES + 4 * (side * 8 * NT + (lane & 3) * 2 * NT);
  return at;
}

// Word t of a packed block as int8: the values that a fragment has of the first half of the block, and of the second.
// Of mxfp4 they are values 8t to 8t + 3 and the four after them; x is read in the same order.
template <int FORMAT>
__device__ __forceinline__ void decode_word(u32 w, u32 high, int t, u32 &first, u32 &second) {
  if constexpr (FORMAT == FORMAT_MXFP4) {
    first = decode_mxfp4(w);
    second = decode_mxfp4(w >> 16);
  } else if constexpr (FORMAT == FORMAT_Q4_0) {
    first = (w << 4) & 0xf0f0f0f0u;
    second = w & 0xf0f0f0f0u;
  } else if constexpr (FORMAT == FORMAT_Q6_K) {
    const uint2 bits = load_shared2(high);
    first = ((w << 2) & 0x3c3c3c3cu) | ((bits.x << (6 - 2 * t)) & 0xc0c0c0c0u);
    second = ((w >> 2) & 0x3c3c3c3cu) | ((bits.y << (6 - 2 * t)) & 0xc0c0c0c0u);
  } else {
    first = w & 0x0f0f0f0fu;
    second = (w >> 4) & 0x0f0f0f0fu;
    if constexpr (FORMAT == FORMAT_Q5_K) {
      u32 bits;
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(bits) : "r"(high) : "memory");
      first |= (bits << (4 - t)) & 0x10101010u;
      second |= (bits >> t) & 0x10101010u;
    }
  }
}

// A block of the warp's 32 stored rows, as the fragments of two products.
template <int FORMAT>
__device__ __forceinline__ void load_stored_fragments(u32 (&w)[2][4], const Reads &at, u32 stage, int block) {
  if constexpr (!IN_BLOCKS<FORMAT>) {
#pragma unroll
    for (int i = 0; i < 2; i++) load_matrices(w[i], stage + (at.stored ^ block * QBLOCK) + i * 16 * CHUNK);
  } else {
    constexpr int HIGH = HIGH_BYTES<FORMAT>;
    u32 words[4];
    load_matrices(words, stage + (at.stored ^ block * 16));
#pragma unroll
    for (int e = 0; e < 4; e++)
      decode_word<FORMAT>(words[e], stage + at.high + e * 8 * HIGH + block * (HIGH / CHUNK_BLOCKS), threadIdx.x & 3,
                          w[e >> 1][e & 1], w[e >> 1][(e & 1) + 2]);
  }
}

// A block of the warp's rows of x of one plane.
template <int FORMAT, int NT>
__device__ __forceinline__ void load_x_fragments(u32 (&x)[NT][2], u32 plane) {
  if constexpr (FORMAT == FORMAT_MXFP4) {
#pragma unroll
    for (int j = 0; j < NT; j++) {
      const uint2 v = load_shared2(plane + j * 16 * CHUNK);
      x[j][0] = v.x, x[j][1] = v.y;
    }
  } else {
#pragma unroll
    for (int j = 0; j < NT; j += 2) {
      u32 d[4];
      load_matrices(d, plane + j * 16 * CHUNK);
      x[j][0] = d[0], x[j][1] = d[1], x[j + 1][0] = d[2], x[j + 1][1] = d[3];
    }
  }
}

__device__ __forceinline__ void take_four(float (&v)[4], const float4 &f) {
  v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w;
}

// Adds a block's products to the sums.
template <int FORMAT, int PLANES, int NT>
__device__ __forceinline__ void sum_block(const Reads &at, u32 stage, int block, float (&sums)[2][NT][4]) {
  using At = Stage<FORMAT, NT>;
  constexpr float SHARE = 1.0f / 254.0f;  // of the second plane
  u32 w[2][4], x[PLANES][NT][2];
  load_stored_fragments<FORMAT>(w, at, stage, block);
#pragma unroll
  for (int p = 0; p < PLANES; p++)
    load_x_fragments<FORMAT, NT>(x[p], stage + (at.x ^ block * QBLOCK) + p * At::PLANE);
  const u32 scales = stage + at.scales + block * (4 * TILE_STORED);
  float low[4], more[4] = {};  // of q6_k the second halves' scales; of blocks with mins their mins
  take_four(low, load_shared4(scales));
  if constexpr (STORED_SCALES<FORMAT> == 2) take_four(more, load_shared4(scales + 4 * CHUNK_BLOCKS * TILE_STORED));
  float by_x[NT][2];
#pragma unroll
  for (int j = 0; j < NT; j += 2) {
    const float4 v = load_shared4(stage + at.x_scales + block * (4 * 16 * NT) + 8 * j);
    by_x[j][0] = v.x, by_x[j][1] = v.y, by_x[j + 1][0] = v.z, by_x[j + 1][1] = v.w;
  }
#pragma unroll
  for (int j = 0; j < NT; j++) {
    const float(&by)[2] = by_x[j];
    float least[2];
    if constexpr (HAS_MINS<FORMAT>) {  // every row of this product is the sum of x's block
      const u32 ones[4] = {0x01010101u, 0x01010101u, 0x01010101u, 0x01010101u};
      u32 d[PLANES][4];
#pragma unroll
      for (int p = 0; p < PLANES; p++) multiply32(d[p], ones, x[p][j][0], x[p][j][1]);
#pragma unroll
      for (int e = 0; e < 2; e++)
        least[e] = by[e] * (PLANES == 1 ? sum_of(d[0][e]) : fmaf(sum_of(d[PLANES - 1][e]), SHARE, sum_of(d[0][e])));
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
      u32 d[PLANES][4], high[PLANES][4];
#pragma unroll
      for (int p = 0; p < PLANES; p++) {
        if constexpr (FORMAT == FORMAT_Q6_K) {
          multiply16(d[p], w[i][0], w[i][1], x[p][j][0]);
          multiply16(high[p], w[i][2], w[i][3], x[p][j][1]);
        } else {
          multiply32(d[p], w[i], x[p][j][0], x[p][j][1]);
        }
      }
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const int row = 2 * i + (e >> 1);
        float dot = sum_of(d[0][e]);
        if constexpr (PLANES == 2) dot = fmaf(sum_of(d[1][e]), SHARE, dot);
        if constexpr (FORMAT == FORMAT_Q6_K) {
          float second = sum_of(high[0][e]);
          if constexpr (PLANES == 2) second = fmaf(sum_of(high[1][e]), SHARE, second);
          sums[i][j][e] = fmaf(by[e & 1], fmaf(more[row], second, low[row] * dot), sums[i][j][e]);
        } else {
          sums[i][j][e] = fmaf(low[row] * by[e & 1], dot, sums[i][j][e]);
          if constexpr (HAS_MINS<FORMAT>) sums[i][j][e] = fmaf(-more[row], least[e & 1], sums[i][j][e]);
        }
      }
    }
  }
}

template <int FORMAT, int PLANES, int NT>
__device__ __forceinline__ void sum_blocks(const Reads &at, u32 stage, int blocks, float (&sums)[2][NT][4]) {
#pragma unroll 1
  for (int block = 0; block < blocks; block++) sum_block<FORMAT, PLANES, NT>(at, stage, block, sums);
}

// The sums over chunks `first` to `last` of a tile. Chunks are sent for `stages - 1` rounds before they are summed; the
// first one's stored rows before the launch before has ended.
template <int FORMAT, int NT>
__device__ __forceinline__ void sum_chunks(const Matrices &w, const Quantized &x, int row0, int first, int last,
                                           int stages, char *shared, float (&sums)[2][NT][4]) {
  const u32 address = shared_address(shared);
  const int blocks = x.cols / QBLOCK, ahead = stages - 1, bytes = Stage<FORMAT, NT>::bytes(x.planes);
  const Source<FORMAT, NT> from(w, x, row0);
  const Reads at = reads_of<FORMAT, NT>();
  int here = 1, next = 0;  // the stage that is summed, and the one that is filled
#pragma unroll 1
  for (int coming = first; coming - ahead < last; coming++) {
    const int chunk = coming - ahead;
    if (chunk >= first) {
      wait_for_copies(stages);
      __syncthreads();
    }
    if (coming < last) copy_stored(from, x.cols, coming, address + next * bytes);
    if (coming == first) {
      let_next_start();
      wait_for_previous();
    }
    Scales<FORMAT> scales;
    if (coming < last) {
      copy_x(from, x, coming, address + next * bytes);
      load_chunk_scales(scales, from, x.cols, coming);
    }
    end_copies();
    const int present = chunk < first ? 0 : min(CHUNK_BLOCKS, blocks - chunk * CHUNK_BLOCKS);
    if (x.planes == 1)
      sum_blocks<FORMAT, 1, NT>(at, address + here * bytes, present, sums);
    else
      sum_blocks<FORMAT, 2, NT>(at, address + here * bytes, present, sums);
    if (coming < last)
      store_chunk_scales<FORMAT, NT>(scales, blocks - coming * CHUNK_BLOCKS, shared + next * bytes);
    here = here + 1 == stages ? 0 : here + 1;
    next = next + 1 == stages ? 0 : next + 1;
  }
}
