// How attention's blocks join what their warps and splits have, and store it (attention.cuh).
#pragma once
#include "attention_unit.cuh"

// ---- what is stored -------------------------------------------------------------------------------------------------
// Where result number i of a block's rows of `heads` heads from head0 on lies: its row of the step, its head and the
// column in it. Divisions by sizes that only the launch knows take long: the place of a thread's first results is found
// while its keys are on their way.
struct Place {
  int row, head, column;
  bool there;

  Place() = default;

  __device__ __forceinline__ Place(const AttentionArgs &a, const Range &r, int head0, int heads, int i) {
    const int width = heads * a.vd, line = min(i / width, a.block_rows - 1);
    const int within = min(i - line * width, width - COLUMNS), h = within / a.vd;
    row = r.row0 + line, head = head0 + h, column = within - h * a.vd;
    there = i < a.block_rows * width && row < a.m;
  }
};

// Some columns of one query, while they are joined: the sums of their values, weighted as their maximum asks, and that
// of the weights.
struct Columns {
  float peak, sum, values[COLUMNS];
};

// What columns take in last. It is loaded before they are joined, so that nothing waits for it.
struct Last {
  float sink, gates[COLUMNS];

  __device__ __forceinline__ Last(const AttentionArgs &a, const Place &at, bool wanted) : sink(LOWEST) {
    if (wanted && at.there && a.sinks != nullptr) sink = a.sinks[at.head] * LOG2E;
    const float *gate = a.gate + (long long)a.gate_pitch * at.row + at.head * a.vd + at.column;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) gates[i] = wanted && at.there && a.gate != nullptr ? gate[i] : 0.0f;
  }
};

// Stores results. All lanes of the warp take part.
__device__ __forceinline__ void store(const AttentionArgs &a, const Columns &c, const Last &last, const Place &at) {
  const float peak = fmaxf(c.peak, last.sink), share = power_of_two(c.peak - peak);
  const float sum = c.sum * share + (a.sinks != nullptr ? power_of_two(last.sink - peak) : 0.0f);
  const int column = at.head * a.vd + at.column;
  float v[COLUMNS];
#pragma unroll
  for (int i = 0; i < COLUMNS; i++) {
    v[i] = sum > 0.0f ? c.values[i] * share / sum : 0.0f;
    if (a.gate != nullptr) v[i] *= activate(a.gate_act, last.gates[i]);
    if (at.there && a.y.base != nullptr) a.y.at(at.row)[column + i] = v[i];
  }
  if (a.quantized.to.planes > 0)
    store_quantized<COLUMNS>(a.quantized.to, at.there ? a.quantized.at(at.row) : 0, column, v, at.there);
}

// Splits' states in partials: the values of every row, head and split, then (maximum, sum) of each.
__device__ __forceinline__ long long partial_of(const AttentionArgs &a, int row, int head) {
  return ((long long)row * a.heads + head) * a.splits;
}

__device__ __forceinline__ float *states_of(const AttentionArgs &a) {
  return a.partials + (long long)a.row_blocks * a.block_rows * a.heads * a.splits * a.vd;
}

// Joins the warps' states: a thread takes COLUMNS at a time, and stores them, or their split's part of them.
template <class F>
__device__ __forceinline__ void join_warps(const AttentionArgs &a, const State<F> &s, const Scorer<F> &me,
                                           const Range &r, Place at, int split, int busy, bool alone, float *shared) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, head0 = blockIdx.x * a.block_heads;
  float *peaks = shared, *sums = shared + F::QUERIES * F::WARPS, *held = shared + 2 * F::QUERIES * F::WARPS;
  if (me.first_same && me.at == 0) {
    peaks[me.query * F::WARPS + warp] = s.peak;
    sums[me.query * F::WARPS + warp] = s.sum;
  }
  if (warp < busy) {
#pragma unroll
    for (int g = 0; g < F::QUERIES; g++)
#pragma unroll
      for (int c = 0; c < F::PARTS; c++) {
        const int column = F::VECTOR * (lane + 32 * c);
        float *to = held + (warp * F::QUERIES + g) * a.vd + column;
        if (column >= a.vd) continue;
        if constexpr (F::VECTOR == 4)
          *reinterpret_cast<float4 *>(to) =
              make_float4(s.held[g][c][0], s.held[g][c][1], s.held[g][c][2], s.held[g][c][3]);
        else
          *reinterpret_cast<float2 *>(to) = make_float2(s.held[g][c][0], s.held[g][c][1]);
      }
  }
  __syncthreads();
  const int columns = a.block_heads * a.block_rows * a.vd;
#pragma unroll 1
  for (int i0 = 0; i0 < columns; i0 += COLUMNS * F::THREADS) {  // uniform: the quantizing lanes act together
    const int i = i0 + COLUMNS * threadIdx.x;
    if (i0 > 0) at = Place(a, r, head0, a.block_heads, i);
    const int g = (at.row - r.row0) * a.block_heads + at.head - head0;
    const Last last(a, at, alone);
    Columns joined{LOWEST, 0.0f};
#pragma unroll
    for (int w = 0; w < F::WARPS; w++) joined.peak = fmaxf(joined.peak, peaks[g * F::WARPS + w]);
#pragma unroll
    for (int w = 0; w < F::WARPS; w++) {
      const float share = power_of_two(peaks[g * F::WARPS + w] - joined.peak);
      joined.sum = fmaf(sums[g * F::WARPS + w], share, joined.sum);
      if (w < busy && i < columns) {
        const float2 v = *reinterpret_cast<const float2 *>(held + w * F::QUERIES * a.vd + i);
        joined.values[0] = fmaf(v.x, share, joined.values[0]);
        joined.values[1] = fmaf(v.y, share, joined.values[1]);
      }
    }
    if (alone) {
      store(a, joined, last, at);
    } else if (at.there) {
      const long long partial = partial_of(a, at.row, at.head) + split;
      *reinterpret_cast<float2 *>(a.partials + partial * a.vd + at.column) =
          make_float2(joined.values[0], joined.values[1]);
      if (at.column == 0)
        *reinterpret_cast<float2 *>(states_of(a) + 2 * partial) = make_float2(joined.peak, joined.sum);
    }
  }
}

// Adds up to SPLITS_HELD splits, from s0 on, to columns.
__device__ __forceinline__ void add_splits(const AttentionArgs &a, Columns &joined, long long first, int column, int s0,
                                           int active) {
  const float *states = states_of(a) + 2 * first;
  float2 state[SPLITS_HELD], value[SPLITS_HELD];
#pragma unroll
  for (int j = 0; j < SPLITS_HELD; j++) {
    const int s = s0 + j;
    state[j] = s < active ? load_fresh2(states + 2 * s) : make_float2(LOWEST, 0.0f);
    value[j] = s < active ? load_fresh2(a.partials + (first + s) * a.vd + column) : make_float2(0.0f, 0.0f);
  }
  float peak = joined.peak;
#pragma unroll
  for (int j = 0; j < SPLITS_HELD; j++) peak = fmaxf(peak, state[j].x);
  const float kept = power_of_two(joined.peak - peak);
  joined = Columns{peak, joined.sum * kept, {joined.values[0] * kept, joined.values[1] * kept}};
#pragma unroll
  for (int j = 0; j < SPLITS_HELD; j++) {
    const float share = power_of_two(state[j].x - peak);
    joined.sum = fmaf(state[j].y, share, joined.sum);
    joined.values[0] = fmaf(value[j].x, share, joined.values[0]);
    joined.values[1] = fmaf(value[j].y, share, joined.values[1]);
  }
}

// Joins the splits of the block's rows and of `heads` heads from head0 on, and stores them.
template <class F>
__device__ __forceinline__ void join_splits(const AttentionArgs &a, const Range &r, Place at, int head0, int heads) {
  const int columns = a.block_rows * heads * a.vd;
#pragma unroll 1
  for (int i0 = 0; i0 < columns; i0 += COLUMNS * F::THREADS) {
    if (i0 > 0 || heads > a.block_heads) at = Place(a, r, head0, heads, i0 + COLUMNS * threadIdx.x);
    const Last last(a, at, true);
    Columns joined{LOWEST, 0.0f};
#pragma unroll 1
    for (int s0 = 0; s0 < r.active; s0 += SPLITS_HELD)
      add_splits(a, joined, partial_of(a, min(at.row, a.m - 1), at.head), at.column, s0, r.active);
    store(a, joined, last, at);
  }
}
