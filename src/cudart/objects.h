// What the opaque handles of the API point to.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cudart/api_types.h"
#include "session/program.h"
#include "timing/timeline.h"

namespace warpgrind::cudart {

// A capture in progress: which graph grows, and the nodes the stream's next node depends on.
struct Capture {
  Capture();
  ~Capture();
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  std::unique_ptr<Graph> own_graph;  // null: the graph is the caller's (cudaStreamBeginCaptureToGraph, or handed out)
  Stream* origin = nullptr;          // null: destroyed
  bool invalidated = false, ended = false;
  std::vector<Stream*> members;  // streams that joined through events
};

struct Stream {
  int device = 0;
  timing::StreamId id = 0;
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t unique_id = 0;
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> capture_tail;
  cudaLaunchAttributeValue attributes[cudaLaunchAttributeMax] = {};
};

struct Event {
  int device = 0;
  unsigned flags = 0;
  bool recorded = false;
  double time_ns = 0;  // virtual
  // Recorded in a capturing stream: what a wait for it depends on.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> capture_tail;
};

struct KernelHandle {
  session::Program* program = nullptr;
  std::string name;
  const void* host_function = nullptr;
  // cudaFuncSetAttribute; defaults as documented.
  std::atomic<int> max_dynamic_shared{-1};  // -1: the device's default
  std::atomic<int> carveout{-1};
  std::atomic<int> cluster[3] = {0, 0, 0};
  std::atomic<int> cluster_must_be_set{0}, non_portable_cluster{0}, cluster_policy{0};
};

struct LibraryHandle {
  session::Program* program = nullptr;
  std::vector<std::unique_ptr<KernelHandle>> kernels;
};

struct MemPool {
  int device = 0;
  std::atomic<std::uint64_t> used{0}, used_high{0}, reserved_high{0}, release_threshold{0};
  std::atomic<int> reuse[4] = {1, 1, 1, 1};
};

}  // namespace warpgrind::cudart
