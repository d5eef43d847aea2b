// Translation of PTX into modelled machine code (translate()), and execution counts of its blocks and edges
// (flow_of()).
#include "sass/code.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/assert.h"
#include "flow/cfg.h"
#include "flow/definitions.h"
#include "flow/forms.h"
#include "ptx/wmma.h"
#include "sass/classify.h"
#include "sass/fuse_operations.h"
#include "sass/if_conversion.h"
#include "sass/merge_accesses.h"
#include "sass/pipe_counts.h"
#include "sass/places.h"
#include "sass/pressure.h"
#include "sass/register_reads.h"
#include "sass/select_instructions.h"
#include "sass/unroll_loops.h"
#include "sass/uses.h"

namespace warpgrind::sass {
namespace {

using Place = std::pair<std::string, std::uint32_t>;  // function, instruction

class Translation {
 public:
  Translation(const ptx::Module& module, const events::KernelFacts& facts, const GpuModel& model)
      : module_(module), facts_(facts), model_(model) {
    for (std::uint32_t s = 0; s < facts.sites.size(); ++s)
      sites_[{facts.sites[s].function, facts.sites[s].instruction}] = s;
  }

  Code run() {
    code_.predicated.assign(facts_.branches.size(), false);
    code_.block_of.resize(facts_.blocks.size());
    add_function(facts_.name);
    for (const events::BlockFacts& b : facts_.blocks) add_function(b.function);
    for (std::uint32_t b = 0; b < facts_.blocks.size(); ++b)
      if (!add_block(b)) return {};
    for (std::uint32_t e = 0; e < facts_.edges.size(); ++e) {
      const events::EdgeFacts& edge = facts_.edges[e];
      if (edge.from >= code_.blocks.size()) return {};
      const bool leaves = edge.to == events::EdgeFacts::kLeaves;
      code_.blocks[edge.from].successors.push_back({leaves ? Edge::kLeaves : edge.to, {e}});
    }
    WG_ASSERT(code_.blocks.size() == facts_.blocks.size() && code_.functions.size() == bodies_.size());
    convert_branches(code_, facts_, bodies_);
    merge_accesses(code_, module_, bodies_);
    fuse_operations(code_, bodies_);
    select_instructions(code_, module_, bodies_, model_.timing);
    const Uses uses(code_, bodies_);
    count_pipes(code_, uses);
    count_register_reads(code_, bodies_, uses);
    unroll_loops(code_, facts_, bodies_);
    find_pressure(code_, bodies_);
    find_places(code_, module_, bodies_);
    return std::move(code_);
  }

 private:
  void add_function(const std::string& name) {
    if (functions_.contains(name)) return;
    for (std::uint32_t f = 0; f < module_.functions.size(); ++f) {
      if (!module_.functions[f].has_body || module_.functions[f].name != name) continue;
      functions_[name] = static_cast<std::uint32_t>(bodies_.size());
      bodies_.push_back(flow::find_definitions(module_.functions[f]));
      code_.functions.push_back(f);
      code_.first_register.push_back(code_.registers);
      code_.registers += static_cast<std::uint32_t>(bodies_.back().function.registers.size());
      return;
    }
  }

  bool add_block(std::uint32_t number) {
    const events::BlockFacts& facts = facts_.blocks[number];
    const auto function = functions_.find(facts.function);
    if (function == functions_.end()) return false;
    const ptx::Function& body = bodies_[function->second].function;
    if (facts.first_instruction + facts.instruction_count > body.body.size()) return false;
    if (facts.function == facts_.name && facts.first_instruction == 0) code_.entry = number;
    WG_ASSERT(code_.blocks.size() == number);
    code_.block_of[number] = number;
    Block& block = code_.blocks.emplace_back();
    block.facts_blocks.push_back(number);
    for (std::uint32_t n = 0; n < facts.instruction_count; ++n) {
      const std::uint32_t at = facts.first_instruction + n;
      Instruction i = classify(body.body[at], model_);
      i.function = function->second;
      i.ptx = at;
      i.facts_block = number;
      i.ends = flow::ends_block(body.body[at]);
      const auto site = sites_.find({facts.function, at});
      if (site != sites_.end()) {
        i.site = site->second;
        if (i.load || i.store) i.bytes = static_cast<std::uint8_t>(std::min(255u, facts_.sites[i.site].bytes()));
      }
      add_registers(i, body.body[at], body);
      block.instructions.push_back(std::move(i));
    }
    return true;
  }

  void add_registers(Instruction& i, const ptx::Instruction& from, const ptx::Function& body) const {
    flow::registers_written(from, i.writes);
    flow::registers_read(from, i.reads);
    unsigned bits = 0;
    for (const ptx::RegId r : i.writes) bits += std::max(32u, ptx::bits(body.registers[r].type));
    i.sets_predicate = !i.writes.empty() && body.registers[i.writes[0]].type == ptx::ScalarType::pred;
    if (i.load) i.result_words = static_cast<std::uint8_t>(std::min(255u, bits / 32));
    if (const auto w = ptx::wmma_move(from)) {
      i.requests = w->requests;
      if (i.load) i.result_words = static_cast<std::uint8_t>(std::min(bits, w->register_bits()) / 32);
    }
    const auto add = [](std::vector<ptx::RegId>& to, ptx::RegId r) {
      if (std::find(to.begin(), to.end(), r) == to.end()) to.push_back(r);
    };
    if (from.guard) {
      add(i.reads, from.guard.reg);
      for (const ptx::RegId r : i.writes) add(i.reads, r);
    }
    for (ptx::RegId& r : i.writes) r += code_.first_register[i.function];
    for (ptx::RegId& r : i.reads) r += code_.first_register[i.function];
  }

  const ptx::Module& module_;
  const events::KernelFacts& facts_;
  const GpuModel& model_;
  std::map<Place, std::uint32_t> sites_;
  std::map<std::string, std::uint32_t> functions_;  // index into Code::functions
  std::vector<flow::Definitions> bodies_;           // by index into Code::functions
  Code code_;
};

// Warps per edge, by index into KernelFacts::edges.
std::vector<double> edge_warps(const events::KernelFacts& facts, const events::LaunchCounts& counts) {
  std::map<Place, std::uint32_t> branch_at;
  for (std::uint32_t b = 0; b < facts.branches.size(); ++b)
    branch_at[{facts.branches[b].function, facts.branches[b].instruction}] = b;
  std::vector<std::uint32_t> ways(facts.blocks.size(), 0), entries(facts.blocks.size(), 0);
  for (const events::EdgeFacts& e : facts.edges) {
    WG_ASSERT(e.from < ways.size());
    ++ways[e.from];
    if (e.to != events::EdgeFacts::kLeaves) ++entries[e.to];
  }
  std::vector<double> warps(facts.edges.size(), 0);
  std::vector<std::uint32_t> seen(facts.blocks.size(), 0);
  for (std::uint32_t n = 0; n < facts.edges.size(); ++n) {
    const events::EdgeFacts& e = facts.edges[n];
    const double of_block = e.from < counts.blocks.size() ? static_cast<double>(counts.blocks[e.from].warps) : 0;
    const std::uint32_t way = seen[e.from]++;  // the taken direction first
    const events::BlockFacts& block = facts.blocks[e.from];
    const auto branch = branch_at.find({block.function, block.first_instruction + block.instruction_count - 1});
    if (ways[e.from] == 1) {
      warps[n] = of_block;
    } else if (e.counter < counts.edges.size()) {
      warps[n] = static_cast<double>(counts.edges[e.counter].warps);
    } else if (ways[e.from] == 2 && branch != branch_at.end() && branch->second < counts.branches.size()) {
      const events::BranchCounts& c = counts.branches[branch->second];
      warps[n] = static_cast<double>(way == 0 ? c.taken : c.executed - c.taken + c.divergent);
    } else if (e.to != events::EdgeFacts::kLeaves && entries[e.to] == 1) {
      warps[n] = static_cast<double>(counts.blocks[e.to].warps);
    } else {
      warps[n] = of_block / ways[e.from];  // an indexed branch to a block with other predecessors; a guarded exit
    }
  }
  return warps;
}

// Fraction of loop-control instructions that remain after unrolling: iterations run in fours, then two, then one.
double loop_share(const Block& block, std::uint32_t number, const std::vector<double>& ways, double warps) {
  if (block.unrolled == 1 || warps <= 0) return 1;
  if (block.unrolled == Block::kAltogether) return 0;
  double back = 0;
  for (std::size_t k = 0; k < block.successors.size(); ++k)
    if (block.successors[k].to == number) back += ways[k];
  const double entries = std::max(1.0, warps - back), rounds = std::round(warps / entries);
  const double by = block.unrolled, rest = std::fmod(rounds, by);
  const double passes = std::floor(rounds / by) + (rest >= 2 ? 1 : 0) + std::fmod(rest, 2);
  return std::min(1.0, passes / rounds);
}

// A branch to an empty kernel end is an EXIT under a predicate. Warps that leave through it do not execute the EXIT of
// the end block.
void leave_early(const Code& code, Flow& flow) {
  for (std::uint32_t end = 0; end < code.blocks.size(); ++end) {
    const Block& block = code.blocks[end];
    if (block.instructions.size() != 1 || block.successors.size() != 1 || block.successors[0].to != Edge::kLeaves)
      continue;
    double warps = 0, lanes = 0;
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
      const std::vector<Edge>& ways = code.blocks[b].successors;
      const bool back = ways.size() == 2 && (ways[0].to <= b || ways[1].to <= b);  // a loop's branch goes back instead
      for (std::size_t k = 0; k < ways.size(); ++k) {
        if (ways[k].to != end || (ways.size() > 1 && !back) || flow.warps[b] <= 0) continue;
        warps += flow.edges[b][k];
        lanes += flow.lanes[b] / flow.warps[b] * flow.edges[b][k];
      }
    }
    flow.warps[end] = std::min(flow.warps[end], warps);
    flow.lanes[end] = std::min(flow.lanes[end], lanes);
  }
}

}  // namespace

std::string_view name(Pipe pipe) {
  static constexpr std::string_view kNames[] = {"none",
                                                "move",
                                                "alu",
                                                "fma",
                                                "imad",
                                                "fp64",
                                                "xu",
                                                "half",
                                                "tensor",
                                                "tensor (double)",
                                                "global",
                                                "shared",
                                                "local",
                                                "constant",
                                                "texture",
                                                "global atomics",
                                                "shared atomics",
                                                "shuffle",
                                                "barrier",
                                                "fence",
                                                "control"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Pipe::count));
  WG_ASSERT(pipe < Pipe::count);
  return kNames[static_cast<unsigned>(pipe)];
}

Code translate(const ptx::Module& module, const events::KernelFacts& facts, const GpuModel& model) {
  return Translation(module, facts, model).run();
}

// A block of PTX that stands at several places of the code counts at its first one.
static std::vector<Flow::SlowPath> slow_paths_of(const Code& code, const events::KernelFacts& facts,
                                                 const events::LaunchCounts& counts) {
  std::vector<Flow::SlowPath> all;
  for (std::size_t p = 0; p < counts.slow_paths.size() && p < facts.slow_paths.size(); ++p) {
    const events::SlowPathFacts& fact = facts.slow_paths[p];
    if (counts.slow_paths[p].warps == 0 || fact.block >= code.block_of.size()) continue;
    const std::uint32_t b = code.block_of[fact.block];
    if (b >= code.blocks.size()) continue;
    const std::vector<Instruction>& list = code.blocks[b].instructions;
    for (std::uint32_t n = 0; n < list.size(); ++n) {
      if (list[n].added || list[n].facts_block != fact.block || list[n].ptx != fact.instruction) continue;
      if (list[n].issue > 0) all.push_back({b, n, counts.slow_paths[p]});
      break;
    }
  }
  return all;
}

Flow flow_of(const Code& code, const events::KernelFacts& facts, const events::LaunchCounts& counts) {
  WG_ASSERT(code.block_of.size() == facts.blocks.size() || code.blocks.empty());
  const std::vector<double> edges = edge_warps(facts, counts);
  Flow flow;
  for (const Block& block : code.blocks) {
    WG_ASSERT(!block.facts_blocks.empty());
    const std::uint32_t first = block.facts_blocks.front();
    const bool counted = first < counts.blocks.size();
    flow.warps.push_back(counted ? static_cast<double>(counts.blocks[first].warps) : 0);
    flow.lanes.push_back(counted ? static_cast<double>(counts.blocks[first].lanes) : 0);
    std::vector<double>& ways = flow.edges.emplace_back();
    for (const Edge& e : block.successors) {
      double warps = e.facts_edges.empty() ? flow.warps.back() : 0;
      for (const std::uint32_t n : e.facts_edges) warps += edges[n];
      ways.push_back(e.facts_edges.size() > 1 ? std::min(warps, flow.warps.back()) : warps);
    }
    const auto number = static_cast<std::uint32_t>(flow.warps.size() - 1);
    flow.loop_share.push_back(loop_share(block, number, ways, flow.warps.back()));
  }
  leave_early(code, flow);
  flow.slow_paths = slow_paths_of(code, facts, counts);
  return flow;
}

}  // namespace warpgrind::sass
