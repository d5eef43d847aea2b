// Text tables of topics, rungs and results.
#include "lab/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lab/derive.h"
#include "lab/row_groups.h"
#include "lab/text_table.h"

namespace warpgrind::lab {

namespace {

constexpr std::size_t kWidth = 118;

std::string share(double v) {
  return v == 0 ? "" : v < 0.1 ? fmt::format("{:.1f}", 100 * v) : fmt::format("{:.0f}", 100 * v);
}
std::string whole(double v) {
  return v >= 1e5 ? fmt::format("{:.3g}", v) : fmt::format("{:.0f}", v);
}

TextTable rows_table(const std::vector<const Row*>& rows, const TopicResult* measured) {
  TextTable table({{"rung", false},
                   {"verified", false},
                   {"time us", true},
                   {"CPU timer us", true},
                   {"measured us", true},
                   {"pred./meas.", true},
                   {"GB/s", true},
                   {"GFLOP/s", true},
                   {"% of theory", true},
                   {"% of ceiling", true},
                   {"step", true},
                   {"total", true},
                   {"sectors/ request ld", true},
                   {"st", true},
                   {"bank conflicts", true},
                   {"per request", true},
                   {"divergent branches", true},
                   {"flop/ access", true},
                   {"ceiling GFLOP/s", true},
                   {"bound by", false}});
  const bool shared =
      std::any_of(rows.begin(), rows.end(), [](const Row* r) { return r->metric(MetricId::shared_wavefronts) > 0; });
  for (const Row* row : rows) {
    const Derived& d = row->derived;
    if (!row->skipped.empty()) continue;
    if (!row->shown()) {
      table.add({row->label(), "NO"});
      continue;
    }
    const Row* m = same_row(measured, *row);
    const double real = m ? m->derived.time_us : 0;
    const bool counted = !row->metrics.empty();
    table.add({row->label(),
               row->verified ? "yes" : "",
               figure_text(d.time_us),
               row->gpu && row->cpu ? figure_text(row->cpu->median) : "",
               figure_text(real),
               real > 0 ? ratio_text(d.time_us / real) : "",
               figure_text(d.gbs),
               figure_text(d.gflops),
               share(d.theoretical_share),
               share(d.ceiling_share),
               ratio_text(d.step),
               ratio_text(d.cumulative),
               figure_text(d.load_sectors_per_request),
               figure_text(d.store_sectors_per_request),
               counted && shared ? whole(d.bank_conflicts) : "",
               counted && shared ? figure_text(d.conflicts_per_request) : "",
               d.divergent_branches > 0 ? whole(d.divergent_branches) : "",
               d.gflops > 0 ? figure_text(d.cgma) : "",
               d.gflops > 0 ? figure_text(d.cgma_ceiling_gflops) : "",
               d.limit});
  }
  return table;
}

std::string skipped_text(const std::vector<const Row*>& rows) {
  std::string out;
  for (const Row* row : rows)
    if (!row->skipped.empty())
      out += wrapped(fmt::format("{}skipped: {}", row->rung.empty() ? "" : row->label() + ": ", row->skipped), kWidth,
                     "  ", "    ");
  return out;
}

std::string reasons(const std::vector<const Row*>& rows) {
  std::string out;
  for (const Row* row : rows)
    if (!row->derived.why.empty())
      out += wrapped(fmt::format("{}: {}", row->label(), row->derived.why), kWidth, "- ", "  ");
  return out;
}

std::string first_line(const TopicResult& t) {
  const char* how = t.is_virtual ? "virtual" : "real";
  return fmt::format("\n== {}: {}\n   {} GPU {}; course: {}; {:.1f} s\n", t.topic, t.title, how, t.gpu, t.document,
                     t.seconds);
}

// Groups the topics by reason: there are few reasons and many topics.
std::string left_out_text(const std::vector<LeftOut>& left_out) {
  std::map<std::string, std::string> topics;
  for (const LeftOut& l : left_out) {
    std::string& names = topics[l.reason];
    names += (names.empty() ? "" : ", ") + l.topic;
  }
  std::string out;
  for (const auto& [reason, names] : topics)
    out += wrapped(fmt::format("left out: {} ({})", names, reason), kWidth, "", "  ");
  return out;
}

// A quantity that is shown for all GPU models side by side.
struct Quantity {
  const char* title;
  double (*of)(const Row&);
};

std::string models_text(const TopicResult& t) {
  const Quantity quantities[] = {
      {"global memory transactions",
       [](const Row& r) {
         return r.metric(MetricId::global_ld_transactions) + r.metric(MetricId::global_st_transactions);
       }},
      {"bytes that these transactions move",
       [](const Row& r) {
         return r.metric(MetricId::global_ld_transaction_bytes) + r.metric(MetricId::global_st_transaction_bytes);
       }},
      {"shared memory wavefronts", [](const Row& r) { return r.metric(MetricId::shared_wavefronts); }},
      {"effective bandwidth, GB/s (estimated)", [](const Row& r) { return r.derived.gbs; }}};
  std::string out;
  for (const Quantity& quantity : quantities) {
    std::vector<Column> columns = {{quantity.title, false}};
    for (const TopicResult& m : t.models) columns.push_back({m.gpu, true});
    TextTable table(columns);
    bool any = false;
    for (const Row& row : t.rows) {
      if (!row.shown()) continue;
      std::vector<std::string> cells = {row.label()};
      for (const TopicResult& m : t.models) {
        const Row* other = same_row(&m, row);
        const double v = other ? quantity.of(*other) : 0;
        any |= v != 0;
        cells.push_back(v >= 1000 ? whole(v) : figure_text(v));
      }
      table.add(cells);
    }
    if (any) out += "\n" + table.text();
  }
  return out;
}

}  // namespace

std::string topics_text(const std::vector<Topic>& topics, const std::vector<LeftOut>& left_out) {
  std::string out;
  for (const Topic& t : topics) {
    out += fmt::format("{}: {} (course: {})\n", t.name, t.title, t.document);
    out += wrapped(t.shows, kWidth, "    ", "    ");
    std::string rungs;
    for (const Rung& r : t.rungs) rungs += (rungs.empty() ? "" : ", ") + r.name;
    out += wrapped(rungs, kWidth, "    rungs: ", "           ");
  }
  return out + left_out_text(left_out) +
         "\nwarpgrind lab TOPIC runs one, warpgrind lab all runs everything; TOPIC --list says what each rung shows.\n";
}

std::string rungs_text(const Topic& t) {
  std::string out =
      fmt::format("{}: {} (course: {})\n", t.name, t.title, t.document) + wrapped(t.shows, kWidth, "  ", "  ");
  TextTable table({{"rung", false}, {"role", false}, {"what it shows", false}});
  for (const Rung& r : t.rungs) table.add({r.name, r.role, r.what});
  out += table.text();
  out += fmt::format("sizes: {} (quick {}; full {}); types: {}\n", t.size_names, t.quick_sizes, t.full_sizes, t.types);
  for (const TopicOption& o : t.options) out += fmt::format("option --{} ({}): {}\n", o.name, o.fallback, o.help);
  return out;
}

namespace {

std::string sampled_text(std::uint64_t blocks) {
  return fmt::format("   (sampled from about {} blocks of each launch, not verified)", blocks);
}

}  // namespace

std::string topic_text(const TopicResult& t, const TopicResult* measured) {
  std::string out = first_line(t);
  for (const auto& [name, rows] : groups(t)) {
    if (std::any_of(rows.begin(), rows.end(), [](const Row* r) { return r->skipped.empty(); })) {
      const std::uint64_t blocks = rows.front()->blocks;
      const std::string origin = !t.is_virtual ? "   (times measured)"
                                 : blocks > 0  ? sampled_text(blocks)
                                               : "   (counts exact, times estimated)";
      out += fmt::format("\n{}{}\n", name, origin);
      out += rows_table(rows, measured).text();
    }
    out += skipped_text(rows) + reasons(rows);
  }
  TopicResult at_large;
  at_large.rows = t.large;
  for (const auto& [name, rows] : groups(at_large)) {
    if (std::none_of(rows.begin(), rows.end(), [](const Row* r) { return r->shown(); })) continue;
    out += fmt::format("\n{}{}\n", name, sampled_text(rows.front()->blocks));
    out += rows_table(rows, measured).text();
  }
  out += failures(t);
  if (!t.models.empty()) out += models_text(t);
  for (const Note& note : t.notes)
    out += fmt::format("\n-- {}\n{}{}", note.title, note.text, note.text.ends_with("\n") ? "" : "\n");
  if (t.sm_mhz_before > 0 && std::fabs(t.sm_mhz_after / t.sm_mhz_before - 1) > 0.05)
    out += fmt::format("note: the SM clock changed from {:.0f} to {:.0f} MHz during this topic\n", t.sm_mhz_before,
                       t.sm_mhz_after);
  if (!t.error.empty()) out += fmt::format("{}: {}\n", t.topic, t.error);
  return out;
}

std::string closing_text(const LabResult& result, const std::string& program) {
  std::size_t rows = 0, verified = 0, skipped = 0;
  for (const TopicResult& t : result.topics) {
    rows += t.rows.size();
    verified += t.verified();
    skipped += t.rows.size() - t.shown();
  }
  std::string seen = fmt::format("{} topics, {} rows: {} verified", result.topics.size(), rows, verified);
  if (skipped > 0) seen += fmt::format(", {} skipped (named above)", skipped);
  if (verified + skipped < rows) seen += fmt::format(", {} WRONG", rows - verified - skipped);
  TextTable commands({{"On a program of your own:", false}, {" ", false}});
  commands.add({program + " run app.cu", "its output, counts, times, advice"});
  commands.add({program + " check app.cu", "all bugs in one run: memory, races, barriers, API"});
  commands.add({program + " explain app.cu --kernel NAME --line N", "the lanes of one access, drawn"});
  return seen + "\n" + commands.text();
}

std::string summary_text(const LabResult& result) {
  TextTable table({{"topic", false},
                   {"rows", true},
                   {"verified", true},
                   {"skipped", true},
                   {"at", false},
                   {"first rung us", true},
                   {"best rung us", true},
                   {"speed-up", true},
                   {"best rung", false},
                   {"run s", true},
                   {"", false}});
  for (const TopicResult& t : result.topics) {
    const auto [first, best] = ends_of_ladder(t);
    const bool ladder = first && best && first != best;
    const std::size_t skipped = t.rows.size() - t.shown();
    table.add({t.topic, std::to_string(t.rows.size()), std::to_string(t.verified()),
               skipped ? std::to_string(skipped) : "", ladder ? first->size_text : "",
               ladder ? figure_text(first->derived.time_us) : "", ladder ? figure_text(best->derived.time_us) : "",
               ladder ? ratio_text(first->derived.time_us / best->derived.time_us) : "", ladder ? best->label() : "",
               fmt::format("{:.1f}", t.seconds), t.good() ? "" : "FAILED"});
  }
  std::string out =
      fmt::format("\n== summary ({})\n",
                  result.on == "gpu" ? "times measured" : "counts exact, times estimated for the modelled GPU") +
      table.text();
  for (const TopicResult& t : result.topics) out += without_result(t);
  return out + left_out_text(result.left_out);
}

}  // namespace warpgrind::lab
