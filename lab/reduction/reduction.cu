// Sum of an array: the document's reduction ladder and faster rungs beyond it.
#include <cmath>
#include <type_traits>

#include "harness/harness.h"
#include "reduction/stream.cuh"
#include "reduction/tiles.cuh"
#include "reduction/tree.cuh"

#if __has_include(<cub/device/device_reduce.cuh>)
#include <cub/device/device_reduce.cuh>
#define LAB_CUB 1
#endif

namespace {

const lab::Topic kTopic = {
    .name = "reduction",
    .title = "sum of an array: divergence, banks, idle threads, launches",
    .document = "004 (SPMD)",
    .shows =
        "A sum reads every element once and does almost nothing with it: memory bandwidth is the limit, and each step "
        "of the ladder removes another "
        "obstacle.",
    .size_names = "N",
    .quick_sizes = "4194304",
    .full_sizes = "4194304,4194301,268435456",
    .large_sizes = "268435456",
    .types = "int,float,double",
    .rungs = {{"interleaved, divergent", "every 2nd, 4th, ... thread works: all warps split"},
              {"interleaved", "the first threads work, striding: bank conflicts"},
              {"sequential", "neighbouring threads, neighbouring words: no conflicts"},
              {"first add during load", "two elements per thread at load: half of the blocks"},
              {"last warp unrolled", "the last 6 rounds by one warp without block barriers"},
              {"completely unrolled", "block size known to the compiler: no loop remains"},
              {"many elements", "resident threads walk through the array: two launches in all"},
              {"shuffles", "sums shuffled from lane to lane: one barrier per block"},
              {"vector loads", "16 bytes per load, four loads in flight"},
              {"atomics", "one launch: one atomic addition per block"},
              {"grid sync", "one launch: barrier over the grid, cooperative"},
              {"last block", "one launch: the last block adds the partial sums"},
              {"dealt",
               "tiles of 8 vectors per thread, distributed to the resident blocks; the last block writes the total"},
              {"CUB", "cub::DeviceReduce::Sum", lab::Role::library}},
    .options = {{"threads", "256", "threads of a block of the first six rungs: 64, 128, 256 or 512"}},
};

const char* const kDocument =
    "Sum of 2^22 elements on a Tesla K40m (288 GB/s by specification), as the document prints it:\n"
    "                                        time   bandwidth    step   total\n"
    "interleaved, with divergence       0.9941 ms   15.72 GB/s     n/a     n/a\n"
    "interleaved, without               0.6215 ms   25.14 GB/s    1.60    1.60\n"
    "sequential                         0.2588 ms   60.38 GB/s    1.00    1.61\n"
    "first add during load              0.1915 ms   81.59 GB/s    2.39    3.84\n"
    "loop unroll                        0.1915 ms   81.59 GB/s    1.35    5.19\n"
    "static unroll                      0.1753 ms   89.15 GB/s    1.09    5.67\n"
    "Its 'loop unroll' row repeats time and bandwidth of the row before: what the unrolling gave is lost. From\n"
    "its own times the speed-ups of 'first add' and 'loop unroll' belong one row higher: sequential 2.40 a step\n"
    "and 3.84 in all, first add 1.35 and 5.19; static unroll is 1.09 and 5.67 against what stands there. Its\n"
    "GB are GiB: 2^22 x 4 B / 0.9941 ms = 16.88e9 B/s = 15.72 GiB/s. To set beside it:\n"
    "warpgrind lab reduction --gpu k40m --sizes 4194304\n";

template <class T>
class Sums {
 public:
  Sums(lab::Program& program, const lab::Size& size, const char* type, int threads)
      : program_(program), size_(size), type_(type), threads_(threads), n_(size[0]), values_(random_values(), n_) {
    CHECK_CUDA(cudaDeviceGetAttribute(&sm_count_, cudaDevAttrMultiProcessorCount, 0));
    CHECK_CUDA(cudaMemset(tickets_.data(), 0, sizeof(unsigned)));
    CHECK_CUDA(cudaMemset(total_.data(), 0, sizeof(T)));
  }

  void tree() {
    // The partial sums of one launch are the input of the next.
    run_tree("interleaved, divergent", reduce_interleaved_divergent<T>, 1);
    run_tree("interleaved", reduce_interleaved<T>, 1);
    run_tree("sequential", reduce_sequential<T>, 1);
    run_tree("first add during load", reduce_first_add<T>, 2);
    run_tree("last warp unrolled", reduce_last_warp<T>, 2);
    switch (threads_) {
      case 64:
        return run_tree("completely unrolled", reduce_unrolled<T, 64>, 2);
      case 128:
        return run_tree("completely unrolled", reduce_unrolled<T, 128>, 2);
      case 256:
        return run_tree("completely unrolled", reduce_unrolled<T, 256>, 2);
      default:
        return run_tree("completely unrolled", reduce_unrolled<T, 512>, 2);
    }
  }
  void stream() {
    run_stream("many elements", reduce_several<T>);
    run_stream("shuffles", reduce_shuffle<T>);
    run_stream("vector loads", reduce_vector<T>);
    const int grid = stream_blocks();
    run(
        "atomics",
        [=, this] {
          CHECK_CUDA(cudaMemsetAsync(result_.data(), 0, sizeof(T), nullptr));
          reduce_atomic<<<grid, kThreads>>>(values_.data(), result_.data(), n_);
        },
        grid);
    grid_sync();
    run("last block", [=, this] {
      reduce_last_block<<<grid, kThreads>>>(values_.data(), partial_.data(), result_.data(), tickets_.data(), n_);
    });
    constexpr int kFlight = 8;
    int each = 0;
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, reduce_dealt<kFlight, T>, kThreads, 0));
    const int tiles = lab::blocks(n_ / Vector<T>::kCount, long(kThreads) * kFlight);
    const int dealt_to = std::max(1, std::min(tiles, each * sm_count_));
    run(
        "dealt",
        [=, this] {
          reduce_dealt<kFlight>
              <<<dealt_to, kThreads>>>(values_.data(), total_.data(), tickets_.data(), result_.data(), n_);
        },
        dealt_to);
  }
  void library() {
#ifdef LAB_CUB
    int major = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major < 8) return program_.skip(row("CUB"), "this GPU lacks an instruction (redux) that CUB was compiled to");
    size_t bytes = 0;
    CHECK_CUDA(cub::DeviceReduce::Sum(nullptr, bytes, values_.data(), result_.data(), n_));
    lab::DeviceArray<char> scratch(bytes + 1);
    run("CUB", [&] {
      size_t have = bytes;
      CHECK_CUDA(cub::DeviceReduce::Sum(scratch.data(), have, values_.data(), result_.data(), n_));
    });
#else
    program_.skip(row("CUB"), "built without CUB");
#endif
  }

 private:
  static constexpr bool kWhole = std::is_same_v<T, int>;
  static constexpr double kUnit = sizeof(T) == 8 ? lab::kUnitDouble : lab::kUnitFloat;

  // Integers for int. Otherwise multiples of 2^-24 in [0, 1), whose sum is exact in 64 bits. The values are not centred
  // on 0, so that a missing part changes the sum.
  std::vector<T> random_values() {
    lab::Random random(4);
    std::vector<T> values(lab::runs_in_part() ? 0 : n_);
    long long sum = 0;
    for (T& value : values) {
      const long v = kWhole ? long(random.below(2001)) - 1000 : random.bits();
      sum += v;
      value = static_cast<T>(kWhole ? v : v * 0x1p-24);
    }
    expected_ = kWhole ? sum : sum * 0x1p-24;
    return values;
  }
  // All terms are positive. So rounding errors of relative size u on the longest path of d additions give at most d u
  // times the sum, and 6 sqrt(d) u except in one case in 10^7 (Higham and Mary, A new approach to probabilistic
  // rounding error analysis, SIAM J. Sci. Comput. 41, 2019). d counts a thread's own additions, then the tree, then
  // `in_a_row` block sums that are added one after the other.
  double tolerance(int in_a_row) const {
    if (kWhole) return 0;
    const double threads = 0.125 * sm_count_ * 2048;  // the fewest threads of any rung here and in CUB
    const double depth = std::ceil(n_ / threads) + 2 * std::log2(n_ + 1.0) + 16 + in_a_row;
    return 6 * std::sqrt(depth) * kUnit * expected_;
  }

  lab::Case row(const char* rung) const {
    return {rung, size_, type_, {(n_ + 1.0) * sizeof(T), kWhole ? 0.0 : n_ - 1.0}};
  }
  int stream_blocks() const {
    return std::min(lab::blocks(n_, kThreads), sm_count_ * (2048 / kThreads));
  }

  // launch() writes the sum to result_.
  template <class Launch>
  void run(const char* rung, Launch launch, int in_a_row = 0) {
    program_.run(
        row(rung),
        [&] {
          result_.poison();
          partial_.poison();
          next_.poison();
        },
        launch, [&] { return lab::compare(result_.host(), std::vector<double>{expected_}, tolerance(in_a_row)); });
  }

  // Launches until one sum is left, each time one block for `per_thread` elements a thread.
  template <class Kernel>
  void run_tree(const char* rung, Kernel kernel, int per_thread) {
    run(rung, [=, this] {
      const T* from = values_.data();
      T *to = partial_.data(), *other = next_.data();
      for (long n = n_; from != result_.data();) {
        const int grid = lab::blocks(n, long(per_thread) * threads_);
        T* target = grid == 1 ? result_.data() : to;
        kernel<<<grid, threads_>>>(from, target, n);
        from = target;
        std::swap(to, other);
        n = grid;
      }
    });
  }
  // Sums the whole array, then the partial sums.
  template <class Kernel>
  void run_stream(const char* rung, Kernel kernel) {
    const int grid = stream_blocks();
    run(rung, [=, this] {
      kernel<<<grid, kThreads>>>(values_.data(), partial_.data(), n_);
      kernel<<<1, kThreads>>>(partial_.data(), result_.data(), grid);
    });
  }

  void grid_sync() {
#ifdef LAB_COOPERATIVE_GROUPS
    int can = 0, per_sm = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    if (!can) return program_.skip(row("grid sync"), "this GPU has no cooperative launch");
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, reduce_grid_sync<T>, kThreads, 0));
    const int grid = std::min(stream_blocks(), per_sm * sm_count_);
    run("grid sync", [=, this] {
      const T* in = values_.data();
      T *partial = partial_.data(), *result = result_.data();
      long n = n_;
      void* arguments[] = {&in, &partial, &result, &n};
      CHECK_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(reduce_grid_sync<T>), dim3(grid),
                                             dim3(kThreads), arguments, 0, nullptr));
    });
#else
    program_.skip(row("grid sync"), "built without cooperative groups");
#endif
  }

  lab::Program& program_;
  const lab::Size& size_;
  const char* type_;
  int threads_, sm_count_ = 0;
  long n_;
  double expected_ = 0;
  lab::DeviceArray<T> values_;
  lab::DeviceArray<T> partial_{size_t(n_) / 64 + 1 + kMostThreads * 64}, next_{partial_.count()}, result_{1}, total_{1};
  lab::DeviceArray<unsigned> tickets_{1};
};

template <class T>
void run_size(lab::Program& program, const lab::Size& size, const char* type, int threads) {
  const double bytes = 1.0 * sizeof(T) * size[0];
  if (!program.fits(size, 1.1 * bytes + (1 << 20), bytes)) return;
  Sums<T> sums(program, size, type, threads);
  sums.tree();
  sums.stream();
  sums.library();
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  const int threads = static_cast<int>(program.line().option_number("threads", 64, kMostThreads));
  if (threads & (threads - 1)) program.line().fail("--threads must be 64, 128, 256 or 512");
  for (const lab::Size& size : program.sizes()) {
    if (size[0] / threads > 0x7ffffffe) program.line().fail("more than 2147483647 blocks");
    for (const std::string& type : program.types())
      if (type == "double")
        run_size<double>(program, size, "double", threads);
      else if (type == "float")
        run_size<float>(program, size, "float", threads);
      else
        run_size<int>(program, size, "int", threads);
  }
  program.note("the document's table", kDocument);
  return program.finish();
}
