// Profile: the complete result of a run. It has metrics with unit and origin, findings, and the sites they belong to.
// Contents of the file: profile_members.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/origin.h"
#include "gpu/types.h"
#include "results/detail.h"
#include "results/finding.h"
#include "results/metrics.h"
#include "results/recording.h"
#include "timing/launch_work.h"
#include "timing/terms/terms.h"

namespace warpgrind::results {

struct SiteProfile {
  std::uint32_t id = 0;
  std::string kind, space, function, ptx, file;  // ptx: the instruction's text
  std::uint32_t line = 0, ptx_line = 0;
  Metrics metrics;
  // Detailed run: the most frequent patterns. worst, best: indexes into `patterns`, of the worst and best of all.
  std::vector<AccessPattern> patterns;
  std::uint64_t patterns_other = 0;  // requests with other patterns
  std::uint32_t worst = 0, best = 0;
  std::vector<TensorCopyProfile> copies;  // detailed run, of a tensor copy: the most frequent kinds
  std::uint64_t copies_other = 0;         // copies of other kinds
  std::vector<OperandProfile> operands;   // detailed run, of wgmma: at most 8
};

struct LineProfile {  // detailed run: sums over the instructions of a source line
  std::string file, function;
  std::uint32_t line = 0;
  Metrics metrics;
};

// One recommendation for a kernel, from a rule of src/analysis/advice.
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
  std::string rule;             // "uncoalesced_global_access"
  std::string title, text;      // title: one line; text: the problem, why it costs time, what to do
  double estimated_gain = 0;    // 1 - time without the cause / time, by the time model; 0: a remark, not a gain
  double time_ns = 0;           // mean of a launch, by the model
  double without_cause_ns = 0;  // the same if the cause is removed
  std::vector<Evidence> evidence;
  std::vector<Place> places;          // worst first
  Origin origin = Origin::estimated;  // of the gain; the evidence has its own
};

// Equal launches of a kernel, as the time model sees them. The rules of advice estimate them again with a cause
// removed.
struct WorkProfile {
  double launches = 0;
  timing::L2State l2;
  double block_read_sectors = 0;  // different sectors that a block reads, summed over the blocks; 0: unknown
  timing::LaunchWork work;
};

struct KernelProfile {
  std::string name, mangled_name;
  std::string range;  // single launch: the named ranges (NVTX) it was issued in, joined by "/"
  std::uint64_t launches = 0, first_id = 0;
  int device = 0;
  Dim3 grid, block;            // of the first launch
  bool shapes_differ = false;  // the sums include launches with other shapes
  Metrics metrics;
  std::vector<SiteProfile> sites;
  std::vector<Advice> advice;        // most useful first
  std::vector<BoundProfile> bounds;  // of the estimated time, longest first
  std::vector<WorkProfile> work;     // at most 16 different launches; empty in files of earlier versions
  std::vector<CodeRow> code;         // this and all below: detailed run only
  std::vector<LineProfile> lines;
  std::vector<LineProfile> inlined_lines;  // by line of a call: the code inlined there; `lines` has it at its own lines
  std::optional<FlowGraph> graph;
  std::optional<BlockTraceProfile> block_trace;
};

struct RangeKernel {  // detailed run: the launches of a kernel in a named range
  std::string name, mangled_name;
  std::uint64_t launches = 0;
  std::vector<SiteProfile> sites;    // patterns: of the first of these launches, at most three
  std::vector<BoundProfile> bounds;  // of the estimated time, longest first
};

struct RangeProfile {  // all launches in a named range (NVTX), of any kernel
  std::string range;   // names of the open ranges, outermost first, joined by "/"
  std::uint64_t launches = 0;
  Metrics metrics;
  std::vector<RangeKernel> kernels;  // detailed run, in order of first launch
};

struct TransferProfile {    // host-device copies, by direction and host memory
  std::string direction;    // "HtoD", "DtoH", "DtoD", "PtoP", "HtoH"
  std::string host_memory;  // "pageable", "pinned", "-"
  std::uint64_t count = 0, bytes = 0;
  double estimated_ns = 0;
};

struct LibraryCallProfile {  // equal calls of a library that ran on the host; nothing inside them is counted
  int device = 0;
  std::string function, arguments, by;  // "cublasSgemm", "512 x 512 x 512", "OpenBLAS"
  std::uint64_t count = 0;
  double estimated_ns = 0;
};

struct TimelineEntry {  // estimated, on the modelled GPU; nanoseconds since the program's start
  int device = 0;
  std::uint32_t stream = 0;  // host timeline: number of the host thread
  // kind: "kernel", "library call", "copy", "memset"; host timeline: "call", "range". name: of the kernel, the call or
  // range; for a copy its direction.
  std::string kind, name;
  double begin_ns = 0, end_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t work = 0;  // number of the stream work, as FindingAccess::launch; 0: not tracked
};

struct LaunchedKernel {  // counted or not
  std::string name, mangled_name;
  std::uint64_t launches = 0;
};

struct FailedCall {         // equal errors of a CUDA call that the program has read
  std::string call, error;  // "cuModuleLoadData", "CUDA_ERROR_INVALID_PTX"
  std::string reason;       // of the first; may be empty
  std::string file;         // of the first; empty: not known
  std::uint32_t line = 0;
  std::uint64_t count = 0;
};

// What the program did with the GPU, and what it left undone without an error of its own.
struct Activity {
  bool asked_for_devices = false;        // read the number of GPUs
  bool used_device = false;              // had a context on a GPU
  std::uint64_t loaded_kernels = 0;      // different ones, in the program, its libraries and the modules that it loaded
  std::uint64_t never_launched = 0;      // of these
  std::vector<LaunchedKernel> launched;  // by mangled name
  std::vector<FailedCall> failed_calls;  // in order of the first occurrence
  std::vector<std::string> libraries_not_found;  // NVIDIA's, that the process opened by dlopen and that are not there
};

struct Profile {
  static constexpr int kFormatVersion = 2;
  std::string program, gpu, command;
  bool detail = false;
  std::vector<std::string> not_modelled;  // for the banner
  std::vector<KernelProfile> kernels;     // summed per kernel name (and per device)
  std::vector<KernelProfile> launches;    // with --launches or CSV: one per launch, in order
  std::string chosen_launches;            // the options that chose the counted launches; empty: all
  std::uint64_t launches_left_out = 0;    // launches that ran but were not chosen
  std::vector<RangeProfile> ranges;       // in order of the first launch of each
  std::vector<TransferProfile> transfers;
  std::vector<LibraryCallProfile> library_calls;  // in order of first call
  std::vector<TimelineEntry> timeline;            // in issue order
  std::uint64_t timeline_left_out = 0;
  std::vector<TimelineEntry> host_timeline;  // calls and named ranges, in order of their ends
  std::uint64_t host_timeline_left_out = 0;
  std::vector<std::string> checks;  // groups that `warpgrind check` checked
  std::vector<Finding> findings;
  std::optional<Activity> activity;  // nullopt: a file of an earlier version
  std::vector<AllocationProfile> allocations;
  std::vector<SourceFile> sources;    // detailed run: every file that a site or line names
  std::vector<Recording> recordings;  // --steps: one for each kernel
};

}  // namespace warpgrind::results
