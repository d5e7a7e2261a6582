// Entries of the tensor-core products of one format (-DFORMAT_CODE, -DFORMAT_NAME), for tiles of 32 and of 64 rows of
// x.
#include "gemm.cuh"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define GEMM(suffix, NT)                                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) JOIN(gemm_, JOIN(FORMAT_NAME, suffix))(                     \
      i8 *x, int planes, int k, int m, int pitch, int stages, int paired, int act, int parts, PART_PARAMS(0),          \
      PART_PARAMS(1), PART_PARAMS(2), PART_PARAMS(3), i8 *q, int q_planes, const float *residual, int residual_pitch,  \
      const float *cos, const float *sin, const int *position, int hd, int half, int tail_from, int tail_split,        \
      float *partials, u32 *counters) {                                                                                \
    const GemmArgs a{Quantized{x, planes, m, k},                                                                       \
                     pitch,                                                                                            \
                     stages,                                                                                           \
                     paired,                                                                                           \
                     act,                                                                                              \
                     parts,                                                                                            \
                     {PART_ARGS(0), PART_ARGS(1), PART_ARGS(2), PART_ARGS(3)},                                         \
                     Quantized{q, q_planes, m, n0},                                                                    \
                     residual,                                                                                         \
                     residual_pitch,                                                                                   \
                     cos,                                                                                              \
                     sin,                                                                                              \
                     position,                                                                                         \
                     hd,                                                                                               \
                     half,                                                                                             \
                     tail_from,                                                                                        \
                     tail_split,                                                                                       \
                     partials,                                                                                         \
                     counters};                                                                                        \
    gemm<FORMAT_CODE, NT>(a);                                                                                          \
  }

GEMM(_r32, 2)
GEMM(_r64, 4)
