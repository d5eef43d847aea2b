// Sum of an array: the classic ladder, launched again on the partial sums until one is left, so that any length works;
// then what a GPU of today does instead.
#include "harness/harness.h"
#include "reduction/modern.cuh"
#include "reduction/tree.cuh"
#if __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#define LAB_HAVE_CUB 1
#endif

namespace {

const lab::Topic kTopic = {
    .name = "reduction",
    .title = "sum of an array: divergence, banks, idle threads",
    .document = "004 (SPMD)",
    .shows =
        "Seven steps of one tree, from half-empty warps to no loop at all; then many elements a thread, shuffles, wide "
        "loads, and a single launch.",
    .size_names = "N",
    .quick_sizes = "1048576",
    .full_sizes = "4194304,16777216,268435456",
    .types = "int,float,double",
    .rungs = {{"interleaved, divergent", "every 2nd, 4th, ... thread adds: most lanes of every warp are off"},
              {"interleaved", "the first threads add: whole warps are off, but strides hit the same banks"},
              {"sequential", "neighbouring threads, neighbouring words: no conflicts"},
              {"first add during load", "half the blocks: the first addition is part of the load"},
              {"last warp unrolled", "no block barriers in the last six rounds"},
              {"completely unrolled", "the block size is a template argument: no loop"},
              {"many elements", "a fixed grid strides through the data"},
              {"shuffles", "registers instead of shared memory"},
              {"vector loads", "16 bytes a load, four loads in flight"},
              {"grid sync", "one cooperative launch with a barrier over the grid"},
              {"last block", "one launch: the block that ends last adds the rest"},
              {"atomics", "one launch: one atomic addition a block"},
              {"CUB", "cub::DeviceReduce::Sum", lab::Role::library}},
};

template <class T>
struct Problem {
  Problem(const std::vector<T>& host, int blocks)
      : n(static_cast<long>(host.size())),
        in(host),
        partial(host.size() / 2 + 2048),
        other(host.size() / 2 + 2048),
        out(1),
        finished(1),
        blocks(blocks) {}
  long n;
  lab::DeviceArray<T> in, partial, other, out;
  lab::DeviceArray<unsigned> finished;
  int blocks;  // of a grid that fills the GPU
};

// Launches kernel(in, out, n) on ceil(n / per_block) blocks, then on the sums, until one is left, which goes to p.out.
template <class T, class Kernel>
void tree(Problem<T>& p, Kernel kernel, long per_block) {
  const T* from = p.in.data();
  T *to = p.partial.data(), *spare = p.other.data();
  for (long n = p.n;;) {
    const int blocks = lab::blocks(n, per_block);
    kernel<<<blocks, kThreads>>>(from, blocks == 1 ? p.out.data() : to, n);
    if (blocks == 1) return;
    n = blocks;
    from = to;
    std::swap(to, spare);
  }
}

// A grid that strides: its partial sums are one block's work.
template <class T, class Kernel>
void strided(Problem<T>& p, Kernel kernel) {
  const int blocks = static_cast<int>(std::min<long>(p.blocks, lab::blocks(p.n, kThreads)));
  kernel<<<blocks, kThreads>>>(p.in.data(), blocks == 1 ? p.out.data() : p.partial.data(), p.n);
  if (blocks > 1) kernel<<<1, kThreads>>>(p.partial.data(), p.out.data(), blocks);
}

template <class T>
void cub_sum(lab::Program& program, Problem<T>& p, const lab::Case& c, double expected, double tolerance) {
#ifdef LAB_HAVE_CUB
  size_t bytes = 0;
  CHECK_CUDA(cub::DeviceReduce::Sum(nullptr, bytes, p.in.data(), p.out.data(), p.n));
  lab::DeviceArray<char> workspace(std::max<size_t>(bytes, 1));
  program.run(
      c, [&] { p.out.poison(); },
      [&] { CHECK_CUDA(cub::DeviceReduce::Sum(workspace.data(), bytes, p.in.data(), p.out.data(), p.n)); },
      [&] { return lab::compare(p.out.host(), std::vector<double>{expected}, tolerance); });
#else
  program.skip(c, "CUB is not installed (it comes with the CUDA toolkit)");
#endif
}

template <class T>
void run_size(lab::Program& program, const lab::Size& size, const char* type) {
  const long n = size[0];
  const double bytes = sizeof(T) * static_cast<double>(n);
  if (!program.fits(size, 2 * bytes, 2 * bytes)) return;
  lab::Random random(17);
  std::vector<T> host(n);
  for (T& v : host) v = std::is_same_v<T, int> ? T(random.below(2001)) - T(1000) : T(random.symmetric());
  long double exact = 0;
  for (const T v : host) exact += v;
  const double expected = static_cast<double>(exact);
  // Integers are exact. Otherwise the bound for any order of the additions would be n u sum|x|; trees and strides add
  // at most about sqrt(n) terms in a row, so that bound with sqrt(n) terms holds with room to spare.
  const double unit = sizeof(T) == 8 ? lab::kUnitDouble : lab::kUnitFloat;
  const double tolerance = std::is_same_v<T, int> ? 0 : 4 * std::sqrt(double(n) + 64) * unit * n / 2;

  int device = 0, sms = 0;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  Problem<T> p(host, 8 * sms);  // 8 blocks of 256 threads fill an SM
  const auto of = [&](const char* rung) { return lab::Case{rung, size, type, {bytes, double(n)}}; };
  const auto run = [&](const char* rung, auto launch) {
    program.run(
        of(rung),
        [&] {
          p.out.poison();
          CHECK_CUDA(cudaMemset(p.finished.data(), 0, sizeof(unsigned)));
        },
        launch, [&] { return lab::compare(p.out.host(), std::vector<double>{expected}, tolerance); });
  };
  run("interleaved, divergent", [&] { tree(p, interleaved_divergent<T>, kThreads); });
  run("interleaved", [&] { tree(p, interleaved<T>, kThreads); });
  run("sequential", [&] { tree(p, sequential<T>, kThreads); });
  run("first add during load", [&] { tree(p, first_add<T>, 2 * kThreads); });
  run("last warp unrolled", [&] { tree(p, last_warp_unrolled<T>, 2 * kThreads); });
  run("completely unrolled", [&] { tree(p, completely_unrolled<kThreads, T>, 2 * kThreads); });
  run("many elements", [&] { strided(p, many_elements<kThreads, T>); });
  run("shuffles", [&] { strided(p, shuffles<kThreads, T>); });
  run("vector loads", [&] { strided(p, vector_loads<kThreads, T>); });

  const int blocks = static_cast<int>(std::min<long>(p.blocks, lab::blocks(n, kThreads)));
  run("grid sync", [&] {
    int resident = 0;
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, grid_sync<kThreads, T>, kThreads, 0));
    const T* in = p.in.data();
    T *partial = p.partial.data(), *out = p.out.data();
    long count = n;
    void* arguments[] = {&in, &partial, &out, &count};
    CHECK_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(grid_sync<kThreads, T>),
                                           dim3(std::min(blocks, resident * sms)), dim3(kThreads), arguments, 0,
                                           nullptr));
  });
  run("last block", [&] {
    last_block<kThreads><<<blocks, kThreads>>>(p.in.data(), p.partial.data(), p.out.data(), p.finished.data(), n);
  });
  run("atomics", [&] {
    CHECK_CUDA(cudaMemsetAsync(p.out.data(), 0, sizeof(T)));
    atomics<kThreads><<<blocks, kThreads>>>(p.in.data(), p.out.data(), n);
  });
  cub_sum(program, p, of("CUB"), expected, tolerance);
}

// The figures of the document, for a Tesla K40m and 2^22 ints.
void note_document(lab::Program& program) {
  program.note(
      "the document's table (Tesla K40m, 2^22 ints)",
      "interleaved, divergent   0.9941 ms   15.72 GB/s\n"
      "interleaved              0.6215 ms   25.14 GB/s   step 1.60   total 1.60\n"
      "sequential               0.2588 ms   60.38 GB/s   step 1.00   total 1.61   (2.40 and 3.84 by its own times)\n"
      "first add during load    0.1915 ms   81.59 GB/s   step 2.39   total 3.84   (1.35 and 5.19)\n"
      "loop unroll              0.1915 ms   81.59 GB/s   step 1.35   total 5.19   (time and bandwidth repeat the row\n"
      "                                                                            before; the speed-ups are that "
      "row's)\n"
      "static unroll            0.1753 ms   89.15 GB/s   step 1.09   total 5.67\n"
      "Bandwidth there is 4 bytes x 2^22 / time in units of 1.073e9: 2^22 x 4 / 0.9941 ms = 16.88e9 B/s = 15.72 "
      "GiB/s.\n"
      "To set beside it: warpgrind lab reduction --gpu k40m --sizes 4194304\n");
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  for (const std::string& type : program.types())
    for (const lab::Size& size : program.sizes()) {
      if (type == "int") run_size<int>(program, size, "int");
      if (type == "float") run_size<float>(program, size, "float");
      if (type == "double") run_size<double>(program, size, "double");
    }
  note_document(program);
  return program.finish();
}
