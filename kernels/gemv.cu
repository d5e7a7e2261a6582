// Entries of the product kernels of one format (-DFORMAT_CODE, -DFORMAT_NAME), for one row of x and for groups of four.
#include "gemv.cuh"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ENTRY(kind, suffix) JOIN(JOIN(kind, FORMAT_NAME), suffix)

#define INPUT_NORM_PARAMS int x_normed, const float *x_weight, float x_eps
#define INPUT_NORM                                                                                                     \
  InputNorm { x_normed, x_weight, x_eps }

#define GEMV_OF(T, suffix, INPUT, RT, N, STEPS, BLOCKS)                                                                     \
  extern "C" __global__ void __launch_bounds__(T, BLOCKS) ENTRY(gemv_, suffix)(                                  \
      const void *x, int x_pitch, INPUT_NORM_PARAMS, int k, int m, int pitch, int passes, int parts, PART_PARAMS(0),   \
      PART_PARAMS(1), PART_PARAMS(2), PART_PARAMS(3), i8 *q, int q_planes, const float *residual, int residual_pitch,  \
      int then, float *product, int product_pitch,                                                                     \
      u32 *counters, NORM_PARAMS, const float *cos, const float *sin, const int *position, int hd, int half,           \
      int group_tiles) {                                                                                               \
    const GemvArgs a{x,        x_pitch,      INPUT_NORM, k,      m,                                                    \
                     pitch,    passes,       parts,    {PART_ARGS(0), PART_ARGS(1), PART_ARGS(2), PART_ARGS(3)},       \
                     then,     product,      product_pitch, counters,                                                  \
                     NORM_ARGS(m, n0), cos,  sin,      position,                                                       \
                     hd,       half,         group_tiles, Quantized{q, q_planes, m, n0},                               \
                     residual, residual_pitch, ACT_NONE};                                                              \
    gemv<FORMAT_CODE, INPUT, RT, STEPS, false, N>(a);                                                                  \
  }

#define GLU_OF(T, suffix, INPUT, RT, N, STEPS, BLOCKS)                                                                      \
  extern "C" __global__ void __launch_bounds__(T, BLOCKS) ENTRY(glu_, suffix)(                                   \
      const void *x, int x_pitch, INPUT_NORM_PARAMS, int k, int m, int pitch, int passes, int n, int tiles,            \
      const char *gate,                                                                                                \
      const char *up, const float *gate_bias, const float *up_bias, int act, float *y, int y_pitch,                    \
      const int *y_row, i8 *q, int q_planes) {                                                                         \
    GemvArgs a{};                                                                                                      \
    a.x = x, a.x_pitch = x_pitch, a.x_norm = INPUT_NORM, a.k = k, a.m = m, a.pitch = pitch, a.passes = passes, a.parts = 1, a.act = act;      \
    a.part[0].w = gate, a.part[0].n = n, a.part[0].bias = gate_bias, a.part[0].tiles = tiles;                          \
    a.part[0].y = Rows{y, y_pitch, y_row};                                                                             \
    a.part[1].w = up, a.part[1].n = n, a.part[1].bias = up_bias;                                                       \
    a.quantized = Quantized{q, q_planes, m, n};                                                                        \
    gemv<FORMAT_CODE, INPUT, RT, STEPS, true, N>(a);                                                                   \
  }

#define GEMV(...) GEMV_OF(THREADS, __VA_ARGS__)
#define GLU(...) GLU_OF(THREADS, __VA_ARGS__)

// Entries are named by the rows of x that a block takes (r1, r4), and by the stored rows that a warp takes together where
// these are not two of a product or one of each of a gated pair (w1, w4): the schedule decides them. A lane holds eight
// loads, and as many of the next batch: one row's eight, two rows' four or four rows' two. Short batches of two rows' two
// leave room for three blocks on a multiprocessor instead of two; selection takes what shares the outputs out evenly.
// Groups of four rows of x need the registers of long batches for their sums. Blocks of 32 values fill a batch with half
// the loads; their products by f32 x, which are bound by decoding, take one row or four in one entry. A wide block (r1x)
// has a multiprocessor for itself: long batches of a gated pair share outputs out as short ones do, and x is staged once.
#define ENTRIES(suffix, INPUT)                                                                                         \
  GEMV(suffix##_r1, INPUT, 1, 2, 2, 3)                                                                                 \
  GEMV(suffix##_r1l, INPUT, 1, 2, 4, 2)                                                                                \
  GEMV(suffix##_r1w1, INPUT, 1, 1, 4, 3)                                                                               \
  GEMV(suffix##_r1w4, INPUT, 1, 4, 2, 2)                                                                               \
  GEMV(suffix##_r4, INPUT, 4, 2, 2, 2)                                                                                 \
  GLU(suffix##_r1, INPUT, 1, 2, 2, 3)                                                                                  \
  GLU(suffix##_r1w2, INPUT, 1, 4, 2, 2)                                                                                \
  GLU_OF(WIDE_THREADS, suffix##_r1x, INPUT, 1, 2, 4, 1)                                                                \
  GLU(suffix##_r4, INPUT, 4, 2, 2, 2)

#if FORMAT_CODE <= 3
ENTRIES(_f32, INPUT_F32)
#else
GEMV(_f32_r4, INPUT_F32, 4, 2, 1, 2)
GLU(_f32_r4, INPUT_F32, 4, 2, 1, 2)
GEMV(_q8_r1, INPUT_Q8, 1, 2, 2, 2)
GEMV(_q8_r1w1, INPUT_Q8, 1, 1, 4, 2)
GEMV(_q8_r1w4, INPUT_Q8, 1, 4, 1, 2)
GEMV(_q8_r4, INPUT_Q8, 4, 2, 1, 2)
GLU(_q8_r1, INPUT_Q8, 1, 2, 2, 2)
GLU(_q8_r1w2, INPUT_Q8, 1, 4, 1, 2)
GLU(_q8_r4, INPUT_Q8, 4, 2, 1, 2)
#endif
#if FORMAT_CODE == 3
ENTRIES(_q8, INPUT_Q8)
#endif
