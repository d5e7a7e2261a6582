// The sums of a tile of a product on tensor cores: chunks of both sides in shared memory, and what is made of them.
#pragma once
#include "blocks.cuh"

constexpr int THREADS = 256;
constexpr int TILE_STORED = 128;            // stored rows of a tile
constexpr int CHUNK = 128;                  // values between two loads into shared memory
constexpr int CHUNK_BLOCKS = CHUNK / QBLOCK;

// ---- a chunk in shared memory ----------------------------------------------------------------------------------------
// Quants of the stored rows, 16-byte words as they lie in device memory; of q5_k and q6_k the high bits behind them; scales
// as f32 of the stored rows (of q6_k's halves, of blocks with mins their mins), then of x; x, one plane after the other.
// Words are swizzled so that eight neighbouring rows' meet in no bank.
template <int FORMAT>
constexpr int ROW_BYTES = IN_BLOCKS<FORMAT> ? CHUNK / 2 : CHUNK;
template <int FORMAT>
constexpr int HIGH_BYTES = FORMAT == FORMAT_Q5_K ? CHUNK / 8 : FORMAT == FORMAT_Q6_K ? CHUNK / 4 : 0;
template <int FORMAT>
constexpr int STORED_SCALES = FORMAT == FORMAT_Q6_K || HAS_MINS<FORMAT> ? 2 : 1;

template <int FORMAT, int NT>
struct Stage {
  static constexpr int HIGH = TILE_STORED * ROW_BYTES<FORMAT>;
  static constexpr int SCALES = HIGH + TILE_STORED * HIGH_BYTES<FORMAT>;
  static constexpr int X_SCALES = SCALES + 4 * STORED_SCALES<FORMAT> * CHUNK_BLOCKS * TILE_STORED;
  static constexpr int X = X_SCALES + 4 * CHUNK_BLOCKS * 16 * NT;
  static constexpr int PLANE = 16 * NT * CHUNK;

  __device__ static __forceinline__ int bytes(int planes) { return X + planes * PLANE; }
};

// Where 16-byte word w of a row lies.
__device__ __forceinline__ int wide_word(int row, int w) { return row * CHUNK + ((w ^ row) & 7) * 16; }
__device__ __forceinline__ int narrow_word(int row, int w) { return row * (CHUNK / 2) + ((w ^ (row >> 1)) & 3) * 16; }

template <int FORMAT>
__device__ __forceinline__ int stored_word(int row, int w) {
  return IN_BLOCKS<FORMAT> ? narrow_word(row, w) : wide_word(row, w);
}

// Scales of a warp's 32 stored rows: those that a lane needs, eight rows apart, side by side.
__device__ __forceinline__ int stored_scale(int row) { return (row & ~31) + (row & 7) * 4 + (row >> 3 & 3); }

// Scales of x: a lane needs two neighbours of every other group of eight rows.
template <int NT>
__device__ __forceinline__ int x_scale(int row) {
  return (row >> 3 & 1) * 8 * NT + (row >> 1 & 3) * 2 * NT + (row >> 4) * 2 + (row & 1);
}

// ---- copies ----------------------------------------------------------------------------------------------------------
__device__ __forceinline__ u32 shared_address(const void *p) {
  u64 address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
  return u32(address);
}

__device__ __forceinline__ void copy_word(u32 to, const void *from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most `stages - 2` groups of copies are under way.
__device__ __forceinline__ void wait_for_copies(int stages) {
  if (stages == 2)
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  else
    asm volatile("cp.async.wait_group 1;" ::: "memory");
}

// The stored rows of a tile: of one matrix, or 16 of each of a pair's by turns.
struct Matrices {
  const char *w;
  const char *other;  // null where there is one
  int n;
  int pitch;
  int output0;

  __device__ __forceinline__ const char *matrix(int stored) const {
    return other != nullptr && (stored & 16) ? other : w;
  }
  // Past the end: the last row again, and nothing stored.
  __device__ __forceinline__ int row(int stored) const {
    const int output = other == nullptr ? stored : (stored >> 5) * 16 + (stored & 15);
    return min(output0 + output, n - 1);
  }
  __device__ __forceinline__ const char *at(int stored) const {
    return matrix(stored) + (long long)row(stored) * pitch;
  }
};

// Sends for a chunk's stored rows.
template <int FORMAT>
__device__ __forceinline__ void copy_stored(const Matrices &w, int k, int chunk, u32 stage) {
  constexpr int WORDS = ROW_BYTES<FORMAT> / 16;
  const int word = threadIdx.x % WORDS, words = IN_BLOCKS<FORMAT> ? k / QBLOCK : k / 16;
  if (chunk * WORDS + word < words) {
#pragma unroll
    for (int row = threadIdx.x / WORDS; row < TILE_STORED; row += THREADS / WORDS)
      copy_word(stage + stored_word<FORMAT>(row, word), w.at(row) + (chunk * WORDS + word) * 16);
  }
  if constexpr (HIGH_BYTES<FORMAT> > 0) {  // k is whole chunks
    constexpr int HIGHS = HIGH_BYTES<FORMAT> / 16;
    const int row = threadIdx.x / HIGHS, high = threadIdx.x % HIGHS;
    if (row < TILE_STORED)
      copy_word(stage + TILE_STORED * ROW_BYTES<FORMAT> + threadIdx.x * 16,
                w.at(row) + k / 2 + (chunk * HIGHS + high) * 16);
  }
}

// Sends for a chunk of x; rows past the end are the last again.
template <int NT>
__device__ __forceinline__ void copy_x(const Quantized &x, int row0, int chunk, u32 to) {
  constexpr int WORDS = CHUNK / 16;
  const int word = threadIdx.x % WORDS;
  if (chunk * WORDS + word >= x.cols / 16) return;
#pragma unroll 1
  for (int p = 0; p < x.planes; p++)
#pragma unroll
    for (int row = threadIdx.x / WORDS; row < 16 * NT; row += THREADS / WORDS)
      copy_word(to + p * 16 * NT * CHUNK + wide_word(row, word),
                x.plane(p, min(row0 + row, x.rows - 1)) + (chunk * WORDS + word) * 16);
}

// The scales that a thread brings of a chunk: of two blocks of stored rows, and of one of x.
template <int FORMAT>
struct Scales {
  Block<FORMAT> stored[2];
  float x;
};

template <int FORMAT, int NT>
__device__ __forceinline__ void load_chunk_scales(Scales<FORMAT> &s, const Matrices &w, const Quantized &x, int row0,
                                                  int chunk) {
  const int blocks = x.cols / QBLOCK, block = chunk * CHUNK_BLOCKS + threadIdx.x % CHUNK_BLOCKS;
  if (block >= blocks) return;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int stored = threadIdx.x / CHUNK_BLOCKS + i * (TILE_STORED / 2);
    if constexpr (IN_BLOCKS<FORMAT>) {
      load_scales<FORMAT>(s.stored[i], w.at(stored), x.cols, block);
    } else {
      const char *scales = w.matrix(stored) + (((long long)w.n * w.pitch + 255) & ~255LL);
      s.stored[i].scale = load_scale(scales + ((long long)w.row(stored) * blocks + block) * 2);
    }
  }
  const int row = threadIdx.x / CHUNK_BLOCKS;
  if (row < 16 * NT) s.x = x.scales(min(row0 + row, x.rows - 1))[block];
}

template <int FORMAT, int NT>
__device__ __forceinline__ void store_chunk_scales(const Scales<FORMAT> &s, int blocks, char *stage) {
  using At = Stage<FORMAT, NT>;
  const int block = threadIdx.x % CHUNK_BLOCKS, row = threadIdx.x / CHUNK_BLOCKS;
  if (block >= blocks) return;
  float *stored = reinterpret_cast<float *>(stage + At::SCALES) + block * TILE_STORED;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int at = stored_scale(row + i * (TILE_STORED / 2));
    if constexpr (IN_BLOCKS<FORMAT>) {
      const BlockScales scales = scales_of<FORMAT>(s.stored[i]);
      stored[at] = scales.low;
      if constexpr (FORMAT == FORMAT_Q6_K) stored[CHUNK_BLOCKS * TILE_STORED + at] = scales.high;
      if constexpr (HAS_MINS<FORMAT>) stored[CHUNK_BLOCKS * TILE_STORED + at] = scales.min;
    } else {
      stored[at] = half_to_float(s.stored[i].scale);
    }
  }
  if (row < 16 * NT) reinterpret_cast<float *>(stage + At::X_SCALES)[block * 16 * NT + x_scale<NT>(row)] = s.x;
}

// ---- products of fragments -------------------------------------------------------------------------------------------
// Int32 sums begin at the bits of 1.5 * 2^23. Those of 32 products of int8 stay below 2^22 in size, so that the bits of the
// result are the float 1.5 * 2^23 + sum: one subtraction makes the sum a float, exactly.
constexpr u32 FLOAT_BITS = 0x4b400000u;

__device__ __forceinline__ float sum_of(u32 bits) { return __uint_as_float(bits) - 12582912.0f; }

__device__ __forceinline__ void multiply32(u32 (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
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

// Word t of a packed block as int8: the values that a fragment has of the first half of the block, and of the second. Of
// mxfp4 they are values 8t to 8t + 3 and the four after them; x is read in the same order.
template <int FORMAT>
__device__ __forceinline__ void decode_word(u32 w, const char *high, int t, u32 &first, u32 &second) {
  if constexpr (FORMAT == FORMAT_MXFP4) {
    first = decode_mxfp4(w);
    second = decode_mxfp4(w >> 16);
  } else if constexpr (FORMAT == FORMAT_Q4_0) {
    first = (w << 4) & 0xf0f0f0f0u;
    second = w & 0xf0f0f0f0u;
  } else if constexpr (FORMAT == FORMAT_Q6_K) {
    const uint2 bits = *reinterpret_cast<const uint2 *>(high);
    first = ((w << 2) & 0x3c3c3c3cu) | ((bits.x << (6 - 2 * t)) & 0xc0c0c0c0u);
    second = ((w >> 2) & 0x3c3c3c3cu) | ((bits.y << (6 - 2 * t)) & 0xc0c0c0c0u);
  } else {
    first = w & 0x0f0f0f0fu;
    second = (w >> 4) & 0x0f0f0f0fu;
    if constexpr (FORMAT == FORMAT_Q5_K) {
      const u32 bits = *reinterpret_cast<const u32 *>(high);
      first |= (bits << (4 - t)) & 0x10101010u;
      second |= (bits >> t) & 0x10101010u;
    }
  }
}

// A block of the warp's 32 stored rows, as the fragments of two products.
template <int FORMAT>
__device__ __forceinline__ void load_stored_fragments(u32 (&w)[2][4], const char *stage, u32 address, int block) {
  const int lane = threadIdx.x & 31, row0 = (threadIdx.x >> 6) * 32;
  if constexpr (!IN_BLOCKS<FORMAT>) {
#pragma unroll
    for (int i = 0; i < 2; i++)
      load_matrices(w[i], address + wide_word(row0 + i * 16 + (lane & 15), 2 * block + (lane >> 4)));
  } else {
    u32 words[4];
    load_matrices(words, address + narrow_word(row0 + lane, block));
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const int row = row0 + e * 8 + (lane >> 2);
      const char *high = stage + TILE_STORED * ROW_BYTES<FORMAT> + row * HIGH_BYTES<FORMAT> +
                         block * (HIGH_BYTES<FORMAT> / CHUNK_BLOCKS);
      decode_word<FORMAT>(words[e], high, lane & 3, w[e >> 1][e & 1], w[e >> 1][(e & 1) + 2]);
    }
  }
}

// A block of the warp's rows of x of one plane.
template <int FORMAT, int NT>
__device__ __forceinline__ void load_x_fragments(u32 (&x)[NT][2], const char *plane, u32 address, int block) {
  const int lane = threadIdx.x & 31, side = threadIdx.x >> 5 & 1;
  if constexpr (FORMAT == FORMAT_MXFP4) {
#pragma unroll
    for (int j = 0; j < NT; j++) {
      const int row = 8 * (2 * j + side) + (lane >> 2), t = lane & 3;
      const uint2 v = *reinterpret_cast<const uint2 *>(plane + wide_word(row, 2 * block + (t >> 1)) + (t & 1) * 8);
      x[j][0] = v.x, x[j][1] = v.y;
    }
  } else {
#pragma unroll
    for (int j = 0; j < NT; j += 2) {
      u32 d[4];
      const int row = 8 * (2 * (j + (lane >> 4)) + side) + (lane & 7);
      load_matrices(d, address + wide_word(row, 2 * block + (lane >> 3 & 1)));
      x[j][0] = d[0], x[j][1] = d[1], x[j + 1][0] = d[2], x[j + 1][1] = d[3];
    }
  }
}

__device__ __forceinline__ void load_four(float (&v)[4], const float *p) {
  const float4 f = *reinterpret_cast<const float4 *>(p);
  v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w;
}

// Adds a block's products to the sums.
template <int FORMAT, int PLANES, int NT>
__device__ __forceinline__ void sum_block(const char *stage, u32 address, int block, float (&sums)[2][NT][4]) {
  using At = Stage<FORMAT, NT>;
  constexpr float SHARE = 1.0f / 254.0f;  // of the second plane
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  u32 w[2][4], x[PLANES][NT][2];
  load_stored_fragments<FORMAT>(w, stage, address, block);
#pragma unroll
  for (int p = 0; p < PLANES; p++)
    load_x_fragments<FORMAT, NT>(x[p], stage + At::X + p * At::PLANE, address + At::X + p * At::PLANE, block);
  const float *scales = reinterpret_cast<const float *>(stage + At::SCALES) + block * TILE_STORED + (warp >> 1) * 32 +
                        (lane >> 2) * 4;
  const float *x_scales = reinterpret_cast<const float *>(stage + At::X_SCALES) + block * 16 * NT + (warp & 1) * 8 * NT +
                          (lane & 3) * 2 * NT;
  float low[4], more[4] = {};  // of q6_k the second halves' scales; of blocks with mins their mins
  load_four(low, scales);
  if constexpr (STORED_SCALES<FORMAT> == 2) load_four(more, scales + CHUNK_BLOCKS * TILE_STORED);
#pragma unroll
  for (int j = 0; j < NT; j++) {
    const float2 xs = *reinterpret_cast<const float2 *>(x_scales + 2 * j);
    const float by[2] = {xs.x, xs.y};
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
__device__ __forceinline__ void sum_blocks(const char *stage, u32 address, int blocks, float (&sums)[2][NT][4]) {
#pragma unroll 1
  for (int block = 0; block < blocks; block++) sum_block<FORMAT, PLANES, NT>(stage, address, block, sums);
}

// The sums over chunks `first` to `last` of a tile. Chunks are sent for `stages - 1` rounds before they are summed; the
// first one's stored rows before the launch before has ended.
template <int FORMAT, int NT>
__device__ __forceinline__ void sum_chunks(const Matrices &w, const Quantized &x, int row0, int first, int last, int stages,
                                           char *shared, float (&sums)[2][NT][4]) {
  using At = Stage<FORMAT, NT>;
  const u32 address = shared_address(shared);
  const int blocks = x.cols / QBLOCK, ahead = stages - 1, bytes = At::bytes(x.planes);
  int here = 1, next = 0;  // the stage that is summed, and the one that is filled
#pragma unroll 1
  for (int coming = first; coming - ahead < last; coming++) {
    const int chunk = coming - ahead;
    if (chunk >= first) {
      wait_for_copies(stages);
      __syncthreads();
    }
    if (coming < last) copy_stored<FORMAT>(w, x.cols, coming, address + next * bytes);
    if (coming == first) {
      let_next_start();
      wait_for_previous();
    }
    Scales<FORMAT> scales;
    if (coming < last) {
      copy_x<NT>(x, row0, coming, address + next * bytes + At::X);
      load_chunk_scales<FORMAT, NT>(scales, w, x, row0, coming);
    }
    end_copies();
    const int present = chunk < first ? 0 : min(CHUNK_BLOCKS, blocks - chunk * CHUNK_BLOCKS);
    if (x.planes == 1)
      sum_blocks<FORMAT, 1, NT>(shared + here * bytes, address + here * bytes, present, sums);
    else
      sum_blocks<FORMAT, 2, NT>(shared + here * bytes, address + here * bytes, present, sums);
    if (coming < last)
      store_chunk_scales<FORMAT, NT>(scales, blocks - coming * CHUNK_BLOCKS, shared + next * bytes);
    here = here + 1 == stages ? 0 : here + 1;
    next = next + 1 == stages ? 0 : next + 1;
  }
}
