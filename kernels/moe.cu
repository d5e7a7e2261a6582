// Entries of a mixture of experts: -DINPUT_CODE (0 f32 x, 1 quantized), -DROWS (of x that share a stored row).
#include "moe.cuh"

#define JOIN_(a, b, c, d) a##b##c##d
#define JOIN(a, b, c, d) JOIN_(a, b, c, d)

extern "C" __global__ void __launch_bounds__(MOE_THREADS, 1) JOIN(moe_, INPUT_NAME, _r, ROWS)(
    MOE_PARAMS, float *logits, float *columns, float *h, float *shared_h, u32 *counters, int pass_rows, int choosers,
    int segments, int column_segments, int split, int shared_segments, int rows_at, int room, int shared_at,
    int x_normed, const float *x_weight, float x_eps, int x_at, int normed, NORM_PARAMS) {
  const MoeArgs a{MOE_ARGS,
                  logits,
                  columns,
                  h,
                  shared_h,
                  counters,
                  pass_rows,
                  choosers,
                  segments,
                  column_segments,
                  split,
                  shared_segments,
                  rows_at,
                  room,
                  shared_at,
                  InputNorm{x_normed, x_weight, x_eps},
                  x_at,
                  normed,
                  NORM_ARGS(m, width)};
  moe<INPUT_CODE, ROWS>(a);
}
