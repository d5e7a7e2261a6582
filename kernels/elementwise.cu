// Functions of one value or two, quantization, copies between rows, and the step's own advance.
#include "norm.cuh"
#include "sequences.cuh"

// A block takes 4 * blockDim.x columns of row blockIdx.y where everything is aligned, else as many columns as threads,
// four times over: the grid is the same.
constexpr int FOURS = 4;

struct Outputs {
  Rows y;
  QuantizedRows quantized;
};

// Computes V values from column c on with `f` and stores them; every lane of a warp takes part.
template <int V, class F>
__device__ __forceinline__ void store_columns(const Outputs &out, int row, int c, int n, const F &f) {
  float v[V] = {};
  if (c < n) {
    f(c, v);
    if (out.y.base != nullptr) write_values<V>(out.y.at(row) + c, v);
  }
  if (out.quantized.to.planes > 0) store_quantized<V>(out.quantized.to, out.quantized.at(row), c, v, c < n);
}

template <class Four, class One>
__device__ __forceinline__ void each_column(const Outputs &out, bool by_fours, int n, const Four &four,
                                            const One &one) {
  const int row = blockIdx.y, start = blockIdx.x * blockDim.x * FOURS;
  if (by_fours && (out.y.base == nullptr || aligned16(out.y.at(row)))) {
    store_columns<4>(out, row, start + threadIdx.x * 4, n, four);
  } else {
#pragma unroll 1
    for (int i = 0; i < FOURS; i++) store_columns<1>(out, row, start + i * blockDim.x + threadIdx.x, n, one);
  }
}

extern "C" __global__ void __launch_bounds__(256) binary_rows(int op, const float *a, int a_pitch, const float *b,
                                                              int b_pitch, int b_step, int gate, int m, int n, float *y,
                                                              int y_pitch, const int *y_row, i8 *q, int q_planes) {
  let_next_start();
  wait_for_previous();
  const Outputs out{Rows{y, y_pitch, y_row}, QuantizedRows{Quantized{q, q_planes, m, n}, 0, nullptr}};
  const float *left = a + (long long)a_pitch * blockIdx.y, *right = b + (long long)b_pitch * blockIdx.y;
  auto fill = [&](auto &l, auto &r, auto &v) {
#pragma unroll
    for (int i = 0; i < int(sizeof(v) / sizeof(float)); i++) v[i] = combine(op, l[i], activate(gate, r[i]));
  };
  auto four = [&](int c, float(&v)[4]) {
    float l[4], r[4];
    read_values<4>(left + c, l);
    read_values<4>(right + c, r);
    fill(l, r, v);
  };
  auto one = [&](int c, float(&v)[1]) {  // b_step 0: one value a row, repeated
    const float l[1] = {left[c]}, r[1] = {right[(long long)c * b_step]};
    fill(l, r, v);
  };
  each_column(out, b_step == 1 && n % 4 == 0 && aligned16(left) && aligned16(right), n, four, one);
}

struct Unary {
  const float *x;
  int x_pitch;
  int act;
  float factor;
  int n;
};

__device__ __forceinline__ void unary(const Unary &u, const Outputs &out) {
  const float *from = u.x + (long long)u.x_pitch * blockIdx.y;
  auto four = [&](int c, float(&v)[4]) {
    read_values<4>(from + c, v);
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = u.factor * activate(u.act, v[i]);
  };
  auto one = [&](int c, float(&v)[1]) { v[0] = u.factor * activate(u.act, from[c]); };
  each_column(out, u.n % 4 == 0 && aligned16(from), u.n, four, one);
}

extern "C" __global__ void __launch_bounds__(256) unary_rows(const float *x, int x_pitch, int act, float factor, int m,
                                                             int n, float *y, int y_pitch, const int *y_row,
                                                             QUANTIZED_PARAMS) {
  let_next_start();
  wait_for_previous();
  unary(Unary{x, x_pitch, act, factor, n}, Outputs{Rows{y, y_pitch, y_row}, QUANTIZED_ARGS(n)});
}

struct SequenceUnary {
  const float *x;
  float *y;
  const int *y_row;
  i8 *q;
  int q_first;
  const int *q_row;
};

#define UNARY_PARAMS(i) const float *x##i, float *y##i, const int *y_row##i, i8 *q##i, int q_first##i, const int *q_row##i
#define UNARY(i) case i: s = SequenceUnary{x##i, y##i, y_row##i, q##i, q_first##i, q_row##i}; break;

extern "C" __global__ void __launch_bounds__(256)
    unary_sequences(EACH_SEQUENCE(UNARY_PARAMS), int x_pitch, int act, float factor, int m, int n, int y_pitch,
                    int q_planes, int q_rows) {
  let_next_start();
  wait_for_previous();
  SequenceUnary s;
  ONE_OF(blockIdx.z, UNARY)
  unary(Unary{s.x, x_pitch, act, factor, n},
        Outputs{Rows{s.y, y_pitch, s.y_row}, QuantizedRows{Quantized{s.q, q_planes, q_rows, n}, s.q_first, s.q_row}});
}

// ---- copies ---------------------------------------------------------------------------------------------------------
// `units` runs of `width` values, V at a time: as many of a block's share as there are blocks along x.
template <int V>
__device__ __forceinline__ void copy_by(const float *source, int x_unit, float *target, int y_unit, int width, int units) {
  const u32 n = u32(width) * units / V, step = gridDim.x * blockDim.x, whole = width / V;
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    const u32 unit = i / whole, c = (i - unit * whole) * V;
    float v[V];
    read_values<V>(source + (long long)x_unit * unit + c, v);
    write_values<V>(target + (long long)y_unit * unit + c, v);
  }
}

__device__ __forceinline__ void copy_units(const float *source, int x_unit, float *target, int y_unit, int width,
                                           int units) {
  const u64 bits = reinterpret_cast<u64>(source) | reinterpret_cast<u64>(target);
  if ((bits & 15) == 0 && ((width | x_unit | y_unit) & 3) == 0)
    copy_by<4>(source, x_unit, target, y_unit, width, units);
  else
    copy_by<1>(source, x_unit, target, y_unit, width, units);
}

// Either side's first row may be named on the device.
extern "C" __global__ void __launch_bounds__(256) copy_rows(float *x, int x_pitch, const int *x_row, int x_unit,
                                                            float *y, int y_pitch, const int *y_row, int y_unit,
                                                            int width, int units) {
  let_next_start();
  wait_for_previous();
  const Rows from{x, x_pitch, x_row}, to{y, y_pitch, y_row};
  const int row = blockIdx.y;
  copy_units(from.at(row), x_unit, to.at(row), y_unit, width, units);
}

struct SequenceCopy {
  float *x, *y;
  const int *y_row;
};

#define COPY_PARAMS(i) float *x##i, float *y##i, const int *y_row##i
#define COPY(i) case i: s = SequenceCopy{x##i, y##i, y_row##i}; break;

extern "C" __global__ void __launch_bounds__(256)
    copy_sequences(EACH_SEQUENCE(COPY_PARAMS), int x_pitch, const int *x_row, int x_unit, int y_pitch, int y_unit,
                   int width, int units) {
  let_next_start();
  wait_for_previous();
  SequenceCopy s;
  ONE_OF(blockIdx.z, COPY)
  const Rows from{s.x, x_pitch, x_row}, to{s.y, y_pitch, s.y_row};
  copy_units(from.at(blockIdx.y), x_unit, to.at(blockIdx.y), y_unit, width, units);
}

// Head after head, its values of a and then those of b.
extern "C" __global__ void __launch_bounds__(256) join_rows(const float *a, int a_pitch, int a_width, const float *b,
                                                            int b_pitch, int b_width, float *y, int y_pitch,
                                                            const int *y_row, int y_unit, int heads) {
  let_next_start();
  wait_for_previous();
  const int row = blockIdx.y;
  float *target = Rows{y, y_pitch, y_row}.at(row);
  copy_units(a + (long long)a_pitch * row, a_width, target, y_unit, a_width, heads);
  copy_units(b + (long long)b_pitch * row, b_width, target + a_width, y_unit, b_width, heads);
}

extern "C" __global__ void __launch_bounds__(32) advance_index(const int *x, int *y, int by, int n) {
  let_next_start();
  wait_for_previous();
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) y[i] = x[i] + by;
}
