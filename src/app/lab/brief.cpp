// Text of a topic's summary: tables of ladders or sweeps, and the lesson.
#include "lab/brief.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>

#include "base/assert.h"
#include "lab/derive.h"
#include "lab/row_groups.h"
#include "lab/text_table.h"

namespace warpgrind::lab {
namespace {

constexpr std::size_t kMostRows = 13;  // of a table: with its head and the lines around it, it fills a screen

std::vector<std::string> ladders_of(const std::vector<const Row*>& rows) {
  std::vector<std::string> out;
  for (const Row* row : rows)
    if (std::find(out.begin(), out.end(), ladder_of(*row)) == out.end()) out.push_back(ladder_of(*row));
  return out;
}

const Row* at_large(const TopicResult& t, const Row& row) {
  for (const Row& l : t.large)
    if (l.shown() && l.label() == row.label() && l.type == row.type) return &l;
  return nullptr;
}

// Table of the verified rungs with their times. If the topic has a large size at which the ladder's lesson holds, all
// other figures are of that size. A line below the table names both sizes.
std::string ladder_table(const TopicResult& t, const std::vector<const Row*>& ladder, const TopicResult* measured) {
  const bool flops = std::any_of(ladder.begin(), ladder.end(), [](const Row* r) { return r->derived.share_of_flops; });
  const Row* large = nullptr;
  for (const Row* row : ladder)
    if (!large) large = at_large(t, *row);
  TextTable table({{"rung", false},
                   {large ? "small us" : "", true},
                   {large ? "large us" : "time us", true},
                   {"measured us", true},
                   {flops ? "GFLOP/s" : "GB/s", true},
                   {"step", true},
                   {"total", true},
                   {"sectors/ load", true},
                   {"sectors/ store", true},
                   {"conflicts/ request", true},
                   {"divergent branches", true},
                   {"bound by", false}});
  std::size_t left = kMostRows;
  for (const Row* row : ladder) {
    if (left-- == 0) break;
    const Row* shown = large ? at_large(t, *row) : row;
    const std::string small = large ? figure_text(row->derived.time_us) : "";
    if (!shown) {
      table.add({row->label(), small});
      continue;
    }
    const Derived& d = shown->derived;
    const Row* real = same_row(measured, *shown);
    table.add({row->label(), small, figure_text(d.time_us), real ? figure_text(real->derived.time_us) : "",
               figure_text(flops ? d.gflops : d.gbs), ratio_text(d.step), ratio_text(d.cumulative),
               figure_text(d.load_sectors_per_request), figure_text(d.store_sectors_per_request),
               figure_text(d.conflicts_per_request), figure_text(d.divergent_branches), d.limit});
  }
  for (const char* column : {"divergent branches", "step", "GB/s", "GFLOP/s", "sectors/ load", "sectors/ store"})
    if (table.width() > kTextWidth) table.drop(column);
  std::string out = table.text();
  if (large)
    out += wrapped(fmt::format("small: {}, run whole and verified; large: {}, sampled from about {} blocks of each "
                               "launch, not verified; measured: on such a GPU, at the large size",
                               ladder.front()->size_text, large->size_text, large->blocks),
                   kTextWidth, "   ", "   ");
  return out;
}

// Table of several ladders, with the first and the best rung of each.
std::string ladders_table(const TopicResult& t, const std::vector<std::string>& names) {
  TextTable table(
      {{"ladder", false}, {"first rung", false}, {"us", true}, {"best rung", false}, {"us", true}, {"times", true}});
  std::size_t left = kMostRows;
  for (const std::string& name : names) {
    if (left == 0) break;
    const Row *first = nullptr, *best = nullptr;
    std::size_t rungs = 0;
    for (const Row& row : t.rows) {
      if (row.role != "rung" || !row.shown() || ladder_of(row) != name || row.derived.time_us <= 0) continue;
      if (!first) first = &row;
      const bool same = row.size_text == first->size_text && row.type == first->type;
      rungs += same ? 1 : 0;
      if (same && (!best || row.derived.time_us < best->derived.time_us)) best = &row;
    }
    WG_ASSERT(!first == !best);  // the first rung is one of those that the best is chosen from
    if (rungs < 2) continue;     // a ladder whose first rung is the best is shown: that is its lesson
    --left;
    const auto rung = [&name](const Row& row) { return name.empty() ? row.rung : row.rung.substr(name.size() + 3); };
    table.add({name, rung(*first), figure_text(first->derived.time_us), rung(*best), figure_text(best->derived.time_us),
               ratio_text(first->derived.time_us / best->derived.time_us)});
  }
  return table.text();
}

std::string range_text(const std::vector<const Row*>& rows, const std::function<double(const Row&)>& of) {
  double low = 0, high = 0;
  for (const Row* row : rows) {
    const double v = of(*row);
    if (v <= 0) continue;
    low = low == 0 ? v : std::min(low, v);
    high = std::max(high, v);
  }
  const std::string from = figure_text(low), to = figure_text(high);
  return from == to ? from : from + " to " + to;
}

// The rows' parameters with their ranges: "stride 1 to 32".
std::string swept(const std::vector<const Row*>& rows) {
  WG_ASSERT(!rows.empty());
  std::string out;
  for (const auto& [name, value] : rows.front()->parameters) {
    double low = value, high = value;
    for (const Row* row : rows)
      if (const auto it = row->parameters.find(name); it != row->parameters.end()) {
        low = std::min(low, it->second);
        high = std::max(high, it->second);
      }
    out += fmt::format("{}{} {:.4g}", out.empty() ? "" : ", ", name, low);
    if (high != low) out += fmt::format(" to {:.4g}", high);
  }
  return out;
}

std::string sweep_table(const std::vector<const Row*>& rows) {
  const bool bound = std::any_of(rows.begin(), rows.end(), [](const Row* r) { return r->role == "bound"; });
  // For launches, the CPU timer usually shows the GPU time plus the launch overhead. Its column appears only if a GPU
  // time exceeds 1.2 times the CPU time: then the topic is about that.
  const bool clocks = !bound && std::any_of(rows.begin(), rows.end(), [](const Row* r) {
    return r->cpu && r->derived.time_us > 1.2 * r->cpu->median;
  });
  TextTable table({{"rung", false},
                   {"over", false},
                   {"rows", true},
                   {"time us", true},
                   {"CPU timer", true},
                   {bound ? "GB/s" : "", true},
                   {"sectors/ load", true},
                   {"conflicts/ request", true}});
  std::vector<std::string> done;
  for (const Row* row : rows) {
    if (std::find(done.begin(), done.end(), row->rung) != done.end()) continue;
    if (done.size() == kMostRows) break;
    done.push_back(row->rung);
    std::vector<const Row*> own;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(own), [&](const Row* r) { return r->rung == row->rung; });
    table.add({row->rung, swept(own), std::to_string(own.size()),
               range_text(own, [](const Row& r) { return r.derived.time_us; }),
               clocks ? range_text(own, [](const Row& r) { return r.cpu ? r.cpu->median : 0; }) : "",
               bound ? range_text(own, [](const Row& r) { return r.derived.gbs; }) : "",
               range_text(own, [](const Row& r) { return r.derived.load_sectors_per_request; }),
               range_text(own, [](const Row& r) { return r.derived.conflicts_per_request; })});
  }
  return table.text();
}

// The largest problem that has rungs of a ladder.
std::pair<std::string, std::vector<const Row*>> ladder_rows(const TopicResult& t) {
  for (const auto& [problem, all] : largest_groups(t)) {
    std::vector<const Row*> rows;
    for (const Row* row : all)
      if (row->shown() && row->role == "rung") rows.push_back(row);
    if (rows.size() > 1) return {problem, rows};
  }
  return {};
}

// The problem with the most rows of sweeps; of several such problems, the last, which is the largest.
std::pair<std::string, std::vector<const Row*>> sweep_rows(const TopicResult& t) {
  std::pair<std::string, std::vector<const Row*>> out;
  for (const auto& [problem, all] : groups(t)) {
    std::vector<const Row*> rows;
    std::copy_if(all.begin(), all.end(), std::back_inserter(rows),
                 [](const Row* r) { return r->shown() && r->role != "host"; });
    if (!rows.empty() && rows.size() >= out.second.size()) out = {problem, rows};
  }
  return out;
}

}  // namespace

std::string brief_text(const TopicResult& t, const TopicResult* measured, const ChapterWords& words) {
  std::string out = "\n" + wrapped(fmt::format("{}: {}", t.topic, words.question.empty() ? t.title : words.question),
                                   kTextWidth, "== ", "   ");
  auto [problem, rows] = ladder_rows(t);
  const bool ladder = !rows.empty();
  if (!ladder) std::tie(problem, rows) = sweep_rows(t);
  const std::vector<std::string> names = ladders_of(rows);
  const bool several = ladder && names.size() > 1;
  const std::size_t skipped = t.rows.size() - t.shown();
  out += fmt::format("   {}{} GPU {}; {} rows, {} verified{}; course: {}; {:.1f} s\n",
                     several || rows.empty() ? "" : problem + " on ", t.is_virtual ? "the virtual" : "the real", t.gpu,
                     t.rows.size(), t.verified() == t.rows.size() ? "all" : std::to_string(t.verified()),
                     skipped ? fmt::format(", {} skipped", skipped) : "", t.document, t.seconds);
  if (several) {
    std::vector<const Row*> all;
    for (const Row& row : t.rows)
      if (row.role == "rung" && row.shown()) all.push_back(&row);
    out += ladders_table(t, ladders_of(all));
  } else if (ladder) {
    out += ladder_table(t, rows, measured);
  } else if (!rows.empty()) {
    out += sweep_table(rows);
  }
  if (!words.lesson.empty()) out += wrapped(words.lesson, kTextWidth, "-> ", "   ");
  out += failures(t);
  if (!t.error.empty()) out += fmt::format("{}: {}\n", t.topic, t.error);
  return out;
}

}  // namespace warpgrind::lab
