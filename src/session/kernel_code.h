// The PTX of the kernels that ran, with how often each instruction was executed: for the source and PTX views of a
// detailed run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "events/observer.h"
#include "events/scoreboard.h"
#include "events/site.h"
#include "ptx/ast.h"
#include "results/profile.h"

namespace warpgrind::session {

class KernelCode : public events::Observer {
 public:
  // Makes the device count them; the counts come with add().
  events::Wants wants() const override;

  // A launch of a kernel of this module, on a device.
  void add(int device, const events::KernelFacts& facts, const events::LaunchCounts& counts, const ptx::Module& module);

  // Fills in code, graph and lines of the profile's kernels. A line's instructions and those of its sites are summed.
  void attach(results::Profile& profile) const;

 private:
  struct Row {
    results::CodeRow code;
    std::uint64_t warps = 0, lanes = 0, lanes_on = 0;  // lanes_on: of those whose guard was true
  };
  struct Kernel {
    std::map<std::pair<std::string, std::uint32_t>, std::size_t> index;  // function, instruction
    std::vector<Row> rows;
    results::FlowGraph graph;
  };
  static Kernel rows_of(const events::KernelFacts& facts, const ptx::Module& module);
  static results::FlowGraph graph_of(const events::KernelFacts& facts, const Kernel& kernel, const ptx::Module& module);
  static void add_flow(results::FlowGraph& graph, const events::KernelFacts& facts, const events::LaunchCounts& counts);

  std::map<std::pair<int, std::string>, Kernel> kernels_;  // device, mangled name
};

}  // namespace warpgrind::session
