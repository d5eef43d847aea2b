// What the opaque handles of the API point to.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/types.h"
#include "session/program.h"
#include "timing/timeline.h"

namespace warpgrind::host {

struct Work;        // executor.h
class SharedEvent;  // shared_events.h
using WorkPtr = std::shared_ptr<Work>;
using StreamRef = std::shared_ptr<Stream>;
using EventRef = std::shared_ptr<Event>;

// A capture in progress: which graph grows, and the nodes the stream's next node depends on.
struct Capture {
  Capture();
  ~Capture();
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  std::unique_ptr<Graph> own_graph;  // null: the graph is the caller's (cudaStreamBeginCaptureToGraph, or handed out)
  const Stream* origin = nullptr;    // null: destroyed
  bool invalidated = false, ended = false;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id begun_by;        // who has to end it, unless the mode is relaxed
  std::vector<StreamRef> members;  // the origin, and streams that joined through events
};

// Held by whoever reads or changes a graph, a node or a capture: streams that several host threads use may grow the
// same one. The outermost lock. References to user objects that end meanwhile call the program's function when it is
// given up.
class GraphsLock {
 public:
  GraphsLock();
  ~GraphsLock();
  GraphsLock(const GraphsLock&) = delete;
  GraphsLock& operator=(const GraphsLock&) = delete;
};

// Handles are shared: who works with a stream or an event keeps it, whatever another thread destroys meanwhile.
struct Stream {
  int device = 0;
  timing::StreamId id = 0;
  timing::StreamKind kind = timing::StreamKind::blocking;
  WorkPtr last;  // issued to it; the executor's
  unsigned flags = 0;
  std::uint64_t unique_id = 0;
  // Changes with `capture` alone: work that is not captured asks without a lock.
  std::atomic<bool> capturing{false};
  // Under GraphsLock.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> capture_tail;
  std::vector<cudaGraphEdgeData> tail_edges;  // what cudaStreamGetCaptureInfo gave away
  const void* made_in = nullptr;              // a context of the driver API; null: the primary one of its device
  std::mutex mutex;                           // guards what follows; nothing is locked under it
  int priority = 0;
  cudaLaunchAttributeValue attributes[cudaLaunchAttributeMax] = {};

  void begin_capture(std::shared_ptr<Capture> by, std::vector<GraphNode*> tail) {
    capture = std::move(by);
    capture_tail = std::move(tail);
    capturing = true;
  }
  void end_capture() {
    capturing = false;
    capture.reset();
    capture_tail.clear();
  }
};

// One record of an event. What waits for the event waits for the record that was the latest then.
struct EventMark {
  WorkPtr work;
  // Virtual; there when the ledger has placed `work`, which a query need not wait for when the work has ended.
  std::atomic<double> time_ns{0};
  std::uint64_t record = 0;  // SharedEvent's number of it
};
struct Event {
  unsigned flags = 0;
  std::mutex mutex;                     // guards what follows; nothing is locked under it
  std::shared_ptr<SharedEvent> shared;  // what other processes see of it; null: nothing (shared_events.h)
  int device = 0;                       // of the stream it was recorded in
  std::shared_ptr<EventMark> mark;      // null: not recorded yet
  // Recorded in a capturing stream: what a wait for it depends on.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> capture_tail;

  std::shared_ptr<EventMark> latest() {
    const std::lock_guard lock(mutex);
    return mark;
  }
  std::shared_ptr<Capture> captured_by() {
    const std::lock_guard lock(mutex);
    return capture;
  }
  // What a stream that joins the capture depends on.
  std::vector<GraphNode*> tail_of(const Capture& in) {
    const std::lock_guard lock(mutex);
    return capture.get() == &in ? capture_tail : std::vector<GraphNode*>{};
  }
};

// The last shape that the kernel was launched with, checked and compiled: a loop of launches does it once.
struct PreparedShape {
  int device = -1;
  device::LaunchConfig config;
  int carveout_percent = -1;
  double part_of_gpu = 0;
};

struct KernelHandle {
  session::Program* program = nullptr;
  std::atomic<const session::KernelEntry*> entry{nullptr};  // found at the first use
  std::string name;
  const void* host_function = nullptr;
  LibraryHandle* library = nullptr;  // that it was loaded with while the program runs (modules.h)
  // cudaFuncSetAttribute; defaults as documented.
  std::atomic<int> max_dynamic_shared{-1};  // -1: the device's default
  std::atomic<int> carveout{-1};
  std::atomic<cudaFuncCache> cache_config{cudaFuncCachePreferNone};
  std::atomic<int> cluster[3] = {0, 0, 0};
  std::atomic<int> cluster_must_be_set{0}, non_portable_cluster{0}, cluster_policy{0};
  std::atomic<std::uint64_t> loaded{0};  // a bit for each device that has launched it
  std::mutex prepared_mutex;
  PreparedShape prepared;
};

struct MemPool {
  int device = 0;
  int file = -1;  // that its memory lies in, for other processes (shared_memory.h); -1: nobody else has it
  bool imported = false;
  std::atomic<std::uint64_t> used{0}, used_high{0}, release_threshold{0};
  std::atomic<int> reuse[4] = {1, 1, 1, 1};
};

}  // namespace warpgrind::host
