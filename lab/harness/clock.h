// Time. On a real GPU both clocks are real: CUDA events for the GPU's time, the CPU's steady clock for the host's view.
// On the virtual GPU both are estimates of what that GPU and its host would show: the events come from the virtual
// timeline as everything else of the CUDA API, the host's clock from warpgrind_host_ns(), which libcudart of warpgrind
// exports.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "harness/cuda.h"

namespace lab {

using HostClock = double (*)();
inline HostClock virtual_host_clock() {
  static const HostClock clock = reinterpret_cast<HostClock>(dlsym(RTLD_DEFAULT, "warpgrind_host_ns"));
  return clock;
}
inline bool on_virtual_gpu() {
  return virtual_host_clock() != nullptr;
}

// What of that went into loading kernels at their first launches: repetitions on a real GPU do not have it.
inline double loading_us() {
  static const HostClock loading = reinterpret_cast<HostClock>(dlsym(RTLD_DEFAULT, "warpgrind_loading_ns"));
  return loading ? loading() / 1e3 : 0;
}

// What comes next finds nothing of its data in the virtual GPU's L2 cache.
inline void flush_virtual_l2() {
  static const auto flush = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "warpgrind_flush_l2"));
  if (flush) flush();
}

// Microseconds of the computer that runs this program, whatever GPU there is.
inline double wall_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}
// Microseconds of the host that drives the GPU: virtual where the GPU is.
inline double host_us() {
  return on_virtual_gpu() ? virtual_host_clock()() / 1e3 : wall_us();
}

// The launches between construction and destruction belong to `name`: an NVTX range, where something listens.
class Range {
 public:
  explicit Range(const std::string& name) {
    static const auto push = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_DEFAULT, "nvtxRangePushA"));
    if (push) push(name.c_str());
  }
  ~Range() {
    static const auto pop = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "nvtxRangePop"));
    if (pop) pop();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

class Event {
 public:
  Event() { CHECK_CUDA(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream = nullptr) { CHECK_CUDA(cudaEventRecord(event_, stream)); }
  double us_since(Event& earlier) {
    CHECK_CUDA(cudaEventSynchronize(event_));
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, earlier.event_, event_));
    return ms * 1e3;
  }
  cudaEvent_t get() { return event_; }

 private:
  cudaEvent_t event_;
};

// Several timings of one thing, in microseconds. low and high: the quartiles.
struct Timing {
  double median = 0, low = 0, high = 0;
  int count = 0;
  static Timing of(std::vector<double> samples) {
    Timing t;
    t.count = static_cast<int>(samples.size());
    if (samples.empty()) return t;
    std::sort(samples.begin(), samples.end());
    const size_t n = samples.size();
    t.median = n % 2 ? samples[n / 2] : 0.5 * (samples[n / 2 - 1] + samples[n / 2]);
    t.low = samples[n / 4];
    t.high = samples[n - 1 - n / 4];
    return t;
  }
};

// When to stop repeating: the notch of a box plot (1.57 x quartile distance / sqrt(n), about a 95 % interval of the
// median: McGill, Tukey and Larsen 1978) is below 1 % of the median, or the time is used up.
struct StoppingRule {
  int least = 7, most = 200;
  double seconds = 0.4;
  bool enough(const std::vector<double>& samples, double elapsed_us) const {
    const int n = static_cast<int>(samples.size());
    if (n < least) return false;
    if (n >= most || elapsed_us > seconds * 1e6) return true;
    if (n % 8 != 7) return false;
    const Timing t = Timing::of(samples);
    return 1.57 * (t.high - t.low) < 0.01 * t.median * std::sqrt(static_cast<double>(n));
  }
};

// Bytes of twice the L2 cache; of 2 MiB where the GPU tells of none.
inline size_t twice_l2_bytes() {
  const int l2 = device_attribute(cudaDevAttrL2CacheSize);
  return 2 * static_cast<size_t>(l2 > 0 ? l2 : 1 << 20);
}

// Keeps the GPU busy while launches queue up behind it. It has no kernel, so that a profiler lists only those of the
// rung. On a real GPU it is a fill of twice the L2 cache. On the virtual GPU such a fill would leave dirty lines in L2,
// which the repetitions on a real GPU do not find. There it is a copy over the link, and behind it a fill of one word:
// the fill takes the stream back from the copy engine to the queue that kernels come from. Otherwise the timed kernel
// pays for that change, between the events. On an H200 a kernel of 5.6 us behind a kernel takes 9.0 us behind a copy
// (results/h200/engines.csv), and the stored times are of rungs behind a kernel (CacheFlush).
//
// The L2 cache is as CacheFlush leaves it on a real GPU. Otherwise a rung finds there what the rung before has read:
// sums of 16 MiB took 8.0 us instead of the 11.3 us of an H200.
class QueueFill {
 public:
  QueueFill() : bytes_(on_virtual_gpu() ? kVirtualBytes : twice_l2_bytes()) {
    if (cudaMalloc(&data_, bytes_) != cudaSuccess) {
      cudaGetLastError();  // the problem fills the memory
      data_ = nullptr;
    } else if (on_virtual_gpu()) {
      CHECK_CUDA(cudaMallocHost(&host_, bytes_));
    }
  }
  ~QueueFill() {
    cudaFree(data_);
    cudaFreeHost(host_);
  }
  QueueFill(const QueueFill&) = delete;
  QueueFill& operator=(const QueueFill&) = delete;
  void enqueue() {
    flush_virtual_l2();
    if (host_) CHECK_CUDA(cudaMemcpyAsync(data_, host_, bytes_, cudaMemcpyHostToDevice, nullptr));
    if (data_) CHECK_CUDA(cudaMemsetAsync(data_, 0, host_ ? sizeof(int) : bytes_, nullptr));
  }

 private:
  static constexpr size_t kVirtualBytes = 2 << 20;  // 38 us of an H200's link: ten launches are issued meanwhile
  void *data_ = nullptr, *host_ = nullptr;
  size_t bytes_ = 0;
};

static __global__ void lab_read_all(const uint4* data, size_t count, unsigned* kept) {
  unsigned mixed = 0;
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 v = __ldcg(data + i);
    mixed |= v.x | v.y | v.z | v.w;
  }
  if (mixed != 0) *kept = mixed;  // the data are zeros: nothing is ever written, and the compiler cannot know
}

// Reads twice the L2 cache: what a kernel reads next comes from device memory, and L2 holds no line that it would have
// to write back first. A fill leaves some 40 MB of such lines in an H200, and the timed kernel pays for them: 26 us for
// reading 64 MiB after a fill, 18 us after this. Real GPUs only: the virtual one runs each rung once.
class CacheFlush {
 public:
  CacheFlush() : bytes_(twice_l2_bytes()) {
    if (cudaMalloc(&data_, bytes_ + sizeof(uint4)) != cudaSuccess) {  // the problem fills the memory: L2 cannot hold it
      cudaGetLastError();
      data_ = nullptr;
      return;
    }
    CHECK_CUDA(cudaMemset(data_, 0, bytes_ + sizeof(uint4)));
  }
  ~CacheFlush() { cudaFree(data_); }
  CacheFlush(const CacheFlush&) = delete;
  CacheFlush& operator=(const CacheFlush&) = delete;
  void enqueue() {
    if (!data_) return;
    const size_t count = bytes_ / sizeof(uint4);
    lab_read_all<<<kBlocksPerSm * sms_, kThreads>>>(data_, count, &data_[count].x);
    CHECK_CUDA(cudaGetLastError());
  }

 private:
  static constexpr int kBlocksPerSm = 8, kThreads = 256;  // all that fit on an SM: more loads in flight than DRAM needs
  const int sms_ = device_attribute(cudaDevAttrMultiProcessorCount);
  uint4* data_ = nullptr;
  size_t bytes_ = 0;
};

static __global__ void lab_clock_check(unsigned long long* out) {
  unsigned long long c0, c1, t0, t1;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(c0));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c1));
  } while (t1 - t0 < 500000);
  out[0] = c1 - c0;
  out[1] = t1 - t0;
}

// The SM clock in MHz as a kernel sees it, over half a millisecond after a warm-up of 20 ms.
inline double measured_sm_mhz() {
  DeviceArray<unsigned long long> out(2);
  for (int i = 0; i < 40; ++i) lab_clock_check<<<1, 1>>>(out.data());
  CHECK_KERNEL();
  const std::vector<unsigned long long> v = out.host();
  return v[1] ? 1e3 * static_cast<double>(v[0]) / static_cast<double>(v[1]) : 0;
}

}  // namespace lab
