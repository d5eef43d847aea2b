// PTX rows, flow graph, and sums by source line.
#include "observers/kernel_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "base/demangle.h"
#include "base/element.h"
#include "ptx/inlining.h"
#include "ptx/printer.h"
#include "results/code_rows.h"

namespace warpgrind::observers {
namespace {

const ptx::Function* find_function(const ptx::Module& module, const std::string& name) {
  for (const ptx::Function& f : module.functions)
    if (f.has_body && f.name == name) return &f;
  return nullptr;
}

std::string file_name(const ptx::Module& module, std::uint32_t file) {
  return file < module.files.size() ? module.files[file] : std::string();
}

void add_place(results::CodeRow& row, ptx::SourcePlace place) {
  row.file = std::move(place.file);
  row.line = place.line;
  for (ptx::Caller& c : place.callers) row.inlined_at.push_back({std::move(c.file), std::move(c.function), c.line});
  if (place.header) row.header = {place.header->file, place.header->function, place.header->line};
}

using results::MetricId;

void add_metric(results::Metrics& metrics, const std::string& name, const std::string& unit, double value,
                Origin origin = Origin::exact) {
  results::Metric& m = metrics.by_name().try_emplace(name, results::Metric{0, unit, origin, ""}).first->second;
  m.value += value;
}
void add_metric(results::Metrics& metrics, MetricId id, const std::string& unit, double value) {
  add_metric(metrics, name(id), unit, value);
}

// Can the metric be summed over the sites of a line? Instructions are excluded because add_lines() counts all of the
// line.
bool adds_up(const std::string& metric) {
  return results::adds_up(metric) && metric != name(MetricId::site_inst) && metric != name(MetricId::site_thread_inst);
}

// Is it a load of a parameter? On a GPU parameters are constants and need no instruction. nvcc gives these loads the
// line of the function's head.
bool loads_parameter(const results::CodeRow& row) {
  return row.text.starts_with("ld.param");
}

// Adds the hit rate of the L1 sectors that the loads of a line looked up.
void add_hit_rate(results::Metrics& line) {
  const double lookups = line.value(MetricId::l1_lookups);
  if (lookups > 0)
    line[MetricId::l1_hit_rate] = {100 * line.value(MetricId::l1_hits) / lookups, "%", Origin::modelled, ""};
}

// Counters of shared memory whose sum over the lines must be the kernel's: those of the machine code, if it is
// modelled.
struct SharedCounter {
  MetricId of_line, machine;
};
constexpr std::array<SharedCounter, 3> kSharedCounters = {{
    {MetricId::shared_wavefronts, MetricId::site_machine_wavefronts},
    {MetricId::shared_ideal, MetricId::site_machine_ideal},
    {MetricId::shared_conflicts, MetricId::site_machine_conflicts},
}};

void add_shared(results::Metrics& line, const results::SiteProfile& site) {
  for (const SharedCounter& c : kSharedCounters) {
    if (!site.metrics.has(c.of_line)) continue;
    if (c.of_line == MetricId::shared_conflicts && site.kind == "async_copy")
      continue;  // the kernel's has none of these
    const MetricId from = site.metrics.has(c.machine) ? c.machine : c.of_line;
    const results::Metric& m = *site.metrics.find(from);
    add_metric(line, name(c.of_line), m.unit, m.value, m.origin);
  }
  if (line.has(MetricId::shared_wavefronts))
    line[MetricId::shared_excessive] = {line.value(MetricId::shared_wavefronts) - line.value(MetricId::shared_ideal),
                                        "", Origin::modelled, ""};
}

// Is the metric one that add_shared() adds?
bool is_shared(const std::string& metric) {
  if (metric == name(MetricId::shared_excessive)) return true;
  return std::any_of(kSharedCounters.begin(), kSharedCounters.end(),
                     [&](const SharedCounter& c) { return metric == name(c.of_line) || metric == name(c.machine); });
}

// Adds the site's requests to the counter of each space that it accessed.
void add_requests(results::Metrics& line, const results::SiteProfile& site) {
  const results::Metric* executed = site.metrics.find(MetricId::site_inst);
  if (executed == nullptr) return;
  const double n = executed->value;
  if (site.metrics.has(MetricId::theoretical_sectors)) add_metric(line, MetricId::line_global_requests, "", n);
  if (site.metrics.has(MetricId::shared_wavefronts)) {
    const results::Metric* left = site.metrics.find(MetricId::site_machine_requests);
    add_metric(line, MetricId::line_shared_requests, "", left ? left->value : n);
  }
  if (site.metrics.has(MetricId::local_theoretical_sectors)) add_metric(line, MetricId::line_local_requests, "", n);
}

}  // namespace

events::Wants KernelCode::wants() const {
  events::Wants wanted;
  wanted.counts = wanted.edges = true;
  return wanted;
}

KernelCode::Kernel KernelCode::rows_of(const events::KernelFacts& facts, const ptx::Module& module) {
  Kernel kernel;
  std::vector<std::string> functions{facts.name};
  for (const events::BlockFacts& b : facts.blocks)
    if (std::find(functions.begin(), functions.end(), b.function) == functions.end()) functions.push_back(b.function);
  for (const std::string& name : functions) {
    const ptx::Function* function = find_function(module, name);
    if (function == nullptr) continue;
    for (std::uint32_t i = 0; i < function->body.size(); ++i) {
      const ptx::Instruction& instruction = function->body[i];
      kernel.index[{name, i}] = kernel.rows.size();
      results::CodeRow& row = kernel.rows.emplace_back().code;
      row.ptx_line = instruction.range.line;
      row.text = ptx::print(instruction, *function, module);
      if (name != facts.name) row.function = demangle(name);
      add_place(row, ptx::source_place(module, *function, instruction));
    }
  }
  for (std::uint32_t b = 0; b < facts.blocks.size(); ++b)
    for (std::uint32_t i = 0; i < facts.blocks[b].instruction_count; ++i) {
      const auto it = kernel.index.find({facts.blocks[b].function, facts.blocks[b].first_instruction + i});
      if (it != kernel.index.end()) kernel.rows[it->second].code.block = b;
    }
  kernel.graph = graph_of(facts, kernel, module);
  return kernel;
}

results::FlowGraph KernelCode::graph_of(const events::KernelFacts& facts, const Kernel& kernel,
                                        const ptx::Module& module) {
  results::FlowGraph graph;
  const auto ptx_line = [&](const std::string& function, std::uint32_t instruction) {
    const auto it = kernel.index.find({function, instruction});
    return it == kernel.index.end() ? 0 : kernel.rows[it->second].code.ptx_line;
  };
  for (std::uint32_t b = 0; b < facts.blocks.size(); ++b) {
    const events::BlockFacts& from = facts.blocks[b];
    results::GraphBlock& block = graph.blocks.emplace_back();
    block.first_ptx_line = ptx_line(from.function, from.first_instruction);
    block.last_ptx_line = ptx_line(from.function, from.first_instruction + from.instruction_count - 1);
    block.line = from.line;
    if (from.line != 0) block.file = file_name(module, from.file);
    if (from.function != facts.name) block.function = demangle(from.function);
    if (from.function == facts.name && from.first_instruction == 0) graph.entry = b;
  }
  for (const events::EdgeFacts& e : facts.edges)
    graph.edges.push_back(
        {e.from, e.to == events::EdgeFacts::kLeaves ? results::GraphEdge::kLeaves : static_cast<std::int32_t>(e.to), 0,
         0});
  return graph;
}

// Adds a launch's counts to the blocks and edges. Other block shapes have other machine code but the same graph.
void KernelCode::add_flow(results::FlowGraph& graph, const events::KernelFacts& facts,
                          const events::LaunchCounts& counts) {
  if (graph.blocks.size() != counts.blocks.size() || graph.edges.size() != facts.edges.size()) return;
  for (std::size_t b = 0; b < counts.blocks.size(); ++b) {
    graph.blocks[b].warps += counts.blocks[b].warps;
    graph.blocks[b].lanes += counts.blocks[b].lanes;
  }
  for (std::size_t i = 0; i < facts.edges.size(); ++i) {
    const events::EdgeFacts& e = facts.edges[i];
    const events::BlockCounts& n =
        e.counter == events::EdgeFacts::kNotCounted ? counts.blocks[e.from] : element(counts.edges, e.counter);
    graph.edges[i].warps += n.warps;
    graph.edges[i].lanes += n.lanes;
  }
}

void KernelCode::on_launch_end(const events::Launch& launch, const events::LaunchCounts& counts) {
  const events::KernelFacts& facts = *launch.facts;
  auto [it, fresh] = kernels_.try_emplace(facts.name);
  Kernel& kernel = it->second;
  if (fresh) kernel = rows_of(facts, *launch.module);
  add_flow(kernel.graph, facts, counts);
  const auto row = [&](const std::string& function, std::uint32_t instruction) -> Row* {
    const auto found = kernel.index.find({function, instruction});
    return found == kernel.index.end() ? nullptr : &kernel.rows[found->second];
  };
  for (std::size_t b = 0; b < facts.blocks.size() && b < counts.blocks.size(); ++b) {
    const events::BlockFacts& block = facts.blocks[b];
    for (std::uint32_t i = 0; i < block.instruction_count; ++i)
      if (Row* r = row(block.function, block.first_instruction + i)) {
        r->warps += counts.blocks[b].warps;
        r->lanes += counts.blocks[b].lanes;
        r->lanes_on += counts.blocks[b].lanes;
      }
  }
  for (std::size_t g = 0; g < facts.guards.size() && g < counts.guard_lanes.size(); ++g) {
    const events::GuardFacts& guard = facts.guards[g];
    if (guard.block >= counts.blocks.size()) continue;
    if (Row* r = row(facts.blocks[guard.block].function, guard.instruction))
      r->lanes_on -= std::min(r->lanes_on, counts.blocks[guard.block].lanes - counts.guard_lanes[g]);
  }
}

void KernelCode::contribute(results::Profile& profile) const {
  for (results::KernelProfile& k : profile.kernels) {
    const auto it = kernels_.find(k.mangled_name);
    if (k.device != device_ || it == kernels_.end()) continue;
    k.graph = it->second.graph;
    add_lines(k, it->second);
  }
}

namespace {

// Sums by line: at the instruction's own line, and separately at every line into which its function was inlined.
class LineSums {
 public:
  explicit LineSums(const results::KernelProfile& kernel) : kernel_(kernel) {}
  template <class F>
  void add(const results::CodeRow* row, const std::string& file, std::uint32_t line, F&& f) {
    f(at(own_, file, line, row ? row->function : ""));
    if (!row) return;
    std::set<std::pair<std::string, std::uint32_t>> seen;  // a recursive chain contains a line several times
    for (const auto& call : row->inlined_at)
      if (call.line != 0 && seen.emplace(call.file, call.line).second)
        f(at(inlined_, call.file, call.line, row->function));
  }
  void move_to(results::KernelProfile& k) {
    for (Lines* lines : {&own_, &inlined_})
      for (auto& [place, l] : *lines) add_hit_rate(l.metrics);
    for (auto& [place, l] : own_) k.lines.push_back(std::move(l));
    for (auto& [place, l] : inlined_) k.inlined_lines.push_back(std::move(l));
  }

 private:
  using Lines = std::map<std::pair<std::string, std::uint32_t>, results::LineProfile>;
  results::LineProfile& at(Lines& lines, const std::string& file, std::uint32_t number, const std::string& function) {
    results::LineProfile& l = lines[{file, number}];
    l.file = file;
    l.line = number;
    if (l.function.empty()) l.function = function.empty() ? kernel_.name : function;
    return l;
  }
  const results::KernelProfile& kernel_;
  Lines own_, inlined_;
};

}  // namespace

void KernelCode::add_lines(results::KernelProfile& k, const Kernel& kernel) {
  LineSums sums(k);
  for (const Row& row : kernel.rows) {
    k.code.push_back(row.code);
    if (row.code.line == 0 || row.warps == 0 || loads_parameter(row.code)) continue;
    sums.add(&row.code, row.code.file, row.code.line, [&](results::LineProfile& l) {
      add_metric(l.metrics, MetricId::site_inst, "inst", static_cast<double>(row.warps));
      add_metric(l.metrics, MetricId::line_thread_inst, "inst", static_cast<double>(row.lanes));
      add_metric(l.metrics, MetricId::site_thread_inst, "inst", static_cast<double>(row.lanes_on));
    });
  }
  const auto rows = results::by_ptx_line(k.code);
  for (const results::SiteProfile& s : k.sites) {
    if (s.line == 0) continue;
    const auto row = rows.find(s.ptx_line);
    sums.add(row == rows.end() ? nullptr : row->second, s.file, s.line, [&](results::LineProfile& l) {
      for (const auto& [name, m] : s.metrics.by_name())
        if (adds_up(name) && !is_shared(name)) add_metric(l.metrics, name, m.unit, m.value, m.origin);
      add_shared(l.metrics, s);
      add_requests(l.metrics, s);
    });
  }
  sums.move_to(k);
}

std::unique_ptr<ProfileObserver> make_kernel_code(const Watched& watched) {
  return std::make_unique<KernelCode>(watched.device);
}

}  // namespace warpgrind::observers
