// The kernels of the topic bandwidth: each loads one resource of the GPU and as little else as possible.
#pragma once

constexpr int kThreads = 256;

__device__ inline float lanes_sum(float v) {
  return v;
}
__device__ inline float lanes_sum(float4 v) {
  return (v.x + v.y) + (v.z + v.w);
}
__device__ inline void set_lanes(float& v, float x) {
  v = x;
}
__device__ inline void set_lanes(float4& v, float x) {
  v = make_float4(x, x, x, x);
}
__device__ inline float add_scaled(float a, float s, float b) {
  return fmaf(s, b, a);
}
__device__ inline float4 add_scaled(float4 a, float s, float4 b) {
  return make_float4(fmaf(s, b.x, a.x), fmaf(s, b.y, a.y), fmaf(s, b.z, a.z), fmaf(s, b.w, a.w));
}

// Grid-stride loop for any length and any grid. The rest that does not fill a whole V goes to the first threads, one
// float each.
#define FOR_GRID(i, count)                                                             \
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < (count); \
       i += static_cast<long>(gridDim.x) * blockDim.x)

// Claim: the read bandwidth. Every word is read once, and only one sum a thread is written. The loads of an unrolled
// loop do not wait for each other.
template <class V>
__global__ void read_only(const float* in, float* sums, long n) {
  constexpr int kLanes = sizeof(V) / sizeof(float);
  const V* wide = reinterpret_cast<const V*>(in);
  float sum = 0;
#pragma unroll 8
  FOR_GRID(i, n / kLanes) sum += lanes_sum(wide[i]);
  FOR_GRID(i, n % kLanes) sum += in[n - 1 - i];
  sums[blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x] = sum;
}

// Claim: the write bandwidth. Every word is written once and none is read.
template <class V>
__global__ void write_only(float* out, float value, long n) {
  constexpr int kLanes = sizeof(V) / sizeof(float);
  V v;
  set_lanes(v, value);
  FOR_GRID(i, n / kLanes) reinterpret_cast<V*>(out)[i] = v;
  FOR_GRID(i, n % kLanes) out[n - 1 - i] = value;
}

// Claim: the copy bandwidth, half reads, half writes: the best for most kernels, and the other topics' ceiling.
template <class V>
__global__ void copy(const float* in, float* out, long n) {
  constexpr int kLanes = sizeof(V) / sizeof(float);
#pragma unroll 4
  FOR_GRID(i, n / kLanes) reinterpret_cast<V*>(out)[i] = reinterpret_cast<const V*>(in)[i];
  FOR_GRID(i, n % kLanes) out[n - 1 - i] = in[n - 1 - i];
}

// Claim: two reads, one write and a multiply-add for each element: the arithmetic adds no time to the memory's.
template <class V>
__global__ void triad(const float* a, const float* b, float* out, float s, long n) {
  constexpr int kLanes = sizeof(V) / sizeof(float);
#pragma unroll 4
  FOR_GRID(i, n / kLanes)
  reinterpret_cast<V*>(out)[i] = add_scaled(reinterpret_cast<const V*>(a)[i], s, reinterpret_cast<const V*>(b)[i]);
  FOR_GRID(i, n % kLanes) out[n - 1 - i] = fmaf(s, b[n - 1 - i], a[n - 1 - i]);
}

constexpr int kChains = 8;  // independent multiply-adds in flight a thread: hide their latency of 4 cycles

// Claim: the peak of the arithmetic units, 2 flop a lane and cycle. Registers only, with one store at the end.
template <class T>
__global__ void fma_chains(T* out, T factor, T add, int rounds) {
  T x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = static_cast<T>(threadIdx.x % 32 + c);
#pragma unroll 16
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int c = 0; c < kChains; ++c) x[c] = fma(x[c], factor, add);
  T sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum += x[c];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

constexpr int kSharedReads = 8;   // reads a round
constexpr int kSharedShifts = 8;  // possible first words of a round

// Claim: the bandwidth of shared memory, 128 bytes a cycle and SM. Neighbouring lanes read neighbouring 16-byte words,
// so there are no conflicts. Rounds begin at different words, so that the compiler cannot keep earlier reads.
__global__ void shared_read(float* out, int rounds) {
  __shared__ float4 words[kThreads + 32 * kSharedReads + kSharedShifts];
  for (int i = threadIdx.x; i < kThreads + 32 * kSharedReads + kSharedShifts; i += kThreads) {
    const float v = static_cast<float>(i % 7);
    words[i] = make_float4(v, v + 1, v + 2, v + 3);
  }
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    const float4* from = words + threadIdx.x + r % kSharedShifts;
#pragma unroll
    for (int k = 0; k < kSharedReads; ++k) sum += lanes_sum(from[32 * k]);
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

// Claim: the bandwidth of L2. A working set that fits L2 is read again and again, past L1 (ld.global.cg).
__global__ void l2_read(const float4* in, float* sums, long count, int passes) {
  float sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 8
    FOR_GRID(i, count) {
      float4 v;
      asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                   : "l"(in + i));
      sum += lanes_sum(v);
    }
  }
  sums[blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x] = sum;
}
