// What a run does not prove.
#include "mcp/caveats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/words.h"
#include "mcp/kernel_numbers.h"
#include "report/format.h"
#include "report/kernel_names.h"

namespace warpgrind::mcp {

namespace {

using results::KernelProfile;
using results::MetricId;

constexpr std::size_t kShown = 5;

std::string listed(const std::vector<std::string>& items) {
  std::string out;
  for (std::size_t i = 0; i < std::min(items.size(), kShown); ++i) out += (i == 0 ? "" : ", ") + items[i];
  if (items.size() > kShown) out += fmt::format(" and {} more", items.size() - kShown);
  return out;
}

std::string place_of(const std::string& file, std::uint32_t line) {
  return fmt::format("{}:{}", base_name(file), line);
}

// Clocks of the host measure the simulator.
std::string host_clock(const std::string& source) {
  for (const char* name : {"chrono", "clock_gettime", "gettimeofday", "omp_get_wtime"})
    if (source.find(name) != std::string::npos) return name;
  return "";
}

bool copies_back(const results::Profile& profile) {
  return std::any_of(profile.transfers.begin(), profile.transfers.end(),
                     [](const results::TransferProfile& t) { return t.direction == "DtoH"; });
}

void add_kernel(const KernelProfile& k, const GpuModel* model, std::vector<std::string>& out) {
  const std::string name = report::short_name(k.name);
  const bool some = k.metrics.value(MetricId::blocks_run) > 0;  // others may go other ways
  const Unexercised missing = some ? Unexercised() : unexercised(k);
  if (!missing.lines.empty()) out.push_back(fmt::format("{}: no thread executed {}.", name, listed(missing.lines)));
  if (!missing.conditions.empty())
    out.push_back(
        fmt::format("{}: the condition at {} had the same outcome for all threads, so its other side is untested "
                    "(a size that is no multiple of the block would test a bounds check).",
                    name, listed(missing.conditions)));
  const double launches = static_cast<double>(std::max<std::uint64_t>(1, k.launches));
  const double footprint = k.metrics.value(MetricId::footprint) / launches;
  if (model && footprint > 0 && footprint < static_cast<double>(model->l2_bytes))
    out.push_back(fmt::format(
        "{}: its data ({}) fits into the L2 cache ({}){}; a problem that does not fit may be bound by DRAM and rank "
        "variants in another order.",
        name, report::with_bytes(footprint), report::with_bytes(static_cast<double>(model->l2_bytes)),
        k.launches > 1 ? ", and repeated launches find it there" : ""));
  constexpr double kMostlyOverhead = 4000;  // ns
  constexpr double kFull = 0.9;
  if (const double waves = k.metrics.value(MetricId::waves); waves > 0 && waves < kFull)
    out.push_back(
        fmt::format("{}: its grid fills only {:.0f} % of the GPU, so variants may rank otherwise for a larger problem "
                    "(\"blocks\": 16 runs only some blocks of a launch, so that a large one fits into the time).",
                    name, 100 * waves));
  else if (time_ns(k) > 0 && time_ns(k) < kMostlyOverhead)
    out.push_back(
        fmt::format("{}: {:.1f} us is mostly the fixed cost of a launch; use a larger problem to compare variants.",
                    name, time_ns(k) / 1000));
}

}  // namespace

std::vector<std::string> kernels_never_run(const ProgramRun& run) {
  std::vector<std::string> out;
  if (!run.content || (!run.profile && !run.ended_well)) return out;  // a killed run left no counts
  std::set<std::string> ran;
  if (run.profile)
    for (const KernelProfile& k : run.profile->kernels)
      if (k.launches > 0) ran.insert(k.name);
  for (const std::string& kernel : run.content->kernels)
    if (!ran.contains(kernel) && std::find(out.begin(), out.end(), kernel) == out.end()) out.push_back(kernel);
  return out;
}

Unexercised unexercised(const KernelProfile& k) {
  Unexercised out;
  if (!k.graph) return out;
  const auto& blocks = k.graph->blocks;
  const auto ran = [&](std::uint32_t block) { return block < blocks.size() && blocks[block].warps > 0; };
  std::map<std::pair<std::string, std::uint32_t>, bool> lines;  // false: no warp executed it
  std::map<std::uint32_t, const results::CodeRow*> last;        // row of each block
  for (const results::CodeRow& row : k.code) {
    last[row.block] = &row;
    if (row.line != 0 && !row.file.empty() && !row.header) lines[{row.file, row.line}] |= ran(row.block);
  }
  for (const auto& [place, executed] : lines)
    if (!executed) out.lines.push_back(place_of(place.first, place.second));
  std::map<std::uint32_t, std::vector<const results::GraphEdge*>> edges;
  for (const results::GraphEdge& edge : k.graph->edges) edges[edge.from].push_back(&edge);
  for (const auto& [from, all] : edges) {
    const auto row = last.find(from);
    if (all.size() < 2 || !ran(from) || row == last.end() || row->second->line == 0) continue;
    for (const results::GraphEdge* edge : all) {
      if (edge->warps != 0) continue;
      // A side that holds lines of its own is named by these.
      const bool named = edge->to >= 0 && !ran(static_cast<std::uint32_t>(edge->to));
      const std::string place = place_of(row->second->file, row->second->line);
      if (!named && std::find(out.conditions.begin(), out.conditions.end(), place) == out.conditions.end())
        out.conditions.push_back(place);
    }
  }
  return out;
}

std::vector<std::string> caveats(const ProgramRun& run, const GpuModel* model) {
  std::vector<std::string> out;
  const std::vector<std::string> idle = kernels_never_run(run);
  if (!idle.empty())
    out.push_back(
        fmt::format("Kernels that NEVER RAN: {}. Nothing here says anything about them. If one was launched, the "
                    "launch failed: `check` names the error.",
                    listed(idle)));
  if (!run.profile && !run.ended_well)
    out.emplace_back(
        "The program did not end by itself or failed early, so there are no counts, and nothing is known about its "
        "kernels.");
  if (run.profile) {
    if (!run.profile->kernels.empty() && !copies_back(*run.profile))
      out.emplace_back(
          "Nothing was copied back to the host, so the program cannot have looked at its results (unless its "
          "memory is managed or mapped).");
    for (const KernelProfile& k : run.profile->kernels) add_kernel(k, model, out);
  }
  if (const std::string clock = host_clock(run.source); !clock.empty())
    out.push_back(
        fmt::format("The source uses a clock of the host ({}): such times measure the simulator on a CPU, not a GPU. "
                    "Use the estimated times here, or CUDA events, which give the same estimates.",
                    clock));
  return out;
}

}  // namespace warpgrind::mcp
