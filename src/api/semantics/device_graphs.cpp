#include "semantics/device_graphs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "semantics/graph.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

void GraphRun::add(std::vector<device::GraphRequest> more) {
  const std::lock_guard lock(mutex_);
  std::move(more.begin(), more.end(), std::back_inserter(requests_));
}

std::vector<device::GraphRequest> GraphRun::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(requests_, {});
}

namespace {

bool calls_graph_launch(const KernelOperation& op) {
  const auto module = op.kernel->program->module();
  if (!module) return false;  // the launch reports why
  const std::vector<ptx::Function>& functions = (*module)->functions;
  return std::any_of(functions.begin(), functions.end(),
                     [](const ptx::Function& f) { return !f.has_body && f.name.starts_with("cudaGraphLaunch"); });
}

}  // namespace

bool launches_graphs(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    if (const auto* op = std::get_if<KernelOperation>(&node->operation)) return calls_graph_launch(*op);
    if (const auto* child = std::get_if<ChildGraphOperation>(&node->operation)) return launches_graphs(*child->graph);
    const auto* conditional = std::get_if<ConditionalOperation>(&node->operation);
    return conditional && std::any_of(conditional->bodies->begin(), conditional->bodies->end(),
                                      [](const auto& body) { return launches_graphs(*body); });
  });
}

void RequestedGraphs::add(std::vector<device::GraphRequest> requests) {
  using Kind = device::GraphRequest::Kind;
  std::stable_partition(requests.begin(), requests.end(), [](const auto& r) { return r.kind != Kind::tail; });
  for (auto r = requests.rbegin(); r != requests.rend(); ++r) stack_.push_back(r->graph);
}

GraphExec* RequestedGraphs::next() {
  while (!stack_.empty()) {
    auto* exec = reinterpret_cast<GraphExec*>(stack_.back());
    stack_.pop_back();
    if (is_graph_exec(exec)) return exec;
  }
  return nullptr;
}

GraphNode* not_for_device(const Graph& graph) {
  const auto pageable = [](const CopySide& side) {
    return !side.array && place_of(side.pointer).memory == Memory::pageable;
  };
  for (const auto& node : graph.nodes) {
    if (const auto* child = std::get_if<ChildGraphOperation>(&node->operation)) {
      if (GraphNode* inside = not_for_device(*child->graph)) return inside;
    } else if (const auto* copy = std::get_if<CopyOperation>(&node->operation)) {
      if (pageable(copy->from) || pageable(copy->to)) return node.get();
    } else if (!std::holds_alternative<KernelOperation>(node->operation) &&
               !std::holds_alternative<FillOperation>(node->operation)) {
      return node.get();
    }
  }
  return nullptr;
}

}  // namespace warpgrind::semantics
