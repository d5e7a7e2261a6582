// Depthwise causal convolutions over a ring of past rows, with silu and the l2 norm of groups; and l2 norms alone.
//
// A channel is one thread's for all rows: it holds the channel's last rows in registers, so the ring can be moved on in
// place. A block takes one group that is normed, or as many channels as it has threads.
#include "common.cuh"
#include "sequences.cuh"

constexpr int MOST_TAPS = 8;
constexpr int ROWS = 4;  // of x that a thread has in flight

struct Conv {
  const float *x;
  int x_pitch;
  const float *w;  // [channels][taps]
  float *ring;     // [taps - 1][channels], oldest first
  float *y;
  int y_pitch;
  int channels;
  int unit;  // channels of a block
  int normed;
};

#define CONV_PARAMS(i)                                                                                              \
  const float *x##i, int x_pitch##i, const float *w##i, float *ring##i, float *y##i, int y_pitch##i, int channels##i, \
      int unit##i, int normed##i
#define CONV_ARGS(i) \
  Conv { x##i, x_pitch##i, w##i, ring##i, y##i, y_pitch##i, channels##i, unit##i, normed##i }

__device__ __forceinline__ int blocks_of(const Conv &c) { return (c.channels + c.unit - 1) / c.unit; }

// A channel's weights, the newest row's last, zeros before the oldest's.
template <bool CONSTANT>
__device__ __forceinline__ void load_taps(const Conv &c, int taps, int channel, float (&w)[MOST_TAPS]) {
  const float *from = c.w + (long long)taps * channel;
  if (CONSTANT && taps == 4 && aligned16(c.w)) {
    const uint4 four = load_weights(from);
    w[0] = w[1] = w[2] = w[3] = 0.0f;
    w[4] = __uint_as_float(four.x), w[5] = __uint_as_float(four.y);
    w[6] = __uint_as_float(four.z), w[7] = __uint_as_float(four.w);
    return;
  }
#pragma unroll
  for (int j = 0; j < MOST_TAPS; j++) {
    const int tap = j - (MOST_TAPS - taps);
    w[j] = tap < 0 ? 0.0f : CONSTANT ? load_constant(from + tap) : from[tap];
  }
}

// The inverse length of a group, whose squares every thread of the block has a share of.
__device__ __forceinline__ float inverse_length(float squares, float eps, float *scratch) {
  return 1.0f / sqrtf(block_sum(squares, scratch) + eps);
}

// One channel over all rows, its ring moved on. The whole block takes part, `valid` where the thread has a channel; with
// `normed` each row is scaled by the length of the block's values.
__device__ __forceinline__ void convolve(const Conv &c, int m, int taps, bool silu, bool normed, float eps, int channel,
                                         bool valid, const float (&w)[MOST_TAPS], float *scratch) {
  float held[MOST_TAPS];  // the last rows, the newest last
#pragma unroll
  for (int j = 0; j < MOST_TAPS; j++) {
    const int row = j - (MOST_TAPS + 1 - taps);
    held[j] = valid && row >= 0 ? c.ring[(long long)c.channels * row + channel] : 0.0f;
  }
#pragma unroll 1
  for (int r0 = 0; r0 < m; r0 += ROWS) {
    float x[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) x[i] = valid && r0 + i < m ? c.x[(long long)c.x_pitch * (r0 + i) + channel] : 0.0f;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
      if (r0 + i >= m) break;
#pragma unroll
      for (int j = 0; j < MOST_TAPS - 1; j++) held[j] = held[j + 1];
      held[MOST_TAPS - 1] = x[i];
      float v = 0.0f;
#pragma unroll
      for (int j = 0; j < MOST_TAPS; j++) v += w[j] * held[j];
      if (silu) v = activate(ACT_SILU, v);
      if (normed) v *= inverse_length(valid ? v * v : 0.0f, eps, scratch);
      if (valid) c.y[(long long)c.y_pitch * (r0 + i) + channel] = v;
    }
  }
#pragma unroll
  for (int j = 0; j < MOST_TAPS; j++) {
    const int row = j - (MOST_TAPS + 1 - taps);
    if (valid && row >= 0) c.ring[(long long)c.channels * row + channel] = held[j];
  }
}

constexpr int CONVS = 4;

// What all convolutions of a launch have in common.
struct Convs {
  int m, taps, silu;
  float eps;
  int constant;
};

__device__ __forceinline__ void convolutions(const Convs &all, const Conv (&convs)[CONVS]) {
  __shared__ float scratch[32];
  let_next_start();
  int block = blockIdx.x;
  Conv c = convs[0];
#pragma unroll
  for (int i = 1; i < CONVS; i++) {
    if (block < blocks_of(c)) break;
    block -= blocks_of(c), c = convs[i];
  }
  const int first = block * c.unit, width = min(c.unit, c.channels - first);
  float w[MOST_TAPS] = {};
  const bool early = all.constant && threadIdx.x < width;
  if (early) load_taps<true>(c, all.taps, first + threadIdx.x, w);
  wait_for_previous();

  const bool at_once = width <= blockDim.x;  // a thread has one channel
#pragma unroll 1
  for (int c0 = 0; c0 < width; c0 += blockDim.x) {  // uniform over the block
    const int at = c0 + threadIdx.x;
    if (at < width && !(early && c0 == 0)) load_taps<false>(c, all.taps, first + at, w);
    convolve(c, all.m, all.taps, all.silu, c.normed && at_once, all.eps, first + at, at < width, w, scratch);
  }
  if (!c.normed || at_once) return;
#pragma unroll 1
  for (int r = 0; r < all.m; r++) {  // of its own channels a thread reads what it wrote
    float *y = c.y + (long long)c.y_pitch * r + first;
    float squares = 0.0f;
    for (int at = threadIdx.x; at < width; at += blockDim.x) squares += y[at] * y[at];
    const float inverse = inverse_length(squares, all.eps, scratch);
    for (int at = threadIdx.x; at < width; at += blockDim.x) y[at] *= inverse;
  }
}

extern "C" __global__ void __launch_bounds__(1024) conv_channels(int m, int taps, int silu, float eps, int constant,
                                                                 CONV_PARAMS(0), CONV_PARAMS(1), CONV_PARAMS(2),
                                                                 CONV_PARAMS(3)) {
  const Conv convs[CONVS] = {CONV_ARGS(0), CONV_ARGS(1), CONV_ARGS(2), CONV_ARGS(3)};
  convolutions(Convs{m, taps, silu, eps, constant}, convs);
}

// Of several sequences each its own rows and rings.
struct SequenceConv {
  const float *x;
  float *ring, *y;
};

#define OWN_CONV_PARAMS(i, p) const float *x##i##p, float *ring##i##p, float *y##i##p
#define SEQUENCE_PARAMS(i) \
  OWN_CONV_PARAMS(i, _0), OWN_CONV_PARAMS(i, _1), OWN_CONV_PARAMS(i, _2), OWN_CONV_PARAMS(i, _3)
#define OWN_CONV(i, p) SequenceConv{x##i##p, ring##i##p, y##i##p}
#define SEQUENCE(i)                                                                                           \
  case i:                                                                                                     \
    own[0] = OWN_CONV(i, _0), own[1] = OWN_CONV(i, _1), own[2] = OWN_CONV(i, _2), own[3] = OWN_CONV(i, _3); \
    break;
#define COMMON_CONV_PARAMS(p) int x_pitch##p, const float *w##p, int y_pitch##p, int channels##p, int unit##p, int normed##p
#define COMMON_CONV(p) \
  Conv { own[p].x, x_pitch##p, w##p, own[p].ring, own[p].y, y_pitch##p, channels##p, unit##p, normed##p }

extern "C" __global__ void __launch_bounds__(1024)
    conv_sequences(EACH_SEQUENCE(SEQUENCE_PARAMS), int m, int taps, int silu, float eps, int constant,
                   COMMON_CONV_PARAMS(0), COMMON_CONV_PARAMS(1), COMMON_CONV_PARAMS(2), COMMON_CONV_PARAMS(3)) {
  SequenceConv own[CONVS];
  ONE_OF(blockIdx.z, SEQUENCE)
  const Conv convs[CONVS] = {COMMON_CONV(0), COMMON_CONV(1), COMMON_CONV(2), COMMON_CONV(3)};
  convolutions(Convs{m, taps, silu, eps, constant}, convs);
}

extern "C" __global__ void __launch_bounds__(512) l2_rows(const float *x, int x_pitch, float *y, int y_pitch, int cols,
                                                          float eps) {
  __shared__ float scratch[32];
  let_next_start();
  wait_for_previous();
  const float *from = x + (long long)x_pitch * blockIdx.x;
  float *to = y + (long long)y_pitch * blockIdx.x;
  float squares = 0.0f;
#pragma unroll 4
  for (int c = threadIdx.x; c < cols; c += blockDim.x) squares += from[c] * from[c];
  const float inverse = inverse_length(squares, eps, scratch);
#pragma unroll 4
  for (int c = threadIdx.x; c < cols; c += blockDim.x) to[c] = from[c] * inverse;
}
