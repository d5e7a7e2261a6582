// Kernels that the emulator's tests run, compiled into samples.ptx by the command in test_samples.py.

__device__ float from_half(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

__device__ float sum_of_warp(float value) {
    for (int mask = 16; mask; mask >>= 1) value += __shfl_xor_sync(~0u, value, mask);
    return value;
}

__device__ float max_of_warp(float value) {
    for (int mask = 16; mask; mask >>= 1) value = fmaxf(value, __shfl_xor_sync(~0u, value, mask));
    return value;
}

// One warp a row; weights int8 with an f16 scale for each 32, activations int8 with an f32 scale.
extern "C" __global__ void __launch_bounds__(128) gemv(const signed char* __restrict__ w, const unsigned short* __restrict__ ws,
        const signed char* __restrict__ x, const float* __restrict__ xs, float* __restrict__ y, int n, int k) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (row >= n) return;
    float total = 0;
    for (int j = lane * 16; j < k; j += 512) {
        int4 a = *(const int4*)(w + (size_t)row * k + j), b = *(const int4*)(x + j);
        int s = __dp4a(a.x, b.x, 0);
        s = __dp4a(a.y, b.y, s);
        s = __dp4a(a.z, b.z, s);
        s = __dp4a(a.w, b.w, s);
        total += (float)s * from_half(ws[row * (k / 32) + j / 32]) * xs[j / 32];
    }
    total = sum_of_warp(total);
    if (lane == 0) y[row] = total;
}

// Sums of squares by blocks; the last block to arrive norms the row.
extern "C" __global__ void last_norm(const float* x, float* partials, unsigned* counter, float* y, int n) {
    __shared__ float warps[32];
    __shared__ bool last;
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i] * x[i];
    s = sum_of_warp(s);
    if ((threadIdx.x & 31) == 0) warps[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        float t = 0;
        for (int i = 0; i < blockDim.x / 32; i++) t += warps[i];
        partials[blockIdx.x] = t;
        __threadfence();
        last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    float t = 0;
    for (int i = 0; i < gridDim.x; i++) t += ((volatile float*)partials)[i];
    float r = rsqrtf(t / n + 1e-6f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] * r;
}

// One block a head: scores in dynamic shared memory, softmax, weighted sum of values.
extern "C" __global__ void attention(const float* q, const float* keys, const float* values, const int* position, float* out,
        int width, int size) {
    extern __shared__ float scores[];
    __shared__ float warps[32];
    int head = blockIdx.x, length = *position + 1, warp = threadIdx.x / 32, lane = threadIdx.x & 31, count = blockDim.x / 32;
    for (int p = warp; p < length; p += count) {
        float s = 0;
        for (int i = lane; i < size; i += 32) s += q[head * size + i] * keys[p * width + head * size + i];
        s = sum_of_warp(s);
        if (lane == 0) scores[p] = s * rsqrtf((float)size);
    }
    __syncthreads();
    float most = -__int_as_float(0x7f800000);
    for (int p = threadIdx.x; p < length; p += blockDim.x) most = fmaxf(most, scores[p]);
    most = max_of_warp(most);
    if (lane == 0) warps[warp] = most;
    __syncthreads();
    for (int i = 0; i < count; i++) most = fmaxf(most, warps[i]);
    __syncthreads();
    float sum = 0;
    for (int p = threadIdx.x; p < length; p += blockDim.x) {
        float e = expf(scores[p] - most);
        scores[p] = e;
        sum += e;
    }
    sum = sum_of_warp(sum);
    if (lane == 0) warps[warp] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < count; i++) sum += warps[i];
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        float o = 0;
        for (int p = 0; p < length; p++) o += scores[p] * values[p * width + head * size + i];
        out[head * size + i] = o / sum;
    }
}

// The library's functions: their slow paths use local memory, tables of constants, directed roundings and f64.
extern "C" __global__ void functions(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float results[12] = {expf(v), logf(fabsf(v)), sinf(v), cosf(v), tanhf(v), erff(v), powf(fabsf(v), 1.7f), sqrtf(fabsf(v)),
        1.0f / v, log1pf(fabsf(v)), expm1f(v), fmodf(v, 3.0f)};
    for (int k = 0; k < 12; k++) out[k * n + i] = results[k];
}

extern "C" __global__ void whole_numbers(const int* a, const int* b, long long* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i] | 1;
    long long wide = (long long)x << (y & 31);
    long long results[10] = {x / y, x % y, (unsigned)x / (unsigned)y, wide / y, wide % y, __popc(x), __clz(x), __ffs(x),
        __brev(x), (long long)__umulhi(x, y)};
    for (int k = 0; k < 10; k++) out[k * n + i] = results[k];
}
