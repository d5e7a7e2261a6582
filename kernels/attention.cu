// The entries of attention: VALUES is the widest value head they hold, and how its columns lie in a warp. 0 is for
// value heads that 16-byte loads do not fit, -1 for keys whose last values all heads share. TABLES_OF_F16: those over
// such tables.
#include "attention.cuh"
#ifndef TABLES_OF_F16
#include "attention_few.cuh"
#if __CUDA_ARCH__ >= 900
#include "attention_one.cuh"
#endif
#endif
#include "sequences.cuh"

// The step's own keys, and what turns them and the queries; a launch of several sequences turns none.
#define TURN_PARAMS                                                                                                   \
  int turned, const float *k, int k_pitch, int q_normed, const float *q_weight, float q_eps, int k_normed,            \
      const float *k_weight, float k_eps, const float *cos, const float *sin, int half

#define ONE_SEQUENCE_PARAMS                                                                                           \
  const float *q, int q_pitch, int q_unit, const Stored *keys, int key_pitch, const Stored *values, int value_pitch,  \
      int value_unit, const int *position, int early, int m, TURN_PARAMS, int head, const float *q_tail,              \
      int q_tail_pitch, const Stored *tail, int tail_pitch, int heads, int group, int block_heads, int block_rows,     \
      int hd, int vd, int window, const float *sinks, float scale, int splits, int join, float *partials,             \
      u32 *counters, const float *gate, int gate_pitch, int gate_act, float *y, int y_pitch, const int *y_row,        \
      QUANTIZED_PARAMS

#define ONE_SEQUENCE(key_head, value_head)                                                                            \
  const HeadTurns turns{turned, k, k_pitch, HeadNorm{q_normed, q_weight, q_eps},                                      \
                        HeadNorm{k_normed, k_weight, k_eps}, cos, sin, half};                                         \
  const AttentionArgs a{q, q_pitch, q_unit, keys, key_pitch, values, value_pitch, value_unit, position, early, m,     \
                        turns, head, q_tail, q_tail_pitch, tail, tail_pitch, heads, group, block_heads, block_rows,   \
                        key_head, value_head, window, sinks, scale, splits, join, partials, counters, gate,           \
                        gate_pitch, gate_act, Rows{y, y_pitch, y_row}, QUANTIZED_ARGS(heads * value_head),            \
                        int(blockIdx.z), int(gridDim.z)};

#define ATTENTION(name, ...)                                                                                          \
  extern "C" __global__ void __launch_bounds__(Form<__VA_ARGS__>::THREADS, Form<__VA_ARGS__>::BLOCKS_TOGETHER) name(   \
      ONE_SEQUENCE_PARAMS) {                                                                                          \
    ONE_SEQUENCE(hd, vd)                                                                                              \
    attention<Form<__VA_ARGS__>>(a);                                                                                  \
  }

#define ATTENTION_FEW(name, QUERIES, H)                                                                               \
  extern "C" __global__ void __launch_bounds__(Few<QUERIES, H>::THREADS, 2) name(ONE_SEQUENCE_PARAMS) {               \
    ONE_SEQUENCE(H, H)                                                                                                \
    attention_few<Few<QUERIES, H>>(a);                                                                                \
  }

#if __CUDA_ARCH__ >= 900
#define ATTENTION_ONE(name, QUERIES, H)                                                                               \
  extern "C" __global__ void __launch_bounds__(One<QUERIES, H>::THREADS, One<QUERIES, H>::TOGETHER) name(              \
      ONE_SEQUENCE_PARAMS) {                                                                                          \
    ONE_SEQUENCE(H, H)                                                                                                \
    attention_one<One<QUERIES, H>>(a);                                                                                \
  }
#else
#define ATTENTION_ONE(name, QUERIES, H)
#endif

// Several sequences of a batch in one launch: what is each one's own, and where its blocks of rows are in the grid.
struct Sequence {
  const float *q;
  const Stored *keys, *values;
  const int *position;
  const float *gate;
  float *y;
  i8 *quantized;
  int q_first;
};

#define SEQUENCE_PARAMS(i)                                                                                            \
  const float *q##i, const Stored *keys##i, const Stored *values##i, const int *position##i, const float *gate##i,    \
      float *y##i, i8 *qout##i, int q_first##i
#define SEQUENCE(i) case i: s = Sequence{q##i, keys##i, values##i, position##i, gate##i, y##i, qout##i, q_first##i}; break;

#define ATTENTION_SEQUENCES(name, ...)                                                                                \
  extern "C" __global__ void __launch_bounds__(Form<__VA_ARGS__>::THREADS, 1) name(                                   \
      EACH_SEQUENCE(SEQUENCE_PARAMS), int q_pitch, int q_unit, int key_pitch, int value_pitch, int value_unit,        \
      int early, int m, TURN_PARAMS, int head, const float *q_tail, int q_tail_pitch, const Stored *tail,             \
      int tail_pitch,                                                                                                 \
      int heads, int group, int block_heads, int block_rows, int hd, int vd, int window, const float *sinks,          \
      float scale, int splits, int join, float *partials, u32 *counters, int gate_pitch, int gate_act, int y_pitch,   \
      const int *y_row, int q_planes, int q_rows, const int *q_row, int row_blocks) {                                 \
    const int number = blockIdx.z / row_blocks;                                                                       \
    Sequence s;                                                                                                       \
    ONE_OF(number, SEQUENCE)                                                                                          \
    const long long states = (long long)row_blocks * block_rows * heads * splits * (vd + 2);                          \
    const AttentionArgs a{s.q, q_pitch, q_unit, s.keys, key_pitch, s.values, value_pitch, value_unit, s.position,     \
                          early, m, HeadTurns{}, head, q_tail, q_tail_pitch, tail, tail_pitch, heads, group,          \
                          block_heads, block_rows, hd, vd, window, sinks, scale, splits, join,                        \
                          partials + number * states,                                                                 \
                          counters + number * row_blocks * gridDim.x, s.gate, gate_pitch, gate_act,                   \
                          Rows{s.y, y_pitch, y_row},                                                                  \
                          QuantizedRows{Quantized{s.quantized, q_planes, q_rows, heads * vd}, s.q_first, q_row},      \
                          int(blockIdx.z) - number * row_blocks, row_blocks};                                         \
    attention<Form<__VA_ARGS__>>(a);                                                                                  \
  }

// Queries a block, columns a load, loads a lane, warps, positions a team; lowering/selection/attention.py has the same.
#ifdef TABLES_OF_F16
#if VALUES == 64
ATTENTION(attention_64_f16_q4, 4, 2, 1, 8, 2)
ATTENTION(attention_64_f16_q8, 8, 2, 1, 8, 1)
ATTENTION_SEQUENCES(attention_64_f16_sequences, 8, 2, 1, 8, 1)
#elif VALUES == 128
ATTENTION(attention_128_f16_q4, 4, 4, 1, 8, 2)
ATTENTION(attention_128_f16_q8, 8, 4, 1, 8, 1)
ATTENTION_SEQUENCES(attention_128_f16_sequences, 8, 4, 1, 8, 1)
#elif VALUES == 256
ATTENTION(attention_256_f16_q8, 8, 4, 2, 8, 1)
ATTENTION_SEQUENCES(attention_256_f16_sequences, 8, 4, 2, 8, 1)
#else
ATTENTION(attention_512_f16_q4, 4, 4, 4, 8, 1)
ATTENTION_SEQUENCES(attention_512_f16_sequences, 4, 4, 4, 8, 1)
#endif
#elif VALUES == 64
ATTENTION(attention_64_q2, 2, 2, 1, 8, 2)
ATTENTION(attention_64_q4, 4, 2, 1, 8, 2)
ATTENTION(attention_64_q8, 8, 2, 1, 8, 1)
ATTENTION_SEQUENCES(attention_64_sequences, 8, 2, 1, 8, 1)
ATTENTION_FEW(attention_few_64_q2, 2, 64)
ATTENTION_FEW(attention_few_64_q4, 4, 64)
ATTENTION_FEW(attention_few_64_q8, 8, 64)
ATTENTION_ONE(attention_one_64_q2, 2, 64)
ATTENTION_ONE(attention_one_64_q4, 4, 64)
ATTENTION_ONE(attention_one_64_q8, 8, 64)
#elif VALUES == 128
ATTENTION(attention_128_q2, 2, 4, 1, 8, 2)
ATTENTION(attention_128_q4, 4, 4, 1, 8, 2)
ATTENTION(attention_128_q8, 8, 4, 1, 8, 1)
ATTENTION_SEQUENCES(attention_128_sequences, 8, 4, 1, 8, 1)
ATTENTION_FEW(attention_few_128_q2, 2, 128)
ATTENTION_FEW(attention_few_128_q4, 4, 128)
ATTENTION_FEW(attention_few_128_q8, 8, 128)
ATTENTION_ONE(attention_one_128_q2, 2, 128)
ATTENTION_ONE(attention_one_128_q4, 4, 128)
ATTENTION_ONE(attention_one_128_q8, 8, 128)
#elif VALUES == 256
ATTENTION(attention_256_q2, 2, 4, 2, 8, 2)
ATTENTION(attention_256_q4, 4, 4, 2, 8, 2)
ATTENTION(attention_256_q8, 8, 4, 2, 8, 1)
ATTENTION_SEQUENCES(attention_256_sequences, 8, 4, 2, 8, 1)
#elif VALUES == 512
ATTENTION(attention_512_q2, 2, 4, 4, 8, 1)
ATTENTION(attention_512_q4, 4, 4, 4, 8, 1)
ATTENTION_SEQUENCES(attention_512_sequences, 4, 4, 4, 8, 1)
#elif VALUES == 0
ATTENTION(attention_pairs_q2, 2, 2, 4, 8, 1)
ATTENTION_SEQUENCES(attention_pairs_sequences, 2, 2, 4, 8, 1)
#else
ATTENTION(attention_tailed_128, 8, 4, 1, 8, 1, true)
ATTENTION(attention_tailed_256, 8, 4, 2, 8, 1, true)
#endif
