// Variants of kernels that do several sweeps or both passes in one launch: Jacobi, separable blur.
#include "harness/strips.h"
#include "image/blur_stream.cuh"
#include "poisson/kernels.cuh"
#include "poisson/ring.cuh"
#include "poisson/stream.cuh"
#include "variants/bench.h"

namespace {

using variants::Bench;

template <class T>
class Sweeps {
 public:
  Sweeps(Bench& bench, const char* part, int rows, int columns)
      : bench_(bench),
        part_(part),
        g_(rows, columns),
        start_(g_.elements()),
        source_(g_.elements()),
        out_(g_.elements()),
        expected_(g_.elements()),
        between_(g_.elements()) {
    variants::fill_values<<<variants::kFillBlocks, variants::kFillThreads>>>(start_.data(), start_.count(), 21);
    variants::fill_values<<<variants::kFillBlocks, variants::kFillThreads>>>(source_.data(), start_.count(), 22);
    CHECK_KERNEL();
  }

  template <class R>
  void ring(const char* name, int waves) {
    const auto kernel = poisson::jacobi_ring<R>;
    CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, R::kShared));
    int each = 0;
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, 32 * R::kWarps, R::kShared));
    const lab::Strips cut = lab::cut_strips(g_.rows, g_.columns, R::kWidth, R::kWarps, each, waves);
    run(std::string(name) + " w" + std::to_string(waves) + " " + std::to_string(each * R::kWarps) + "/SM", R::kDepth,
        [=, this] {
          kernel<<<cut.grid, 32 * R::kWarps, R::kShared>>>(start_.data() + g_.origin(), source_.data() + g_.origin(),
                                                           out_.data() + g_.origin(), g_, cut.chunk);
        });
  }
  template <int kDepth>
  void stream(const char* name) {
    const dim3 grid(lab::blocks(g_.columns, poisson::kStripWidth<T, kDepth>),
                    lab::blocks(g_.rows, 128 * poisson::kStreamWarps));
    run(name, kDepth, [=, this] {
      poisson::jacobi_stream<T, kDepth><<<grid, dim3(32, poisson::kStreamWarps)>>>(
          start_.data() + g_.origin(), source_.data() + g_.origin(), out_.data() + g_.origin(), g_, 128);
    });
  }
  void naive() {
    run("naive", 1, [&] { sweep(start_, out_); });
  }

 private:
  void sweep(lab::DeviceArray<T>& from, lab::DeviceArray<T>& to) {
    poisson::jacobi_naive<<<dim3(lab::blocks(g_.columns, 32), lab::blocks(g_.rows, 8)), dim3(32, 8)>>>(
        from.data() + g_.origin(), source_.data() + g_.origin(), to.data() + g_.origin(), g_);
  }
  static void copy(lab::DeviceArray<T>& to, const lab::DeviceArray<T>& from) {
    CHECK_CUDA(cudaMemcpy(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice));
  }
  // Reference: the plain kernel, one sweep after the other.
  void expect(int sweeps) {
    if (sweeps == have_) return;
    have_ = sweeps;
    copy(expected_, start_);
    copy(between_, start_);
    for (int i = 0; i < sweeps; ++i) {
      sweep(expected_, between_);
      copy(expected_, between_);
    }
    CHECK_KERNEL();
  }
  void run(const std::string& name, int sweeps, const std::function<void()>& launch) {
    expect(sweeps);
    copy(out_, start_);
    bench_.run(
        part_, name, std::to_string(g_.rows) + "x" + std::to_string(g_.columns), g_.points() * sweeps, "Gupdates/s",
        launch, [&] { return variants::different(expected_.data(), out_.data(), out_.count()) == 0; }, sweeps);
  }

  Bench& bench_;
  const char* part_;
  poisson::Grid g_;
  lab::DeviceArray<T> start_, source_, out_, expected_, between_;
  int have_ = 0;
};

template <class T, int kPer, int kWide>
void rings(Bench& bench, const char* part, int rows, int columns) {
  using poisson::Ring;
  Sweeps<T> sweeps(bench, part, rows, columns);
  sweeps.naive();
  sweeps.template stream<4>("stream4");
  sweeps.template stream<8>("stream8");
  for (const int waves : {1, 2, 4}) {
    sweeps.template ring<Ring<T, 4, kPer, 4>>("ring4", waves);
    sweeps.template ring<Ring<T, 8, kPer, 8>>("ring8", waves);
  }
  sweeps.template ring<Ring<T, 4, kWide, 4>>("ring4 wide", 2);
  sweeps.template ring<Ring<T, 8, kWide, 8>>("ring8 wide", 2);
  sweeps.template ring<Ring<T, 6, kPer, 8>>("ring6", 2);
  sweeps.template ring<Ring<T, 8, kPer, 4>>("ring8 ahead 4", 2);
}

// --- blur

// Slow and plain: the reference for all others.
template <int kRadius>
__global__ void blur_plain(const float* in, float* out, image::Weights<kRadius> weights, int rows, int columns,
                           bool down) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= columns || y >= rows) return;
  double sum = 0;
  for (int t = -kRadius; t <= kRadius; ++t) {
    const int r = down ? min(max(y + t, 0), rows - 1) : y, c = down ? x : min(max(x + t, 0), columns - 1);
    sum += double(weights.w[t + kRadius]) * in[static_cast<long>(r) * columns + c];
  }
  out[static_cast<long>(y) * columns + x] = static_cast<float>(sum);
}

class Blurs {
 public:
  static constexpr int kRadius = 8;
  Blurs(Bench& bench, int rows, int columns)
      : bench_(bench),
        rows_(rows),
        columns_(columns),
        in_(size_t(rows) * columns),
        out_(in_.count()),
        expected_(in_.count()) {
    float total = 0;
    for (int t = -kRadius; t <= kRadius; ++t) total += weights_.w[t + kRadius] = std::exp(-t * t / 18.0f);
    for (float& w : weights_.w) w /= total;
    variants::fill_values<<<variants::kFillBlocks, variants::kFillThreads>>>(in_.data(), in_.count(), 31);
    const dim3 grid(lab::blocks(columns, 32), lab::blocks(rows, 8)), block(32, 8);
    blur_plain<<<grid, block>>>(in_.data(), out_.data(), weights_, rows, columns, false);
    blur_plain<<<grid, block>>>(out_.data(), expected_.data(), weights_, rows, columns, true);
    CHECK_KERNEL();
  }
  template <int kAhead>
  void stream(const char* name, int waves) {
    using Strip = image::BlurStrip<kRadius, kAhead>;
    const auto kernel = columns_ % 4 == 0 ? image::blur_stream<Strip, true> : image::blur_stream<Strip, false>;
    CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Strip::kShared));
    int each = 0;
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, 32 * Strip::kWarps, Strip::kShared));
    const lab::Strips cut = lab::cut_strips(rows_, columns_, Strip::kWidth, Strip::kWarps, each, waves);
    out_.poison();
    // Tolerance: values are below 1 and weights add up to 1; each of 34 products and sums is rounded.
    bench_.run(
        "blur17", std::string(name) + " w" + std::to_string(waves) + " " + std::to_string(each * Strip::kWarps) + "/SM",
        std::to_string(rows_) + "x" + std::to_string(columns_), 1e-0 * rows_ * columns_, "Gpixel/s",
        [=, this] {
          kernel<<<cut.grid, 32 * Strip::kWarps, Strip::kShared>>>(in_.data(), out_.data(), weights_, rows_, columns_,
                                                                   cut.chunk);
        },
        [&] { return variants::different(expected_.data(), out_.data(), out_.count(), 40 * lab::kUnitFloat) == 0; });
  }

 private:
  Bench& bench_;
  int rows_, columns_;
  lab::DeviceArray<float> in_, out_, expected_;
  image::Weights<kRadius> weights_;
};

void blurs(Bench& bench, int rows, int columns) {
  Blurs blurs(bench, rows, columns);
  for (const int waves : {1, 2, 4}) {
    blurs.stream<4>("stream ahead 4", waves);
    blurs.stream<8>("stream ahead 8", waves);
  }
  blurs.stream<16>("stream ahead 16", 2);
}

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv);
  struct Size {
    int rows, columns;
  };
  if (bench.wanted("jacobi_float"))
    for (const auto& [rows, columns] :
         bench.small() ? std::vector<Size>{{300, 700}, {61, 133}} : std::vector<Size>{{16384, 16384}})
      rings<float, 4, 8>(bench, "jacobi_float", rows, columns);
  if (bench.wanted("jacobi_double"))
    for (const auto& [rows, columns] :
         bench.small() ? std::vector<Size>{{300, 500}, {61, 133}} : std::vector<Size>{{8192, 8192}})
      rings<double, 2, 4>(bench, "jacobi_double", rows, columns);
  if (bench.wanted("blur17"))
    for (const auto& [rows, columns] :
         bench.small() ? std::vector<Size>{{200, 400}, {61, 133}} : std::vector<Size>{{8192, 8192}})
      blurs(bench, rows, columns);
  return bench.finish();
}
