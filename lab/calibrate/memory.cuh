// L1, L2 and device memory: latency from chains of pointers, rates from loads that are all in flight, and the cost of
// requests that use only parts of sectors or lines. Rates inside a kernel come from its clocks. Rates of whole launches
// come from the difference of two sizes, so that the launch time cancels.
#pragma once

#include "calibrate/measure.h"

namespace calibrate {

static __global__ void make_chain(char* base, size_t step, size_t count) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) *reinterpret_cast<char**>(base + i * step) = base + (i + 1) % count * step;
}

enum class Level { l1, l2 };
template <Level kLevel>
__global__ void chase(const char* start, int warm, int loads, Clock* clocks, const char** out) {
  const char* at = start;
  const auto next = [&at] {
    if constexpr (kLevel == Level::l1)
      asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
    else
      asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
  };
  for (int i = 0; i < warm; ++i) next();
  const Clock begin = clock64();
#pragma unroll 16
  for (int i = 0; i < loads; ++i) next();
  *clocks = clock64() - begin + (at == nullptr);
  if (loads < 0) *out = at;
}

// Each round, a thread does four independent 16-byte loads. span: elements from block to block; 0: all read the same.
template <Level kLevel>
__global__ void __launch_bounds__(1024)
    read_rounds(const uint4* data, unsigned mask, unsigned span, int rounds, Clock* clocks, unsigned* out) {
  unsigned at = blockIdx.x * span + threadIdx.x, sum = 0;
  const unsigned step = gridDim.x * span;
  __syncthreads();
  const Clock begin = clock64();
  for (int r = 0; r < rounds; ++r) {
    uint4 v[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const uint4* p = data + ((at + u * blockDim.x + sum) & mask);  // sum is 0
      v[u] = kLevel == Level::l1 ? __ldca(p) : __ldcg(p);
    }
#pragma unroll
    for (int u = 0; u < 4; ++u) sum |= v[u].x | v[u].y | v[u].z | v[u].w;
    at += step;
  }
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
  if (sum != 0) *out = sum;
}

// Reads one word of each `stride`, with several loads in flight. kLevel as above.
template <Level kLevel>
__global__ void __launch_bounds__(1024)
    read_strided(const unsigned* data, unsigned mask, unsigned stride, int rounds, Clock* clocks, unsigned* out) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * stride, sum = 0;
  const unsigned step = gridDim.x * blockDim.x * stride;
  __syncthreads();
  const Clock begin = clock64();
  for (int r = 0; r < rounds; ++r) {
    unsigned v[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const unsigned* p = data + ((at + u * step + sum) & mask);
      v[u] = kLevel == Level::l1 ? __ldca(p) : __ldcg(p);
    }
#pragma unroll
    for (int u = 0; u < 4; ++u) sum |= v[u];
    at += 4 * step;
  }
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
  if (sum != 0) *out = sum;
}

static __global__ void write_rounds(uint4* data, unsigned mask, int rounds) {
  unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    data[at & mask] = make_uint4(0, 0, 0, 0);
    at += gridDim.x * blockDim.x;
  }
}

// Reads one 16-byte element a thread.
static __global__ void read_once(const uint4* in, unsigned* out) {
  const uint4 v = in[blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x];
  if ((v.x | v.y | v.z | v.w) != 0) *out = v.x;
}
static __global__ void write_once(uint4* out) {
  out[blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x] = make_uint4(0, 0, 0, 0);
}
static __global__ void copy_once(const uint4* in, uint4* out) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  out[i] = in[i];
}
// Reads one word a thread, `stride` words apart.
static __global__ void read_word(const unsigned* in, size_t stride, size_t mask, unsigned* out) {
  const unsigned v = in[(blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) * stride & mask];
  if (v != 0) *out = v;
}
static __global__ void write_word(unsigned* out, size_t stride, size_t mask) {
  out[(blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x) * stride & mask] = 0;
}

template <class T, bool kResult>
__global__ void atomics(T* data, unsigned mask, unsigned stride, int rounds, T* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  T sum = 0;
  for (int r = 0; r < rounds; ++r) {
    T* p = data + static_cast<size_t>((i + r * gridDim.x * blockDim.x) & mask) * stride;
    if constexpr (kResult)
      sum += atomicAdd(p, static_cast<T>(1));
    else
      atomicAdd(p, static_cast<T>(1));
  }
  if (kResult && sum == static_cast<T>(12345)) *out = sum;
}

inline unsigned power_of_two_up_to(size_t value) {
  unsigned out = 1;
  while (out <= value / 2 && out < (1u << 31)) out *= 2;
  return out;
}

inline void latencies(Bench& b) {
  const auto chain = [&](const char* name, Level level, size_t step, size_t count, int warm, int loads, Before before) {
    const auto kernel = level == Level::l1 ? chase<Level::l1> : chase<Level::l2>;
    make_chain<<<lab::blocks(static_cast<long>(count), 256), 256>>>(b.data, step, count);
    CHECK_KERNEL();
    const Sample s =
        b.time([&] { kernel<<<1, 1>>>(b.data, warm, loads, b.clocks.data(), reinterpret_cast<const char**>(b.other)); },
               before, 1);
    b.report.row("memory", text("chain %s;step=%zu;count=%zu", name, step, count), s, s.cycles / loads, "cycle");
    return s.cycles / loads;
  };
  b.report.set(Figure::l1_latency_cycles, chain("L1", Level::l1, 128, 64, 64, b.many(1024, 32), Before::busy));
  // A range of 4 MiB, so that near and far L2 slices count.
  const int l2 = b.many(4096, 64);
  b.report.set(Figure::l2_latency_cycles, chain("L2", Level::l2, 1056, l2, l2, l2, Before::busy));
  // Each line is read once after a flush. Most steps stay inside a page of the address translation tables.
  const int far = b.many(2048, 64);
  b.report.set(Figure::dram_latency_cycles, chain("DRAM", Level::l2, 4224, far, 0, far, Before::clean_l2));
  CHECK_CUDA(cudaMemset(b.data, 0, b.bytes));
}

inline void cache_rates(Bench& b) {
  auto* elements = reinterpret_cast<uint4*>(b.data);
  auto* words = reinterpret_cast<unsigned*>(b.data);
  auto* out = reinterpret_cast<unsigned*>(b.other);
  // Bytes a cycle, over all SMs in use.
  const auto rate = [&](const char* name, Level level, size_t bytes, int blocks, int rounds) {
    const auto kernel = level == Level::l1 ? read_rounds<Level::l1> : read_rounds<Level::l2>;
    const auto mask = static_cast<unsigned>(bytes / sizeof(uint4) - 1);
    const unsigned span = level == Level::l1 ? 0 : 4096;
    const Sample s = b.time([&] { kernel<<<blocks, 1024>>>(elements, mask, span, rounds, b.clocks.data(), out); },
                            Before::busy, blocks);
    const double moved = static_cast<double>(blocks) * 1024 * 4 * sizeof(uint4) * rounds;
    b.report.row("memory", text("read %s;bytes=%zu;blocks=%d", name, bytes, blocks), s, moved / s.cycles,
                 "byte a cycle");
    return moved / s.cycles;
  };
  const int rounds = b.many(128, 1);
  rate("L1", Level::l1, 65536, b.dry ? 1 : b.sms, rounds);
  const unsigned l2 = power_of_two_up_to(b.dry ? 1 << 20 : b.l2_bytes / 3);
  rate("L2, one SM", Level::l2, l2, 1, rounds);
  b.report.set(Figure::l2_sm_bytes_per_cycle, rate("L2, some SMs", Level::l2, l2, b.dry ? 1 : 8, rounds) / 8);
  for (size_t bytes = 2 << 20; bytes <= 2 * b.l2_bytes && !b.dry; bytes *= 2)
    rate("L2, all SMs", Level::l2, bytes, 2 * b.sms, 64);
  b.report.set(Figure::l2_read_gbps, rate("L2, all SMs", Level::l2, l2, b.dry ? 1 : 2 * b.sms, 64) * b.ghz);

  const auto strided = [&](const char* name, Level level, size_t bytes, unsigned stride, int strided_rounds) {
    const auto kernel = level == Level::l1 ? read_strided<Level::l1> : read_strided<Level::l2>;
    const int blocks = b.dry ? 1 : level == Level::l1 ? b.sms : 2 * b.sms;
    const auto mask = static_cast<unsigned>(bytes / 4 - 1);
    const Sample s =
        b.time([&] { kernel<<<blocks, 1024>>>(words, mask, stride, strided_rounds, b.clocks.data(), out); },
               Before::busy, blocks);
    const double lanes = static_cast<double>(blocks) * 1024 * 4 * strided_rounds / s.cycles;
    b.report.row("memory", text("%s;bytes=%zu;stride=%u", name, bytes, stride), s, lanes, "word a cycle");
    return lanes;
  };
  for (const unsigned stride : {1u, 2u, 8u, 33u}) strided("words from L1", Level::l1, 32768, stride, rounds);
  const double apart = strided("words from L1", Level::l1, 32768, 32, rounds);  // one pass a word: new line, same bank
  b.report.set(Figure::l1_pass_cycles, b.sms / apart);
  strided("a sector of a line from L2", Level::l2, l2, 32, rounds);
  strided("one line from L2", Level::l2, 128, 1, rounds);
}

inline void device_memory(Bench& b) {
  constexpr int kThreads = 256;
  auto* in = reinterpret_cast<uint4*>(b.data);
  auto* copy = reinterpret_cast<uint4*>(b.other);
  auto* out = reinterpret_cast<unsigned*>(b.other);
  const size_t large = b.bytes / 2, small = large / 4;
  // Additional nanoseconds of the larger of two sizes.
  const auto more = [&](const char* name, auto launch) {
    double ns[2];
    for (int i = 0; i < 2; ++i) {
      const size_t bytes = i ? large : small;
      const int blocks = lab::blocks(static_cast<long>(bytes / sizeof(uint4)), kThreads);
      const Sample s = b.time([&] { launch(blocks); }, Before::clean_l2);
      b.report.row("memory", text("%s;bytes=%zu", name, bytes), s, static_cast<double>(bytes) / s.ns, "GB/s");
      ns[i] = s.ns;
    }
    return ns[1] - ns[0];
  };
  const double moved = static_cast<double>(large - small);
  const double read = more("read", [&](int blocks) { read_once<<<blocks, kThreads>>>(in, out); });
  const double write = more("write", [&](int blocks) { write_once<<<blocks, kThreads>>>(copy); });
  const double both = more("copy", [&](int blocks) { copy_once<<<blocks, kThreads>>>(in, copy); });
  b.report.set(Figure::dram_read_gbps, moved / read);
  b.report.set(Figure::dram_write_gbps, moved / write);
  b.report.set(Figure::dram_copy_gbps, 2 * moved / both);

  // Reads of data that fits L2, once after a fill and once after a flush that leaves L2 clean.
  const int blocks = lab::blocks(static_cast<long>(std::min(b.l2_bytes, large) / sizeof(uint4)), kThreads);
  const auto reading = [&](Before before) {
    const Sample s = b.time([&] { read_once<<<blocks, kThreads>>>(in, out); }, before);
    b.report.row("memory", before == Before::dirty_l2 ? "read after a fill" : "read after a flush", s, s.ns, "ns");
    return s.ns;
  };
  const double dirty = reading(Before::dirty_l2), clean = reading(Before::clean_l2);
  b.report.set(Figure::dirty_l2_bytes, (dirty - clean) * b.report[Figure::dram_write_gbps]);
}

inline void l2_writes(Bench& b) {
  auto* elements = reinterpret_cast<uint4*>(b.data);
  const unsigned l2 = power_of_two_up_to(b.dry ? 1 << 20 : b.l2_bytes / 3);
  const int blocks = b.dry ? 1 : 8 * b.sms;
  const auto ns = [&](int rounds) {
    const Sample s =
        b.time([&] { write_rounds<<<blocks, 256>>>(elements, static_cast<unsigned>(l2 / sizeof(uint4) - 1), rounds); });
    b.report.row("memory", text("write L2;rounds=%d", rounds), s, blocks * 256. * 16 * rounds / s.ns, "GB/s");
    return s.ns;
  };
  const int few = b.many(32, 1), most = b.many(128, 2);
  const double first = ns(few);
  b.report.set(Figure::l2_write_gbps, blocks * 256. * sizeof(uint4) * (most - few) / (ns(most) - first));
}

inline void sectors(Bench& b) {
  constexpr int kThreads = 256;
  auto* words = reinterpret_cast<unsigned*>(b.data);
  auto* out = reinterpret_cast<unsigned*>(b.other);
  const size_t all = power_of_two_up_to(b.bytes / 4);
  // Words a nanosecond, from the difference between `most` words and a quarter of them.
  const auto rate = [&](const char* name, size_t stride, size_t footprint, Before before, auto launch) {
    const long most = b.dry ? 1 << 12 : static_cast<long>(std::min<size_t>(size_t{1} << 22, all / stride));
    double ns[2];
    for (int i = 0; i < 2; ++i) {
      const long count = i ? most : most / 4;
      const Sample s = b.time([&] { launch(lab::blocks(count, kThreads), stride, footprint / 4 - 1); }, before);
      b.report.row("memory", text("%s;stride=%zu;words=%ld", name, stride, count), s, count / s.ns, "1/ns");
      ns[i] = s.ns;
    }
    return 0.75 * most / (ns[1] - ns[0]);
  };
  const auto read = [&](int blocks, size_t stride, size_t mask) {
    read_word<<<blocks, kThreads>>>(words, stride, mask, out);
  };
  const auto write = [&](int blocks, size_t stride, size_t mask) {
    write_word<<<blocks, kThreads>>>(words, stride, mask);
  };
  const double gbps = b.report[Figure::dram_read_gbps];
  const auto piece = [&](size_t stride) { return gbps / rate("read a word", stride, all * 4, Before::clean_l2, read); };
  b.report.set(Figure::dram_piece_bytes_128, piece(32));
  b.report.set(Figure::dram_piece_bytes_256, piece(64));
  b.report.set(Figure::dram_piece_bytes_512, piece(128));
  const size_t l2 = power_of_two_up_to(b.dry ? 1 << 20 : b.l2_bytes / 3);
  // One load a thread, as in kernels with strides. The row above does the same loads four at a time.
  b.report.set(Figure::l2_lines_per_ns, rate("read a word, L2", 32, l2, Before::busy, read));
  b.report.set(Figure::partial_write_sectors_per_ns, rate("write a word, L2", 8, l2, Before::busy, write));
  b.report.set(Figure::lone_partial_write_sectors_per_ns, rate("write a word, L2", 32, l2, Before::busy, write));
  for (const size_t stride : {2, 4, 16}) rate("write a word, L2", stride, l2, Before::busy, write);
  for (const size_t stride : {8, 32}) rate("write a word, DRAM", stride, all * 4, Before::clean_l2, write);
}

inline void global_atomics(Bench& b) {
  const int blocks = b.dry ? 2 : 8 * b.sms;
  constexpr int kThreads = 256;
  // Nanoseconds of a warp's request, over all SMs together.
  const auto request = [&](const char* name, auto zero, auto kernel, unsigned addresses, unsigned stride, int more) {
    using T = decltype(zero);
    double ns[2];
    for (int i = 0; i < 2; ++i) {
      const int rounds = b.many(i ? 3 * more : more, 1);
      const Sample s = b.time([&] {
        kernel<<<blocks, kThreads>>>(reinterpret_cast<T*>(b.data), addresses - 1, stride, rounds,
                                     reinterpret_cast<T*>(b.other));
      });
      b.report.row("atomic", text("%s;addresses=%u;stride=%u;rounds=%d", name, addresses, stride, rounds), s,
                   s.ns / (blocks * 8. * rounds), "ns a request");
      ns[i] = s.ns;
    }
    return (ns[1] - ns[0]) / (blocks * 8. * 2 * more);
  };
  // 32 lanes in 32 different sectors of 8 words.
  const unsigned wide = b.dry ? 1 << 10 : 1 << 16;
  b.report.set(Figure::red_sectors_per_ns, 32 / request("red int", 0u, atomics<unsigned, false>, wide, 8, 4));
  b.report.set(Figure::atom_sectors_per_ns, 32 / request("atom int", 0u, atomics<unsigned, true>, wide, 8, 4));
  b.report.set(Figure::hot_atomic_ns, request("red int", 0u, atomics<unsigned, false>, 1, 1, 1));
  b.report.set(Figure::hot_atomic_float_ns, request("red float", 0.f, atomics<float, false>, 1, 1, 1));
  b.report.set(Figure::hot_sector_ns, request("red int", 0u, atomics<unsigned, false>, 32, 8, 1));
  request("red int", 0u, atomics<unsigned, false>, 32, 1, 1);
  request("red float", 0.f, atomics<float, false>, 32, 1, 1);
  request("red double", 0., atomics<double, false>, wide, 4, 4);
  request("red double", 0., atomics<double, false>, 1, 1, 1);
  CHECK_CUDA(cudaMemset(b.data, 0, b.bytes));
}

inline void memory(Bench& b) {
  latencies(b);
  cache_rates(b);
  device_memory(b);
  l2_writes(b);
  sectors(b);
  global_atomics(b);
}

}  // namespace calibrate
