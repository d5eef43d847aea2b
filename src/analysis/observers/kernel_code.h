// Observer that provides the PTX of the executed kernels with the execution count of each instruction, for the source
// and PTX views of a detailed run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "events/scoreboard.h"
#include "events/site.h"
#include "observers/profile_observer.h"
#include "ptx/ast.h"
#include "results/profile.h"

namespace warpgrind::observers {

class KernelCode final : public ProfileObserver {
 public:
  explicit KernelCode(int device) : device_(device) {}
  events::Wants wants() const override;
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts& counts) override;

  // Fills in code, graph and lines of the profile's kernels. A line has the sums over its instructions and sites.
  void contribute(results::Profile& profile) const override;

 private:
  struct Row {
    results::CodeRow code;
    std::uint64_t warps = 0, lanes = 0, lanes_on = 0;  // lanes_on: lanes whose guard was true
  };
  struct Kernel {
    std::map<std::pair<std::string, std::uint32_t>, std::size_t> index;  // function, instruction
    std::vector<Row> rows;
    results::FlowGraph graph;
  };
  static Kernel rows_of(const events::KernelFacts& facts, const ptx::Module& module);
  static results::FlowGraph graph_of(const events::KernelFacts& facts, const Kernel& kernel, const ptx::Module& module);
  static void add_lines(results::KernelProfile& profile, const Kernel& kernel);
  static void add_flow(results::FlowGraph& graph, const events::KernelFacts& facts, const events::LaunchCounts& counts);

  int device_;
  std::map<std::string, Kernel> kernels_;  // by mangled name
};

}  // namespace warpgrind::observers
