// Products of many rows of quantized x by stored rows in blocks, on tensor cores.
//
// A block takes a tile: TILE_STORED stored rows (of a gated pair half of them of each matrix) by the rows of x that its
// entry is for, 32 or 64. Stored rows and x come in chunks of CHUNK values into shared memory, as they lie in device
// memory, while the chunks before them are summed. Eight warps stand four by two: a warp sums 32 stored rows by half of
// x's rows, in groups of eight, every other one. One m16n8k32 product is a whole block of 32 values: its int32 sums are
// exact, and are multiplied by the scales of both sides in f32 before the next block's come.
//
// Tiles from tail_from on are shared by tail_split blocks each, along the values: each sums its chunks, and the one
// that arrives last adds up all shares, in order. The finished tile then lies in shared memory, from where whole rows
// of it go where they belong: added to, gated, with heads turned, quantized.
#pragma once
#include "gemm_sums.cuh"
#include "parts.cuh"

struct GemmArgs {
  Quantized x;
  int pitch;   // bytes of a stored row
  int stages;  // chunks in shared memory, 2 or 3
  int paired;  // part 0 is a gated pair's gate, part 1 its other matrix
  int act;
  int parts;
  Part part[PARTS];
  Quantized quantized;
  const float *residual;  // rows added to the product, or null
  int residual_pitch;
  const float *cos;
  const float *sin;
  const int *position;
  int hd;
  int half;
  int tail_from;
  int tail_split;
  float *partials;
  u32 *counters;
};

extern __shared__ __align__(128) uint4 dynamic_shared[];  // as long as a row of a chunk: addresses are swizzled

// What a block computes: which tile, and which share of its chunks.
struct Task {
  int part;
  int output0;  // of the part, the tile's first
  int row0;     // of x
  int share;
  int shares;
  int tail;  // the tile's number from tail_from on
};

template <int ROWS>
__device__ __forceinline__ Task task_of(const GemmArgs &a) {
  Task task{0, 0, 0, 0, 1, 0};
  int tile = blockIdx.x;
  if (tile >= a.tail_from) {
    task.tail = (tile - a.tail_from) / a.tail_split;
    task.share = (tile - a.tail_from) % a.tail_split;
    task.shares = a.tail_split;
    tile = a.tail_from + task.tail;
  }
  // Neighbours take the same stored rows, so that these come once from device memory.
  const int down = (a.x.rows + ROWS - 1) / ROWS;
  const Place at = place_of(a, tile / down);
  task.part = at.part;
  task.output0 = at.tile * (a.paired ? TILE_STORED / 2 : TILE_STORED);
  task.row0 = tile % down * ROWS;
  return task;
}

// ---- the tile in shared memory --------------------------------------------------------------------------------------
// Row r of x has its TILE_STORED sums from TILE_PITCH * r on: a fragment's stores, and a row's reads, meet in no bank.
// Of a gated pair the second half is the other matrix's.
constexpr int TILE_PITCH = TILE_STORED + 4;

__device__ __forceinline__ int tile_column(const GemmArgs &a, int stored) {
  return a.paired ? (stored & 16) * 4 + (stored >> 5) * 16 + (stored & 15) : stored;
}

template <int NT>
__device__ __forceinline__ void place_sums(const GemmArgs &a, const float (&sums)[2][NT][4], float *tile) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  __syncthreads();  // the chunks have been read
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const int column = tile_column(a, (warp >> 1) * 32 + i * 16 + (e >> 1) * 8 + (lane >> 2));
#pragma unroll
      for (int j = 0; j < NT; j++)
        tile[(8 * (2 * j + (warp & 1)) + (lane & 3) * 2 + (e & 1)) * TILE_PITCH + column] = sums[i][j][e];
    }
  __syncthreads();
}

// Adds up the shares of a tile; true in the block that then has all of it.
template <int NT>
__device__ __forceinline__ bool join_shares(const GemmArgs &a, const Task &task, float (&sums)[2][NT][4]) {
  if (task.shares == 1) return true;
  const long long share = 8LL * NT * THREADS;  // values that a block has
  float *mine = a.partials + (long long)task.tail * task.shares * share + 4 * threadIdx.x;
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < NT; j++)
      *reinterpret_cast<float4 *>(mine + task.share * share + (i * NT + j) * 4 * THREADS) =
          make_float4(sums[i][j][0], sums[i][j][1], sums[i][j][2], sums[i][j][3]);
  if (!arrives_last(a.counters + task.tail, task.shares)) return false;
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < NT; j++)
#pragma unroll
      for (int e = 0; e < 4; e++) sums[i][j][e] = 0.0f;
#pragma unroll 1
  for (int s = 0; s < task.shares; s++) {
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < NT; j++) {
        const float4 v = load_fresh4(mine + s * share + (i * NT + j) * 4 * THREADS);
        sums[i][j][0] += v.x, sums[i][j][1] += v.y, sums[i][j][2] += v.z, sums[i][j][3] += v.w;
      }
  }
  return true;
}

// ---- where results go -----------------------------------------------------------------------------------------------
// A row's outputs, 32 at a time, which is a block where they are quantized.
__device__ __forceinline__ void store_row(const GemmArgs &a, const Task &task, const float *sums, int row) {
  const int lane = threadIdx.x & 31, wide = a.paired ? TILE_STORED / 2 : TILE_STORED;
  const int n = PART_FIELD(a, task.part, n);
  const float *bias = PART_FIELD(a, task.part, bias);
  const Rows y{PART_FIELD(a, task.part, y.base), PART_FIELD(a, task.part, y.pitch), PART_FIELD(a, task.part, y.row)};
#pragma unroll 1
  for (int c = lane; c < wide; c += 32) {
    const int output = task.output0 + c;
    const bool inside = output < n;
    float v[1] = {sums[c]};
    if (inside) {
      if (bias != nullptr) v[0] += bias[output];
      if (a.paired) {
        float other = sums[c + TILE_STORED / 2];
        if (a.part[1].bias != nullptr) other += a.part[1].bias[output];
        v[0] = activate(a.act, v[0]) * other;
      }
      if (a.residual != nullptr) v[0] += load_fresh(a.residual + (long long)a.residual_pitch * row + output);
      if (y.base != nullptr) y.at(row)[output] = v[0];
    }
    if (a.quantized.planes > 0) store_quantized<1>(a.quantized, row, output, v, inside);
  }
}

// Heads lie whole in a tile: a warp turns one at a time.
__device__ __forceinline__ void turn_heads(const GemmArgs &a, const Task &task, float *tile, int rows) {
  const int n = PART_FIELD(a, task.part, n), unit = PART_FIELD(a, task.part, y_unit);
  const int heads = min(TILE_STORED, n - task.output0) / a.hd, head0 = task.output0 / a.hd;
  const float *bias = PART_FIELD(a, task.part, bias);
  const HeadNorm norm{PART_FIELD(a, task.part, norm.present), PART_FIELD(a, task.part, norm.weight),
                      PART_FIELD(a, task.part, norm.eps)};
  const Rows y{PART_FIELD(a, task.part, y.base), PART_FIELD(a, task.part, y.pitch), PART_FIELD(a, task.part, y.row)};
  const int position = a.position == nullptr ? 0 : *a.position;
#pragma unroll 1
  for (int i = threadIdx.x >> 5; i < heads * rows; i += THREADS / 32) {
    const int r = i / heads, head = i % heads;
    float *values = tile + r * TILE_PITCH + head * a.hd;
    if (bias != nullptr) {
#pragma unroll 1
      for (int c = threadIdx.x & 31; c < a.hd; c += 32) values[c] += bias[task.output0 + head * a.hd + c];
      __syncwarp();
    }
    const long long turn = (long long)(position + task.row0 + r) * a.half;
    turn_head<true>(values, y.at(task.row0 + r) + (long long)unit * (head0 + head), a.cos + turn, a.sin + turn, a.hd,
                    a.half, norm);
  }
}

template <int FORMAT, int NT>
__device__ __forceinline__ void gemm(const GemmArgs &a) {
  const Task task = task_of<16 * NT>(a);
  float sums[2][NT][4] = {};
  const Matrices matrices{PART_FIELD(a, task.part, w), a.paired ? a.part[1].w : nullptr, PART_FIELD(a, task.part, n),
                          a.pitch, task.output0};
  const int chunks = (a.x.cols + CHUNK - 1) / CHUNK;
  const int first = int((long long)chunks * task.share / task.shares);
  const int last = int((long long)chunks * (task.share + 1) / task.shares);
  sum_chunks<FORMAT, NT>(matrices, a.x, task.row0, first, last, a.stages,
                         reinterpret_cast<char *>(dynamic_shared), sums);
  if (!join_shares<NT>(a, task, sums)) return;
  float *tile = reinterpret_cast<float *>(dynamic_shared);
  place_sums<NT>(a, sums, tile);
  const int rows = min(16 * NT, a.x.rows - task.row0);
  if (PART_FIELD(a, task.part, turned)) return turn_heads(a, task, tile, rows);
#pragma unroll 1
  for (int r = threadIdx.x >> 5; r < rows; r += THREADS / 32) store_row(a, task, tile + r * TILE_PITCH, task.row0 + r);
}
