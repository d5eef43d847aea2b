// Graphs that kernels launch (cudaGraphLaunch in device code). The kernels of a running graph leave requests. The call
// that launched the graph from the host waits for its end, and then launches the requested ones: children and siblings
// first, tail launches last.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "device/device.h"
#include "semantics/types.h"

namespace warpgrind::semantics {

struct Graph;
struct GraphNode;

// One launch of a graph.
struct GraphRun {
  explicit GraphRun(std::uint64_t graph_exec) : exec(graph_exec) {}
  const std::uint64_t exec;  // handle, if kernels may launch the graph; else 0
  void add(std::vector<device::GraphRequest> more);
  std::vector<device::GraphRequest> take();

 private:
  std::mutex mutex_;
  std::vector<device::GraphRequest> requests_;
};

// Whether the module of one of its kernels calls cudaGraphLaunch. Child graphs and bodies of conditions included.
bool launches_graphs(const Graph& graph);

// Graphs to launch, in their order.
class RequestedGraphs {
 public:
  void add(std::vector<device::GraphRequest> requests);
  GraphExec* next();  // null: none is left. Skips graphs that were destroyed.

 private:
  std::vector<std::uint64_t> stack_;  // the next one is last
};

// A node that a graph for launches by the device must not have; null: there is none. Kernels, fills, child graphs, and
// copies without pageable memory are allowed (CUDA runtime API, cudaGraphInstantiate; errors as on an H200).
GraphNode* not_for_device(const Graph& graph);

}  // namespace warpgrind::semantics
