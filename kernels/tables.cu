// Rows set into tables of keys or values of f16, to which they are rounded (nearest, ties to even; infinity past it).
#include "common.cuh"
#include "sequences.cuh"

__device__ __forceinline__ u16 half_of(float x) {
  u16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
}

// Row r of x, `width` values, becomes row *y_row + r of y, or row r where y_row is null. A thread takes four values where
// rows begin on four of either side, else one.
__device__ __forceinline__ void set_row(const float *x, int x_pitch, u16 *y, int y_pitch, const int *y_row, int width) {
  const float *from = x + (long long)x_pitch * blockIdx.y;
  u16 *to = y + (long long)y_pitch * ((y_row == nullptr ? 0 : *y_row) + int(blockIdx.y));
  const bool fours = ((width | x_pitch | y_pitch) & 3) == 0 && aligned16(x) && (reinterpret_cast<u64>(y) & 7) == 0;
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (!fours) {
    for (int c = at; c < width; c += gridDim.x * blockDim.x) to[c] = half_of(load_fresh(from + c));
    return;
  }
  for (int c = 4 * at; c < width; c += 4 * gridDim.x * blockDim.x) {
    const float4 v = load_fresh4(from + c);
    *reinterpret_cast<uint2 *>(to + c) = make_uint2(u32(half_of(v.x)) | u32(half_of(v.y)) << 16,
                                                    u32(half_of(v.z)) | u32(half_of(v.w)) << 16);
  }
}

extern "C" __global__ void __launch_bounds__(256) set_rows_f16(const float *x, int x_pitch, u16 *y, int y_pitch,
                                                               const int *y_row, int width) {
  let_next_start();
  wait_for_previous();
  set_row(x, x_pitch, y, y_pitch, y_row, width);
}

struct SequenceRows {
  const float *x;
  u16 *y;
  const int *y_row;
};

#define ROWS_PARAMS(i) const float *x##i, u16 *y##i, const int *y_row##i
#define ROWS(i) case i: s = SequenceRows{x##i, y##i, y_row##i}; break;

extern "C" __global__ void __launch_bounds__(256)
    set_rows_f16_sequences(EACH_SEQUENCE(ROWS_PARAMS), int x_pitch, int y_pitch, int width) {
  let_next_start();
  wait_for_previous();
  SequenceRows s;
  ONE_OF(blockIdx.z, ROWS)
  set_row(s.x, x_pitch, s.y, y_pitch, s.y_row, width);
}
