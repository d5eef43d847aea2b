// Results of the lab: rows of topics, each with the counters of its launches and the figures derived from both.
// docs/lab-format.md describes the JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/topic.h"
#include "results/profile.h"

namespace warpgrind::lab {

using results::MetricId;

// Microseconds. low and high are quartiles.
struct Timing {
  double median = 0, low = 0, high = 0;
  int count = 0;
};

// Ratios between rows, and to the limits of the machine. Shares are fractions; 0 if there is nothing to compare with.
struct Derived {
  double time_us = 0;                               // GPU time; CPU time for host rows
  double gbs = 0, gflops = 0;                       // 1e9 per second
  double theoretical_share = 0, ceiling_share = 0;  // the larger of bandwidth and arithmetic
  bool share_of_flops = false;                      // the shares are of arithmetic, not of bandwidth
  double step = 0, cumulative = 0;                  // speed-up over the rung before, and over the first
  double load_sectors_per_request = 0, store_sectors_per_request = 0;
  double bank_conflicts = 0, conflicts_per_request = 0, divergent_branches = 0;
  double cgma = 0, cgma_ceiling_gflops = 0;  // flop per global access; bandwidth / 4 bytes x that ratio
  std::string limit;                         // what limits the time, according to the estimate
  std::string why;                           // why it is faster than the rung before, from the counts of both
};

struct RowKernel {  // of a detailed run: the launches of one kernel in the row's range
  std::string name;
  std::uint64_t launches = 0;
  std::vector<results::SiteProfile> sites;
  std::vector<results::BoundProfile> bounds;  // parts of the estimated time, the longest first
  std::vector<std::string> sources;           // SourceText::key; the kernel's own function first
};

struct SourceText {  // the text of a function used by the topic's kernels
  std::string key, file;
  std::uint32_t line = 0;  // of the first line of the text
  std::string text;
};

struct Row {
  std::string rung, what, role, size_text, type, range, origin, skipped;
  std::vector<double> size;
  std::map<std::string, double> parameters;
  bool verified = false;
  double max_error = 0, tolerance = 0, wrong = 0, elements = 0, bytes = 0, flop = 0;
  std::optional<Timing> gpu, cpu;
  results::Metrics metrics;  // of the launches in the row's range; empty on a real GPU
  Derived derived;
  std::vector<RowKernel> kernels;  // in the order of their first launches
  std::vector<std::uint32_t>
      recordings;  // of the rung's kernels, at a small size: indices into TopicResult::recordings

  std::uint64_t blocks = 0;  // about this many blocks of each launch ran, so nothing is verified; 0: all ran

  std::string label() const;                                      // the rung and its parameters
  std::string key() const;                                        // identifies the same row in another result
  double metric(MetricId id) const { return metrics.value(id); }  // 0 if it is absent
  bool shown() const { return skipped.empty() && (verified || blocks > 0); }
};

struct Note {
  std::string title, text;
};

// The device as the program sees it.
struct Device {
  std::string name;
  double cc = 0, sm_count = 0, sm_clock_mhz = 0, memory_clock_mhz = 0, memory_bus_bits = 0, driver = 0, runtime = 0;
  double theoretical_gbs() const { return memory_clock_mhz * 1e6 * 2 * memory_bus_bits / 8 / 1e9; }
};

struct TopicResult {
  std::string topic, title, document, shows, gpu, error;  // error: why there are no rows
  bool is_virtual = true;
  int exit_code = 0;
  double seconds = 0, sm_mhz_before = 0, sm_mhz_after = 0;
  Device device;
  std::vector<Row> rows;
  std::vector<Note> notes;
  std::vector<SourceText> sources;                    // those that kernels of the rows name
  std::vector<results::Recording> recordings;         // --steps: a block of each kernel of each rung
  std::vector<results::SourceFile> recorded_sources;  // of these
  std::string no_recordings;                          // why --steps recorded nothing
  std::vector<TopicResult> models;                    // the same topic on other GPU models
  std::vector<Row> large;  // the ladder at a size that shows its lesson: estimated from some blocks

  std::size_t verified() const, shown() const;
  bool good() const { return exit_code == 0 && error.empty(); }
};

struct LabResult {
  std::string command, date, machine, on;  // on: "virtual" or "gpu"
  bool full = false;
  std::vector<LeftOut> left_out;  // topics that this build does not have
  std::vector<TopicResult> topics;
};

// Adds the rows of `more` that `result` lacks. Values of other rows stay those of `result`.
void add_missing_rows(LabResult& result, LabResult&& more);

std::string to_json(const LabResult& result);
Result<LabResult> from_json(const std::string& text, const std::string& file);
std::string to_csv(const LabResult& result);  // one line per row

// A program's --json output (format "warpgrind-lab-rows 1"), without counters.
Result<TopicResult> read_rows(const std::string& text, const std::string& file);

}  // namespace warpgrind::lab
