// Bandwidth: the theoretical value from the data sheet, and the values that plain kernels reach. Its rows are the
// ceilings for the other topics.
#include "bandwidth/copy_tiles.cuh"
#include "bandwidth/kernels.cuh"
#include "bandwidth/query.h"
#include "harness/harness.h"

namespace {

const lab::Topic kTopic = {
    .name = "bandwidth",
    .title = "the device, its theoretical bandwidth, and the ceilings that kernels reach",
    .document = "000 (COSC 407)",
    .shows =
        "Theoretical bandwidth is clock x bus width x 2; effective bandwidth is bytes read and written per time. Also "
        "the limits of arithmetic, shared memory and the L2 cache.",
    .size_names = "N",
    .quick_sizes = "65536,1048576,8388608",
    .full_sizes = "65536,1048576,16777216,268435456",
    .rungs = {{"read", "each float read once, words of 4 or 16 bytes a thread", lab::Role::bound},
              {"write", "each float written once", lab::Role::bound},
              {"copy", "each float read and written once", lab::Role::bound},
              {"copy tiles", "one block per 4 KiB, in the order of the addresses", lab::Role::bound},
              {"triad", "a + s b: two reads, one write", lab::Role::bound},
              {"fma float", "multiply-adds in registers, float", lab::Role::bound},
              {"fma double", "multiply-adds in registers, double", lab::Role::bound},
              {"shared read", "shared memory, 16 bytes a lane, no conflicts", lab::Role::bound},
              {"l2 read", "a quarter of the L2 cache, read repeatedly, bypassing L1", lab::Role::bound}},
};

int full_gpu() {  // blocks of kThreads that are resident at once: no tail
  return lab::device_attribute(cudaDevAttrMultiProcessorCount) *
         (lab::device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / kThreads);
}

class Memory {
 public:
  Memory(lab::Program& program, const lab::Size& size)
      : program_(program),
        size_(size),
        n_(size[0]),
        grid_(static_cast<int>(std::min<long>(full_gpu(), (n_ + kThreads - 1) / kThreads))),
        a_host_(lab::Random(1).floats(n_)),
        b_host_(lab::Random(2).floats(n_)),
        a_(a_host_),
        b_(b_host_),
        out_(n_),
        sums_(static_cast<size_t>(grid_) * kThreads) {}

  template <class V>
  void all() {
    const double bytes = 4.0 * n_;
    run<V>(
        "read", {bytes, 0}, read_only<V>, [&] { read_only<V><<<grid_, kThreads>>>(a_.data(), sums_.data(), n_); },
        [&] { return verify_read<V>(); });
    run<V>(
        "write", {bytes, 0}, write_only<V>, [&] { write_only<V><<<grid_, kThreads>>>(out_.data(), 2.5f, n_); },
        [&] { return lab::compare(out_.host(), std::vector<float>(n_, 2.5f)); });
    run<V>(
        "copy", {2 * bytes, 0}, copy<V>, [&] { copy<V><<<grid_, kThreads>>>(a_.data(), out_.data(), n_); },
        [&] { return lab::compare(out_.host(), a_host_); });
    run<V>(
        "triad", {3 * bytes, 2.0 * n_}, triad<V>,
        [&] { triad<V><<<grid_, kThreads>>>(a_.data(), b_.data(), out_.data(), kScale, n_); },
        [&] {
          std::vector<double> expected(n_);
          for (long i = 0; i < n_; ++i) expected[i] = a_host_[i] + static_cast<double>(kScale) * b_host_[i];
          return lab::compare(out_.host(), expected, 2 * lab::kUnitFloat);  // one rounding of a value below 1.5
        });
  }
  void tiles() {
    const auto kernel = copy_tiles<kThreads, 1, Hint::none>;
    const int grid = std::max(1, lab::blocks(n_ / 4, kThreads));
    run<float4>(
        "copy tiles", {8.0 * n_, 0}, kernel, [&] { kernel<<<grid, kThreads>>>(a_.data(), out_.data(), n_); },
        [&] { return lab::compare(out_.host(), a_host_); });
  }

 private:
  template <class V, class Kernel, class Launch, class Verify>
  void run(const char* rung, lab::Work work, Kernel kernel, Launch launch, Verify verify) {
    const lab::Case c{rung, size_, "float", work, {{"word", static_cast<double>(sizeof(V))}}};
    if (!lab::block_fits(kernel, kThreads)) return program_.skip(c, "no block of 256 threads fits an SM of this GPU");
    program_.run(
        c,
        [&] {
          out_.poison();
          sums_.poison();
        },
        launch, verify);
  }

  // Each thread adds up the words that the kernel's grid-stride loop gives it.
  template <class V>
  lab::Verdict verify_read() const {
    constexpr long kLanes = sizeof(V) / sizeof(float);
    const long threads = static_cast<long>(grid_) * kThreads, whole = n_ / kLanes * kLanes;
    std::vector<double> expected(threads), tolerance(threads);
    for (long i = 0; i < whole; ++i) expected[i / kLanes % threads] += a_host_[i];
    for (long i = whole; i < n_; ++i) expected[n_ - 1 - i] += a_host_[i];
    const double terms = static_cast<double>(kLanes * ((whole / kLanes + threads - 1) / threads) + 1);
    return lab::compare(sums_.host(), expected, lab::sum_tolerance(terms, lab::kUnitFloat));
  }

  static constexpr float kScale = 0.5f;
  lab::Program& program_;
  const lab::Size& size_;
  long n_;
  int grid_;
  std::vector<float> a_host_, b_host_;
  lab::DeviceArray<float> a_, b_, out_, sums_;
};

// Does the same fused multiply-adds in the same order: equal to the last bit. Only the lane within the warp matters.
template <class T>
std::vector<T> fma_reference(size_t threads, T factor, T add, int rounds) {
  std::vector<T> of_lane(32), out(threads);
  for (int lane = 0; lane < 32; ++lane)
    for (int c = 0; c < kChains; ++c) {
      T x = static_cast<T>(lane + c);
      for (int r = 0; r < rounds; ++r) x = std::fma(x, factor, add);
      of_lane[lane] += x;
    }
  for (size_t t = 0; t < threads; ++t) out[t] = of_lane[t % kThreads % 32];
  return out;
}

template <class T>
void run_fma(lab::Program& program, const char* rung, const char* type, int rounds) {
  const size_t threads = static_cast<size_t>(full_gpu()) * kThreads;
  const T factor = static_cast<T>(0.75), add = static_cast<T>(0.5);
  lab::DeviceArray<T> out(threads);
  const lab::Case c{
      rung, {{static_cast<long>(threads)}}, type, {0, 2.0 * threads * kChains * rounds}, {{"rounds", 1.0 * rounds}}};
  if (!lab::block_fits(fma_chains<T>, kThreads))
    return program.skip(c, "no block of 256 threads fits an SM of this GPU");
  program.run(
      c, [&] { out.poison(); }, [&] { fma_chains<T><<<full_gpu(), kThreads>>>(out.data(), factor, add, rounds); },
      [&] { return lab::compare(out.host(), fma_reference(threads, factor, add, rounds)); });
}

void run_shared(lab::Program& program, int rounds) {
  const int grid = full_gpu();
  const size_t threads = static_cast<size_t>(grid) * kThreads;
  lab::DeviceArray<float> out(threads);
  program.run(
      {"shared read",
       {{static_cast<long>(threads)}},
       "float",
       {16.0 * threads * kSharedReads * rounds, 0},
       {{"rounds", 1.0 * rounds}}},
      [&] { out.poison(); }, [&] { shared_read<<<grid, kThreads>>>(out.data(), rounds); },
      [&] {  // small integers: exact below 2^24, and 1024 rounds of 8 reads of at most 30 stay below
        std::vector<float> of_thread(kThreads), expected(threads);
        for (int t = 0; t < kThreads; ++t)
          for (int r = 0; r < rounds; ++r)
            for (int k = 0; k < kSharedReads; ++k) of_thread[t] += 4 * ((t + r % kSharedShifts + 32 * k) % 7) + 6;
        for (size_t i = 0; i < threads; ++i) expected[i] = of_thread[i % kThreads];
        return lab::compare(out.host(), expected);
      });
}

void run_l2(lab::Program& program, int passes) {
  const int l2 = lab::device_attribute(cudaDevAttrL2CacheSize);
  const long count = l2 / 4 / 16;
  const lab::Size size{{count * 4}};
  if (count == 0) return program.skip({"l2 read", size, "float", {}}, "this GPU has no L2 cache for global memory");
  const int grid = static_cast<int>(std::min<long>(full_gpu(), (count + kThreads - 1) / kThreads));
  const long threads = static_cast<long>(grid) * kThreads;
  const std::vector<float> host = lab::Random(3).floats(count * 4);
  lab::DeviceArray<float> in(host), sums(threads);
  const lab::Case c{"l2 read", size, "float", {16.0 * count * passes, 0}, {{"passes", 1.0 * passes}}, /*cold=*/false};
  program.run(
      c, [&] { sums.poison(); },
      [&] { l2_read<<<grid, kThreads>>>(reinterpret_cast<const float4*>(in.data()), sums.data(), count, passes); },
      [&] {
        std::vector<double> expected(threads);
        for (long i = 0; i < count * 4; ++i) expected[i / 4 % threads] += static_cast<double>(host[i]) * passes;
        const double terms = 4.0 * passes * static_cast<double>((count + threads - 1) / threads);
        return lab::compare(sums.host(), expected, lab::sum_tolerance(terms, lab::kUnitFloat));
      });
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  program.note("the device", device_query());
  program.note("theoretical bandwidth: memory clock x bus width x 2", theoretical_bandwidth());
  for (const lab::Size& size : program.sizes()) {
    if (!program.fits(size, 12.0 * size[0], 32.0 * size[0])) continue;
    Memory memory(program, size);
    memory.all<float>();
    memory.all<float4>();
    memory.tiles();
  }
  // Enough rounds that the launch's own time is small beside the kernel's.
  const int rounds = program.full() ? 4096 : 256;
  run_fma<float>(program, "fma float", "float", rounds);
  run_fma<double>(program, "fma double", "double", rounds / 2);
  run_shared(program, program.full() ? 1024 : 32);
  run_l2(program, program.full() ? 32 : 4);
  return program.finish();
}
