// Entries of a mixture of experts: -DINPUT_CODE (0 f32 x, 1 quantized), -DROWS (of x that share a stored row).
#include "moe.cuh"

#define JOIN_(a, b, c, d) a##b##c##d
#define JOIN(a, b, c, d) JOIN_(a, b, c, d)

#define MATRIX_PARAMS(name) const char *name##_w, int name##_format, int name##_pitch, int name##_words, int name##_rows
#define MATRIX_ARGS(name) \
  Matrix { name##_w, name##_format, name##_pitch, name##_words, name##_rows }

extern "C" __global__ void __launch_bounds__(MOE_THREADS, 1) JOIN(moe_, INPUT_NAME, _r, ROWS)(
    const void *x, int x_pitch, const float *router_x, int router_x_pitch, int width, int m, int experts, int top_k,
    int renormalize, int hidden, int act, float limit, MATRIX_PARAMS(router), MATRIX_PARAMS(column), MATRIX_PARAMS(gate),
    MATRIX_PARAMS(up), MATRIX_PARAMS(down), const float *router_bias, const float *gate_bias, const float *up_bias,
    const float *down_bias, int shared_hidden, MATRIX_PARAMS(shared_gate), MATRIX_PARAMS(shared_up),
    MATRIX_PARAMS(shared_down), float *y, int y_pitch, const int *y_row, const float *plus, int plus_pitch, float *logits,
    float *columns, float *h, float *shared_h, u32 *counters, int pass_rows, int choosers, int segments,
    int column_segments, int split, int shared_segments, int rows_at, int room, int shared_at, int normed, NORM_PARAMS) {
  const MoeArgs a{x,
                  x_pitch,
                  router_x,
                  router_x_pitch,
                  width,
                  m,
                  experts,
                  top_k,
                  renormalize,
                  hidden,
                  act,
                  limit,
                  MATRIX_ARGS(router),
                  MATRIX_ARGS(column),
                  MATRIX_ARGS(gate),
                  MATRIX_ARGS(up),
                  MATRIX_ARGS(down),
                  router_bias,
                  gate_bias,
                  up_bias,
                  down_bias,
                  shared_hidden,
                  MATRIX_ARGS(shared_gate),
                  MATRIX_ARGS(shared_up),
                  MATRIX_ARGS(shared_down),
                  Rows{y, y_pitch, y_row},
                  plus,
                  plus_pitch,
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
                  normed,
                  NORM_ARGS(m, width)};
  moe<INPUT_CODE, ROWS>(a);
}
