// Entries of the product kernels of one format (-DFORMAT_CODE, -DFORMAT_NAME), for one row of x and for groups of four.
#include "gemv_ring.cuh"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ENTRY(kind, suffix) JOIN(JOIN(kind, FORMAT_NAME), suffix)

#define INPUT_NORM_PARAMS int x_normed, const float *x_weight, float x_eps
#define INPUT_NORM                                                                                                     \
  InputNorm { x_normed, x_weight, x_eps }

#define GEMV_ENTRY(T, BLOCKS, suffix, MORE, CALL)                                                                      \
  extern "C" __global__ void __launch_bounds__(T, BLOCKS) ENTRY(gemv_, suffix)(                                        \
      const void *x, int x_pitch, INPUT_NORM_PARAMS, int k, int m, int pitch, int passes, int parts, PART_PARAMS(0),   \
      PART_PARAMS(1), PART_PARAMS(2), PART_PARAMS(3), i8 *q, int q_planes, const float *residual, int residual_pitch,  \
      int then, float *product, int product_pitch,                                                                     \
      u32 *counters, NORM_PARAMS, const float *cos, const float *sin, const int *position, int hd, int half,           \
      int group_tiles MORE) {                                                                                          \
    const GemvArgs a{x,        x_pitch,      INPUT_NORM, k,      m,                                                    \
                     pitch,    passes,       parts,    {PART_ARGS(0), PART_ARGS(1), PART_ARGS(2), PART_ARGS(3)},       \
                     then,     product,      product_pitch, counters,                                                  \
                     NORM_ARGS(m, n0), cos,  sin,      position,                                                       \
                     hd,       half,         group_tiles, Quantized{q, q_planes, m, n0},                               \
                     residual, residual_pitch, ACT_NONE};                                                              \
    CALL;                                                                                                              \
  }

#define GLU_ENTRY(T, BLOCKS, suffix, MORE, CALL)                                                                       \
  extern "C" __global__ void __launch_bounds__(T, BLOCKS) ENTRY(glu_, suffix)(                                         \
      const void *x, int x_pitch, INPUT_NORM_PARAMS, int k, int m, int pitch, int passes, int n, int tiles,            \
      const char *gate,                                                                                                \
      const char *up, const float *gate_bias, const float *up_bias, int act, float *y, int y_pitch,                    \
      const int *y_row, i8 *q, int q_planes MORE) {                                                                    \
    GemvArgs a{};                                                                                                      \
    a.x = x, a.x_pitch = x_pitch, a.x_norm = INPUT_NORM, a.k = k, a.m = m, a.pitch = pitch, a.passes = passes, a.parts = 1, a.act = act; \
    a.part[0].w = gate, a.part[0].n = n, a.part[0].bias = gate_bias, a.part[0].tiles = tiles;                          \
    a.part[0].y = Rows{y, y_pitch, y_row};                                                                             \
    a.part[1].w = up, a.part[1].n = n, a.part[1].bias = up_bias;                                                       \
    a.quantized = Quantized{q, q_planes, m, n};                                                                        \
    CALL;                                                                                                              \
  }


#define NO_MORE
#define RING_PARAMS , int values, int ring_at

#define GEMV_OF(T, ROLLING, FOLDS, suffix, INPUT, RT, N, STEPS, BLOCKS)                                               \
  GEMV_ENTRY(T, BLOCKS, suffix, NO_MORE, (gemv<FORMAT_CODE, INPUT, RT, STEPS, false, N, ROLLING, FOLDS>(a)))
#define GLU_OF(T, ROLLING, suffix, INPUT, RT, N, STEPS, BLOCKS)                                                       \
  GLU_ENTRY(T, BLOCKS, suffix, NO_MORE, (gemv<FORMAT_CODE, INPUT, RT, STEPS, true, N, ROLLING, false>(a)))
#define GEMV(...) GEMV_OF(THREADS, false, true, __VA_ARGS__)
#define ALONE(...) GEMV_OF(THREADS, false, false, __VA_ARGS__)
#define GLU(...) GLU_OF(THREADS, false, __VA_ARGS__)

// Entries are named by the rows of x that a block takes (r1, r4), and by the stored rows that a warp takes together where
// these are not two of a product or one of each of a gated pair (w4, w2): the schedule decides them. A lane holds eight
// loads, and as many of the next batch: two rows' four (r1l) or four rows' two. Short batches of two rows' two (r1) leave
// room for three blocks on a multiprocessor instead of two, with nothing spilled where nothing follows (r1s); selection
// takes what shares the outputs out evenly. Groups of
// four rows of x need the registers of long batches for their sums. Blocks of 32 values fill a batch with half the loads;
// their products by f32 x, which are bound by decoding, take one row or four in one entry. What follows a product in its
// launch, a norm or heads turned, is in the entries of GEMV alone, not in those of ALONE.
//
// A wide block (r1x) has a multiprocessor for itself, so that x is staged once there. Of quantized x its steps roll: each
// is loaded again as it is summed, so that a lane's registers hold twice the loads while x is normed. Where many tiles
// follow one another, that streams slower than a batch held beside the one that is summed.
//
// On compute_90 one row of x, f32 or of one plane, has entries of wide blocks whose warps stream through rings in shared
// memory (r1b), of the formats of which two chunks a warp fit there. q8_0's products take half of a multiprocessor's
// registers, so that an attention's block may be there too: BLOCKS is 2, though shared memory holds one of them.
#define RINGS(suffix, BLOCKS)                                                                                          \
  GEMV_ENTRY(WIDE_THREADS, BLOCKS, suffix, RING_PARAMS, (gemv_ring<FORMAT_CODE, false, 2>(a, values, ring_at)))        \
  GLU_ENTRY(WIDE_THREADS, 1, suffix, RING_PARAMS, (gemv_ring<FORMAT_CODE, true, 2>(a, values, ring_at)))

#define F32_R4 GEMV(_f32_r4, INPUT_F32, 4, 2, 2, 2) GLU(_f32_r4, INPUT_F32, 4, 2, 2, 2)
#define F32_R1 GEMV(_f32_r1, INPUT_F32, 1, 2, 2, 3) GLU(_f32_r1, INPUT_F32, 1, 2, 2, 3)

#if FORMAT_CODE == 1 || FORMAT_CODE == 2
F32_R1
ALONE(_f32_r1s, INPUT_F32, 1, 2, 2, 3)
ALONE(_f32_r1l, INPUT_F32, 1, 2, 4, 2)
ALONE(_f32_r1w4, INPUT_F32, 1, 4, 2, 2)
GLU(_f32_r1w2, INPUT_F32, 1, 4, 2, 2)
GLU_OF(WIDE_THREADS, false, _f32_r1x, INPUT_F32, 1, 2, 4, 1)
F32_R4
#if __CUDA_ARCH__ >= 900
RINGS(_f32_r1b, 1)
#endif
#elif FORMAT_CODE <= 3
F32_R1
F32_R4
#else
GEMV(_f32_r4, INPUT_F32, 4, 2, 1, 2)
GLU(_f32_r4, INPUT_F32, 4, 2, 1, 2)
#endif

#if FORMAT_CODE == 3
GEMV(_q8_r1, INPUT_Q8, 1, 2, 2, 3)
ALONE(_q8_r1l, INPUT_Q8, 1, 2, 4, 2)
ALONE(_q8_r1s, INPUT_Q8, 1, 2, 2, 3)
ALONE(_q8_r1w4, INPUT_Q8, 1, 4, 2, 2)
GEMV(_q8_r4, INPUT_Q8, 4, 2, 2, 2)
GLU_OF(WIDE_THREADS, true, _q8_r1x, INPUT_Q8, 1, 4, 4, 1)
GLU(_q8_r4, INPUT_Q8, 4, 2, 2, 2)
#if __CUDA_ARCH__ >= 900
RINGS(_q8_r1b, 2)
#endif
#elif FORMAT_CODE > 3
GEMV(_q8_r1, INPUT_Q8, 1, 2, 2, 2)
GEMV_OF(WIDE_THREADS, true, false, _q8_r1x, INPUT_Q8, 1, 2, 4, 1)
GEMV(_q8_r4, INPUT_Q8, 4, 2, 1, 2)
#if FORMAT_CODE == 6 || FORMAT_CODE == 7  // the more planes of q5_k and q6_k leave no registers for four rows
GLU_OF(WIDE_THREADS, true, _q8_r1x, INPUT_Q8, 1, 2, 4, 1)
#else
GLU_OF(WIDE_THREADS, true, _q8_r1x, INPUT_Q8, 1, 4, 2, 1)
#endif
GLU(_q8_r4, INPUT_Q8, 4, 2, 1, 2)
#if __CUDA_ARCH__ >= 900 && FORMAT_CODE != 7
RINGS(_q8_r1b, 1)
#endif
#endif
