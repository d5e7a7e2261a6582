// What a mixture of one row holds in shared memory: x as its products read it, and the hidden rows as they come.
//
// Code here is kept short, its loops closed: a launch runs most of it once, and a multiprocessor waits for instructions
// that it has not run lately as for any other memory.
#pragma once
#include "moe_choice.cuh"
#include "moe_stage.cuh"
#include "moe_told.cuh"

// How a mixture of one row is laid out; selection/moe_decode.py works it out.
struct DecodePlan {
  int split_bits;    // 2^bits warps share an output of down
  int router_bits;   // likewise a row of the router
  int down_words;    // loads of an output of down, all its experts' rows
  int down_batches;  // in which a warp takes its share of them
  int plain_at;      // bytes before x in f32, in order, which routers of plain rows read; -1: there is none
  int raw_at;        // before the hidden rows as they are told
  int hidden_at;     // before them as products read them
  int orders_at;     // before the router's outputs as whole numbers of their order
  int partial_at;    // before what warps add to a router's output
  u32 per_hidden;    // reciprocals, of 2^32, rounded up: of an expert's outputs, and of a row's loads
  u32 per_words;
};

// n / d by a reciprocal; 0 is that of 1. Exact where n * d < 2^32.
__device__ __forceinline__ int quotient(int n, u32 reciprocal) {
  return reciprocal == 0 ? n : int(__umulhi(u32(n), reciprocal));
}

template <int PLANES>
constexpr int INPUT_OF = PLANES == 0 ? INPUT_F32 : INPUT_Q8;

// What blocks tell each other, behind the counts of arrivals: hidden values, each row filled up to whole loads of a stored
// row; then the router's outputs.
__device__ __forceinline__ u32 *told_hidden(const MoeArgs &a) { return a.counters + 4; }

template <int DOWN>
__device__ __forceinline__ u32 *told_orders(const MoeArgs &a, const DecodePlan &p) {
  return told_hidden(a) + p.down_words * VALUES<DOWN>;
}

__device__ __forceinline__ int router_rows(const MoeArgs &a) { return a.experts + (a.column.w != nullptr); }

// ---- x --------------------------------------------------------------------------------------------------------------
template <int FORMAT, int PLANES>
__device__ __forceinline__ int x_groups(const MoeArgs &a) {  // float4 of a row, as whole loads of weights
  return PLANES > 0 ? a.width / 4 : a.gate.words * (VALUES<FORMAT> / 4);
}

// Before the wait: the norm's weights, where each thread will find its own.
__device__ __forceinline__ void stage_norm_weights(const MoeArgs &a, float4 *plain) {
#pragma unroll 1
  for (int f = threadIdx.x; f < a.width / 4; f += MOE_THREADS)
    plain[f] = a.x_norm.weight == nullptr ? make_float4(1, 1, 1, 1) : load_constant4(a.x_norm.weight + 4 * f);
}

template <int FORMAT, int PLANES>
__device__ __forceinline__ void stage_normed(const MoeArgs &a, char *to, float4 *plain,
                                             float *scratch) {
  const float *x = reinterpret_cast<const float *>(a.x);
  const int fours = a.width / 4, groups = x_groups<FORMAT, PLANES>(a);
  float squares = 0.0f;
#pragma unroll 1
  for (int f = threadIdx.x; f < fours; f += MOE_THREADS) {
    const float4 v = load_fresh4(x + 4 * f), w = plain[f];
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    plain[f] = make_float4(v.x * w.x, v.y * w.y, v.z * w.z, v.w * w.w);
  }
  const float inverse = inverse_rms(squares, a.width, a.x_norm.eps, scratch);
#pragma unroll 1
  for (int f0 = 0; f0 < groups; f0 += MOE_THREADS) {  // uniform over the block: the quantizing lanes act together
    const int f = f0 + threadIdx.x;
    float4 v = make_float4(0, 0, 0, 0);
    if (f < fours) {
      v = plain[f];
      v = make_float4(v.x * inverse, v.y * inverse, v.z * inverse, v.w * inverse);
      plain[f] = v;
    }
    if constexpr (PLANES == 0) {
      if (f < groups) reinterpret_cast<float4 *>(to)[swizzled<FORMAT>(f)] = v;
    } else {
      const Quantized q{reinterpret_cast<i8 *>(to), PLANES, 1, a.width};
      const float four[4] = {v.x, v.y, v.z, v.w};
      store_quantized_at<4>(q, 0, 4 * f, swizzled_pair<FORMAT>(f / 4) * 16 + f % 4 * 4, four, f < fours);
    }
  }
  // Loads of a plain router go past the row's end.
  const int f = fours + threadIdx.x;
  if (f < f32_stride(a.width) / 16) plain[f] = make_float4(0, 0, 0, 0);
}

// x as the experts' products read it, and beside it in f32 where there is a place for that.
template <int FORMAT, int PLANES>
__device__ __forceinline__ void stage_row(const MoeArgs &a, char *to, float4 *plain) {
  if constexpr (PLANES > 0) {
    const Quantized x{reinterpret_cast<i8 *>(const_cast<void *>(a.x)), PLANES, 1, a.width};
    stage_q8_row(x, 0, IN_BLOCKS<FORMAT>, to);
  } else {
    stage_f32_row<FORMAT>(reinterpret_cast<const float *>(a.x), a.width, x_groups<FORMAT, PLANES>(a),
                          reinterpret_cast<float4 *>(to));
  }
  if (plain != nullptr) stage_f32_row<FORMAT_F32>(a.router_x, a.width, f32_stride(a.width) / 16, plain);
}

// ---- hidden rows ----------------------------------------------------------------------------------------------------
constexpr int HEARD = 3;  // loads of a thread that wait together

// All hidden rows, one behind the other, as one row: once they are told, by the whole block.
template <int DOWN, int PLANES>
__device__ __forceinline__ void hear_rows(const MoeArgs &a, const DecodePlan &p, float4 *raw, char *to) {
  const int values = p.down_words * VALUES<DOWN>, fours = values / 4;
  const u32 *from = told_hidden(a);
#pragma unroll 1
  for (int f0 = threadIdx.x; f0 < fours; f0 += HEARD * MOE_THREADS) {
    uint4 w[HEARD];
#pragma unroll
    for (int j = 0; j < HEARD; j++)
      if (f0 + j * MOE_THREADS < fours) w[j] = listen4(from + 4 * (f0 + j * MOE_THREADS));
#pragma unroll
    for (int j = 0; j < HEARD; j++) {
      if (f0 + j * MOE_THREADS >= fours || !missing(w[j])) continue;
      do {
        w[j] = listen4(from + 4 * (f0 + j * MOE_THREADS));
      } while (missing(w[j]));
    }
#pragma unroll
    for (int j = 0; j < HEARD; j++) {
      const int f = f0 + j * MOE_THREADS;
      const float4 v = make_float4(heard(w[j].x), heard(w[j].y), heard(w[j].z), heard(w[j].w));
      if (f < fours) raw[PLANES == 0 ? swizzled<DOWN>(f) : f] = v;
    }
  }
  if constexpr (PLANES > 0) {  // each thread what it has heard
    const Quantized out{reinterpret_cast<i8 *>(to), PLANES, 1, values};
    __syncwarp();
#pragma unroll 1
    for (int f0 = 0; f0 < fours; f0 += MOE_THREADS) {  // uniform over the block: the quantizing lanes act together
      const int f = f0 + threadIdx.x;
      const float4 v = f < fours ? raw[f] : make_float4(0, 0, 0, 0);
      const float four[4] = {v.x, v.y, v.z, v.w};
      store_quantized_at<4>(out, 0, 4 * f, swizzled_pair<DOWN>(f / 4) * 16 + f % 4 * 4, four, f < fours);
    }
  }
}
