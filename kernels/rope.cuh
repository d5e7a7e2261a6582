// One head turned by one warp, after its own norm where it has one; shared by the rope and product kernels.
#pragma once
#include "common.cuh"

struct HeadNorm {
  int present;
  const float *weight;  // [hd] or null; null where no norm is present
  float eps;
};

constexpr int HELD_PAIRS = 4;  // pairs a lane keeps in registers: all of them where half <= 128

template <bool SHARED>
__device__ __forceinline__ float head_value(const float *p) {
  if constexpr (SHARED)
    return *p;
  else
    return load_fresh(p);
}

// src and dst may be the same head: every value is read by the lane that writes it, after the norm has read them all. A
// head in shared memory has at most 128 values.
template <bool SHARED = false>
__device__ __forceinline__ void turn_head(const float *src, float *dst, const float *cos, const float *sin, int hd,
                                          int half, const HeadNorm &norm) {
  constexpr int HELD = SHARED ? HELD_PAIRS / 2 : HELD_PAIRS;
  const int lane = threadIdx.x & 31;
  float low[HELD], high[HELD], c[HELD], s[HELD];
#pragma unroll
  for (int j = 0; j < HELD; j++) {  // everything that is read of them, at once
    const int i = lane + 32 * j;
    low[j] = i < half ? head_value<SHARED>(src + i) : 0.0f;
    high[j] = i < half ? head_value<SHARED>(src + half + i) : 0.0f;
    c[j] = i < half ? load_constant(cos + i) : 0.0f;
    s[j] = i < half ? load_constant(sin + i) : 0.0f;
  }
  float inverse = 1.0f;
  if (norm.present) {
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < HELD; j++) squares += low[j] * low[j] + high[j] * high[j];
#pragma unroll 1
    for (int i = lane + 32 * HELD; i < half; i += 32) {
      const float a = head_value<SHARED>(src + i), b = head_value<SHARED>(src + half + i);
      squares += a * a + b * b;
    }
#pragma unroll 1
    for (int i = 2 * half + lane; i < hd; i += 32) {
      const float a = head_value<SHARED>(src + i);
      squares += a * a;
    }
    inverse = 1.0f / sqrtf(warp_sum(squares) / float(hd) + norm.eps);
  }
  auto turn = [&](int i, float a, float b, float c, float s) {
    a *= inverse, b *= inverse;  // by 1 where there is no norm
    if (norm.weight != nullptr) a *= norm.weight[i], b *= norm.weight[half + i];
    dst[i] = a * c - b * s;
    dst[half + i] = b * c + a * s;
  };
#pragma unroll
  for (int j = 0; j < HELD; j++) {
    const int i = lane + 32 * j;
    if (i < half) turn(i, low[j], high[j], c[j], s[j]);
  }
#pragma unroll 1
  for (int i = lane + 32 * HELD; i < half; i += 32)
    turn(i, head_value<SHARED>(src + i), head_value<SHARED>(src + half + i), load_constant(cos + i),
         load_constant(sin + i));
#pragma unroll 1
  for (int i = 2 * half + lane; i < hd; i += 32) {
    const float a = head_value<SHARED>(src + i) * inverse;
    dst[i] = norm.weight == nullptr ? a : a * norm.weight[i];
  }
}
