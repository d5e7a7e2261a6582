// Up to four products of one activation in a launch: each one's stored rows, its bias, where its result lands.
#pragma once
#include "rope.cuh"

constexpr int PARTS = 4;

struct Part {
  const char *w;
  int n;
  const float *bias;
  Rows y;
  int tiles;
  int turned;
  int y_unit;  // values from one turned head to the next
  HeadNorm norm;
};

// The parameters of a part, in the order that selection passes them.
#define PART_PARAMS(i)                                                                                                 \
  const char *w##i, int n##i, const float *bias##i, float *y##i, int y_pitch##i, const int *y_row##i, int tiles##i,    \
      int turned##i, int y_unit##i, int normed##i, const float *head_weight##i, float head_eps##i
#define PART_ARGS(i)                                                                                                   \
  Part {                                                                                                               \
    w##i, n##i, bias##i, Rows{y##i, y_pitch##i, y_row##i}, tiles##i, turned##i, y_unit##i,                             \
        HeadNorm { normed##i, head_weight##i, head_eps##i }                                                            \
  }

struct Place {
  int part;
  int tile;  // within the part
};

// The part that tile number `tile` of a launch is in.
template <class Args>
__device__ __forceinline__ Place place_of(const Args &a, int tile) {
  int part = 0;
#pragma unroll
  for (int p = 0; p < PARTS - 1; p++) {
    if (part == p && p + 1 < a.parts && tile >= a.part[p].tiles) {
      tile -= a.part[p].tiles;
      part = p + 1;
    }
  }
  return {part, tile};
}

// A field of the part a block is at, without indexing the parameters at run time.
#define PART_FIELD(a, p, field) \
  ((p) == 0 ? (a).part[0].field : (p) == 1 ? (a).part[1].field : (p) == 2 ? (a).part[2].field : (a).part[3].field)

