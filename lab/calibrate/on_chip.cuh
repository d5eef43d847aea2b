// Shared memory, constants, textures, L1: chains in which each address is the value just loaded, so that loads cannot
// be merged, hoisted or overlapped.
#pragma once

#include "calibrate/measure.h"

namespace calibrate {

constexpr int kLoads = 16;  // loads of the unrolled loop
constexpr int kSharedBytes = 32768;

// Each word of shared memory holds its own address, so a lane stays at its word. kWords: 1, 2 or 4 words a load.
template <int kWords>
__global__ void __launch_bounds__(1024) shared_chain(int rounds, int stride_words, Clock* clocks, unsigned* out) {
  extern __shared__ __align__(16) unsigned words[];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(words));
  for (unsigned i = threadIdx.x; i < kSharedBytes / 4; i += blockDim.x) words[i] = base + i / kWords * kWords * 4;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  unsigned at = base + lane * stride_words * 4 % kSharedBytes / (4 * kWords) * (4 * kWords);
  const Clock begin = clock64();
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int u = 0; u < kLoads; ++u) {
      if constexpr (kWords == 1) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
      if constexpr (kWords == 2) asm volatile("{.reg .u32 b; ld.shared.v2.u32 {%0, b}, [%0];}" : "+r"(at));
      if constexpr (kWords == 4) asm volatile("{.reg .u32 b, c, d; ld.shared.v4.u32 {%0, b, c, d}, [%0];}" : "+r"(at));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
  if (rounds < 0) out[threadIdx.x] = at;
}

// Each warp has 32 words of its own.
template <class T>
__global__ void __launch_bounds__(1024) shared_atomics(int rounds, T one, Clock* clocks, T* out) {
  __shared__ T words[1024];
  words[threadIdx.x] = 0;
  __syncthreads();
  const Clock begin = clock64();
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int u = 0; u < kLoads; ++u) atomicAdd(&words[(threadIdx.x + u * 32) % blockDim.x], one);
  }
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
  if (rounds < 0) out[threadIdx.x] = words[threadIdx.x];
}

constexpr int kTable = 16384;  // words: the whole constant memory
static __constant__ unsigned table[kTable];
static __global__ void __launch_bounds__(1024)
    constant_chain(int rounds, int addresses, int distance, Clock* clocks, unsigned* out) {
  unsigned at = threadIdx.x % 32 % addresses * 16 + threadIdx.x / 32 * distance;
  __syncthreads();
  const Clock begin = clock64();
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int u = 0; u < kLoads; ++u) at = table[at];
  }
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
  if (rounds < 0) out[threadIdx.x] = at;
}

// Each texel holds the middle of its own column.
static __global__ void __launch_bounds__(1024)
    texture_chain(cudaTextureObject_t image, int rounds, Clock* clocks, float* out) {
  float x = threadIdx.x % 32 + .5f;
  const float y = threadIdx.x / 32 + .5f;
  __syncthreads();
  const Clock begin = clock64();
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int u = 0; u < kLoads; ++u) x = tex2D<float>(image, x, y);
  }
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
  if (rounds < 0) out[threadIdx.x] = x;
}

// A local array that cannot be in registers because its index is unknown. spread: lanes use different elements.
static __global__ void local_stores(int rounds, int spread, Clock* clocks, int* out) {
  int local[128];
  for (int i = 0; i < 128; ++i) local[i] = out[i];
  unsigned at = spread ? threadIdx.x * 7 : 0;
  const Clock begin = clock64();
  for (int i = 0; i < rounds; ++i) {
    local[at % 128] = i;
    at += 5;
  }
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
  int sum = 0;
  for (int i = 0; i < 128; ++i) sum += local[i];
  if (rounds < 0) out[threadIdx.x] = sum;
}

inline void shared_memory(Bench& b) {
  const int rounds = b.many(32, 1), blocks = b.dry ? 1 : b.sms;
  auto* out = reinterpret_cast<unsigned*>(b.data);
  const auto cycles = [&](int words, int stride, int warps) {
    const auto kernel = words == 1 ? shared_chain<1> : words == 2 ? shared_chain<2> : shared_chain<4>;
    const Sample s = b.time([&] { kernel<<<blocks, 32 * warps, kSharedBytes>>>(rounds, stride, b.clocks.data(), out); },
                            Before::busy, blocks);
    const double each = s.cycles / (rounds * kLoads);
    b.report.row("shared", text("bytes=%d;stride=%d;warps=%d", 4 * words, stride, warps), s, each / warps,
                 "cycle a request");
    return each;
  };
  b.report.set(Figure::shared_latency_cycles, cycles(1, 1, 1));
  b.report.set(Figure::shared_wavefront_cycles, cycles(1, 1, 32) / 32);
  for (const int words : {1, 2, 4})
    for (const int stride : {words, 2 * words, 8 * words, 32}) cycles(words, stride, 32);
  const auto atomics = [&](const char* name, auto one, int warps) {
    const Sample s = b.time(
        [&] {
          shared_atomics<<<blocks, 32 * warps>>>(rounds, one, b.clocks.data(),
                                                 reinterpret_cast<decltype(one)*>(b.data));
        },
        Before::busy, blocks);
    const double each = s.cycles / (rounds * kLoads) / warps;
    b.report.row("shared", text("atomic %s;warps=%d", name, warps), s, each, "cycle a request");
    return each;
  };
  atomics("int", 1, 32);
  atomics("float", 1.f, 32);
  b.report.set(Figure::shared_cas_latency_cycles, atomics("float", 1.f, 1));
}

inline void constants(Bench& b) {
  const int rounds = b.many(16, 1), blocks = b.dry ? 1 : b.sms;
  std::vector<unsigned> own(kTable), walk(kTable);
  constexpr unsigned kStep = 16;  // words: 64 bytes, a line of the constant cache
  for (unsigned i = 0; i < kTable; ++i) {
    own[i] = i;
    walk[i] = (i + kStep) % (kTable / 2);
  }
  const auto cycles = [&](int addresses, int warps, int distance) {
    const Sample s = b.time(
        [&] {
          constant_chain<<<blocks, 32 * warps>>>(rounds, addresses, distance, b.clocks.data(),
                                                 reinterpret_cast<unsigned*>(b.data));
        },
        Before::busy, blocks);
    const double each = s.cycles / (rounds * kLoads);
    b.report.row("constant", text("addresses=%d;warps=%d;apart=%d", addresses, warps, distance), s, each / warps,
                 "cycle a request");
    return each;
  };
  CHECK_CUDA(cudaMemcpyToSymbol(table, own.data(), sizeof table));
  const double one = cycles(1, 1, 0);
  cycles(8, 1, 0);
  // One more instruction turns the index into an address.
  b.report.set(Figure::constant_latency_cycles, one - b.report[Figure::integer_latency_cycles]);
  b.report.set(Figure::constant_cycles, (cycles(32, 32, 0) - cycles(8, 32, 0)) / 24 / 32);
  CHECK_CUDA(cudaMemcpyToSymbol(table, walk.data(), sizeof table));
  cycles(1, 1, 0);
  b.report.set(Figure::constant_miss_cycles, cycles(1, 32, kTable / 2 / 32 / 16 * 16) / 32);
}

inline void textures(Bench& b) {
  constexpr int kSide = 32;
  std::vector<float> texels(kSide * kSide);
  for (int i = 0; i < kSide * kSide; ++i) texels[i] = i % kSide + .5f;
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK_CUDA(cudaMallocArray(&array, &format, kSide, kSide));
  CHECK_CUDA(cudaMemcpy2DToArray(array, 0, 0, texels.data(), kSide * 4, kSide * 4, kSide, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how{};
  how.filterMode = cudaFilterModePoint;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t image = 0;
  CHECK_CUDA(cudaCreateTextureObject(&image, &resource, &how, nullptr));
  const int rounds = b.many(32, 1), blocks = b.dry ? 1 : b.sms;
  for (const int warps : {1, 32}) {
    const Sample s = b.time(
        [&] {
          texture_chain<<<blocks, 32 * warps>>>(image, rounds, b.clocks.data(), reinterpret_cast<float*>(b.data));
        },
        Before::busy, blocks);
    const double each = s.cycles / (rounds * kLoads) / warps;
    b.report.row("texture", text("point;warps=%d", warps), s, each, "cycle a request");
    b.report.set(warps == 1 ? Figure::texture_latency_cycles : Figure::texture_cycles, each);
  }
  cudaDestroyTextureObject(image);
  cudaFreeArray(array);
}

inline void local_memory(Bench& b) {
  const int rounds = b.many(512, 8), blocks = b.dry ? 1 : b.sms;
  for (const int spread : {0, 1}) {
    const Sample s =
        b.time([&] { local_stores<<<blocks, 256>>>(rounds, spread, b.clocks.data(), reinterpret_cast<int*>(b.data)); },
               Before::busy, blocks);
    b.report.row("local", spread ? "store;each lane its element" : "store;one element", s, s.cycles / rounds / 8,
                 "cycle a request");
  }
}

inline void on_chip(Bench& b) {
  shared_memory(b);
  constants(b);
  textures(b);
  local_memory(b);
}

}  // namespace calibrate
