// All that leaves a run: rows of metrics with unit, origin and definition, findings, and the sites they belong to. What
// of it is in the file: profile_members.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/origin.h"
#include "gpu/types.h"
#include "results/detail.h"
#include "results/finding.h"

namespace warpgrind::results {

struct Metric {
  double value = 0;
  std::string unit;  // Nsight's unit words: "", "sector", "byte", "%", "inst", "ns", "request"
  Origin origin = Origin::exact;
  std::string text;  // instead of a value, for the few metrics that are a word (what limits occupancy)
};
using Metrics = std::map<std::string, Metric>;  // by metric name

// 0 if the metric is missing.
inline double metric_value(const Metrics& metrics, const char* name) {
  const auto it = metrics.find(name);
  return it == metrics.end() ? 0 : it->second.value;
}

struct SiteProfile {
  std::uint32_t id = 0;
  std::string kind, space, function, ptx, file;  // ptx: the instruction's text
  std::uint32_t line = 0, ptx_line = 0;
  Metrics metrics;
  // Of a detailed run: the most frequent ones, and the worst and best of all (indexes into patterns).
  std::vector<AccessPattern> patterns;
  std::uint64_t patterns_other = 0;  // requests whose pattern is not among them
  std::uint32_t worst = 0, best = 0;
};

struct LineProfile {  // of a detailed run: sums over the instructions of a source line
  std::string file, function;
  std::uint32_t line = 0;
  Metrics metrics;
};

// One thing worth doing about a kernel, as a rule of src/analysis/advice sees it.
struct Advice {
  struct Evidence {
    std::string metric;
    double value = 0;
    std::string unit;
    Origin origin = Origin::exact;
  };
  struct Place {
    std::string file;
    std::uint32_t line = 0, ptx_line = 0;
  };
  std::string rule;           // "uncoalesced_global_access"
  std::string title, text;    // a line; what it is, why it costs, what to do
  double estimated_gain = 0;  // part of the kernel's estimated time that could go at best, 0 to 1; 0: not known
  std::vector<Evidence> evidence;
  std::vector<Place> places;          // the worst first
  Origin origin = Origin::estimated;  // of the gain; the evidence has its own
};

struct KernelProfile {
  std::string name, mangled_name;
  std::string range;  // of one launch: the named ranges (NVTX) it was issued in, joined by "/"
  std::uint64_t launches = 0, first_id = 0;
  int device = 0;
  Dim3 grid, block;            // of the first launch
  bool shapes_differ = false;  // launches with other shapes were summed in
  Metrics metrics;
  std::vector<SiteProfile> sites;
  std::vector<Advice> advice;        // the most useful first
  std::vector<BoundProfile> bounds;  // of the estimated time, the longest first
  std::vector<CodeRow> code;         // of a detailed run, as is what follows
  std::vector<LineProfile> lines;
  std::vector<LineProfile>
      inlined_lines;  // by the line of a call: what was inlined there, which `lines` has at its own
  std::optional<FlowGraph> graph;
  std::optional<BlockTraceProfile> block_trace;
};

struct RangeKernel {  // of a detailed run: the launches of a kernel in a named range
  std::string name, mangled_name;
  std::uint64_t launches = 0;
  std::vector<SiteProfile> sites;    // patterns: those of the first of these launches, at most three
  std::vector<BoundProfile> bounds;  // of the estimated time, the longest first
};

struct RangeProfile {  // launches in a named range (NVTX), whatever kernels they were of
  std::string range;   // the names of the open ranges, the outermost first, joined by "/"
  std::uint64_t launches = 0;
  Metrics metrics;
  std::vector<RangeKernel> kernels;  // of a detailed run, in the order of their first launches
};

struct TransferProfile {    // host-device copies, by direction and host memory
  std::string direction;    // "HtoD", "DtoH", "DtoD", "PtoP", "HtoH"
  std::string host_memory;  // "pageable", "pinned", "-"
  std::uint64_t count = 0, bytes = 0;
  double estimated_ns = 0;
};

struct LibraryCallProfile {  // calls alike of a library that ran on the host: nothing in them is counted
  int device = 0;
  std::string function, arguments, by;  // "cublasSgemm", "512 x 512 x 512", "OpenBLAS"
  std::uint64_t count = 0;
  double estimated_ns = 0;
};

struct TimelineEntry {  // on the modelled GPU, estimated; nanoseconds since the program began
  int device = 0;
  std::uint32_t stream = 0;  // of the host: the number of its thread
  // "kernel", "library call", "copy", "memset"; of the host "call", "range". The kernel, the call, the direction.
  std::string kind, name;
  double begin_ns = 0, end_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t work = 0;  // the piece of work of the program, as FindingAccess::launch; 0: nobody followed it
};

struct Profile {
  static constexpr int kFormatVersion = 2;
  std::string program, gpu, command;
  bool detail = false;
  std::vector<std::string> not_modelled;  // for the banner
  std::vector<KernelProfile> kernels;     // summed per kernel name (and per device)
  std::vector<KernelProfile> launches;    // with --launches or CSV: one each, in order
  std::string chosen_launches;            // the options that chose them; empty: all were counted
  std::uint64_t launches_left_out = 0;    // that ran and were not chosen
  std::vector<RangeProfile> ranges;       // in order of the first launch of each
  std::vector<TransferProfile> transfers;
  std::vector<LibraryCallProfile> library_calls;  // in order of the first of each kind
  std::vector<TimelineEntry> timeline;            // in issue order
  std::uint64_t timeline_left_out = 0;
  std::vector<TimelineEntry> host_timeline;  // calls and named ranges, in the order of their ends
  std::uint64_t host_timeline_left_out = 0;
  std::vector<std::string> checks;  // groups of `warpgrind check` that were looked for
  std::vector<Finding> findings;
  std::vector<AllocationProfile> allocations;
  std::vector<SourceFile> sources;  // of a detailed run: every file that a site or line names
};

}  // namespace warpgrind::results
