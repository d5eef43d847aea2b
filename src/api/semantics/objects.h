// Objects behind the opaque handles of the API.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/assert.h"
#include "semantics/types.h"
#include "session/program.h"
#include "timing/timeline.h"

namespace warpgrind::semantics {

struct Work;        // executor.h
class SharedEvent;  // shared_events.h
using WorkPtr = std::shared_ptr<Work>;
using StreamRef = std::shared_ptr<Stream>;
using EventRef = std::shared_ptr<Event>;

// A capture in progress: the graph that grows, and the streams that take part.
struct Capture {
  Capture();
  ~Capture();
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  std::unique_ptr<Graph> own_graph;  // null: the program owns it (cudaStreamBeginCaptureToGraph, or after the end)
  const Stream* origin = nullptr;    // null: destroyed
  bool invalidated = false, ended = false;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id begun_by;        // thread that has to end it, unless the mode is relaxed
  std::vector<StreamRef> members;  // the origin, and streams that joined through events
};

// Lock for all reads and changes of graphs, nodes and captures: streams of several host threads may grow the same
// graph. It is the outermost lock. If the last reference to a user object ends under it, the program's destroy function
// is called after the lock is released.
class GraphsLock {
 public:
  GraphsLock();
  ~GraphsLock();
  GraphsLock(const GraphsLock&) = delete;
  GraphsLock& operator=(const GraphsLock&) = delete;
};

// Streams and events have shared ownership: code that uses one keeps it alive even if another thread destroys it.
struct Stream {
  int device = 0;
  timing::StreamId id = 0;
  timing::StreamKind kind = timing::StreamKind::blocking;
  WorkPtr last;  // last work issued to it; used by the executor
  unsigned flags = 0;
  std::uint64_t unique_id = 0;
  // True while `capture` is set. Work that is not captured reads it without a lock.
  std::atomic<bool> capturing{false};
  // Under GraphsLock.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> capture_tail;
  std::vector<cudaGraphEdgeData> tail_edges;  // last edges returned by cudaStreamGetCaptureInfo
  const void* made_in = nullptr;              // its context of the driver API; null: the primary one of its device
  std::mutex mutex;                           // guards the members below; no other lock is taken under it
  int priority = 0;
  cudaLaunchAttributeValue attributes[cudaLaunchAttributeMax] = {};

  void begin_capture(std::shared_ptr<Capture> by, std::vector<GraphNode*> tail) {
    WG_ASSERT(by && !capture && !capturing);
    capture = std::move(by);
    capture_tail = std::move(tail);
    capturing = true;
  }
  void end_capture() {
    WG_ASSERT(capture && capturing);
    capturing = false;
    capture.reset();
    capture_tail.clear();
  }
};

// One record of an event. A wait for the event is for the record that was the latest at the time of the call.
struct EventMark {
  WorkPtr work;
  // Virtual time of the record, set when the ledger has placed `work`. A query need not wait for that if the work has
  // ended.
  std::atomic<double> time_ns{0};
  std::uint64_t record = 0;  // its number in the SharedEvent
};
struct Event {
  unsigned flags = 0;
  std::mutex mutex;                     // guards the members below; no other lock is taken under it
  std::shared_ptr<SharedEvent> shared;  // its part that other processes see; null: not shared (shared_events.h)
  int device = 0;                       // of the stream it was recorded in
  std::shared_ptr<EventMark> mark;      // null: not recorded yet
  // Set if it was recorded in a capturing stream: the nodes that a wait for it depends on.
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
  // Nodes that a stream depends on when it joins the capture through this event.
  std::vector<GraphNode*> tail_of(const Capture& in) {
    const std::lock_guard lock(mutex);
    return capture.get() == &in ? capture_tail : std::vector<GraphNode*>{};
  }
};

// Last shape that the kernel was launched with, checked and compiled. A loop of equal launches does this only once.
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
  LibraryHandle* library = nullptr;  // library it was loaded from at run time (modules.h); else null
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
  int file = -1;  // file with its memory, for other processes (shared_memory.h); -1: not shared
  bool imported = false;
  std::atomic<std::uint64_t> used{0}, used_high{0}, release_threshold{0};
  std::atomic<int> reuse[4] = {1, 1, 1, 1};
};

}  // namespace warpgrind::semantics
