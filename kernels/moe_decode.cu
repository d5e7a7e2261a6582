// The entry of a mixture of one row: -DFORMAT_CODE of gate and up, -DDOWN_CODE, -DFORMAT_NAME of both.
#include "moe_decode.cuh"

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)

#if FORMAT_CODE <= 2
#define PLANES 0
#define INPUT_NAME _f32
#else
#define PLANES 1
#define INPUT_NAME _q8
#endif

extern "C" __global__ void __launch_bounds__(MOE_THREADS, 1) JOIN(moe_decode_, FORMAT_NAME, INPUT_NAME)(
    MOE_PARAMS, u32 *counters, int x_normed, const float *x_weight, float x_eps, int split_bits, int loads,
    int batches, int plain_at, int hidden_at, int orders_at, int best_at, int partial_at, u32 per_hidden,
    u32 per_words, int normed, NORM_PARAMS) {
  MoeArgs a{MOE_ARGS};
  a.counters = counters, a.x_norm = InputNorm{x_normed, x_weight, x_eps}, a.normed = normed, a.norm = NORM_ARGS(m, width);
  const DecodePlan plan{split_bits, loads,   batches,    plain_at,   hidden_at,
                        orders_at,  best_at, partial_at, per_hidden, per_words};
  moe_decode<FORMAT_CODE, DOWN_CODE, PLANES>(a, plan);
}
