// Variants of kernels that only memory limits: histogram, copy, sum.
#include <memory>
#include <numeric>

#include "bandwidth/copy_tiles.cuh"
#include "image/histogram_lanes.cuh"
#include "reduction/tiles.cuh"
#include "variants/bench.h"

#if __has_include(<cub/device/device_histogram.cuh>)
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#define VARIANTS_CUB 1
#endif

namespace {

using variants::Bench;

// Blocks of this kernel that the GPU holds at once.
template <class Kernel>
int resident(Kernel kernel, int threads, unsigned shared) {
  int each = 0;
  CHECK_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, reinterpret_cast<const void*>(kernel), threads, shared));
  return std::max(1, each) * lab::device_attribute(cudaDevAttrMultiProcessorCount);
}
template <class Kernel>
void allow_shared(Kernel kernel, unsigned bytes) {
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
}
std::string megabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4gMiB", bytes / (1 << 20));
  return text;
}

// --- histogram

enum class Pixels { uniform, picture, one };

// Test data. picture: brightness that changes slowly along rows of 4096, with some noise, like a photograph's.
__global__ void make_pixels(unsigned char* out, long n, Pixels kind) {
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n; i += long(gridDim.x) * blockDim.x) {
    const unsigned noise = variants::hashed(i, 7);
    const long x = i % 4096, y = i / 4096;
    const float smooth = 128 + 60 * __sinf(x * 0.004f) + 50 * __cosf(y * 0.003f);
    out[i] = kind == Pixels::uniform   ? noise & 255
             : kind == Pixels::picture ? static_cast<unsigned char>(smooth + (noise & 7))
                                       : 77;
  }
}
// Slow and plain: the reference for all others.
__global__ void histogram_plain(const unsigned char* in, unsigned* bins, long n) {
  __shared__ unsigned mine[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n; i += long(gridDim.x) * blockDim.x)
    atomicAdd(&mine[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

// Bound of the histogram: the same loads, but nothing is counted. The store keeps them in the code.
template <int kThreads, int kFlight>
__global__ void __launch_bounds__(kThreads, 2048 / kThreads) only_read(const unsigned char* in, unsigned* out, long n) {
  const long packs = n / 16, stride = static_cast<long>(gridDim.x) * kThreads;
  const uint4* const wide = reinterpret_cast<const uint4*>(in);
  unsigned all = 0;
  for (long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x; i < packs; i += kFlight * stride) {
    uint4 pixels[kFlight] = {};
#pragma unroll
    for (int k = 0; k < kFlight; ++k)
      if (i + k * stride < packs) pixels[k] = __ldcs(wide + i + k * stride);
#pragma unroll
    for (int k = 0; k < kFlight; ++k) all |= pixels[k].x & pixels[k].y & pixels[k].z & pixels[k].w;
  }
  if (all == 0x12345678) *out = all;
}

class Histograms {
 public:
  Histograms(Bench& bench, long count, Pixels kind, const char* name)
      : bench_(bench), count_(count), label_(megabytes(double(count)) + " " + name), in_(count), bins_(256), turn_(1) {
    CHECK_CUDA(cudaMemset(turn_.data(), 0, turn_.bytes()));
    make_pixels<<<variants::kFillBlocks, variants::kFillThreads>>>(in_.data(), count, kind);
    clear();
    histogram_plain<<<variants::kFillBlocks, 256>>>(in_.data(), bins_.data(), count);
    CHECK_KERNEL();
    expected_ = bins_.host();
  }
  void all() {
    lanes<1024, 2>("lanes 1024x2");
    lanes<1024, 3, 1>("lanes 1024x3");
    lanes<1024, 4, 1>("lanes 1024x4");
    lanes<512, 4, 2>("lanes 512x4");
    only_reads<1024, 2>("only reads 1024x2");
#ifdef VARIANTS_CUB
    cub_even();
#endif
  }

 private:
  void clear() {
    CHECK_CUDA(cudaMemsetAsync(bins_.data(), 0, bins_.bytes()));
  }
  void run(const char* name, const std::function<void()>& launch) {
    CHECK_CUDA(cudaMemset(bins_.data(), 0xff, bins_.bytes()));
    bench_.run("histogram", name, label_, double(count_), "GB/s", launch, [&] { return bins_.host() == expected_; });
  }
  template <int kThreads, int kFlight, int kBlocksPerSm = 2048 / kThreads>
  void lanes(const char* name) {
    const auto kernel = image::histogram_lanes<kThreads, kFlight, kBlocksPerSm>;
    allow_shared(kernel, image::kLaneTableBytes);
    constexpr int kCounting = image::kCountingThreads<kThreads>;
    const long useful = (count_ / 16 + kCounting - 1) / kCounting;
    const int grid =
        static_cast<int>(std::max(1L, std::min<long>(resident(kernel, kThreads, image::kLaneTableBytes), useful)));
    run(name, [=, this] {
      kernel<<<grid, kThreads, image::kLaneTableBytes>>>(in_.data(), bins_.data(), turn_.data(), count_);
    });
  }
  template <int kThreads, int kFlight>
  void only_reads(const char* name) {
    const auto kernel = only_read<kThreads, kFlight>;
    const int grid = resident(kernel, kThreads, 0);
    bench_.run(
        "histogram", name, label_, double(count_), "GB/s",
        [=, this] { kernel<<<grid, kThreads>>>(in_.data(), bins_.data(), count_); }, [] { return true; });
  }
#ifdef VARIANTS_CUB
  void cub_even() {
    size_t bytes = 0;
    int* const bins = reinterpret_cast<int*>(bins_.data());
    CHECK_CUDA(cub::DeviceHistogram::HistogramEven(nullptr, bytes, in_.data(), bins, 257, 0, 256, count_));
    scratch_ = std::make_unique<lab::DeviceArray<char>>(std::max<size_t>(bytes, 1));
    run("CUB", [=, this]() mutable {
      CHECK_CUDA(cub::DeviceHistogram::HistogramEven(scratch_->data(), bytes, in_.data(), bins, 257, 0, 256, count_));
    });
  }
  std::unique_ptr<lab::DeviceArray<char>> scratch_;
#endif

  Bench& bench_;
  long count_;
  std::string label_;
  lab::DeviceArray<unsigned char> in_;
  lab::DeviceArray<unsigned> bins_;
  lab::DeviceArray<int> turn_;
  std::vector<unsigned> expected_;
};

void histograms(Bench& bench) {
  const std::vector<long> counts =
      bench.small() ? std::vector<long>{100003, 1 << 20} : std::vector<long>{64L << 20, 1L << 30};
  for (const long count : counts)
    for (const auto& [kind, name] :
         {std::pair{Pixels::uniform, "uniform"}, std::pair{Pixels::picture, "picture"}, std::pair{Pixels::one, "one"}})
      Histograms(bench, count, kind, name).all();
}

// --- copy

class Copies {
 public:
  Copies(Bench& bench, long bytes) : bench_(bench), bytes_(bytes), in_(bytes / 4), out_(bytes / 4) {
    variants::fill_words<<<variants::kFillBlocks, variants::kFillThreads>>>(in_.data(), bytes / 4, 3);
    CHECK_KERNEL();
  }
  void all() {
    run("cudaMemcpy", [&] { CHECK_CUDA(cudaMemcpyAsync(out_.data(), in_.data(), bytes_, cudaMemcpyDeviceToDevice)); });
    tiles<256, 1, Hint::none>("256x1");
    tiles<512, 1, Hint::none>("512x1");
    tiles<1024, 1, Hint::none>("1024x1");
    tiles<256, 2, Hint::none>("256x2");
    tiles<512, 2, Hint::none>("512x2");
    tiles<256, 1, Hint::streaming>("256x1 streaming");
    tiles<512, 2, Hint::streaming>("512x2 streaming");
    tiles<256, 1, Hint::whole_line>("256x1 256B");
    tiles<512, 2, Hint::whole_line>("512x2 256B");
    tiles<1024, 4, Hint::whole_line>("1024x4 256B");
    bulk<8 << 10>("bulk 8K");
    bulk<16 << 10>("bulk 16K");
    bulk<32 << 10>("bulk 32K");
    bulk<64 << 10>("bulk 64K");
  }

 private:
  void run(const char* name, const std::function<void()>& launch) {
    out_.poison();
    bench_.run("copy", name, megabytes(double(bytes_)), 2.0 * bytes_, "GB/s", launch,
               [&] { return variants::different(in_.data(), out_.data(), bytes_ / 4) == 0; });
  }
  template <int kThreads, int kFlight, Hint kHint>
  void tiles(const char* name) {
    const int grid = lab::blocks(bytes_ / 16, long(kThreads) * kFlight);
    run(name, [=, this] {
      copy_tiles<kThreads, kFlight, kHint><<<grid, kThreads>>>(reinterpret_cast<const float*>(in_.data()),
                                                               reinterpret_cast<float*>(out_.data()), bytes_ / 4);
    });
  }
  template <int kBytes>
  void bulk(const char* name) {
    allow_shared(copy_bulk<kBytes>, kBytes);
    run(name, [&] {
      copy_bulk<kBytes><<<lab::blocks(bytes_, kBytes), 32, kBytes>>>(reinterpret_cast<const char*>(in_.data()),
                                                                     reinterpret_cast<char*>(out_.data()), bytes_);
    });
  }

  Bench& bench_;
  long bytes_;
  lab::DeviceArray<unsigned> in_, out_;
};

// --- sum

class Sums {
 public:
  Sums(Bench& bench, long n) : bench_(bench), n_(n), in_(n), total_(1), result_(1), tickets_(1) {
    variants::fill_words<<<variants::kFillBlocks, variants::kFillThreads>>>(reinterpret_cast<unsigned*>(in_.data()), n,
                                                                            5);
    CHECK_KERNEL();
    CHECK_CUDA(cudaMemset(total_.data(), 0, total_.bytes()));
    CHECK_CUDA(cudaMemset(tickets_.data(), 0, tickets_.bytes()));
    const std::vector<int> host = in_.host();
    unsigned sum = 0;
    for (const int v : host) sum += static_cast<unsigned>(v);
    expected_ = static_cast<int>(sum);
  }
  void all() {
    tiles<4>("tiles x4");
    tiles<8>("tiles x8");
    tiles<16>("tiles x16");
    dealt<4>("dealt x4");
    dealt<8>("dealt x8");
    dealt<16>("dealt x16");
    run("atomics", [&] {
      CHECK_CUDA(cudaMemsetAsync(result_.data(), 0, sizeof(int)));
      reduce_atomic<<<resident(reduce_atomic<int>, kThreads, 0), kThreads>>>(in_.data(), result_.data(), n_);
    });
#ifdef VARIANTS_CUB
    size_t bytes = 0;
    CHECK_CUDA(cub::DeviceReduce::Sum(nullptr, bytes, in_.data(), result_.data(), n_));
    lab::DeviceArray<char> scratch(std::max<size_t>(bytes, 1));
    run("CUB", [&] {
      size_t have = bytes;
      CHECK_CUDA(cub::DeviceReduce::Sum(scratch.data(), have, in_.data(), result_.data(), n_));
    });
#endif
  }

 private:
  void run(const char* name, const std::function<void()>& launch) {
    result_.poison();
    bench_.run("sum", name, megabytes(4.0 * n_), 4.0 * n_, "GB/s", launch,
               [&] { return result_.host()[0] == expected_; });
  }
  template <int kFlight>
  void tiles(const char* name) {
    const int grid = std::max(1, lab::blocks(n_ / 4, long(kThreads) * kFlight));
    run(name, [=, this] {
      reduce_tiles<kFlight><<<grid, kThreads>>>(in_.data(), total_.data(), tickets_.data(), result_.data(), n_);
    });
  }
  template <int kFlight>
  void dealt(const char* name) {
    const int grid = resident(reduce_dealt<kFlight, int>, kThreads, 0);
    run(name, [=, this] {
      reduce_dealt<kFlight><<<grid, kThreads>>>(in_.data(), total_.data(), tickets_.data(), result_.data(), n_);
    });
  }

  Bench& bench_;
  long n_;
  lab::DeviceArray<int> in_, total_, result_;
  lab::DeviceArray<unsigned> tickets_;
  int expected_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc, argv);
  if (bench.wanted("histogram")) histograms(bench);
  if (bench.wanted("copy")) {
    Copies(bench, bench.small() ? 1 << 20 : 1L << 30).all();
    if (bench.small()) Copies(bench, 100000 * 16).all();
  }
  if (bench.wanted("sum")) Sums(bench, bench.small() ? 100003 : 1L << 28).all();
  return bench.finish();
}
