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
  int down_words;    // loads of an output of down, all its experts' rows
  int down_batches;  // in which a warp takes its share of them
  int plain_at;      // bytes before x in f32, in order, which routers of plain rows read; -1: there is none
  int hidden_at;     // before them as products read them
  int orders_at;     // before the router's outputs as whole numbers of their order
  int best_at;       // before the best of them, then which experts these are
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

// Before the wait: the norm's weights begin their way to where each thread will find its own.
__device__ __forceinline__ void copy_norm_weights(const MoeArgs &a, float4 *plain) {
#pragma unroll 1
  for (int f = threadIdx.x; f < a.width / 4; f += MOE_THREADS) {
    if (a.x_norm.weight == nullptr) {
      plain[f] = make_float4(1, 1, 1, 1);
      continue;
    }
    const u32 to = u32(__cvta_generic_to_shared(plain + f));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(a.x_norm.weight + 4 * f) : "memory");
  }
}

// What each warp of the block has left, summed in their order.
__device__ __forceinline__ float sum_of_warps(const float *each) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < MOE_WARPS / 4; i++) {
    const float4 part = reinterpret_cast<const float4 *>(each)[i];
    sum += (part.x + part.y) + (part.z + part.w);
  }
  return sum;
}

// A normed x, but for the factor that all of its values have in common, which takes the whole block to find: its
// quantized values do not depend on it. Returns the thread's share of the squares.
template <int FORMAT, int PLANES>
__device__ __forceinline__ float stage_weighed(const MoeArgs &a, char *to, float4 *plain) {
  const float *x = reinterpret_cast<const float *>(a.x);
  const int fours = a.width / 4, groups = x_groups<FORMAT, PLANES>(a);
  float squares = 0.0f;
#pragma unroll 1
  for (int f0 = 0; f0 < groups; f0 += MOE_THREADS) {  // uniform over the block: the quantizing lanes act together
    const int f = f0 + threadIdx.x;
    float4 v = make_float4(0, 0, 0, 0);
    if (f < fours) {
      v = load_fresh4(x + 4 * f);
      asm volatile("cp.async.wait_all;" ::: "memory");  // a thread's own copies
      const float4 w = plain[f];
      squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
      v = make_float4(v.x * w.x, v.y * w.y, v.z * w.z, v.w * w.w);
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
  __syncwarp();
  return squares;
}

// The factor, where each thread has staged.
template <int FORMAT, int PLANES>
__device__ __forceinline__ void scale_staged(const MoeArgs &a, char *to, float factor) {
  const int groups = x_groups<FORMAT, PLANES>(a);
#pragma unroll 1
  for (int f = threadIdx.x; f < groups; f += MOE_THREADS) {
    if constexpr (PLANES == 0) {
      float4 &v = reinterpret_cast<float4 *>(to)[swizzled<FORMAT>(f)];
      v = make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
    } else if (f % 8 == 0) {
      reinterpret_cast<float *>(to + PLANES * a.width)[f / 8] *= factor;
    }
  }
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
// A four of the hidden values to where products read it, by the whole block: the quantizing lanes act together.
template <int DOWN, int PLANES>
__device__ __forceinline__ void stage_heard(const MoeArgs &a, const DecodePlan &p, const float *weights, const uint4 &w,
                                            int f, int end, char *to) {
  const float weight = weights[min(quotient(4 * f / VALUES<DOWN>, p.per_words), a.top_k)];
  const float4 v = make_float4(heard(w.x), heard(w.y), heard(w.z), heard(w.w));
  if constexpr (PLANES == 0) {
    if (f < end)
      reinterpret_cast<float4 *>(to)[swizzled<DOWN>(f)] =
          make_float4(weight * v.x, weight * v.y, weight * v.z, weight * v.w);
  } else {
    const Quantized out{reinterpret_cast<i8 *>(to), PLANES, 1, p.down_words * VALUES<DOWN>};
    const float four[4] = {v.x, v.y, v.z, v.w};
    store_quantized_at<4>(out, 0, 4 * f, swizzled_pair<DOWN>(f / 4) * 16 + f % 4 * 4, four, f < end);
    if (f < end && f % 8 == 0) out.scales(0)[f / 8] *= weight;
  }
}

constexpr int HEARD = 2;  // fours that a thread waits for together

// All hidden rows, one behind the other, as one row, by the whole block: a value is staged once it is told, weighed as its
// expert is. What is told last is asked for last: rows are told about in their order. No branch lies between a load here
// and its use: the compiler would count it together with the weights that are on their way, and wait for them too.
template <int DOWN, int PLANES>
__device__ __forceinline__ void hear_rows(const MoeArgs &a, const DecodePlan &p, const float *weights, int first, int end,
                                          char *to) {
  const u32 *from = told_hidden(a);
#pragma unroll 1
  for (int f0 = first; f0 < end; f0 += HEARD * MOE_THREADS) {
    uint4 w[HEARD];
    bool waits;
    do {
      waits = false;
#pragma unroll
      for (int j = 0; j < HEARD; j++) w[j] = listen4(from + 4 * min(f0 + j * MOE_THREADS + int(threadIdx.x), end - 1));
#pragma unroll
      for (int j = 0; j < HEARD; j++) waits |= missing(w[j]);
    } while (waits);
    __syncwarp();
#pragma unroll
    for (int j = 0; j < HEARD; j++) {
      if (f0 + j * MOE_THREADS >= end) break;
      stage_heard<DOWN, PLANES>(a, p, weights, w[j], f0 + j * MOE_THREADS + threadIdx.x, end, to);
    }
  }
}
