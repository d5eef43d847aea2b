// Output of a graph in the DOT language, with the details that the flags select.
#include "semantics/graph_dot.h"

#include <fmt/format.h>

#include <sstream>

#include "base/demangle.h"
#include "base/file.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

namespace {

// CU_GRAPH_DEBUG_DOT_FLAGS_* of the driver API for which the runtime has no name.
constexpr unsigned kMemAllocParams = 1u << 11, kMemFreeParams = 1u << 12, kMemoryOperationParams = 1u << 13;
constexpr unsigned kKnownFlags = 0xffff;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '{' || c == '}' || c == '<' || c == '>' || c == '|') out += '\\';
    out += c;
  }
  return out;
}

const char* type_name(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "KERNEL";
    case cudaGraphNodeTypeMemcpy:
      return "MEMCPY";
    case cudaGraphNodeTypeMemset:
      return "MEMSET";
    case cudaGraphNodeTypeHost:
      return "HOST";
    case cudaGraphNodeTypeGraph:
      return "GRAPH";
    case cudaGraphNodeTypeEmpty:
      return "EMPTY";
    case cudaGraphNodeTypeWaitEvent:
      return "EVENT_WAIT";
    case cudaGraphNodeTypeEventRecord:
      return "EVENT_RECORD";
    case cudaGraphNodeTypeMemAlloc:
      return "MEM_ALLOC";
    case cudaGraphNodeTypeMemFree:
      return "MEM_FREE";
    default:
      return type == kMemoryNode ? "BATCH_MEM_OP" : "NODE";
  }
}

// Details of an operation that the flags select, one per line.
struct Details {
  unsigned flags = 0;
  std::string operator()(const KernelOperation& op) const {
    std::string text = "\n" + demangle(op.kernel->name);
    const device::LaunchConfig& c = op.config;
    if (flags & cudaGraphDebugDotFlagsKernelNodeParams)
      text += fmt::format("\ngrid {} x {} x {}\nblock {} x {} x {}\nshared memory {}", c.grid.x, c.grid.y, c.grid.z,
                          c.block.x, c.block.y, c.block.z, c.dynamic_shared);
    if (flags & cudaGraphDebugDotFlagsKernelNodeAttributes)
      text +=
          fmt::format("\ncooperative {}\ncluster {} x {} x {}", c.cooperative, c.cluster.x, c.cluster.y, c.cluster.z);
    return text;
  }
  std::string operator()(const CopyOperation& op) const {
    if (!(flags & cudaGraphDebugDotFlagsMemcpyNodeParams)) return "";
    const auto side = [](const CopySide& s) {
      return s.array ? std::string("an array") : fmt::format("{} pitch {}", fmt::ptr(s.pointer), s.pitch);
    };
    return fmt::format("\nfrom {}\nto {}\n{} x {} x {}", side(op.from), side(op.to), op.width, op.height, op.depth);
  }
  std::string operator()(const FillOperation& op) const {
    if (!(flags & cudaGraphDebugDotFlagsMemsetNodeParams)) return "";
    return fmt::format("\nto {} pitch {}\nvalue {} of {} bytes\n{} x {}", fmt::ptr(op.pointer), op.pitch, op.value,
                       op.element, op.width, op.height);
  }
  std::string operator()(const HostOperation& op) const {
    if (!(flags & cudaGraphDebugDotFlagsHostNodeParams)) return "";
    return fmt::format("\nfunction {}\ndata {}", reinterpret_cast<std::uintptr_t>(op.function), fmt::ptr(op.data));
  }
  std::string operator()(const EventOperation& op) const {
    if (!(flags & cudaGraphDebugDotFlagsEventNodeParams)) return "";
    return fmt::format("\nevent {}", fmt::ptr(op.event.get()));
  }
  std::string operator()(const ChildGraphOperation& op) const { return fmt::format("\ngraph_{}", op.graph->id); }
  std::string operator()(const ConditionalOperation& op) const {
    std::string text = fmt::format("\nhandle {}", op.handle);
    for (const auto& body : *op.bodies) text += fmt::format("\ngraph_{}", body->id);
    return text;
  }
  std::string operator()(const AllocOperation& op) const {
    if (!(flags & kMemAllocParams)) return "";
    return fmt::format("\n{} bytes at {}\ndevice {}", op.bytes, fmt::ptr(op.pointer), op.device);
  }
  std::string operator()(const FreeOperation& op) const {
    return flags & kMemFreeParams ? fmt::format("\n{}", fmt::ptr(op.pointer)) : "";
  }
  std::string operator()(const MemoryOperation& op) const {
    return flags & kMemoryOperationParams ? fmt::format("\n{} operations", op.steps.size()) : "";
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

// Prints one cluster per graph; those of child graphs follow.
void print(std::ostream& out, const Graph& graph, unsigned flags) {
  std::map<const GraphNode*, std::size_t> index;
  for (const auto& node : graph.nodes) index.emplace(node.get(), index.size());
  const auto name = [&](const GraphNode* node) { return fmt::format("\"graph_{}_node_{}\"", graph.id, index[node]); };
  const unsigned details = flags & cudaGraphDebugDotFlagsVerbose ? kKnownFlags : flags;
  out << fmt::format("subgraph cluster_{} {{\nlabel=\"graph_{}\" graph[style=\"dashed\"];\n", graph.id, graph.id);
  for (const auto& node : graph.nodes) {
    std::string label = fmt::format("{}\n{}", index[node.get()], type_name(node->type));
    label += std::visit(Details{details}, node->operation);
    if (details & cudaGraphDebugDotFlagsHandles) label += fmt::format("\nnode {}", fmt::ptr(node.get()));
    out << fmt::format("{}[style=\"{}\" shape=\"{}\" label=\"{}\"];\n", name(node.get()),
                       node->type == cudaGraphNodeTypeKernel ? "bold" : "solid",
                       node->type == cudaGraphNodeTypeKernel ? "octagon" : "rectangle", escaped(label));
  }
  for (const auto& node : graph.nodes)
    for (const GraphNode* before : node->dependencies) {
      const bool early = node->edge_from(before).type == cudaGraphDependencyTypeProgrammatic;
      out << name(before) << " -> " << name(node.get()) << (early ? "[style=\"dashed\"]" : "") << ";\n";
    }
  out << "}\n";
  for (const auto& node : graph.nodes)
    if (const auto* child = std::get_if<ChildGraphOperation>(&node->operation))
      print(out, *child->graph, flags);
    else if (const auto* conditional = std::get_if<ConditionalOperation>(&node->operation))
      for (const auto& body : *conditional->bodies) print(out, *body, flags);
}

}  // namespace

cudaError_t print_dot(const Graph* graph, const char* path, unsigned flags) {
  if (!is_graph(graph) || !path || (flags & ~kKnownFlags)) return cudaErrorInvalidValue;
  std::ostringstream out;
  out << "digraph dot {\n";
  print(out, *graph, flags);
  out << "}\n";
  const bool written = write_whole(path, out.str()).ok();
  return written ? cudaSuccess : refuse(cudaErrorOperatingSystem, fmt::format("{} cannot be written", path));
}

}  // namespace warpgrind::semantics
