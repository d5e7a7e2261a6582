// Attention of one row in a cluster: what its blocks bring in, rows of the tables and heads that they norm and turn.
#pragma once
#include "attention_one_form.cuh"

// A key head's rows of the tables, and how they are copied: a thread takes four columns of every ROWS-th row of a tile.
template <class F>
struct OneTables {
  static constexpr int FOURS = F::H / 4, ROWS = F::THREADS / FOURS;
  const float *keys, *values;
  int key_pitch, value_pitch;

  // Begins to copy a tile's rows from `from` to `to`, of keys all but the step's own; fills those past the last with zeros.
  __device__ __forceinline__ void copy(OneTile<F> &held, const OneSpan<F> &at, int tile, int from, int to) const {
    const int first = threadIdx.x / FOURS, column = 4 * (threadIdx.x % FOURS);
    const float *key = keys + column + (long long)(tile + first) * key_pitch;
    const float *value = values + column + (long long)(tile + first) * value_pitch;
#pragma unroll 2
    for (int i = first; i < F::TILE; i += ROWS) {
      const int row = tile + i, to_column = i * F::PITCH + column;
      if (row >= at.past) {
        *reinterpret_cast<float4 *>(held.keys + to_column) = make_float4(0, 0, 0, 0);
        *reinterpret_cast<float4 *>(held.values + to_column) = make_float4(0, 0, 0, 0);
      } else if (row >= from && row < to) {
        if (row != at.own) copy16(held.keys + to_column, key);
        copy16(held.values + to_column, value);
      }
      key += ROWS * (long long)key_pitch, value += ROWS * (long long)value_pitch;
    }
  }

  // What of a tile is there before the launch ahead has ended.
  __device__ __forceinline__ void copy_settled(OneTile<F> &held, const OneSpan<F> &at, int tile) const {
    if (tile < at.past) copy(held, at, tile, tile, at.settled);
  }

  // The rest of it: all, or the step's own row alone, which is the last threads'.
  __device__ __forceinline__ void copy_unsettled(OneTile<F> &held, const OneSpan<F> &at, int tile) const {
    if (at.settled == 0) {
      if (tile < at.past) copy(held, at, tile, tile, at.past);
      return;
    }
    const int row = at.settled, column = 4 * (int(threadIdx.x) - (F::THREADS - FOURS));
    if (column < 0 || row < tile || row >= tile + F::TILE) return;
    copy16(held.values + (row - tile) * F::PITCH + column, values + (long long)row * value_pitch + column);
    if (row != at.own)
      copy16(held.keys + (row - tile) * F::PITCH + column, keys + (long long)row * key_pitch + column);
  }
};

// Columns next to each other, in one load or store.
template <int V>
__device__ __forceinline__ void load_columns(float *v, const float *p) {
  static_assert(V == 1 || V == 2);
  if constexpr (V == 2) {
    const float2 two = load_fresh2(p);
    v[0] = two.x, v[1] = two.y;
  } else {
    v[0] = load_fresh(p);
  }
}

template <int V>
__device__ __forceinline__ void load_constant_columns(float *v, const float *p) {
#pragma unroll
  for (int i = 0; i < V; i++) v[i] = load_constant(p + i);
}

template <int V>
__device__ __forceinline__ void shared_columns(float (&v)[V], const float *p) {
  static_assert(V == 2 || V == 4);
  if constexpr (V == 4) {
    const float4 four = *reinterpret_cast<const float4 *>(p);
    v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
  } else {
    const float2 two = *reinterpret_cast<const float2 *>(p);
    v[0] = two.x, v[1] = two.y;
  }
}

template <int V>
__device__ __forceinline__ void put_columns(float *p, const float (&v)[V]) {
  static_assert(V == 1 || V == 2);
  if constexpr (V == 2)
    *reinterpret_cast<float2 *>(p) = make_float2(v[0], v[1]);
  else
    *p = v[0];
}

// A head that a warp brings in: of each half of it PAIR columns a lane, from `column` of the half on.
template <class F>
struct OneHead {
  static constexpr int PAIR = F::PAIR, HALF = F::H / 2;
  float weight[2 * PAIR], cos[PAIR], sin[PAIR], v[2 * PAIR];

  // Constants: what does not follow from the position, and what does.
  __device__ __forceinline__ void weigh(const HeadNorm &norm, int column) {
#pragma unroll
    for (int i = 0; i < 2 * PAIR; i++) weight[i] = 1.0f;
    if (norm.weight != nullptr) {
      load_constant_columns<PAIR>(weight, norm.weight + column);
      load_constant_columns<PAIR>(weight + PAIR, norm.weight + HALF + column);
    }
  }

  __device__ __forceinline__ void place(const AttentionArgs &a, int position, int column) {
#pragma unroll
    for (int i = 0; i < PAIR; i++) cos[i] = 1.0f, sin[i] = 0.0f;
    if (a.turns.half > 0) {
      load_constant_columns<PAIR>(cos, a.turns.cos + (long long)position * HALF + column);
      load_constant_columns<PAIR>(sin, a.turns.sin + (long long)position * HALF + column);
    }
  }

  __device__ __forceinline__ void load(const float *head, int column) {
    load_columns<PAIR>(v, head + column);
    load_columns<PAIR>(v + PAIR, head + HALF + column);
  }

  __device__ __forceinline__ void bring(const HeadNorm &norm, float *slot, float *table, int column) {
    float squares = 0.0f, low[PAIR], high[PAIR];
#pragma unroll
    for (int i = 0; i < 2 * PAIR; i++) squares = fmaf(v[i], v[i], squares);
    const float inverse = norm.present ? rsqrtf(warp_sum(squares) * (1.0f / F::H) + norm.eps) : 1.0f;
#pragma unroll
    for (int i = 0; i < PAIR; i++) {
      const float x = v[i] * weight[i] * inverse, y = v[PAIR + i] * weight[PAIR + i] * inverse;
      low[i] = x * cos[i] - y * sin[i], high[i] = y * cos[i] + x * sin[i];
    }
    put_columns(slot + column, low), put_columns(slot + HALF + column, high);
    if (table != nullptr) put_columns(table + column, low), put_columns(table + HALF + column, high);
  }
};
