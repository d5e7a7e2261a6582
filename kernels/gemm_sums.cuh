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
};

// What a thread brings of each chunk, and from where: 16-byte words of stored rows `apart` from each other and of x; the
// scales of a block of two stored rows and of a row of x. Rows of a thread are of one matrix, and lie within 2 GB.
template <int FORMAT, int NT>
struct Source {
  static constexpr int WORDS = ROW_BYTES<FORMAT> / 16, ROWS = TILE_STORED * WORDS / THREADS;
  static constexpr int X_WORDS = CHUNK / 16, X_ROWS = 16 * NT * X_WORDS / THREADS;

  const char *stored;
  int apart[ROWS];  // bytes from the first row to each
  const char *scale;
  int scale_apart;
  const i8 *x;
  int x_apart[X_ROWS];
  const float *x_scale;

  __device__ __forceinline__ Source(const Matrices &w, const Quantized &from, int row0) {
    const int first = threadIdx.x / WORDS;
    stored = w.matrix(first) + (long long)w.row(first) * w.pitch + threadIdx.x % WORDS * 16;
#pragma unroll
    for (int i = 0; i < ROWS; i++) apart[i] = (w.row(first + i * (TILE_STORED / ROWS)) - w.row(first)) * w.pitch;
    const int scaled = threadIdx.x / CHUNK_BLOCKS, more = w.row(scaled + TILE_STORED / 2) - w.row(scaled);
    if constexpr (IN_BLOCKS<FORMAT>) {
      scale = stored - threadIdx.x % WORDS * 16;  // the same rows
      scale_apart = more * w.pitch;
    } else {
      const int pitch = from.cols / QBLOCK * 2;
      scale = w.matrix(scaled) + (((long long)w.n * w.pitch + 255) & ~255LL) + (long long)w.row(scaled) * pitch;
      scale_apart = more * pitch;
    }
    const int x_first = min(row0 + int(threadIdx.x) / X_WORDS, from.rows - 1);
    x = from.plane(0, x_first) + threadIdx.x % X_WORDS * 16;
#pragma unroll
    for (int i = 0; i < X_ROWS; i++)
      x_apart[i] = (min(row0 + int(threadIdx.x) / X_WORDS + i * (THREADS / X_WORDS), from.rows - 1) - x_first) * from.cols;
    x_scale = from.scales(min(row0 + int(threadIdx.x) / CHUNK_BLOCKS, from.rows - 1));
  }
};

// Sends for a chunk's stored rows.
template <int FORMAT, int NT>
__device__ __forceinline__ void copy_stored(const Source<FORMAT, NT> &from, int k, int chunk, u32 stage) {
  using Of = Source<FORMAT, NT>;
  const int first = threadIdx.x / Of::WORDS, word = threadIdx.x % Of::WORDS;
  const char *stored = from.stored + chunk * ROW_BYTES<FORMAT>;
  const u32 to = stage + stored_word<FORMAT>(first, word);
  if (chunk * Of::WORDS + word < k * ROW_BYTES<FORMAT> / CHUNK / 16) {
#pragma unroll
    for (int i = 0; i < Of::ROWS; i++) copy_word(to + i * (TILE_STORED / Of::ROWS) * ROW_BYTES<FORMAT>, stored + from.apart[i]);
  }
  if constexpr (HIGH_BYTES<FORMAT> > 0) {  // k is whole chunks; a thread's rows are the same
    if (word < HIGH_BYTES<FORMAT> / 16) {
      const char *high = from.scale + k / 2 + chunk * HIGH_BYTES<FORMAT> + word * 16;
#pragma unroll
      for (int i = 0; i < Of::ROWS; i++)
        copy_word(stage + Stage<FORMAT, NT>::HIGH + (first + i * (TILE_STORED / Of::ROWS)) * HIGH_BYTES<FORMAT> + word * 16,
                  high + from.apart[i]);
    }
  }
}

// Sends for a chunk of x.
template <int FORMAT, int NT>
__device__ __forceinline__ void copy_x(const Source<FORMAT, NT> &from, const Quantized &x, int chunk, u32 stage) {
  using Of = Source<FORMAT, NT>;
  const int first = threadIdx.x / Of::X_WORDS, word = threadIdx.x % Of::X_WORDS;
  if (chunk * Of::X_WORDS + word >= x.cols / 16) return;
  const i8 *plane = from.x + chunk * CHUNK;
  u32 to = stage + Stage<FORMAT, NT>::X + wide_word(first, word);
#pragma unroll
  for (int p = 0; p < 2; p++) {
    if (p == 1 && x.planes == 1) break;
#pragma unroll
    for (int i = 0; i < Of::X_ROWS; i++) copy_word(to + i * (THREADS / Of::X_WORDS) * CHUNK, plane + from.x_apart[i]);
    plane += (long long)x.rows * x.cols, to += Stage<FORMAT, NT>::PLANE;
  }
}

// The scales that a thread brings of a chunk: of a block of two stored rows, and of one of x.
template <int FORMAT>
struct Scales {
  Block<FORMAT> stored[2];
  float x;
};

template <int FORMAT, int NT>
__device__ __forceinline__ void load_chunk_scales(Scales<FORMAT> &s, const Source<FORMAT, NT> &from, int k, int chunk) {
  const int block = chunk * CHUNK_BLOCKS + threadIdx.x % CHUNK_BLOCKS;
  if (block >= k / QBLOCK) return;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const char *row = from.scale + (i == 0 ? 0 : from.scale_apart);
    if constexpr (IN_BLOCKS<FORMAT>)
      load_scales<FORMAT>(s.stored[i], row, k, block);
    else
      s.stored[i].scale = load_scale(row + block * 2);
  }
  if (threadIdx.x / CHUNK_BLOCKS < 16 * NT) s.x = from.x_scale[block];
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

// Where a lane reads of a chunk's first block. Those of the block's values lie behind it in other bits alone, so that an
// exclusive or leads from block to block; rows are whole multiples of them apart.
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

// Word t of a packed block as int8: the values that a fragment has of the first half of the block, and of the second. Of
// mxfp4 they are values 8t to 8t + 3 and the four after them; x is read in the same order.
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

__device__ __forceinline__ void take_four(float (&v)[4], const float4 &f) { v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w; }

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
__device__ __forceinline__ void sum_chunks(const Matrices &w, const Quantized &x, int row0, int first, int last, int stages,
                                           char *shared, float (&sums)[2][NT][4]) {
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
