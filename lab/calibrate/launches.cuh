// Cost of starting work: launches, blocks, graphs, cold code and parameters, a barrier of the grid.
#pragma once

#include <cooperative_groups.h>

#include "calibrate/measure.h"

namespace calibrate {

static __global__ void nothing() {}
static __global__ void one_store(unsigned* out) {
  out[(blockIdx.x * blockDim.x + threadIdx.x) & 0xffff] = 1;
}
// A separate kernel for each number, so that it has never been launched before.
template <int kNumber>
__global__ void fresh(unsigned* out) {
  out[threadIdx.x] = kNumber * blockIdx.x;
}
static __global__ void write_end(Clock* times, int at) {
  Clock now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  times[2 * at] = now;
}
static __global__ void write_begin(Clock* times, int at) {
  Clock now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  times[2 * at + 1] = now;
}
static __global__ void grid_barriers(int rounds, Clock* clocks) {
  const Clock begin = clock64();
  for (int i = 0; i < rounds; ++i) cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
}

// Straight-line code, longer than the innermost instruction caches, run twice: first cold, then warm.
constexpr int kStraight = 2048;
template <int kCopy>
__global__ void straight_code(float a, float b, Clock* clocks, float* out) {
  float x[4] = {a, b, a + b, a - b + kCopy};
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    const Clock begin = clock64();
#pragma unroll
    for (int i = 0; i < kStraight; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[i % 4]) : "f"(a), "f"(b));
    clocks[pass] = clock64() - begin;
  }
  if (a == 12345) out[0] = x[0] + x[1] + x[2] + x[3];
}

struct Words {
  unsigned word[512];
};
// Reads pairs of words of one line: the compiler may load the first of a pair before the clock, but not both.
static __global__ void read_parameters(Words words, Clock* clocks, unsigned* out) {
  unsigned x = 0;
  const Clock begin = clock64();
  asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(words.word[300]));
  asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(words.word[301]));
  const Clock cold = clock64();
  asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(words.word[302]));
  asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(words.word[303]));
  const Clock warm = clock64();
  clocks[0] = cold - begin;
  clocks[1] = warm - cold;
  if (x == 12345) out[0] = x;
}

template <int kNumber>
double first_launch_ns(Bench& b) {
  CHECK_CUDA(cudaDeviceSynchronize());
  const double begin = lab::wall_us();
  fresh<kNumber><<<1, 32>>>(reinterpret_cast<unsigned*>(b.data));
  const double ns = (lab::wall_us() - begin) * 1e3;
  CHECK_KERNEL();
  return ns;
}
template <int... kNumbers>
double first_launches_ns(Bench& b) {
  return Bench::median({first_launch_ns<kNumbers>(b)...});
}

template <int kCopy>
double cold_cycles(Bench& b) {
  cudaFuncAttributes ignored;  // loads the code, so that only its way to the SM is timed
  CHECK_CUDA(cudaFuncGetAttributes(&ignored, straight_code<kCopy>));
  b.enqueue(Before::clean_l2);
  straight_code<kCopy><<<1, 32>>>(1.f, 1e-3f, b.clocks.data(), reinterpret_cast<float*>(b.data));
  CHECK_KERNEL();
  Clock passes[2];
  CHECK_CUDA(cudaMemcpy(passes, b.clocks.data(), sizeof passes, cudaMemcpyDeviceToHost));
  b.report.row("launch", "straight code cold;instructions=2048", {}, static_cast<double>(passes[0]), "cycle");
  b.report.row("launch", "straight code warm;instructions=2048", {}, static_cast<double>(passes[1]), "cycle");
  return static_cast<double>(passes[0]) - static_cast<double>(passes[1]);
}

class GraphOfKernels {
 public:
  explicit GraphOfKernels(int kernels) {
    CHECK_CUDA(cudaStreamCreate(&stream_));
    CHECK_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < kernels; ++i) nothing<<<1, 32, 0, stream_>>>();
    CHECK_CUDA(cudaStreamEndCapture(stream_, &graph_));
    CHECK_CUDA(cudaGraphInstantiate(&exec_, graph_, 0));
  }
  ~GraphOfKernels() {
    cudaGraphExecDestroy(exec_);
    cudaGraphDestroy(graph_);
    cudaStreamDestroy(stream_);
  }
  GraphOfKernels(const GraphOfKernels&) = delete;
  GraphOfKernels& operator=(const GraphOfKernels&) = delete;
  void launch() { CHECK_CUDA(cudaGraphLaunch(exec_, nullptr)); }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_;
  cudaGraphExec_t exec_;
};

inline void block_rates(Bench& b) {
  const int few = b.many(1 << 18, 64), most = b.many(1 << 20, 128);
  auto* words = reinterpret_cast<unsigned*>(b.data);
  const auto rate = [&](int threads, bool stores) {
    double ns[2];
    for (int i = 0; i < 2; ++i) {
      const int blocks = i ? most : few;
      const Sample s = b.time([&] {
        if (stores)
          one_store<<<blocks, threads>>>(words);
        else
          nothing<<<blocks, threads>>>();
      });
      ns[i] = s.ns;
      b.report.row("launch", text("%s;blocks=%d;threads=%d", stores ? "one store" : "nothing", blocks, threads), s,
                   s.ns / blocks, "ns a block");
    }
    return (ns[1] - ns[0]) / (most - few);
  };
  for (const int threads : {32, 64, 512}) rate(threads, false);
  b.report.set(Figure::block_ns, rate(256, false));
  const double full = rate(1024, false), stored = rate(1024, true);
  b.report.set(Figure::block_ns_1024, full);
  int resident = 1;
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, nothing, 1024, 0));
  const double cycles = b.ghz * b.sms * resident;  // a block's share of the SMs' time
  b.report.set(Figure::block_turnover_cycles, full * cycles);
  b.report.set(Figure::store_ack_cycles, (stored - full) * cycles);
}

inline void graphs(Bench& b) {
  GraphOfKernels one(1), few(8), most(40);
  const Sample single = b.time([&] { one.launch(); });
  b.report.set(Figure::graph_launch_ns, single.ns);
  const Sample s = b.time([&] { few.launch(); }), l = b.time([&] { most.launch(); });
  b.report.row("launch", "graph;kernels=8", s, s.ns / 8, "ns a kernel");
  b.report.row("launch", "graph;kernels=40", l, l.ns / 40, "ns a kernel");
  b.report.set(Figure::graph_kernel_ns, (l.ns - s.ns) / 32);
}

inline void cold_starts(Bench& b) {
  b.report.set(Figure::cold_instruction_ns,
               Bench::median({cold_cycles<0>(b), cold_cycles<1>(b), cold_cycles<2>(b)}) / kStraight / b.ghz);
  std::vector<double> cold;
  for (int i = 0; i < b.many(9, 1); ++i) {
    b.enqueue(Before::clean_l2);
    read_parameters<<<1, 32>>>(Words{}, b.clocks.data(), reinterpret_cast<unsigned*>(b.data));
    CHECK_KERNEL();
    Clock v[2];
    CHECK_CUDA(cudaMemcpy(v, b.clocks.data(), sizeof v, cudaMemcpyDeviceToHost));
    b.report.row("launch", "parameter cold", {}, static_cast<double>(v[0]), "cycle");
    b.report.row("launch", "parameter warm", {}, static_cast<double>(v[1]), "cycle");
    cold.push_back(static_cast<double>(v[0]) - static_cast<double>(v[1]));
  }
  b.report.row("launch", "parameter cold, beyond warm", {}, Bench::median(cold) / b.ghz, "ns");
}

inline void dependent_kernels(Bench& b) {
  const int pairs = b.many(40, 2);
  lab::DeviceArray<Clock> times(2 * static_cast<size_t>(pairs));
  const auto pair = [&](int at) {
    write_end<<<1, 32>>>(times.data(), at);
    write_begin<<<1, 32>>>(times.data(), at);
  };
  pair(0);  // loads the code
  CHECK_KERNEL();
  b.enqueue(Before::busy, 600000);
  for (int i = 0; i < pairs; ++i) pair(i);
  CHECK_KERNEL();
  const std::vector<Clock> t = times.host();
  double sum = 0;  // the mean: the timer's steps are coarse
  for (int i = 0; i < pairs; ++i) sum += static_cast<double>(t[2 * i + 1]) - static_cast<double>(t[2 * i]);
  b.report.row("launch", "dependent kernels", {}, sum / pairs, "ns");
}

inline void grid_barrier(Bench& b) {
  int rounds = b.many(200, 2);
  int supported = lab::device_attribute(cudaDevAttrCooperativeLaunch);
  if (!supported) return;
  Clock* clocks = b.clocks.data();
  void* arguments[] = {&rounds, &clocks};
  const Sample s = b.time(
      [&] {
        CHECK_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_barriers), dim3(b.sms), dim3(256),
                                               arguments, 0, nullptr));
      },
      Before::busy, b.sms);
  b.report.row("launch", "grid barriers", s, s.cycles / rounds, "cycle");
}

inline void launches(Bench& b) {
  const auto empty = [](int count) {
    for (int i = 0; i < count; ++i) nothing<<<1, 32>>>();
  };
  const double first = first_launches_ns<1, 2, 3, 4, 5, 6, 7, 8>(b);
  b.report.set(Figure::event_pair_ns, b.time([&] { empty(0); }).ns);
  b.report.set(Figure::launch_event_ns, b.time([&] { empty(1); }).ns);
  b.report.set(Figure::next_launch_ns, b.slope(empty, 8, b.many(40, 9), 400000));
  for (const int blocks : {b.sms, 8 * b.sms}) {
    const Sample s = b.time([&] { nothing<<<blocks, 32>>>(); });
    b.report.row("launch", text("nothing;blocks=%d;threads=32", blocks), s, s.ns, "ns");
  }
  const Sample store = b.time([&] { one_store<<<1, 32>>>(reinterpret_cast<unsigned*>(b.data)); });
  b.report.row("launch", "one store;blocks=1;threads=32", store, store.ns, "ns");
  b.enqueue(Before::busy, 3000000);
  const int count = b.many(300, 3);
  const double begin = lab::wall_us();
  empty(count);
  const double host = (lab::wall_us() - begin) * 1e3 / count;
  CHECK_KERNEL();
  b.report.set(Figure::host_launch_ns, host);
  b.report.set(Figure::first_launch_ns, first - host);
  std::vector<double> waits;
  for (int i = 0; i < b.many(30, 3); ++i) {
    const double issue = lab::wall_us();
    empty(1);
    CHECK_CUDA(cudaDeviceSynchronize());
    waits.push_back((lab::wall_us() - issue) * 1e3);
  }
  const double kernel = b.report[Figure::launch_event_ns] - b.report[Figure::event_pair_ns];
  b.report.set(Figure::host_wait_ns, Bench::median(waits) - host - kernel);
  dependent_kernels(b);
  graphs(b);
  cold_starts(b);
  block_rates(b);
  grid_barrier(b);
}

}  // namespace calibrate
