// Virtual timeline: the times at which kernels, copies and events would run on the modelled GPUs. Work is placed here
// in issue order (timing/ledger.h), whenever it really runs. Unit: nanoseconds since the program's start; origin:
// `estimated`. Durations come from src/analysis/timing. A host thread advances only by its API calls (its computing
// takes no time), so the same program gets the same times in every run.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "base/element.h"

namespace warpgrind::timing {

using StreamId = std::uint32_t;

// Order of a stream relative to the legacy default stream (CUDA C++ Programming Guide, "Default Stream").
enum class StreamKind : std::uint8_t {
  legacy_default,  // waits for all blocking streams of its device, and they wait for it
  blocking,        // cudaStreamCreate, and the per-thread default stream
  non_blocking,    // cudaStreamNonBlocking
  graph            // a chain of nodes of a graph that is being launched
};
enum class CopyEngine : std::uint8_t { to_device, to_host, peer, none };

// Begin and end of one piece of work, ns.
struct Span {
  double begin = 0, end = 0;
};

// Host time of a call that issues work or queries something. Estimated: about the time per call in loops of copies and
// event records on an H200's host. Kernel launches take TimingConstants::host_launch_ns instead.
inline constexpr double kHostCallNs = 1000;

// Time that a kernel adds to its stream, ns.
struct KernelTime {
  double alone = 0;                        // the stream is idle, or its last work was no kernel
  double queued = 0;                       // the previous kernel of its stream was still running at the time of issue
  double graph_first = 0, graph_next = 0;  // as a graph node that depends on no other node, or on another node
};

// Time that a copy adds to its stream and its engine, ns.
struct CopyTime {
  double alone = 0;
  double queued = 0;           // directly behind another copy of its engine
  bool with_commands = false;  // travels with the stream's commands, without a copy engine
};

// Delays between pieces of work, of a GPU and its host, ns.
struct TimelineCosts {
  double host_wait = 0;      // from the end of work until the call that waits for it returns
  double engine_switch = 0;  // between a kernel and a following copy of its stream, or the reverse
  double other_gpu = 0;      // from the end of work on one GPU to the start of waiting work on another
};

// The virtual clock of one host thread. Only the timeline reads and moves it, under its lock.
struct HostClock {
  double now = 0;
};

class Timeline {
 public:
  Timeline(unsigned devices, unsigned copy_engines, bool concurrent_kernels, const TimelineCosts& costs = {});

  StreamId add_stream(int device, StreamKind kind);
  void remove_stream(StreamId stream);
  static StreamId legacy_default(int device) { return static_cast<StreamId>(device); }  // always exists

  int device_of(StreamId stream) const;

  double now(const HostClock& host) const;
  double ready_time(StreamId stream) const;    // earliest start of the stream's next work; 0: no such stream
  void host_work(HostClock& host, double ns);  // the host's own part of an API call

  // Places work that `host` issued. If the queue of launches is full, a kernel makes the host wait.
  // gpu_fraction: the part of the GPU that the kernel's blocks fill, 0 to 1. Kernels of different streams run at the
  // same time if the sum is at most 1.
  Span kernel(StreamId stream, HostClock& host, const KernelTime& time, double gpu_fraction);
  // engine none: the copy is a kernel of the driver, inside the GPU.
  Span copy(StreamId stream, const HostClock& host, CopyEngine engine, const CopyTime& time);
  // Work that occupies neither the SMs nor a copy engine: host functions, events; also fills.
  Span work(StreamId stream, const HostClock& host, double duration_ns);
  Span fill(StreamId stream, const HostClock& host, double duration_ns);
  // The stream waits until `time` (cudaStreamWaitEvent). other_gpu: work of another GPU ends at `time`.
  void wait(StreamId stream, double time, bool other_gpu = false);
  // Graph streams: the next work of the stream depends on another node.
  void chain(StreamId stream);

  // The host waits for work, and notices its end TimelineCosts::host_wait later.
  void synchronize(HostClock& host, StreamId stream);
  void synchronize_device(HostClock& host, int device);
  void synchronize_time(HostClock& host, double time);
  // Advances the host's clock to at least `time`, which another thread's clock shows.
  void catch_up(HostClock& host, double time);
  bool finished(const HostClock& host, StreamId stream) const;

  // Kernels that can wait for the GPU before a launch makes the host wait: 1024 on current drivers.
  static constexpr std::size_t kQueueDepth = 1024;

 private:
  enum class Unit : std::uint8_t { none, compute, copy };
  struct Stream {
    int device = 0;
    StreamKind kind = StreamKind::blocking;
    double end = 0;
    bool kernel = false;     // the last work is a kernel
    Unit unit = Unit::none;  // of the last work; none after the stream was idle
    bool chained = false;
  };
  struct Running {
    double begin, end, fraction;
    double latest_end;  // of this kernel and all earlier ones
  };
  struct DeviceTime {
    double legacy_end = 0, blocking_end = 0, last_end = 0;
    std::vector<double> engines;  // busy until; the last one copies to other GPUs
    std::vector<Running> kernels;
  };
  double ready(const Stream& stream) const;
  static double& busy_until(DeviceTime& device, CopyEngine engine);
  double place_kernel(DeviceTime& device, HostClock& host, double earliest, double duration, double fraction);
  Span finish(Stream& stream, double begin, double duration);
  double turn(Stream& stream, const HostClock& host) const;
  double switch_to(Stream& stream, Unit unit);  // returns the cost, ns
  static void notice(HostClock& host, double end, double after);
  Stream& stream(StreamId id) { return element(streams_, id); }

  mutable std::mutex mutex_;
  std::map<StreamId, Stream> streams_;
  std::vector<DeviceTime> devices_;
  StreamId next_ = 0;
  bool concurrent_kernels_;
  TimelineCosts costs_;
};

}  // namespace warpgrind::timing
