// Measurement of kernels that differ in one number only (threads, tile, loads in flight), beside the library and the
// limit. Each is verified and gives a line of CSV. This is not a topic of the lab: the best kernels become last rungs
// of the topics.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/harness.h"

namespace variants {

// Uniform random bits from an index, which any kernel can compute by itself (the finaliser of MurmurHash3).
__host__ __device__ inline unsigned hashed(unsigned long i, unsigned seed) {
  unsigned long h = i * 2 + 1 + (static_cast<unsigned long>(seed) << 40);
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdul;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ul;
  return static_cast<unsigned>(h >> 32);
}
static __global__ void fill_words(unsigned* out, long n, unsigned seed) {
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n; i += long(gridDim.x) * blockDim.x)
    out[i] = hashed(i, seed);
}
// Values in [-1, 1).
template <class T>
__global__ void fill_values(T* out, long n, unsigned seed) {
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n; i += long(gridDim.x) * blockDim.x)
    out[i] = static_cast<T>(hashed(i, seed)) / T(2147483648.0) - T(1);
}
// Counts elements that differ by more than `bound`. NaN counts as different.
template <class T>
__global__ void count_different(const T* a, const T* b, long n, double bound, unsigned long long* count) {
  unsigned long long mine = 0;
  for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n; i += long(gridDim.x) * blockDim.x)
    mine += !(a[i] == b[i] || fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <= bound);
  if (mine) atomicAdd(count, mine);
}

constexpr int kFillBlocks = 1056, kFillThreads = 256;

template <class T>
unsigned long long different(const T* a, const T* b, long n, double bound = 0) {
  lab::DeviceArray<unsigned long long> count(1);
  CHECK_CUDA(cudaMemset(count.data(), 0, count.bytes()));
  count_different<<<kFillBlocks, kFillThreads>>>(a, b, n, bound, count.data());
  CHECK_KERNEL();
  return count.host()[0];
}

class Bench {
 public:
  // PROGRAM [--small] [PART]...: --small is for the virtual GPU; without parts, all run.
  Bench(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--small")
        small_ = true;
      else
        parts_.push_back(word);
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("part,variant,size,verified,us,us_low,us_high,runs,rate,unit\n");
  }
  bool small() const { return small_; }
  bool wanted(const std::string& part) const {
    for (const std::string& p : parts_)
      if (p == part) return true;
    return parts_.empty();
  }

  // One line of CSV. The rate is `amount` over the median time in ns: bytes give GB/s, operations / 1000 give TFLOP/s.
  void run(const std::string& part, const std::string& variant, const std::string& size, double amount,
           const char* unit, const std::function<void()>& launch, const std::function<bool()>& verify, int sweeps = 1) {
    launch();
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess || cudaGetLastError() != cudaSuccess) {
      std::printf("%s,%s,%s,error: %s,,,,,,\n", part.c_str(), variant.c_str(), size.c_str(), cudaGetErrorString(error));
      ++wrong_;
      if (error != cudaSuccess) std::exit(lab::kExitCuda);  // the context is lost
      return;
    }
    const bool good = verify();
    wrong_ += !good;
    const lab::Timing time = lab::on_virtual_gpu() ? lab::Timing{} : repeat(launch);
    std::printf("%s,%s,%s,%s,%.2f,%.2f,%.2f,%d,%.1f,%s\n", part.c_str(), variant.c_str(), size.c_str(),
                good ? "yes" : "WRONG", time.median / sweeps, time.low / sweeps, time.high / sweeps, time.count,
                time.median > 0 ? amount / time.median / 1e3 : 0, unit);
  }
  int finish() const {
    std::fprintf(stderr, wrong_ ? "%d variants are wrong\n" : "all variants are right\n", wrong_);
    return wrong_ ? lab::kExitWrong : 0;
  }

 private:
  lab::Timing repeat(const std::function<void()>& launch) {
    lab::Event start, stop;
    std::vector<double> samples;
    const lab::StoppingRule rule{9, 40, 0.08};
    const double begin = lab::wall_us();
    do {
      flush_.enqueue();
      start.record();
      launch();
      stop.record();
      samples.push_back(stop.us_since(start));
    } while (!rule.enough(samples, lab::wall_us() - begin));
    return lab::Timing::of(samples);
  }

  bool small_ = false;
  int wrong_ = 0;
  std::vector<std::string> parts_;
  lab::CacheFlush flush_;
};

}  // namespace variants
