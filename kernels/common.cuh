// What every kernel shares: conversions without CUDA headers, cache-hinted loads, reductions, the launch chain.
#pragma once

typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned long long u64;
typedef signed char i8;

constexpr u32 ALL_LANES = 0xffffffffu;
constexpr int QBLOCK = 32;  // values in a block of quantized activations

// ---- the launch chain ------------------------------------------------------------------------------------------
// Under programmatic dependent launch a grid may start before its predecessor ends. Nothing that a predecessor wrote
// is read, and nothing at all is written, before wait_for_previous(); constants may be read sooner. Every thread calls
// it, so that a grid which has ended implies that all before it have. On compute_80 launches follow one another.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// ---- loads -----------------------------------------------------------------------------------------------------
// Weights are read once a step: they pass by the first-level cache. Volatile, so that the loads stay where they are
// written, before the wait.
__device__ __forceinline__ uint4 load_weights(const void *p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}

// Scales share sectors between neighbouring lanes and loads, so the first-level cache keeps them.
__device__ __forceinline__ u16 load_scale(const void *p) {
  u16 v;
  asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(v) : "l"(p));
  return v;
}

// A constant of f32, which may be read before the wait.
__device__ __forceinline__ float load_constant(const float *p) {
  float v;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}

// Values that another block of the same launch may have written: from the second-level cache, which all blocks share.
__device__ __forceinline__ float load_fresh(const float *p) {
  float v;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  return v;
}

__device__ __forceinline__ float4 load_fresh4(const float *p) {
  float4 v;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(p)
               : "memory");
  return v;
}

__device__ __forceinline__ float2 load_fresh2(const float *p) {
  float2 v;
  asm volatile("ld.global.cg.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p) : "memory");
  return v;
}

// Asks for the 128 bytes around p into the second-level cache. It reads nothing.
__device__ __forceinline__ void ask_for(const void *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

__device__ __forceinline__ bool aligned16(const void *p) { return (reinterpret_cast<u64>(p) & 15) == 0; }

// ---- conversions -----------------------------------------------------------------------------------------------
__device__ __forceinline__ float half_to_float(u16 h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}

__device__ __forceinline__ float bf16_to_float(u16 h) { return __uint_as_float(u32(h) << 16); }

// ---- scalar functions ------------------------------------------------------------------------------------------
// Numbered as lowering.functions numbers them.
enum Activation { ACT_NONE, ACT_SILU, ACT_SIGMOID, ACT_GELU, ACT_GELU_TANH, ACT_RELU, ACT_TANH, ACT_EXP, ACT_SQUARE };
enum BinaryOp { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MAX, OP_MIN };

__device__ __forceinline__ float activate(int act, float x) {
  switch (act) {
    case ACT_SILU:
      return x / (1.0f + expf(-x));
    case ACT_SIGMOID:
      return 1.0f / (1.0f + expf(-x));
    case ACT_GELU:
      return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    case ACT_GELU_TANH:
      return 0.5f * x * (1.0f + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
    case ACT_RELU:
      return x > 0.0f ? x : (x != x ? x : 0.0f);
    case ACT_TANH:
      return tanhf(x);
    case ACT_EXP:
      return expf(x);
    case ACT_SQUARE:
      return x * x;
    default:
      return x;
  }
}

__device__ __forceinline__ float combine(int op, float a, float b) {
  switch (op) {
    case OP_ADD:
      return a + b;
    case OP_SUB:
      return a - b;
    case OP_MUL:
      return a * b;
    case OP_DIV:
      return a / b;
    case OP_MAX:  // a NaN on either side is the result, as in numpy
      return (a > b || a != a) ? a : b;
    default:
      return (a < b || a != a) ? a : b;
  }
}

// ---- reductions: the same order at every replay ----------------------------------------------------------------
__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(ALL_LANES, v, d);
  return v;
}

// The sum of every thread's v, in every thread. `scratch` holds 32 floats; all threads of the block take part.
__device__ __forceinline__ float block_sum(float v, float *scratch) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  v = warp_sum(v);
  __syncthreads();  // an earlier use of scratch has been read
  if (lane == 0) scratch[warp] = v;
  __syncthreads();
  return warp_sum(lane < warps ? scratch[lane] : 0.0f);
}

// ---- blocks that meet ------------------------------------------------------------------------------------------
// True in every thread of the block that arrives last of `total` at `counter`; what the others wrote before arriving
// is then visible (through load_fresh). The counter wraps to zero, so that a replay needs no reset.
//
// The barrier orders the block's writes before its first thread's arrival, and that arrival releases them to the device
// and acquires the others': a full fence beside it would cost more than the norm of a row.
__device__ __forceinline__ bool arrives_last(u32 *counter, u32 total) {
  __shared__ u32 last;
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(total - 1) : "memory");
    last = before == total - 1;
  }
  __syncthreads();
  const bool result = last != 0;
  __syncthreads();  // `last` may be written again
  return result;
}

// ---- quantized activations -------------------------------------------------------------------------------------
// One buffer: plane 0 int8[rows][cols], plane 1 likewise where planes == 2, then scales f32[rows][cols / 32].
struct Quantized {
  i8 *base;
  int planes;  // 0: nothing is stored
  int rows;
  int cols;

  __device__ __forceinline__ i8 *plane(int p, int row) const { return base + (u64(p) * rows + row) * cols; }
  __device__ __forceinline__ float *scales(int row) const {
    return reinterpret_cast<float *>(base + u64(planes) * rows * cols) + u64(row) * (cols / QBLOCK);
  }
};

// a / b, rounded as a division is, given inverse = 1 / b rounded: the quotient's error comes from a fused product, and
// one step corrects it (Markstein, 1990). Much shorter than a division where one divisor serves many values.
__device__ __forceinline__ float divide_by(float a, float b, float inverse) {
  const float quotient = a * inverse;
  return fmaf(fmaf(-quotient, b, a), inverse, quotient);
}

constexpr float LEAST_SCALE = 1.17549435e-38f;  // a smaller one has no finite inverse: its block is zeros

__device__ __forceinline__ int quantize_residual(float ratio, int q1) {
  const int q2 = __float2int_rn((ratio - float(q1)) * 254.0f);
  return max(-127, min(127, q2));
}

template <int V>
__device__ __forceinline__ void store_bytes(i8 *to, u32 bytes) {
  if (V == 4)
    *reinterpret_cast<u32 *>(to) = bytes;
  else if (V == 2)
    *reinterpret_cast<u16 *>(to) = u16(bytes);
  else
    *to = i8(bytes);
}

// Stores V (1, 2 or 4) neighbouring values a lane from column c on, at byte `at` of a plane's row; the 32 / V lanes of a
// block act together. All lanes of the warp take part; those with `valid` false store nothing, and validity is uniform
// over a block.
template <int V>
__device__ __forceinline__ void store_quantized_at(const Quantized &out, int row, int c, int at, const float (&v)[V],
                                                   bool valid) {
  float amax = 0.0f;
#pragma unroll
  for (int i = 0; i < V; i++) amax = fmaxf(amax, valid ? fabsf(v[i]) : 0.0f);
#pragma unroll
  for (int d = QBLOCK / V / 2; d > 0; d >>= 1) amax = fmaxf(amax, __shfl_xor_sync(ALL_LANES, amax, d));
  if (!valid) return;
  const float whole = divide_by(amax, 127.0f, 1.0f / 127.0f);
  const float s = whole < LEAST_SCALE ? 0.0f : whole;
  const float inverse = s == 0.0f ? 0.0f : __frcp_rn(s);
  u32 first = 0, second = 0;
#pragma unroll
  for (int i = 0; i < V; i++) {
    const float ratio = divide_by(v[i], s, inverse);
    const int q1 = __float2int_rn(ratio);
    first |= u32(q1 & 0xff) << (8 * i);
    if (out.planes == 2) second |= u32(quantize_residual(ratio, q1) & 0xff) << (8 * i);
  }
  store_bytes<V>(out.plane(0, row) + at, first);
  if (out.planes == 2) store_bytes<V>(out.plane(1, row) + at, second);
  if (c % QBLOCK == 0) out.scales(row)[c / QBLOCK] = s;
}

template <int V>
__device__ __forceinline__ void store_quantized(const Quantized &out, int row, int c, const float (&v)[V], bool valid) {
  store_quantized_at<V>(out, row, c, c, v, valid);
}

// Rows that land among others: from `first` on, or from the row that `row` names on the device.
struct QuantizedRows {
  Quantized to;
  int first;
  const int *row;

  __device__ __forceinline__ int at(int r) const { return r + (row == nullptr ? first : *row); }
};

#define QUANTIZED_PARAMS i8 *q_out, int q_planes, int q_rows, int q_first, const int *q_row
#define QUANTIZED_ARGS(cols) \
  QuantizedRows { Quantized{q_out, q_planes, q_rows, cols}, q_first, q_row }

// ---- destinations ----------------------------------------------------------------------------------------------
// f32 rows; row r lies at base + pitch * (*row + r), or base + pitch * r where row is null.
struct Rows {
  float *base;
  int pitch;
  const int *row;

  __device__ __forceinline__ float *at(int r) const {
    const int first = row == nullptr ? 0 : *row;
    return base + (long long)pitch * (first + r);
  }
};
