// Attention of one row in a cluster: its sizes, what a block holds, which positions are its, and how a cluster's blocks
// and a warp's lanes share sums.
#pragma once
#include "attention_few.cuh"
#include "bulk.cuh"

template <int QUERIES_, int H_>
struct One {
  static constexpr int QUERIES = QUERIES_, H = H_;
  static constexpr int BLOCKS = 16, WARPS = 8, THREADS = 32 * WARPS;
  static constexpr int TOGETHER = 2;  // on a multiprocessor
  static constexpr int EACH = 4, TILE = WARPS * EACH;  // positions of a warp, of a block
  static constexpr int STEP = BLOCKS * TILE;           // positions from a block's tile to its next
  static constexpr int SLOTS = 3;                      // tiles of a block in shared memory
  static constexpr int PITCH = H + 4;                  // of a tile's rows: words of a column are in banks of their own
  static constexpr int PAIR = H / 64;                  // columns of each half of a head, a lane
  static constexpr int LANES = 4, WIDTH = H / 32;      // lanes that share rows of values, and the columns of one
  static constexpr int SUMS = QUERIES * WIDTH;         // of a lane; with the lanes of other rows it shares them out
  static constexpr int HELD = SUMS < WARPS ? 1 : SUMS / WARPS;
  static constexpr int STATES = QUERIES * WARPS, MINE = STATES < 32 ? 1 : STATES / 32;
  static constexpr int SLICE = QUERIES * H < 32 * BLOCKS ? 32 : QUERIES * H / BLOCKS;  // results that a block stores
  static constexpr int RANKS = H / SLICE;                                              // blocks that store a query's
};

// A tile of a key head's rows, in dynamic shared memory: of the block's, SLOTS at a time, or as many as a block can have.
template <class F>
struct alignas(16) OneTile {
  float keys[F::TILE * F::PITCH], values[F::TILE * F::PITCH];
};

template <class F>
__device__ __forceinline__ OneTile<F> &tile_in(int slot) {
  return reinterpret_cast<OneTile<F> *>(dynamic_shared)[slot];
}

template <class F>
struct alignas(16) OneShared {
  float q[F::QUERIES * F::H], own[F::H];       // queries; the step's own key
  float weights[F::QUERIES * (F::TILE + 4)];   // of positions, on the scale of their warp
  float peaks[F::STATES];                      // of [query][warp]
  float results[F::BLOCKS * F::SLICE];         // that the cluster's blocks sent
  float2 states[F::BLOCKS];                    // with their maximum and sum
  u64 counted;                                 // the barrier that counts the bytes of both
};

// The positions that a launch sees, and those of one of its blocks: every BLOCKS-th tile from `tile` on.
template <class F>
struct OneSpan {
  int past, from;  // past the last, the first
  int settled;     // rows before it are in the tables before the launch ahead has ended
  int own;         // the position whose key the launch turns and sets; MOST_ROWS: none
  int active;      // blocks with positions
  int tile;
  bool last;       // one of the block's tiles has the last position

  __device__ __forceinline__ OneSpan(const AttentionArgs &a, int position, int rank)
      : past(position + 1), from(a.window > 0 ? max(0, past - a.window) : 0),
        settled(a.early == EARLY_TABLES ? position : 0), own(a.turns.present ? position : MOST_ROWS) {
    const int first = from / F::TILE, others = position / F::TILE - first;
    active = min(F::BLOCKS, others + 1), tile = (first + rank) * F::TILE, last = others % F::BLOCKS == rank;
  }
};

// ---- clusters -------------------------------------------------------------------------------------------------------
__device__ __forceinline__ u32 address_in(u32 address, u32 rank) {
  u32 there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

// Sends values to another block, where `counted` counts their bytes.
template <int V>
__device__ __forceinline__ void send(u32 to, const float *v, u32 counted) {
#define SEND "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes"
  if constexpr (V == 1)
    asm volatile(SEND ".f32 [%0], %1, [%2];" ::"r"(to), "f"(v[0]), "r"(counted) : "memory");
  else if constexpr (V == 2)
    asm volatile(SEND ".v2.f32 [%0], {%1, %2}, [%3];" ::"r"(to), "f"(v[0]), "f"(v[1]), "r"(counted) : "memory");
  else
    asm volatile(SEND ".v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]),
                 "r"(counted)
                 : "memory");
#undef SEND
}

// ---- shares of sums -------------------------------------------------------------------------------------------------
// Adds up values over the lanes that differ in the bits FROM to TO: of what is left halves change places, so that each
// lane ends with the sums from number share_of on; with that of one alone, the lanes of the last bits have the same.
template <int N, int FROM, int TO>
__device__ __forceinline__ void share_sums(float (&v)[N]) {
#pragma unroll
  for (int by = FROM, left = N; by >= TO; by >>= 1) {
    if (left > 1) {
      left >>= 1;
      const bool upper = threadIdx.x & by;
#pragma unroll
      for (int n = 0; n < N / 2; n++)
        if (n < left) {
          const float given = upper ? v[n] : v[n + left];
          v[n] = (upper ? v[n + left] : v[n]) + __shfl_xor_sync(ALL_LANES, given, by);
        }
    } else {
      v[0] += __shfl_xor_sync(ALL_LANES, v[0], by);
    }
  }
}

template <int N, int FROM, int TO>
__device__ __forceinline__ int share_of() {
  int first = 0;
#pragma unroll
  for (int by = FROM, left = N; by >= TO && left > 1; by >>= 1) {
    left >>= 1;
    if (threadIdx.x & by) first += left;
  }
  return first;
}
