// A chunk of a tensor-core product in shared memory: how both sides lie there, and how they come.
#pragma once
#include "blocks.cuh"
#include "copies.cuh"

constexpr int THREADS = 256;
constexpr int TILE_STORED = 128;            // stored rows of a tile
constexpr int CHUNK = 128;                  // values between two loads into shared memory
constexpr int CHUNK_BLOCKS = CHUNK / QBLOCK;

// ---- a chunk in shared memory ---------------------------------------------------------------------------------------
// Quants of the stored rows, 16-byte words as they lie in device memory; of q5_k and q6_k the high bits behind them;
// scales as f32 of the stored rows (of q6_k's halves, of blocks with mins their mins), then of x; x, one plane after
// the other. Words are swizzled so that eight neighbouring rows' meet in no bank.
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

// ---- copies ---------------------------------------------------------------------------------------------------------
__device__ __forceinline__ void copy_word(u32 to, const void *from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// Waits until at most `stages - 2` groups of copies are under way.
__device__ __forceinline__ void wait_for_copies(int stages) {
  if (stages == 2)
    wait_for_copies<0>();
  else
    wait_for_copies<1>();
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

// What a thread brings of each chunk, and from where: 16-byte words of stored rows `apart` from each other and of x;
// the scales of a block of two stored rows and of a row of x. Rows of a thread are of one matrix, and lie within 2 GB.
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
      x_apart[i] =
          (min(row0 + int(threadIdx.x) / X_WORDS + i * (THREADS / X_WORDS), from.rows - 1) - x_first) * from.cols;
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
    for (int i = 0; i < Of::ROWS; i++)
      copy_word(to + i * (TILE_STORED / Of::ROWS) * ROW_BYTES<FORMAT>, stored + from.apart[i]);
  }
  if constexpr (HIGH_BYTES<FORMAT> > 0) {  // k is whole chunks; a thread's rows are the same
    if (word < HIGH_BYTES<FORMAT> / 16) {
      const char *high = from.scale + k / 2 + chunk * HIGH_BYTES<FORMAT> + word * 16;
      const u32 to_high = stage + Stage<FORMAT, NT>::HIGH + word * 16;
#pragma unroll
      for (int i = 0; i < Of::ROWS; i++)
        copy_word(to_high + (first + i * (TILE_STORED / Of::ROWS)) * HIGH_BYTES<FORMAT>, high + from.apart[i]);
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
    for (int i = 0; i < Of::X_ROWS; i++)
      copy_word(to + i * (THREADS / Of::X_WORDS) * CHUNK, plane + from.x_apart[i]);
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
