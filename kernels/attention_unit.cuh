// What attention's kernels are built for and take, which positions a block has, and how a warp adds a unit of them to
// its state (attention.cuh says how these come together).
#pragma once
#include "attention_turn.cuh"

#ifdef TABLES_OF_F16
typedef u16 Stored;  // a value of a table of keys or values
constexpr bool IN_HALVES = true;
#else
typedef float Stored;
constexpr bool IN_HALVES = false;
#endif

constexpr int TEAM = 8;             // lanes that share a position's key
constexpr int TEAMS = 32 / TEAM;    // positions that the teams of a warp score together
constexpr int KEY_LOADS = 4;        // 16-byte loads of a key that a lane has in flight
constexpr int KEY_CHUNK = TEAM * KEY_LOADS;
constexpr int SPLITS_HELD = 16;     // splits whose values a thread has in flight
constexpr int COLUMNS = 2;          // of a query, next to each other, that a thread joins
constexpr int MOST_ROWS = 0x7fffffff;
constexpr float LOWEST = -3.0e38f;
constexpr float LOG2E = 1.4426950408889634f;

// What an entry is built for. QUERIES a block; a lane holds PARTS runs of VECTOR value columns; GROUPS positions a
// team. TAILED keys end in values that lie in a table of their own and that all heads share.
template <int QUERIES_, int VECTOR_, int PARTS_, int WARPS_, int GROUPS_, bool TAILED_ = false>
struct Form {
  static constexpr int QUERIES = QUERIES_, VECTOR = VECTOR_, PARTS = PARTS_, WARPS = WARPS_, GROUPS = GROUPS_;
  static constexpr bool TAILED = TAILED_;
  static constexpr int WIDEST = 32 * VECTOR * PARTS;  // value head, and head of a query that is turned
  static constexpr bool TURNS = !IN_HALVES && !TAILED && WIDEST <= 256 && (VECTOR == 4 || PARTS == 1);  // whether it turns them
  static constexpr int THREADS = 32 * WARPS;
  static constexpr int UNIT = TEAMS * GROUPS;     // positions a warp takes together
  static constexpr int SCORES = GROUPS * QUERIES;  // a team's scores: a power of two, at most one a lane
  static constexpr int SAME = TEAM / SCORES;      // lanes of a team that end up with the same score
  static constexpr int TILE = WARPS * UNIT;       // positions next to each other that one split takes
  // Two blocks of few registers fit beside each other, and one beside a block of the next launch's product, which then
  // loads its first weights while this one waits for its own loads.
  static constexpr int BLOCKS_TOGETHER = PARTS == 1 ? 2 : 1;
  static constexpr int SCRATCH = QUERIES * (UNIT + 4);       // a warp's weights, and what each query keeps
};

// What may be read before the launch ahead has ended: nothing; the position; the tables' rows before it as well.
enum Early { EARLY_NOTHING, EARLY_POSITION, EARLY_TABLES };

struct AttentionArgs {
  // One sequence's step: rows of queries, the tables they attend to, and what gates them.
  const float *q;
  int q_pitch, q_unit;  // from row to row, from head to head
  const Stored *keys;
  int key_pitch;
  const Stored *values;
  int value_pitch, value_unit;  // from row to row, from key head to key head
  const int *position;
  int early;  // EARLY_...: what nothing ahead in the step writes
  int m;
  HeadTurns turns;  // of the queries, and of the step's own keys, where they come as they were before
  // TAILED: a key's and a query's first `head` values lie as above, the others here.
  int head;
  const float *q_tail;
  int q_tail_pitch;
  const Stored *tail;
  int tail_pitch;
  // Shapes and shares.
  int heads, group;            // query heads; a key head's
  int block_heads, block_rows;  // a block's queries: block_rows rows of block_heads heads, at most QUERIES together
  int hd, vd;
  int window;  // 0: none
  const float *sinks;
  float scale;
  int splits;
  int join;  // blocks of heads that one block joins: 1, or all of a row's
  float *partials;
  u32 *counters;
  // Results.
  const float *gate;
  int gate_pitch, gate_act;
  Rows y;
  QuantizedRows quantized;
  int row_block, row_blocks;  // which of a sequence's blocks of rows this is, and how many it has
};

extern __shared__ float4 dynamic_shared[];

// ---- small things --------------------------------------------------------------------------------------------------
__device__ __forceinline__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ int load_position(const int *p) {
  int v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

// Four values of a table, or two; of f16 they are 8 and 4 bytes.
__device__ __forceinline__ float4 load_stored4(const float *p) { return load_fresh4(p); }

__device__ __forceinline__ float2 load_stored2(const float *p) { return load_fresh2(p); }

__device__ __forceinline__ float2 both_halves(u32 w) {
  return make_float2(half_to_float(u16(w & 0xffffu)), half_to_float(u16(w >> 16)));
}

__device__ __forceinline__ float4 load_stored4(const u16 *p) {
  u32 low, high;
  asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(low), "=r"(high) : "l"(p) : "memory");
  const float2 a = both_halves(low), b = both_halves(high);
  return make_float4(a.x, a.y, b.x, b.y);
}

__device__ __forceinline__ float2 load_stored2(const u16 *p) {
  u32 w;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(w) : "l"(p) : "memory");
  return both_halves(w);
}

template <int V, bool ZEROS>
__device__ __forceinline__ void load_values(float (&v)[V], const Stored *p, bool inside) {
#pragma unroll
  for (int i = 0; ZEROS && i < V; i++) v[i] = 0.0f;
  if (!inside) return;
  if constexpr (V == 4) {
    const float4 x = load_stored4(p);
    v[0] = x.x, v[1] = x.y, v[2] = x.z, v[3] = x.w;
  } else {
    const float2 x = load_stored2(p);
    v[0] = x.x, v[1] = x.y;
  }
}

// ---- the positions of a block ---------------------------------------------------------------------------------------
struct Range {
  int row0, past0;  // the block's first row, and where the positions it sees end
  int past;         // where those of the block's last row do
  int position;     // of the step's first row
  int first_tile;   // that any of its rows sees
  int active;       // splits that have positions: at least one, which writes the zeros of rows that see nothing
};

template <class F>
__device__ __forceinline__ Range range_of(const AttentionArgs &a, int position) {
  Range r;
  r.position = position;
  r.row0 = a.row_block * a.block_rows;
  r.past0 = position + r.row0 + 1;
  r.past = position + min(a.m, r.row0 + a.block_rows);
  r.first_tile = (a.window > 0 ? max(0, r.past0 - a.window) : 0) / F::TILE;
  const int tiles = (max(r.past, 0) + F::TILE - 1) / F::TILE - r.first_tile;
  r.active = max(1, min(a.splits, tiles));
  return r;
}

// The first position of a warp's first unit. Tiles go round the splits.
template <class F>
__device__ __forceinline__ int first_unit(const AttentionArgs &a, const Range &r, int split, int warp) {
  return (r.first_tile + split) * F::TILE + warp * F::UNIT;
}

// The warps, from the first on, that have positions.
template <class F>
__device__ __forceinline__ int busy_warps(const AttentionArgs &a, const Range &r, int split) {
  const int left = r.past - first_unit<F>(a, r, split, 0);
  return max(0, min(F::WARPS, (left + F::UNIT - 1) / F::UNIT));
}

// One head that a warp brings into shared memory: query number `number` of the block, or behind those one of the step's
// own keys, where the block's split sees it.
struct Head {
  bool there;
  int row, head;  // of the step; of the queries or of the key heads
  bool key;
  int slot;  // of shared memory, in heads
};

// Whether a block stores one of the step's own keys that it turns: of those that do, the one of the key head's first
// queries and of the key's own row.
__device__ __forceinline__ bool stores(const AttentionArgs &a, const Range &r, const Head &h) {
  return h.key && blockIdx.x * a.block_heads == h.head * a.group && h.row >= r.row0;
}

// Field by field: a choice between two structures would put the arguments into local memory.
__device__ __forceinline__ HeadNorm norm_of(const AttentionArgs &a, const Head &h) {
  const HeadTurns &t = a.turns;
  return HeadNorm{h.key ? t.k_norm.present : t.q_norm.present, h.key ? t.k_norm.weight : t.q_norm.weight,
                  h.key ? t.k_norm.eps : t.q_norm.eps};
}

// ---- a unit of positions --------------------------------------------------------------------------------------------
template <class F>
struct Unit {
  float4 keys[F::GROUPS][KEY_LOADS];
  float values[F::UNIT][F::PARTS][F::VECTOR];
};

// Where the keys and values of the block's key head begin; the step's own keys, from position own_from on, where they
// are in shared memory instead.
struct Tables {
  const Stored *keys, *values;
  const float *own;
  int own_from;
};

template <class F>
__device__ __forceinline__ float4 load_key(const AttentionArgs &a, const Tables &t, int row, int four) {
  const Stored *p = t.keys + (long long)row * a.key_pitch + 4 * four;
  if constexpr (F::TAILED)
    if (4 * four >= a.head) p = a.tail + (long long)row * a.tail_pitch + 4 * four - a.head;
  if constexpr (F::TURNS)
    if (row >= t.own_from) return *reinterpret_cast<const float4 *>(t.own + (row - t.own_from) * a.hd + 4 * four);
  return load_stored4(p);
}

// A chunk of the keys of the unit's rows from `from` to `past`, from four values number f0 on. What is not there stays as
// it is, or is zeros, and has no weight.
template <class F, bool ZEROS = true>
__device__ __forceinline__ void load_keys(Unit<F> &x, const AttentionArgs &a, const Tables &t, int first, int from,
                                          int past, int f0) {
  const int lane = threadIdx.x % TEAM, team = (threadIdx.x & 31) / TEAM, fours = a.hd / 4;
#pragma unroll
  for (int u = 0; u < F::GROUPS; u++) {
    const int row = first + TEAMS * u + team;
#pragma unroll
    for (int j = 0; j < KEY_LOADS; j++) {
      const int f = f0 + lane + TEAM * j;
      if (ZEROS) x.keys[u][j] = make_float4(0, 0, 0, 0);
      if (row >= from && row < past && f < fours) x.keys[u][j] = load_key<F>(a, t, row, f);
    }
  }
}

template <class F, bool ZEROS = true>
__device__ __forceinline__ void load_unit_values(Unit<F> &x, const AttentionArgs &a, const Tables &t, int first,
                                                 int from, int past) {
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int p = 0; p < F::UNIT; p++)
#pragma unroll
    for (int c = 0; c < F::PARTS; c++) {
      const int column = F::VECTOR * (lane + 32 * c);
      const Stored *row = t.values + (long long)(first + p) * a.value_pitch;
      load_values<F::VECTOR, ZEROS>(x.values[p][c], row + column,
                                    first + p >= from && first + p < past && column < a.vd);
    }
}

// Asks for a unit's rows into the second-level cache. It reads nothing, so rows that are being written do no harm.
template <class F>
__device__ __forceinline__ void ask_for_unit(const AttentionArgs &a, const Tables &t, int first, int past) {
  constexpr int LINE = 128 / sizeof(Stored);  // values in 128 bytes
  const int lane = threadIdx.x % TEAM, team = (threadIdx.x & 31) / TEAM;
  for (int row = first + team; row < min(first + F::UNIT, past); row += TEAMS) {
    const Stored *key = t.keys + (long long)row * a.key_pitch, *value = t.values + (long long)row * a.value_pitch;
    for (int c = LINE * lane; c < (F::TAILED ? a.head : a.hd); c += LINE * TEAM) ask_for(key + c);
    for (int c = LINE * lane; c < a.vd; c += LINE * TEAM) ask_for(value + c);
  }
}

// The scores of the team's positions with every query, number GROUP * QUERIES + query, added up over the team so that
// each lane gets the one that score_of says: halves of what is left change places.
template <class F>
__device__ __forceinline__ float team_scores(Unit<F> &x, const AttentionArgs &a, const Tables &t, int first, int past,
                                             const float4 *q) {
  const int lane = threadIdx.x % TEAM, fours = a.hd / 4;
  float dots[F::SCORES];
#pragma unroll
  for (int n = 0; n < F::SCORES; n++) dots[n] = 0.0f;
#pragma unroll 1
  for (int f0 = 0; f0 < fours; f0 += KEY_CHUNK) {
    if (f0 > 0) load_keys<F>(x, a, t, first, first, past, f0);
#pragma unroll
    for (int j = 0; j < KEY_LOADS; j++) {
      const int f = min(f0 + lane + TEAM * j, fours - 1);
#pragma unroll
      for (int g = 0; g < F::QUERIES; g++) {
        const float4 y = q[g * fours + f];
#pragma unroll
        for (int u = 0; u < F::GROUPS; u++) {
          const float4 k = x.keys[u][j];
          float &d = dots[u * F::QUERIES + g];
          d = fmaf(k.x, y.x, fmaf(k.y, y.y, fmaf(k.z, y.z, fmaf(k.w, y.w, d))));
        }
      }
    }
  }
#pragma unroll
  for (int by = TEAM / 2, left = F::SCORES; by > 0; by >>= 1) {
    if (left > 1) {
      left >>= 1;
      const bool upper = lane & by;
#pragma unroll
      for (int n = 0; n < F::SCORES / 2; n++)
        if (n < left) {
          const float given = upper ? dots[n] : dots[n + left];
          dots[n] = (upper ? dots[n + left] : dots[n]) + __shfl_xor_sync(ALL_LANES, given, by);
        }
    } else {
      dots[0] += __shfl_xor_sync(ALL_LANES, dots[0], by);
    }
  }
  return dots[0];
}

// What a lane is to its warp: the query and the position in a unit whose score it has, and what that query sees.
template <class F>
struct Scorer {
  int query, at;    // at: the position, from the unit's first on
  bool first_same;  // of the lanes with the same score
  int from, end;    // positions the query sees; none where its row is not there

  __device__ __forceinline__ Scorer(const AttentionArgs &a, const Range &r) {
    const int lane = threadIdx.x % TEAM, team = (threadIdx.x & 31) / TEAM;
    query = lane / F::SAME % F::QUERIES;
    at = lane / F::SAME / F::QUERIES * TEAMS + team;
    first_same = lane % F::SAME == 0;
    const int row = query / a.block_heads;
    const bool there = row < a.block_rows && r.row0 + row < a.m;
    end = there ? r.past0 + row : 0;
    from = a.window > 0 ? end - a.window : 0;
  }

  // Sums or maxima over a unit's positions of each query.
  template <class Op>
  __device__ __forceinline__ static float over_positions(float v, Op op) {
#pragma unroll
    for (int by = F::SAME * F::QUERIES; by < TEAM; by <<= 1) v = op(v, __shfl_xor_sync(ALL_LANES, v, by));
#pragma unroll
    for (int by = TEAM; by < 32; by <<= 1) v = op(v, __shfl_xor_sync(ALL_LANES, v, by));
    return v;
  }
};

// A warp's running state: the maximum and sum of the lane's query's weights, and the lane's columns of every query.
template <class F>
struct State {
  float peak, sum;
  float held[F::QUERIES][F::PARTS][F::VECTOR];
};

template <class F>
__device__ __forceinline__ void add_unit(State<F> &s, Unit<F> &x, const AttentionArgs &a, const Tables &t,
                                         const Scorer<F> &me, int first, int past, const float4 *q, float *scratch) {
  constexpr int PITCH = F::UNIT + 4;
  const float score = team_scores<F>(x, a, t, first, past, q) * (a.scale * LOG2E);
  const int p = first + me.at;
  const bool seen = p >= me.from && p < me.end;
  const float peak =
      fmaxf(s.peak, Scorer<F>::over_positions(seen ? score : LOWEST, [](float x, float y) { return fmaxf(x, y); }));
  const float weight = seen ? power_of_two(score - peak) : 0.0f, kept = power_of_two(s.peak - peak);
  s.sum = s.sum * kept + Scorer<F>::over_positions(weight, [](float x, float y) { return x + y; });
  s.peak = peak;
  __syncwarp();  // the weights of the unit before have been read
  if (me.first_same) {
    scratch[me.query * PITCH + me.at] = weight;
    if (me.at == 0) scratch[me.query * PITCH + F::UNIT] = kept;
  }
  __syncwarp();
#pragma unroll
  for (int g = 0; g < F::QUERIES; g++) {
    const float keep = scratch[g * PITCH + F::UNIT];
#pragma unroll
    for (int c = 0; c < F::PARTS; c++)
#pragma unroll
      for (int i = 0; i < F::VECTOR; i++) s.held[g][c][i] *= keep;
#pragma unroll
    for (int p0 = 0; p0 < F::UNIT; p0 += 4) {
      const float4 four = *reinterpret_cast<const float4 *>(scratch + g * PITCH + p0);
      const float w[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int j = 0; j < 4; j++)
#pragma unroll
        for (int c = 0; c < F::PARTS; c++)
#pragma unroll
          for (int i = 0; i < F::VECTOR; i++) s.held[g][c][i] = fmaf(w[j], x.values[p0 + j][c][i], s.held[g][c][i]);
    }
  }
}
