// Products of stored rows by staged rows of x: what each warp takes, its loads in flight, and where its sums go.
#pragma once
#include "moe_stage.cuh"

enum Kind { LOGITS, PAIR, GATE, UP, DOWN };
enum Staging { STAGED, STAGE_X, STAGE_HIDDEN };

// `split` warps take a unit together, each every split-th of its legs; a block's warps take units from unit0 on, then
// those unit_step further. A leg is two stored rows by a group's rows of x. Only a DOWN unit has several: its sums run
// over groups.
struct Job {
  int kind;
  Matrix a;
  const char *second;  // of a PAIR: a matrix like a
  int k;
  int n;         // outputs of an expert, or of the router
  int by_expert; // groups are the sorted pairs'; else RT consecutive rows each
  int first_group;
  int segments;  // a row's ranges
  int unit0, unit_step, units;
  int legs, split;
  const float *bias_a;
  const float *bias_b;
  float *out;   // LOGITS: [segment][row][n]; PAIR, GATE, UP: hidden rows [pair][n]
  char *x;      // staged rows
  int stride;   // bytes of one
  int slot0;    // DOWN: the pair that the first of them is
  int staging;  // what is to be done before
  int of_router;        // STAGE_X: whose f32 rows are read
  const float *hidden;  // STAGE_HIDDEN: the first row to be staged
  int count;
};

struct Group {
  int expert;
  int first;  // pair, or row
  int count;
};

template <int RT>
__device__ __forceinline__ Group group_of(const Tables &t, const Job &job, int g) {
  if (!job.by_expert) return {0, g * RT, min(RT, t.pass - g * RT)};
  const int first = t.start()[g];
  return {t.expert()[first], first, RT == 1 ? 1 : t.start()[g + 1] - first};
}

struct Leg {
  Group group;
  int segment;
  int output;  // the first of an expert's
};

// Units count outputs first, then groups; a LOGITS unit is a range of a row, and so is a DOWN leg of its group's.
template <int RT>
__device__ __forceinline__ Leg leg_of(const Tables &t, const Job &job, int unit, int leg) {
  int group, segment, output;
  if (job.kind == DOWN) {
    group = job.first_group + leg / job.segments, segment = leg % job.segments, output = unit * NR;
  } else {
    const int each = job.kind == PAIR ? 1 : NR, outputs = (job.n + each - 1) / each, whole = unit / job.segments;
    group = whole / outputs, segment = unit % job.segments, output = whole % outputs * each;
  }
  return {group_of<RT>(t, job, group), segment, output};
}

struct Range {
  int first, last;
};

__device__ __forceinline__ Range words_of_leg(const Job &job, int words, int segment) {
  const int each = (words + job.segments - 1) / job.segments;
  return {segment * each, min(words, (segment + 1) * each)};
}

__device__ __forceinline__ Streams streams_of(const Job &job, const Leg &leg) {
  const int base = leg.group.expert * job.n;
  Streams s;
#pragma unroll
  for (int i = 0; i < NR; i++) {
    Matrix matrix = job.a;
    if (i == 1 && job.kind == PAIR) matrix.w = job.second;
    // Past the end: the last row again, and nothing stored.
    const int row = base + (job.kind == PAIR ? leg.output : min(leg.output + i, job.n - 1));
    s.w[i] = matrix.row(row);
    s.scale[i] = matrix.format == FORMAT_Q8_0 ? matrix.scales(row) : s.w[i];
  }
  return s;
}

__device__ __forceinline__ void prefetch(const char *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// A leg's rows to the second-level cache: by sectors of 32 bytes.
template <int RT>
__device__ __forceinline__ void prefetch_leg(const Tables &t, const Job &job, int unit, int leg) {
  const Leg at = leg_of<RT>(t, job, unit, leg);
  const Streams s = streams_of(job, at);
  const Range range = words_of_leg(job, job.a.words, at.segment);
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int i = 0; i < NR; i++) {
#pragma unroll 1
    for (int b = 16 * range.first + 32 * lane; b < 16 * range.last; b += 1024) prefetch(s.w[i] + b);
    if (job.a.format == FORMAT_Q8_0 && 32 * lane < range.last) prefetch(s.scale[i] + 32 * lane);
  }
}

// ---- loads in flight --------------------------------------------------------------------------------------------
// A batch of a range of a row; past the range its words are zeros, since the sums run over whole rows.
template <int FORMAT, int STEPS>
__device__ __forceinline__ void load_range(Batch<FORMAT, STEPS> &b, const Streams &s, int word0, int last, int k) {
#pragma unroll
  for (int u = 0; u < STEPS; u++) {
    const int word = word0 + 32 * u;
#pragma unroll
    for (int i = 0; i < NR; i++) {
      if (word < last)
        load_stored<FORMAT>(b.w[u][i], s.w[i], s.scale[i], k, word);
      else
        b.w[u][i] = Block<FORMAT>{};
    }
  }
}

// Keeps what is made of a batch inside the loop over rows of x: outside it would take all registers.
template <int FORMAT, int STEPS>
__device__ __forceinline__ void pin(Batch<FORMAT, STEPS> &b) {
#pragma unroll
  for (int u = 0; u < STEPS; u++)
#pragma unroll
    for (int i = 0; i < NR; i++) {
      uint4 &q = b.w[u][i].quants;
      asm volatile("" : "+r"(q.x), "+r"(q.y), "+r"(q.z), "+r"(q.w));
    }
}

// ---- sums ---------------------------------------------------------------------------------------------------------
template <int FORMAT, int INPUT, int STEPS>
__device__ __forceinline__ void sum_row(const MoeArgs &a, const Job &job, const Batch<FORMAT, STEPS> &b, int word,
                                        int words, const char *x, float (&sums)[1][NR]) {
  if constexpr (IN_BLOCKS<FORMAT>)
    sum_blocks<FORMAT, INPUT, 1, STEPS>(b, word, words, x, a.x_pitch, 1, sums);
  else if constexpr (INPUT == INPUT_F32)
    sum_batch<FORMAT, 0, 1, STEPS>(b, word, words, x, job.k, sums);
  else if (a.x_pitch == 1)
    sum_batch<FORMAT, 1, 1, STEPS>(b, word, words, x, job.k, sums);
  else
    sum_batch<FORMAT, 2, 1, STEPS>(b, word, words, x, job.k, sums);
}

__device__ __forceinline__ const char *staged_row(const Tables &t, const Job &job, int q) {
  const int slot = job.by_expert && job.kind != DOWN ? t.row()[q] : q - job.slot0;
  return job.x + slot * job.stride;
}

// A leg's sums over the lanes, then one lane a value stores or adds it.
template <int RT>
__device__ __forceinline__ void finish_leg(const MoeArgs &a, const Tables &t, const Job &job, const Leg &leg,
                                           float (&sums)[RT][NR]) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const Group &group = leg.group;
  const bool paired = job.kind == PAIR;
  float mine[NR] = {};
#pragma unroll
  for (int r = 0; r < RT; r++)
#pragma unroll
    for (int i = 0; i < NR; i++) {
      const float total = warp_sum(sums[r][i]);
      if (paired && lane == r) mine[i] = total;
      if (!paired && lane == r * NR + i) mine[0] = total;
    }
  const int r = paired ? lane : lane / NR, i = paired ? 0 : lane % NR;
  const int output = leg.output + i, q = group.first + r;
  if (r < group.count && r < RT && output < job.n) {
    const int of_expert = group.expert * job.n + output;
    float v = mine[0];
    if (job.bias_a != nullptr && leg.segment == 0) v += job.bias_a[of_expert];
    if (job.kind == DOWN) {
      const int row = job.by_expert ? t.row()[q] : q;
      t.sums()[(warp * a.pass_rows + row) * NR + i] += v * (job.by_expert ? t.weight()[q] : t.column()[q]);
    } else if (job.kind == LOGITS) {
      job.out[((long long)leg.segment * t.pass + q) * job.n + output] = v;
    } else {
      float *to = job.out + (long long)q * job.n + output;
      if (job.kind != GATE) {
        // Of an UP the gate waits where this lane put it.
        const float gate = paired ? v : *to;
        if (paired) v = mine[NR - 1] + (job.bias_b != nullptr ? job.bias_b[of_expert] : 0.0f);
        v = joined(a.act, a.limit, gate, v);
      }
      *to = v;
    }
  }
  if (job.kind == DOWN) __syncwarp();
}

// The next batch, whichever leg it is of, is in flight while the present one is summed.
template <int FORMAT, int INPUT, int RT, int STEPS>
__device__ __forceinline__ void sweep(const MoeArgs &a, const Tables &t, const Job &job) {
  const int lane = threadIdx.x & 31, words = job.a.words;
  const int split = job.split, leg0 = (threadIdx.x >> 5) % split;
  if (leg0 >= job.legs) return;
  int unit = job.unit0 + (threadIdx.x >> 5) / split, leg = leg0 - split, first = 0, summed = 0;
  bool loading = true, ends = false, summing = false;
  Leg ahead{}, at{};
  Range range{0, 0};
  Streams streams{};
  // Defined at once: a register that only some paths define is kept through all others.
  Batch<FORMAT, STEPS> batch{};
  float sums[RT][NR] = {};
#pragma unroll 1
  while (true) {
    if (first >= range.last) {
      leg += split;
      if (leg >= job.legs) leg = leg0, unit += job.unit_step;
      loading = unit < job.units;
      if (loading) {
        ahead = leg_of<RT>(t, job, unit, leg);
        streams = streams_of(job, ahead);
        range = words_of_leg(job, words, ahead.segment);
        first = range.first;
      } else {
        range.last = 0;
      }
    }
    Batch<FORMAT, STEPS> next;
    load_range<FORMAT>(next, streams, first + lane, range.last, job.k);
    if (summing) {
      if constexpr (RT == 1) {
        sum_row<FORMAT, INPUT, STEPS>(a, job, batch, summed + lane, words, staged_row(t, job, at.group.first), sums);
      } else {
#pragma unroll 1
        for (int r = 0; r < at.group.count; r++) {
          float of_row[1][NR] = {};
          pin<FORMAT>(batch);
          const char *x = staged_row(t, job, at.group.first + r);
          sum_row<FORMAT, INPUT, STEPS>(a, job, batch, summed + lane, words, x, of_row);
#pragma unroll
          for (int s = 0; s < RT; s++)
#pragma unroll
            for (int i = 0; i < NR; i++) sums[s][i] += s == r ? of_row[0][i] : 0.0f;
        }
      }
      if (ends) {
        finish_leg<RT>(a, t, job, at, sums);
#pragma unroll
        for (int s = 0; s < RT; s++)
#pragma unroll
          for (int i = 0; i < NR; i++) sums[s][i] = 0.0f;
      }
    }
    if (!loading) return;
    batch = next, at = ahead, summed = first, summing = true;
    first += 32 * STEPS;
    ends = first >= range.last;
  }
}

// A router of values [k][n]: a warp 32 outputs, a lane each, over a range of the inputs.
template <int RT>
__device__ __forceinline__ void sweep_values(const Tables &t, const Job &job) {
  const int lane = threadIdx.x & 31, tiles = (job.n + 31) / 32;
  const float *w = reinterpret_cast<const float *>(job.a.w);
#pragma unroll 1
  for (int unit = job.unit0 + (threadIdx.x >> 5); unit < job.units; unit += job.unit_step) {
    const int segment = unit % job.segments, output = unit / job.segments % tiles * 32 + lane;
    const Group group = group_of<RT>(t, job, unit / job.segments / tiles);
    const Range range = words_of_leg(job, job.k, segment);
    float sums[RT] = {};
    if (output < job.n) {
#pragma unroll 4
      for (int c = range.first; c < range.last; c++) {
        const float v = w[(long long)c * job.n + output];
#pragma unroll
        for (int r = 0; r < RT; r++)
          if (r < group.count) sums[r] += v * reinterpret_cast<const float *>(job.x + (group.first + r) * job.stride)[c];
      }
#pragma unroll
      for (int r = 0; r < RT; r++)
        if (r < group.count) job.out[((long long)segment * t.pass + group.first + r) * job.n + output] = sums[r];
    }
  }
}

// The formats that an entry's products are of: all by f32 x; of quantized x blocks, and plain rows for a router.
template <int INPUT, int RT>
__device__ __forceinline__ void sweep_any(const MoeArgs &a, const Tables &t, const Job &job) {
  constexpr int PLAIN = RT == 1 ? 4 : 2;
#define SWEEP(format, input, steps) \
  case format:                      \
    sweep<format, input, RT, steps>(a, t, job); \
    break;
  if (job.a.format == FORMAT_VALUES) {
    sweep_values<RT>(t, job);
    return;
  }
  switch (job.a.format) {
    SWEEP(FORMAT_F32, INPUT_F32, PLAIN)
    SWEEP(FORMAT_F16, INPUT_F32, PLAIN)
    SWEEP(FORMAT_BF16, INPUT_F32, PLAIN)
    SWEEP(FORMAT_Q8_0, INPUT, PLAIN)
    SWEEP(FORMAT_Q4_0, INPUT, 2)
    SWEEP(FORMAT_Q4_K, INPUT, 2)
    SWEEP(FORMAT_Q5_K, INPUT, 2)
    SWEEP(FORMAT_Q6_K, INPUT, 2)
    SWEEP(FORMAT_MXFP4, INPUT, 2)
  }
#undef SWEEP
}
