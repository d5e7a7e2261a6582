// Rows in shared memory, each by itself: f32 values, or planes, scales and the sums of blocks. A row is laid out as the
// sums of gemv_sums.cuh read one row of x.
#pragma once
#include "moe_args.cuh"

// How the products of a format read x: f32 by 16 bytes swizzled under a mask, quantized by pairs of 16 bytes or not.
__device__ __forceinline__ int swizzle_mask(int format, bool quantized) {
  if (quantized) return format >= FORMAT_Q4_0;
  if (format == FORMAT_F32 || format == FORMAT_VALUES) return 0;
  return format <= FORMAT_BF16 ? 1 : format == FORMAT_Q8_0 ? 3 : 7;
}

__device__ __forceinline__ int f32_stride(int k) { return (k + 31) / 32 * 128; }
__device__ __forceinline__ int q8_stride(int k, int planes) { return (planes * k + k / QBLOCK * 8 + 15) & ~15; }

// One f32 row by the whole block, zeros behind its k values.
template <bool FRESH>
__device__ __forceinline__ void stage_floats(const float *x, int k, int mask, char *to) {
  float4 *fours = reinterpret_cast<float4 *>(to);
  const int count = f32_stride(k) / 16;
  if (aligned16(x) && k % 4 == 0) {
#pragma unroll 4
    for (int f = threadIdx.x; f < count; f += MOE_THREADS) {
      float4 v = make_float4(0, 0, 0, 0);
      if (4 * f < k) v = FRESH ? load_fresh4(x + 4 * f) : *reinterpret_cast<const float4 *>(x + 4 * f);
      fours[f ^ ((f >> 3) & mask)] = v;
    }
  } else {
#pragma unroll 1
    for (int c = threadIdx.x; c < 4 * count; c += MOE_THREADS) {
      const int f = c / 4;
      const float v = c >= k ? 0.0f : FRESH ? load_fresh(x + c) : x[c];
      reinterpret_cast<float *>(to)[4 * (f ^ ((f >> 3) & mask)) + c % 4] = v;
    }
  }
}

__device__ __forceinline__ void stage_q8_row(const Quantized &x, int row, int mask, char *to) {
#pragma unroll 1
  for (int p = 0; p < x.planes; p++) {
    const uint4 *from = reinterpret_cast<const uint4 *>(x.plane(p, row));
    uint4 *pieces = reinterpret_cast<uint4 *>(to + p * x.cols);
#pragma unroll 4
    for (int i = threadIdx.x; i < x.cols / 16; i += MOE_THREADS) pieces[i ^ ((i >> 3) & mask)] = from[i];
  }
  float *scales = reinterpret_cast<float *>(to + x.planes * x.cols);
#pragma unroll 2
  for (int i = threadIdx.x; i < x.cols / QBLOCK; i += MOE_THREADS) scales[i] = x.scales(row)[i];
}

// What the blocks of quantized rows in shared memory sum to, which weights with mins are multiplied by.
__device__ __forceinline__ void stage_sums(char *rows, int count, int k, int planes) {
  const int blocks = k / QBLOCK, stride = q8_stride(k, planes);
#pragma unroll 1
  for (int i = threadIdx.x; i < count * blocks; i += MOE_THREADS) {
    char *row = rows + i / blocks * stride;
    const int block = i % blocks;
    float *scales = reinterpret_cast<float *>(row + planes * k);
    const i8 *quants = reinterpret_cast<const i8 *>(row) + block * QBLOCK;
    float sum = float(sum32(quants));
    if (planes == 2) sum += float(sum32(quants + k)) * (1.0f / 254.0f);
    scales[blocks + block] = scales[block] * sum;
  }
  __syncthreads();
}

constexpr int FOURS_HELD = 4;  // loads that a thread has in flight

// `count` hidden rows, one after another in memory, quantized as they come: 8 lanes a block of 32 values.
__device__ __forceinline__ void quantize_hidden(const float *h, int count, int k, int planes, int mask, char *to) {
  const int fours = k / 4, total = count * fours, stride = q8_stride(k, planes);
#pragma unroll 1
  for (int i0 = 0; i0 < total; i0 += FOURS_HELD * MOE_THREADS) {  // uniform over the block: a block's lanes act together
    float v[FOURS_HELD][4];
#pragma unroll
    for (int j = 0; j < FOURS_HELD; j++)
      read_fresh<4>(h + 4LL * min(i0 + j * MOE_THREADS + int(threadIdx.x), total - 1), v[j]);
#pragma unroll
    for (int j = 0; j < FOURS_HELD; j++) {
      const int i = i0 + j * MOE_THREADS + threadIdx.x;
      if (i0 + j * MOE_THREADS >= total) break;
      const int row = i / fours, c = i % fours * 4, piece = c / 16;
      const Quantized out{reinterpret_cast<i8 *>(to + (i < total ? row * stride : 0)), planes, 1, k};
      store_quantized_at<4>(out, 0, c, 16 * (piece ^ ((piece >> 3) & mask)) + c % 16, v[j], i < total);
    }
  }
}

// The pass's rows of x, quantized or f32 (the router's where `of_router`), as products of `format` read them.
template <int INPUT>
__device__ __forceinline__ void stage_x(const MoeArgs &a, const Tables &t, bool quantized, bool of_router, int format) {
  const int mask = swizzle_mask(format, quantized);
  if (INPUT == INPUT_Q8 && quantized) {
    const Quantized x{reinterpret_cast<i8 *>(const_cast<void *>(a.x)), a.x_pitch, a.m, a.width};
#pragma unroll 1
    for (int r = 0; r < t.pass; r++)
      stage_q8_row(x, t.row0 + r, mask, staged_rows(a) + r * q8_stride(a.width, a.x_pitch));
  } else {
    const float *x = of_router ? a.router_x : reinterpret_cast<const float *>(a.x);
    const int pitch = of_router ? a.router_x_pitch : a.x_pitch;
#pragma unroll 1
    for (int r = 0; r < t.pass; r++)
      stage_floats<false>(x + (long long)pitch * (t.row0 + r), a.width, mask, staged_rows(a) + r * f32_stride(a.width));
  }
  __syncthreads();
}

// `count` hidden rows from h on, as products of `format` read them.
template <int INPUT>
__device__ __forceinline__ void stage_hidden(const MoeArgs &a, const float *h, int count, int k, int format, char *to) {
  const int mask = swizzle_mask(format, INPUT == INPUT_Q8);
  if constexpr (INPUT == INPUT_Q8) {
    quantize_hidden(h, count, k, a.x_pitch, mask, to);
  } else {
#pragma unroll 1
    for (int r = 0; r < count; r++) stage_floats<true>(h + (long long)k * r, k, mask, to + r * f32_stride(k));
  }
  __syncthreads();
}
