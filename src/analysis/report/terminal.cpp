// Tables of a profile, and findings, as text for a terminal.
#include "report/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/words.h"
#include "counters/kernel_counters.h"
#include "report/activity_text.h"
#include "report/advice_text.h"
#include "report/format.h"
#include "report/machine_differences.h"

namespace warpgrind::report {
namespace {

using results::KernelProfile;
using results::Metric;
using results::MetricId;
using results::Metrics;

constexpr int kWidth = static_cast<int>(kTerminalWidth);

// ---- Content of the tables: metrics by row and column. The code below only handles units and widths.

enum class Show : std::uint8_t { count, ratio, percent };
struct Column {
  const char* title;
  int width;
  Show show;
};
struct Row {
  const char* label;
  std::array<std::optional<MetricId>, 5> metrics;  // by column; none: an empty cell
};
struct Table {
  const char* title;
  std::span<const Column> columns;
  std::span<const Row> rows;
};

// Widths leave room for the longest origin, "estimated", within kWidth.
constexpr Column kMemoryColumns[] = {{"requests", 11, Show::count},
                                     {"sectors", 13, Show::count},
                                     {"sect/req", 9, Show::ratio},
                                     {"bytes asked", 15, Show::count},
                                     {"used", 8, Show::percent}};
#define WG_GLOBAL(LABEL, OP)                                                                                          \
  {                                                                                                                   \
    LABEL, {                                                                                                          \
      MetricId::global_##OP##_requests, MetricId::global_##OP##_sectors, MetricId::global_##OP##_sectors_per_request, \
          MetricId::global_##OP##_bytes, MetricId::global_##OP##_efficiency                                           \
    }                                                                                                                 \
  }
#define WG_LOCAL(LABEL, OP)                                                                                        \
  {                                                                                                                \
    LABEL, {                                                                                                       \
      MetricId::local_##OP##_requests, MetricId::local_##OP##_sectors, MetricId::local_##OP##_sectors_per_request, \
          MetricId::local_##OP##_bytes, {}                                                                         \
    }                                                                                                              \
  }
constexpr Row kMemoryRows[] = {
    WG_GLOBAL("global ld", ld),
    WG_GLOBAL("global st", st),
    WG_GLOBAL("global atom", atom),
    WG_GLOBAL("global red", red),
    WG_LOCAL("local ld", ld),
    WG_LOCAL("local st", st),
    {"const ld", {MetricId::const_requests, MetricId::const_sectors, {}, MetricId::const_bytes, {}}},
    {"texture", {MetricId::texture_requests, MetricId::texture_sectors, {}, MetricId::texture_bytes, {}}},
    {"surface", {MetricId::surface_requests, {}, {}, MetricId::surface_bytes, {}}}};
#undef WG_GLOBAL
#undef WG_LOCAL

constexpr Column kTransactionColumns[] = {{"transactions", 24, Show::count}, {"bytes moved", 24, Show::count}};
#define WG_TRANSACTIONS(LABEL, OP)                                                    \
  {                                                                                   \
    LABEL, {                                                                          \
      MetricId::global_##OP##_transactions, MetricId::global_##OP##_transaction_bytes \
    }                                                                                 \
  }
constexpr Row kTransactionRows[] = {WG_TRANSACTIONS("global ld", ld), WG_TRANSACTIONS("global st", st),
                                    WG_TRANSACTIONS("global atom", atom), WG_TRANSACTIONS("global red", red)};
#undef WG_TRANSACTIONS

constexpr Column kSharedColumns[] = {{"requests", 11, Show::count},
                                     {"wavefronts", 12, Show::count},
                                     {"wave/req", 9, Show::ratio},
                                     {"ideal", 9, Show::count},
                                     {"bank conflicts", 15, Show::count}};
constexpr Row kSharedRows[] = {
    {"shared ld",
     {MetricId::shared_ld_inst, MetricId::machine_shared_ld_wavefronts, MetricId::shared_ld_ways,
      MetricId::machine_shared_ld_ideal, MetricId::machine_shared_ld_conflicts}},
    {"shared st",
     {MetricId::shared_st_inst, MetricId::machine_shared_st_wavefronts, MetricId::shared_st_ways,
      MetricId::machine_shared_st_ideal, MetricId::machine_shared_st_conflicts}},
    {"shared atom",
     {MetricId::shared_atom_requests, MetricId::shared_atom_wavefronts, MetricId::shared_atom_ways,
      MetricId::shared_atom_ideal, MetricId::shared_atom_conflicts}}};

constexpr Table kMemory{"memory", kMemoryColumns, kMemoryRows};
constexpr Table kTransactions{"this GPU's rule", kTransactionColumns, kTransactionRows};
constexpr Table kShared{"shared memory", kSharedColumns, kSharedRows};

// ---- Printing

class TerminalWriter {
 public:
  explicit TerminalWriter(bool colour) : colour_(colour) {}
  std::string take() { return std::move(out_); }
  void line(const std::string& text = "") { out_ += text + "\n"; }
  std::string bold(const std::string& t) const { return colour_ ? "\033[1m" + t + "\033[0m" : t; }
  std::string dim(const std::string& t) const { return colour_ ? "\033[2m" + t + "\033[0m" : t; }
  std::string red(const std::string& t) const { return colour_ ? "\033[1;31m" + t + "\033[0m" : t; }

  bool scaled = false;  // the counts come from some blocks, scaled to all, so that all are sampled
  // "  text ....... origin": the origin at the right margin.
  void fact(const std::string& text, Origin origin) {
    const std::string word = name(scaled ? Origin::sampled : origin);
    line(left("  " + text, kWidth - static_cast<int>(word.size()) - 1) + " " + dim(word));
  }

 private:
  bool colour_;
  std::string out_;
};

// The less exact of two origins, for a line with both numbers.
Origin weaker(Origin a, Origin b) {
  return std::max(a, b);
}

std::string cell(const Column& c, const Metric* m) {
  std::string text = "-";
  if (m != nullptr) switch (c.show) {
      case Show::count:
        text = grouped(m->value);
        break;
      case Show::ratio:
        text = fixed(m->value, 2);
        break;
      case Show::percent:
        // Over 100 %: lanes that share words use the moved bytes more than once.
        text = m->value > 100.05 ? fixed(m->value / 100, 2) + " x" : percent(m->value);
        break;
    }
  // A number that is too wide makes the line longer; a blank always separates it from its neighbour.
  return right(" " + text, c.width);
}

void print_table(TerminalWriter& w, const Table& table, const Metrics& metrics) {
  constexpr int kLabel = 13;
  bool titled = false;
  for (const Row& row : table.rows) {
    if (metrics.value(*row.metrics[0]) == 0) continue;
    if (!titled) {
      std::string head = left(std::string("  ") + table.title, kLabel + 1);
      // A long title takes space from the first column.
      int overhang = static_cast<int>(head.size()) - (kLabel + 1);
      for (const Column& c : table.columns) {
        head += right(c.title, c.width - overhang);
        overhang = 0;
      }
      w.line(w.bold(head));
      titled = true;
    }
    std::string text = left(std::string("  ") + row.label, kLabel + 1);
    Origin origin = Origin::exact;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Metric* m = row.metrics[i] ? metrics.find(*row.metrics[i]) : nullptr;
      if (m != nullptr) origin = weaker(origin, m->origin);
      text += cell(table.columns[i], m);
    }
    w.line(text + " " + w.dim(name(origin)));
  }
}

std::string spaced_dim3(const Dim3& d) {
  return fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

void print_launch(TerminalWriter& w, const KernelProfile& k) {
  w.fact(fmt::format("{} launch{}, grid {}, block {}{}", grouped(static_cast<double>(k.launches)),
                     k.launches == 1 ? "" : "es", spaced_dim3(k.grid), spaced_dim3(k.block),
                     k.shapes_differ ? " (the first; shapes differ)" : ""),
         Origin::exact);
  if (const Metric* m = k.metrics.find(MetricId::occupancy)) {
    const Metric* limiter = k.metrics.find(MetricId::occupancy_limiter);
    const Metric* waves = k.metrics.find(MetricId::waves);
    w.fact(fmt::format("theoretical occupancy {} (limit: {}), {} waves", percent(m->value),
                       limiter != nullptr ? limiter->text : "?", fixed(waves != nullptr ? waves->value : 0, 2)),
           m->origin);
  }
  if (const Metric* m = k.metrics.find(MetricId::registers))
    w.fact(
        fmt::format("{} registers a thread{}", grouped(m->value),
                    m->origin == Origin::estimated ? fmt::format(", give or take {}", counters::kRegisterError) : ""),
        m->origin);
  if (const double requests = k.metrics.value(MetricId::spill_requests); requests > 0)
    w.fact(fmt::format("spilled registers: {} local loads, {} stores, {} bytes a thread",
                       grouped(k.metrics.value(MetricId::spill_ld)), grouped(k.metrics.value(MetricId::spill_st)),
                       grouped(k.metrics.value(MetricId::spill_bytes))),
           Origin::modelled);
  const double fixed_bytes = k.metrics.value(MetricId::shared_static);
  const double dynamic_bytes = k.metrics.value(MetricId::shared_dynamic);
  if (fixed_bytes + dynamic_bytes > 0)
    w.fact(
        fmt::format("shared memory a block: {} static, {} dynamic", with_bytes(fixed_bytes), with_bytes(dynamic_bytes)),
        Origin::exact);
}

// The largest shares of thread instructions by class, as many as fit on a line.
std::string mix(const Metrics& metrics) {
  const std::string_view first = results::name(MetricId::inst_fp16);
  const std::string_view start = first.substr(0, first.find("fp16"));
  const double all = metrics.value(MetricId::inst);
  std::vector<std::pair<double, std::string>> shares;
  const Metrics::ByName& names = metrics.by_name();
  for (auto it = names.lower_bound(start); it != names.end() && it->first.starts_with(start); ++it) {
    const std::string name = it->first.substr(start.size(), it->first.find('.') - start.size());
    if (it->second.value > 0) shares.emplace_back(it->second.value / all, name);
  }
  std::sort(shares.rbegin(), shares.rend());
  std::string out;
  for (const auto& [share, name] : shares) {
    const std::string next = fmt::format("{}{} {:.0f} %", out.empty() ? "" : ", ", name, 100 * share);
    if (out.size() + next.size() > 60) break;
    out += next;
  }
  return out;
}

void print_instructions(TerminalWriter& w, const Metrics& m) {
  const double inst = m.value(MetricId::inst);
  if (inst > 0) {
    w.fact(fmt::format("PTX instructions: {} by warps, {} of 32 lanes active, {} on", grouped(inst),
                       fixed(m.value(MetricId::lanes_per_inst), 1), fixed(m.value(MetricId::lanes_on_per_inst), 1)),
           Origin::exact);
    w.fact("mix: " + mix(m), Origin::exact);
  }
  const double branches = m.value(MetricId::branches);
  if (branches > 0)
    w.fact(fmt::format("branches: {}, divergent {} (branch efficiency {})", grouped(branches),
                       grouped(m.value(MetricId::divergent_branches)), percent(m.value(MetricId::branch_efficiency))),
           Origin::exact);
  const double flop = m.value(MetricId::flop);
  if (flop > 0) {
    w.fact(fmt::format("floating-point operations: {} (fp16 {}, fp32 {}, fp64 {})", grouped(flop),
                       grouped(m.value(MetricId::flop16)), grouped(m.value(MetricId::flop32)),
                       grouped(m.value(MetricId::flop64))),
           Origin::exact);
    const double loads = m.value(MetricId::global_ld_accesses);
    if (m.has(MetricId::cgma))
      w.fact(
          fmt::format("compute-to-global-memory-access ratio: {} flop an access{}",
                      grouped(std::round(100 * m.value(MetricId::cgma)) / 100),
                      loads > 0 ? fmt::format(" ({} a load)", fixed(m.value(MetricId::cgma_loads), 2)) : " (no loads)"),
          Origin::exact);
  }
}

// The part of the blocks that the modelled caches have seen.
std::string sampled(const Metrics& m) {
  const double seen = m.value(MetricId::caches_blocks);
  const double all = m.value(MetricId::thread_count) / std::max(1.0, m.value(MetricId::block_size));
  return seen < all ? fmt::format(" (from {} of {} blocks)", grouped(seen), grouped(all)) : "";
}

void print_caches(TerminalWriter& w, const Metrics& m) {
  std::string l1, below;
  if (m.has(MetricId::l1_hit_rate))
    l1 = fmt::format("L1: {} of {} sectors hit", percent(m.value(MetricId::l1_hit_rate)),
                     grouped(std::round(m.value(MetricId::l1_lookups))));
  if (m.has(MetricId::l2_hit_rate))
    below = fmt::format("L2: {} sectors read, {} written, {} hit", grouped(std::round(m.value(MetricId::l2_read))),
                        grouped(std::round(m.value(MetricId::l2_write))), percent(m.value(MetricId::l2_hit_rate)));
  if (!l1.empty()) w.fact(l1, Origin::modelled);
  if (!below.empty()) w.fact(below, Origin::modelled);
  if (!l1.empty() || !below.empty())
    w.fact(fmt::format("DRAM: {} read, {} written{}", with_bytes(m.value(MetricId::dram_read)),
                       with_bytes(m.value(MetricId::dram_write)), sampled(m)),
           Origin::modelled);
}

// True if the transactions by the GPU's own rule differ from the sectors.
bool transactions_differ(const Metrics& m) {
  constexpr std::pair<MetricId, MetricId> kPairs[] = {
      {MetricId::global_ld_transactions, MetricId::global_ld_sectors},
      {MetricId::global_st_transactions, MetricId::global_st_sectors},
      {MetricId::global_atom_transactions, MetricId::global_atom_sectors},
      {MetricId::global_red_transactions, MetricId::global_red_sectors}};
  return std::any_of(std::begin(kPairs), std::end(kPairs),
                     [&](const auto& pair) { return m.value(pair.first) != m.value(pair.second); });
}

void print_transfers(TerminalWriter& w, const results::Profile& p) {
  if (p.transfers.empty()) return;
  w.line(w.bold("copies                count            bytes     rate"));
  for (const results::TransferProfile& t : p.transfers) {
    const double gbps = t.estimated_ns > 0 ? static_cast<double>(t.bytes) / t.estimated_ns : 0;
    w.fact(left(t.direction + (t.host_memory == "-" ? "" : " " + t.host_memory), 15) +
               right(grouped(static_cast<double>(t.count)), 9) + right(grouped(static_cast<double>(t.bytes)), 17) +
               fmt::format("  {:.1f} GB/s, {}", gbps, with_time(t.estimated_ns)),
           Origin::estimated);
  }
}

void print_left_out(TerminalWriter& w, const results::Profile& p) {
  if (p.chosen_launches.empty()) return;
  std::uint64_t counted = 0;
  for (const KernelProfile& k : p.kernels) counted += k.launches;
  w.line(fmt::format("{} of {} launches counted: {}", grouped(static_cast<double>(counted)),
                     grouped(static_cast<double>(counted + p.launches_left_out)), p.chosen_launches));
  if (p.launches_left_out != 0) w.line("  the others ran uncounted; their times are those of launches alike, or rough");
}

// One row per call: "cublasSgemm 512 x 512 x 512: on the host by OpenBLAS, not counted".
void print_library_calls(TerminalWriter& w, const results::Profile& p) {
  if (p.library_calls.empty()) return;
  w.line(w.bold("library calls"));
  for (const results::LibraryCallProfile& c : p.library_calls) {
    w.line(fmt::format("  {}{}{}: on the host by {}, not counted", c.function, c.arguments.empty() ? "" : " ",
                       c.arguments, c.by));
    w.fact(fmt::format("  {} call{}, {}", grouped(static_cast<double>(c.count)), plural(c.count),
                       with_time(c.estimated_ns)),
           Origin::estimated);
  }
}

}  // namespace

bool wants_colour(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  if (std::getenv("NO_COLOR") != nullptr) return false;
  return isatty(fileno(stream)) != 0 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

namespace {

// "bound by latency; at 24 % less, DRAM bandwidth"
std::string what_binds(const KernelProfile& k) {
  const Metric* limit = k.metrics.find(MetricId::time_limit);
  if (limit == nullptr || limit->text.empty()) return "";
  std::string out = "bound by " + limit->text;
  const std::vector<results::BoundProfile>& bounds = k.bounds;
  if (bounds.size() > 1 && bounds[0].ns > 0 && bounds[0].limit == limit->text)
    out += fmt::format("; at {:.0f} % less, {}", 100 * (1 - bounds[1].ns / bounds[0].ns), bounds[1].limit);
  return out;
}

void print_time(TerminalWriter& w, const KernelProfile& k) {
  const Metric* time = k.metrics.find(MetricId::time);
  if (time == nullptr) return;
  const Metric *low = k.metrics.find(MetricId::time_low), *high = k.metrics.find(MetricId::time_high);
  const std::string interval =
      low && high ? fmt::format(" ({} to {})", with_time(low->value), with_time(high->value)) : std::string();
  const std::string binds = what_binds(k);
  // One line if it fits.
  constexpr std::size_t kMost = 68;
  // The figures of several launches are sums.
  const std::string of = k.launches > 1 ? fmt::format(" in {} launches", k.launches) : std::string();
  const std::string line = "time " + with_time(time->value) + of + interval;
  if (!binds.empty() && line.size() + 2 + binds.size() <= kMost) {
    w.fact(line + ", " + binds, time->origin);
  } else {
    w.fact(line, time->origin);
    if (!binds.empty()) w.fact("  " + binds, time->origin);
  }
}

}  // namespace

std::string kernel_text(const KernelProfile& k, const TextOptions& options) {
  TerminalWriter w(options.colour);
  std::string name = k.name;
  if (name.size() > 70) name = name.substr(0, 67) + "...";
  const std::string rule(name.size() + 4 < kWidth ? kWidth - name.size() - 4 : 0, '-');
  w.line(w.bold("-- " + name + " " + rule));
  print_launch(w, k);
  if (const double ran = k.metrics.value(MetricId::blocks_run); ran > 0) {
    const double all = k.metrics.value(MetricId::thread_count) / std::max(1.0, k.metrics.value(MetricId::block_size));
    w.scaled = true;
    w.fact(fmt::format("{} of {} blocks ran, counts scaled to all; results not computed", grouped(ran), grouped(all)),
           Origin::sampled);
  }
  print_table(w, kMemory, k.metrics);
  if (transactions_differ(k.metrics)) print_table(w, kTransactions, k.metrics);
  print_table(w, kShared, k.metrics);
  print_caches(w, k.metrics);
  print_instructions(w, k.metrics);
  for (const std::string& difference : machine_differences(k)) w.fact(difference, Origin::modelled);
  print_time(w, k);
  return w.take() + advice_text(k, options);
}

std::string profile_text(const results::Profile& p, const TextOptions& options) {
  std::string out;
  const bool each = options.each_launch && !p.launches.empty();
  for (const KernelProfile& k : each ? p.launches : p.kernels) out += kernel_text(k, options) + "\n";
  TerminalWriter w(options.colour);
  print_left_out(w, p);
  print_library_calls(w, p);
  print_transfers(w, p);
  for (const std::string& what : p.not_modelled) w.line("not modelled: " + what);
  return out + w.take() + left_undone_text(p, options.others_ran);
}

std::string finding_text(const results::Finding& f, const TextOptions& options) {
  TerminalWriter w(options.colour);
  const std::string severity = f.severity == results::Severity::warning ? "warning, " : "";
  w.line(w.red("warpgrind: " + severity + (f.kind.empty() ? std::string("error") : f.kind)) + ": " + w.bold(f.message));
  if (!f.kernel.empty()) w.line("  kernel  " + f.kernel);
  if (f.line != 0) w.line(fmt::format("  source  {}:{}", f.file, f.line));
  if (f.ptx_line != 0) w.line(fmt::format("  PTX     line {}{}", f.ptx_line, f.text.empty() ? "" : ": " + f.text));
  const bool placed = f.block.x + f.block.y + f.block.z + f.thread.x + f.thread.y + f.thread.z != 0 ||
                      (!f.kernel.empty() && f.ptx_line != 0);
  if (placed) w.line(fmt::format("  who     block {}, thread {}", spaced_dim3(f.block), spaced_dim3(f.thread)));
  for (const std::string& note : f.notes) w.line("  note    " + note);
  if (!f.advice.empty()) w.line("  do      " + f.advice);
  return w.take();
}

}  // namespace warpgrind::report
