// The queries and the step's own keys of an attention, normed and turned at its head: a warp a head, into shared memory.
//
// What is constant is there before the launch ahead has ended: a head's norm weights where its result will lie, the
// rows of the rotation's tables in registers.
#pragma once
#include "rope.cuh"

struct HeadTurns {
  int present;
  const float *k;  // the step's own keys, rows of k_pitch values
  int k_pitch;
  HeadNorm q_norm, k_norm;
  const float *cos, *sin;
  int half;
};

// One head of at most MOST values that a warp turns: a lane holds pairs, and those of its values that are not turned.
template <int MOST>
struct Turned {
  static constexpr int PAIRS = MOST / 64, OTHERS = MOST / 32;
  float cos[PAIRS], sin[PAIRS];
  float low[PAIRS], high[PAIRS], others[OTHERS];

  // Constants: the norm's weights into `slot`, and the row of the tables.
  __device__ __forceinline__ void prepare(const HeadTurns &t, const HeadNorm &norm, int row, int hd, float *slot) {
    const int lane = threadIdx.x & 31;
    for (int i = lane; i < hd; i += 32) slot[i] = norm.weight == nullptr ? 1.0f : load_constant(norm.weight + i);
    const long long at = (long long)row * t.half;
#pragma unroll
    for (int j = 0; j < PAIRS; j++) {
      const int i = lane + 32 * j;
      cos[j] = i < t.half ? load_constant(t.cos + at + i) : 0.0f;
      sin[j] = i < t.half ? load_constant(t.sin + at + i) : 0.0f;
    }
  }

  __device__ __forceinline__ void load(const HeadTurns &t, const float *src, int hd) {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int j = 0; j < PAIRS; j++) {
      const int i = lane + 32 * j;
      low[j] = i < t.half ? load_fresh(src + i) : 0.0f;
      high[j] = i < t.half ? load_fresh(src + t.half + i) : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < OTHERS; j++) {
      const int i = 2 * t.half + lane + 32 * j;
      others[j] = i < hd ? load_fresh(src + i) : 0.0f;
    }
  }

  // In the order of turn_head, so that a head is the same bits whoever turns it. `table`: where it lands as well, or null.
  __device__ __forceinline__ void finish(const HeadTurns &t, const HeadNorm &norm, int hd, float *slot, float *table) {
    const int lane = threadIdx.x & 31;
    float inverse = 1.0f;
    if (norm.present) {
      float squares = 0.0f;
#pragma unroll
      for (int j = 0; j < PAIRS; j++) squares += low[j] * low[j] + high[j] * high[j];
#pragma unroll
      for (int j = 0; j < OTHERS; j++) squares += others[j] * others[j];
      inverse = 1.0f / sqrtf(warp_sum(squares) / float(hd) + norm.eps);
    }
    __syncwarp();  // other lanes put the weights there
#pragma unroll
    for (int j = 0; j < PAIRS; j++) {
      const int i = lane + 32 * j;
      if (i >= t.half) break;
      const float a = low[j] * inverse * slot[i], b = high[j] * inverse * slot[t.half + i];
      put(a * cos[j] - b * sin[j], i, slot, table);
      put(b * cos[j] + a * sin[j], t.half + i, slot, table);
    }
#pragma unroll
    for (int j = 0; j < OTHERS; j++) {
      const int i = 2 * t.half + lane + 32 * j;
      if (i >= hd) break;
      put(others[j] * inverse * slot[i], i, slot, table);
    }
  }

  __device__ __forceinline__ static void put(float v, int i, float *slot, float *table) {
    slot[i] = v;
    if (table != nullptr) table[i] = v;
  }
};
