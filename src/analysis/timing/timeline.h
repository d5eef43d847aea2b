// Virtual time: when each kernel, copy and event would happen on the modelled GPUs. Whenever work is really done, it is
// placed here in the order in which it was issued (timing/ledger.h). All times are nanoseconds since the start of the
// program and carry the origin `estimated`: the durations come from src/analysis/timing, a host thread advances only by
// its own API calls (its computing takes no time), so that the same program gets the same times at every run.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "base/element.h"

namespace warpgrind::timing {

using StreamId = std::uint32_t;

// How a stream orders itself against the legacy default stream (CUDA C++ Programming Guide, "Default Stream").
enum class StreamKind : std::uint8_t {
  legacy_default,  // waits for all blocking streams of its device, and they for it
  blocking,        // cudaStreamCreate, and the per-thread default stream
  non_blocking,    // cudaStreamNonBlocking
  graph            // a chain of nodes of a graph that is being launched
};
enum class CopyEngine : std::uint8_t { to_device, to_host, peer, none };

// When something ran.
struct Span {
  double begin = 0, end = 0;
};

// The host's part of a call that issues work or asks for something (estimated: launches in a loop of copies and
// records of events on an H200's host take about so much each; launches of kernels take
// TimingConstants::host_launch_ns).
inline constexpr double kHostCallNs = 1000;

// What a kernel adds to the time of its stream, ns.
struct KernelTime {
  double alone = 0;                        // the stream has nothing to do, or something else than kernels
  double queued = 0;                       // it was issued before the kernel before it in its stream ended
  double graph_first = 0, graph_next = 0;  // as a node of a graph: that depends on no other node, that does
};

// What a copy adds to the time of its stream and its engine, ns.
struct CopyTime {
  double alone = 0;
  double queued = 0;           // directly behind another copy of its engine
  bool with_commands = false;  // needs no copy engine
};

// What the timeline itself has to know of a GPU and its host, ns.
struct TimelineCosts {
  double host_wait = 0;      // from the end of work until the call returns that waits for it
  double engine_switch = 0;  // from a kernel to a copy behind it in its stream, or back, beyond their own time
  double other_gpu = 0;      // from the end of work on one GPU to what waits for it on another
};

// The virtual clock of one host thread. Read and moved by the timeline alone, under its lock.
struct HostClock {
  double now = 0;
};

class Timeline {
 public:
  Timeline(unsigned devices, unsigned copy_engines, bool concurrent_kernels, const TimelineCosts& costs = {});

  StreamId add_stream(int device, StreamKind kind);
  void remove_stream(StreamId stream);
  static StreamId legacy_default(int device) { return static_cast<StreamId>(device); }  // always there

  int device_of(StreamId stream) const;

  double now(const HostClock& host) const;
  void host_work(HostClock& host, double ns);  // the host's own part of an API call

  // Work that `host` issued. A kernel that finds the queue of launches full makes the host wait.
  // gpu_fraction: the part of the GPU that the kernel's blocks fill, 0 to 1; kernels of different streams run side by
  // side as long as the sum is at most 1.
  Span kernel(StreamId stream, HostClock& host, const KernelTime& time, double gpu_fraction);
  // engine: none: the copy is a kernel of the driver's, inside the GPU.
  Span copy(StreamId stream, const HostClock& host, CopyEngine engine, const CopyTime& time);
  // Keeps nothing else waiting: fills, host functions, events.
  Span work(StreamId stream, const HostClock& host, double duration_ns);
  Span fill(StreamId stream, const HostClock& host, double duration_ns);
  // The stream goes on when `time` has passed (cudaStreamWaitEvent). other_gpu: at which work of another GPU ends.
  void wait(StreamId stream, double time, bool other_gpu = false);
  // Of a graph's stream: what comes next in it depends on another node.
  void chain(StreamId stream);

  // The host waits for work, and notices its end TimelineCosts::host_wait later.
  void synchronize(HostClock& host, StreamId stream);
  void synchronize_device(HostClock& host, int device);
  void synchronize_time(HostClock& host, double time);
  // It does nothing before `time`, which another thread's clock shows.
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
    bool kernel = false;     // what ends there
    Unit unit = Unit::none;  // of the last work, since the stream was idle
    bool chained = false;
  };
  struct Running {
    double begin, end, fraction;
    double latest_end;  // of this kernel and all issued before
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
  double switch_to(Stream& stream, Unit unit);  // what it costs
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
