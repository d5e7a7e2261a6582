// The steps of a mixture's pass in order, each the products of one matrix (or of a gated pair), and what lies between.
#pragma once
#include "moe_choice.cuh"
#include "moe_sweep.cuh"

enum Step {
  STEP_ROUTER,
  STEP_COLUMN,
  STEP_MEET,
  STEP_SHARED_GATE,
  STEP_SHARED_UP,
  STEP_READ,
  STEP_CHOOSE,
  STEP_GATE,
  STEP_UP,
  STEP_HIDDEN,
  STEP_TILE,
  STEP_DOWN,
  STEP_SHARED_DOWN,
  STEP_STORE
};

struct Walk {
  int step;
  int tile;
  int group;   // the next one whose hidden rows are to be staged
  int row;     // the next row of the shared expert's
  int held;    // the group that the staged hidden rows begin with; -1: others lie there
  int shared_held;
  int form;  // of the rows of x that are staged: 0 where none are
};

__device__ __forceinline__ int row_groups(const Tables &t, int size) { return (t.pass + size - 1) / size; }

// Whether a job has anything for this block; what it reads need not be staged otherwise.
__device__ __forceinline__ bool has_work(const Job &job) { return job.unit0 < job.units; }

template <int INPUT>
__device__ __forceinline__ bool is_quantized(const Matrix &m) {
  return INPUT == INPUT_Q8 && m.format >= FORMAT_Q8_0 && m.format != FORMAT_VALUES;
}

__device__ __forceinline__ Job job_of(const Matrix &m, int kind, int k, int n) {
  Job job{};
  job.kind = kind, job.a = m, job.k = k, job.n = n;
  job.segments = 1, job.legs = 1, job.split = 1;
  job.unit0 = blockIdx.x * MOE_WARPS, job.unit_step = gridDim.x * MOE_WARPS;
  return job;
}

template <int INPUT>
__device__ __forceinline__ void read_x(const MoeArgs &a, const Tables &t, Job &job) {
  job.x = staged_rows(a), job.staging = STAGE_X;
  job.stride = is_quantized<INPUT>(job.a) ? q8_stride(a.width, a.x_pitch) : f32_stride(a.width);
}

// What a job reads, laid as its format reads it, unless it lies there so.
template <int INPUT>
__device__ __forceinline__ void stage(const MoeArgs &a, const Tables &t, Walk &w, const Job &job) {
  if (job.staging == STAGED) return;
  const bool quantized = is_quantized<INPUT>(job.a);
  if (job.staging == STAGE_X) {
    const bool other = job.of_router && !quantized && a.router_x != a.x;
    const int form = 1 + 8 * swizzle_mask(job.a.format, quantized) + 2 * quantized + 4 * other;
    if (w.form == form) return;
    w.form = form;
    stage_x<INPUT>(a, t, quantized, other, job.a.format);
  } else {
    stage_hidden<INPUT>(a, job.hidden, job.count, job.k, job.a.format, job.x);
  }
  // Blocks with mins need them; those without share their form, and so what is staged once.
  if (quantized && job.a.format >= FORMAT_Q4_0)
    stage_sums(job.x, job.staging == STAGE_X ? t.pass : job.count, job.k, a.x_pitch);
}

// A router's products, of all rows of the pass.
template <int INPUT, int RT>
__device__ __forceinline__ Job logits_job(const MoeArgs &a, const Tables &t, const Matrix &m, int n, int segments,
                                          float *out) {
  Job job = job_of(m, LOGITS, a.width, n);
  job.segments = segments, job.out = out, job.of_router = 1;
  job.units = row_groups(t, RT) * segments * (m.format == FORMAT_VALUES ? (n + 31) / 32 : (n + NR - 1) / NR);
  read_x<INPUT>(a, t, job);
  return job;
}

// The router's rows come to the second-level cache while the launch before ends.
template <int INPUT, int RT>
__device__ __forceinline__ void prefetch_router(const MoeArgs &a, const Tables &t) {
  const Job job = logits_job<INPUT, RT>(a, t, a.router, a.experts, a.segments, a.logits);
  const int unit = job.unit0 + (threadIdx.x >> 5);
  if (job.a.format != FORMAT_VALUES && unit < job.units) prefetch_leg<RT>(t, job, unit, 0);
}

// Gate and up: together where they are of one format, else the gate's products and then the up's.
template <int INPUT, int RT>
__device__ __forceinline__ Job hidden_job(const MoeArgs &a, const Tables &t, bool shared, bool of_up) {
  const Matrix gate = pick(shared, a.shared_gate, a.gate), up = pick(shared, a.shared_up, a.up);
  const bool paired = gate.format == up.format;
  const int kind = paired ? PAIR : of_up ? UP : GATE;
  Job job = job_of(pick(of_up, up, gate), kind, a.width, shared ? a.shared_hidden : a.hidden);
  job.second = up.w, job.by_expert = !shared, job.out = shared ? a.shared_h : a.h;
  if (!shared) job.bias_a = of_up ? a.up_bias : a.gate_bias, job.bias_b = a.up_bias;
  job.units = (shared ? row_groups(t, RT) : t.groups) * (paired ? job.n : (job.n + NR - 1) / NR);
  read_x<INPUT>(a, t, job);
  return job;
}

// One tile's down products over the hidden rows [first, last) of groups, which lie from `x` on.
template <int INPUT>
__device__ __forceinline__ Job down_job(const MoeArgs &a, bool shared, int tile, int first_group, int groups, int slot0,
                                        char *x) {
  const int k = shared ? a.shared_hidden : a.hidden;
  Job job = job_of(pick(shared, a.shared_down, a.down), DOWN, k, a.width);
  job.by_expert = !shared, job.first_group = first_group, job.slot0 = slot0;
  job.segments = shared ? a.shared_segments : 1;
  job.unit0 = tile * (MOE_WARPS / a.split), job.unit_step = 1 << 29;
  job.units = (a.width + NR - 1) / NR;
  job.legs = groups * job.segments, job.split = a.split;
  if (!shared) job.bias_a = a.down_bias;
  job.x = x, job.stride = INPUT == INPUT_Q8 ? q8_stride(k, a.x_pitch) : f32_stride(k);
  return job;
}

constexpr int PREFETCHED = 8;  // legs of a warp that come to the second-level cache before the hidden rows are there

template <int INPUT, int RT>
__device__ __forceinline__ void prefetch_down(const MoeArgs &a, const Tables &t) {
  const Job job = down_job<INPUT>(a, false, blockIdx.x, 0, t.groups, 0, staged_rows(a));
  const int warp = threadIdx.x >> 5, unit = job.unit0 + warp / job.split;
  if (unit >= job.units) return;
#pragma unroll 1
  for (int i = 0; i < PREFETCHED; i++) {
    const int leg = warp % job.split + i * job.split;
    if (leg < job.legs) prefetch_leg<RT>(t, job, unit, leg);
  }
}

// The hidden rows of as many groups as there is room for, from w.group on, unless they lie there.
template <int INPUT, int RT>
__device__ __forceinline__ Job stage_down(const MoeArgs &a, const Tables &t, Walk &w) {
  const int stride = INPUT == INPUT_Q8 ? q8_stride(a.hidden, a.x_pitch) : f32_stride(a.hidden);
  const int slots = (a.shared_at < 0 ? a.room : a.shared_at) / stride, first = t.start()[w.group], begin = w.group;
  int last = t.groups;
  if (t.start()[last] - first > slots) {
    last = begin + 1;
    while (t.start()[last + 1] - first <= slots) last++;
  }
  Job job = down_job<INPUT>(a, false, w.tile, begin, last - begin, first, staged_rows(a));
  if (w.held != begin) {
    job.staging = STAGE_HIDDEN, job.hidden = a.h + (long long)first * a.hidden, job.count = t.start()[last] - first;
    w.held = begin;
    if (a.shared_at < 0) w.shared_held = -1;
  }
  w.group = last;
  return job;
}

template <int INPUT, int RT>
__device__ __forceinline__ Job stage_shared_down(const MoeArgs &a, const Tables &t, Walk &w) {
  const int k = a.shared_hidden, stride = INPUT == INPUT_Q8 ? q8_stride(k, a.x_pitch) : f32_stride(k);
  const int slots = (a.shared_at < 0 ? a.room : a.room - a.shared_at) / stride / RT * RT, begin = w.row;
  const int count = min(slots, t.pass - begin);
  char *rows = staged_rows(a) + max(0, a.shared_at);
  Job job = down_job<INPUT>(a, true, w.tile, begin / RT, (count + RT - 1) / RT, begin, rows);
  if (w.shared_held != begin) {
    job.staging = STAGE_HIDDEN, job.hidden = a.shared_h + (long long)begin * k, job.count = count;
    w.shared_held = begin;
    if (a.shared_at < 0) w.held = -1;
  }
  w.row = begin + count;
  return job;
}

// A tile's outputs: each the sum of its warps' shares, in their order.
__device__ __forceinline__ void store_tile(const MoeArgs &a, const Tables &t, int tile) {
  const int units = MOE_WARPS / a.split, outputs = units * NR;
#pragma unroll 1
  for (int i = threadIdx.x; i < outputs * t.pass; i += MOE_THREADS) {
    const int row = i / outputs, within = i % outputs, output = tile * outputs + within;
    if (output >= a.width) continue;
    float v = 0.0f;
#pragma unroll 1
    for (int s = 0; s < a.split; s++)
      v += t.sums()[((within / NR * a.split + s) * a.pass_rows + row) * NR + within % NR];
    if (a.plus != nullptr) v += a.plus[(long long)a.plus_pitch * (t.row0 + row) + output];
    a.y.at(t.row0 + row)[output] = v;
  }
}

// Does what lies before the next products of a pass, and says which they are; false at its end.
template <int INPUT, int RT>
__device__ __forceinline__ bool next_job(const MoeArgs &a, Tables &t, Walk &w, Job &job) {
  const bool shared = a.shared_hidden > 0, apart = a.gate.format != a.up.format;
  const bool shared_apart = a.shared_gate.format != a.shared_up.format;
#pragma unroll 1
  while (true) {
    switch (w.step++) {
      case STEP_ROUTER:
        job = logits_job<INPUT, RT>(a, t, a.router, a.experts, a.segments, a.logits);
        if (!has_work(job)) break;
        return true;
      case STEP_COLUMN:
        if (a.column.w == nullptr) break;
        job = logits_job<INPUT, RT>(a, t, a.column, 1, a.column_segments, a.columns);
        if (!has_work(job)) break;
        return true;
      case STEP_MEET:
        arrive(a, t);
        break;
      case STEP_SHARED_GATE:
        if (!shared) break;
        job = hidden_job<INPUT, RT>(a, t, true, false);
        return true;
      case STEP_SHARED_UP:
        if (!shared || !shared_apart) break;
        job = hidden_job<INPUT, RT>(a, t, true, true);
        return true;
      case STEP_READ:  // no group is known yet: only x is staged
        job = hidden_job<INPUT, RT>(a, t, false, false);
        return true;
      case STEP_CHOOSE:
        wait_for_all(a, t);
        choose_all(a, t);
        group_pairs<RT>(a, t);
        break;
      case STEP_GATE:
        job = hidden_job<INPUT, RT>(a, t, false, false);
        return true;
      case STEP_UP:
        if (!apart) break;
        job = hidden_job<INPUT, RT>(a, t, false, true);
        return true;
      case STEP_HIDDEN:
        prefetch_down<INPUT, RT>(a, t);
        arrive(a, t);
        wait_for_all(a, t);
        w.tile = blockIdx.x, w.held = -1, w.shared_held = -1;
        break;
      case STEP_TILE:
        if (w.tile * (MOE_WARPS / a.split) * NR >= a.width) return false;
        __syncthreads();  // the sums of the last tile have been read
#pragma unroll 1
        for (int i = threadIdx.x; i < MOE_WARPS * NR * a.pass_rows; i += MOE_THREADS) t.sums()[i] = 0.0f;
        __syncthreads();
        w.group = 0, w.row = 0;
        break;
      case STEP_DOWN:
        if (w.group >= t.groups) break;
        job = stage_down<INPUT, RT>(a, t, w);
        w.step = STEP_DOWN;
        return true;
      case STEP_SHARED_DOWN:
        if (!shared || w.row >= t.pass) break;
        job = stage_shared_down<INPUT, RT>(a, t, w);
        w.step = STEP_SHARED_DOWN;
        return true;
      default:
        __syncthreads();
        store_tile(a, t, w.tile);
        w.tile += gridDim.x;
        w.step = STEP_TILE;
    }
  }
}

// The norm of all rows: of one by the block that arrives last; of several by all blocks, once all rows are there.
__device__ __forceinline__ void norm_all(const MoeArgs &a, Tables &t, int first, int step) {
  __shared__ float scratch[32];
#pragma unroll 1
  for (int row = first; row < a.m; row += step) {
    const FreshReader reader{a.y.at(row)};
    norm_row(reader, a.norm, row, a.width, reinterpret_cast<float *>(staged_rows(a)), scratch);
  }
}

// x's one row normed, in shared memory: where everything reads it from then on.
template <int INPUT>
__device__ __forceinline__ void norm_x(MoeArgs &a) {
  __shared__ float scratch[32];
  float *plain = reinterpret_cast<float *>(reinterpret_cast<char *>(dynamic_shared) + a.x_at);
  i8 *quants = reinterpret_cast<i8 *>(plain + a.width);
  const int planes = INPUT == INPUT_Q8 ? a.x_pitch : 0;
  const NormArgs norm{a.x_norm.eps, a.x_norm.weight, nullptr, 0, nullptr, 0, 0, nullptr, 0.0f, Rows{plain, a.width, nullptr},
                      Quantized{quants, planes, 1, a.width}};
  const FreshReader reader{reinterpret_cast<const float *>(a.x)};
  norm_row(reader, norm, 0, a.width, reinterpret_cast<float *>(staged_rows(a)), scratch);
  a.x = planes > 0 ? reinterpret_cast<const void *>(quants) : plain;
  a.router_x = plain;
}

template <int INPUT, int RT>
__device__ __forceinline__ void moe(MoeArgs a) {
  Tables t{a.pass_rows * a.top_k, a.pass_rows, 0, 0, 0, 0};
  t.pass = min(a.pass_rows, a.m);
  let_next_start();
  prefetch_router<INPUT, RT>(a, t);
  wait_for_previous();
  if (RT == 1 && a.x_norm.present) norm_x<INPUT>(a);
#pragma unroll 1
  for (; t.row0 < a.m; t.row0 += a.pass_rows) {
    t.pass = min(a.pass_rows, a.m - t.row0), t.groups = 0;
    Walk walk{};
#pragma unroll 1
    while (true) {
      Job job{};
      if (!next_job<INPUT, RT>(a, t, walk, job)) break;
      __syncthreads();  // the last job has been done, and what it read may be written over
      stage<INPUT>(a, t, walk, job);
      sweep_any<INPUT, RT>(a, t, job);
    }
    if (t.row0 + t.pass < a.m) {  // the next pass writes the hidden rows that other blocks may still be reading
      arrive(a, t);
      wait_for_all(a, t);
    }
  }
  const bool together = a.normed && a.m > 1;
  if (together) {
    arrive(a, t);
    wait_for_all(a, t);
  }
  // Whoever arrives here has waited for the last time.
  const bool last = arrives_last(a.counters + 1, gridDim.x);
  if (last && threadIdx.x == 0) *a.counters = 0;
  if (together || (a.normed && last)) norm_all(a, t, together ? blockIdx.x : 0, together ? gridDim.x : 1);
}
