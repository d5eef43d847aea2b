// Clocks of the GPU and of the host. On a real GPU both are real: CUDA events for the GPU's time, the CPU's steady
// clock for the host's. On the virtual GPU both are estimates: CUDA events read the virtual timeline, and the host's
// clock is warpgrind_host_ns(), exported by warpgrind's libcudart.
#pragma once

#include <dlfcn.h>

#include <algorithm>
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

// The part of host_us() spent loading kernels at their first launches. Repetitions on a real GPU do not have it.
inline double loading_us() {
  static const HostClock loading = reinterpret_cast<HostClock>(dlsym(RTLD_DEFAULT, "warpgrind_loading_ns"));
  return loading ? loading() / 1e3 : 0;
}

// Empties the virtual GPU's L2 cache, so that the next kernel finds no data in it.
inline void flush_virtual_l2() {
  static const auto flush = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "warpgrind_flush_l2"));
  if (flush) flush();
}

// Microseconds of the computer that runs this program, for a real or a virtual GPU.
double wall_us();
// Microseconds of the host that drives the GPU: virtual if the GPU is virtual.
inline double host_us() {
  return on_virtual_gpu() ? virtual_host_clock()() / 1e3 : wall_us();
}

// NVTX range around the launches between construction and destruction, if a tool provides NVTX.
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

// Several timings of the same work, in microseconds. low and high are the quartiles.
struct Timing {
  double median = 0, low = 0, high = 0;
  int count = 0;
  static Timing of(std::vector<double> samples);
};

// Rule that ends the repetitions: the notch of a box plot (1.57 x quartile distance / sqrt(n), about a 95 % interval of
// the median: McGill, Tukey and Larsen 1978) is below 1 % of the median, or the time is used up.
struct StoppingRule {
  int least = 7, most = 200;
  double seconds = 0.4;
  bool enough(const std::vector<double>& samples, double elapsed_us) const;
};

// Bytes of twice the L2 cache, or of 2 MiB if the GPU reports no L2.
inline size_t twice_l2_bytes() {
  const int l2 = device_attribute(cudaDevAttrL2CacheSize);
  return 2 * static_cast<size_t>(l2 > 0 ? l2 : 1 << 20);
}

// Work that keeps the GPU busy while launches queue up behind it. It has no kernel, so a profiler lists only the
// kernels of the rung. On a real GPU it is a fill of twice the L2 cache.
//
// On the virtual GPU such a fill would leave dirty lines in L2, which the repetitions on a real GPU do not find. There
// it is a copy over the link, then a fill of one word. That fill moves the stream from the copy engine back to the
// kernel queue; otherwise the timed kernel pays for that change between the events. On an H200 a kernel of 5.6 us
// behind a kernel takes 9.0 us behind a copy (results/h200/engines.csv), and the stored times are of rungs behind a
// kernel (CacheFlush).
//
// The L2 cache is left as CacheFlush leaves it on a real GPU. Otherwise a rung finds data there that the rung before
// has read: sums of 16 MiB took 8.0 us instead of the 11.3 us of an H200.
class QueueFill {
 public:
  QueueFill();
  ~QueueFill();
  QueueFill(const QueueFill&) = delete;
  QueueFill& operator=(const QueueFill&) = delete;
  void enqueue();

 private:
  static constexpr size_t kVirtualBytes = 2 << 20;  // takes 38 us on an H200's link, enough to issue ten launches
  void *data_ = nullptr, *host_ = nullptr;
  size_t bytes_ = 0;
};

// Reads twice the L2 cache. Then the next kernel's reads come from device memory, and L2 holds no dirty line that must
// be written back first. A fill leaves some 40 MB of dirty lines in an H200, and the timed kernel pays for them: 26 us
// for reading 64 MiB after a fill, 18 us after this. Real GPUs only: the virtual one runs each rung once.
class CacheFlush {
 public:
  CacheFlush();
  ~CacheFlush() { cudaFree(data_); }
  CacheFlush(const CacheFlush&) = delete;
  CacheFlush& operator=(const CacheFlush&) = delete;
  void enqueue();

 private:
  static constexpr int kBlocksPerSm = 8, kThreads = 256;  // fills every SM: more loads in flight than DRAM needs
  const int sms_ = device_attribute(cudaDevAttrMultiProcessorCount);
  uint4* data_ = nullptr;
  size_t bytes_ = 0;
};

// The SM clock in MHz as a kernel sees it, over half a millisecond after a warm-up of 20 ms.
double measured_sm_mhz();

}  // namespace lab
