// Scores, tables and intervals of the time model's accuracy.
#include "timing/tools/accuracy_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace warpgrind::timing {
namespace {

using Ordered = nlohmann::ordered_json;
using Groups = std::map<std::string, std::vector<std::size_t>>;

Groups group(const Accuracy& a, const std::function<std::string(std::size_t)>& key) {
  Groups groups;
  for (std::size_t i = 0; i < a.rows->size(); ++i) groups[key(i)].push_back(i);
  return groups;
}
std::vector<std::size_t> all_rows(const Accuracy& a) {
  std::vector<std::size_t> all(a.rows->size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

double ratio(const Accuracy& a, const std::vector<Prediction>& by, std::size_t i) {
  return by[i].ns / (*a.rows)[i].measured_ns;
}
Score score_of(const Accuracy& a, const std::vector<Prediction>& by, const std::vector<std::size_t>& rows) {
  std::vector<double> ratios;
  for (const std::size_t i : rows) ratios.push_back(ratio(a, by, i));
  return score(ratios);
}

std::string time_class(const Accuracy& a, std::size_t i) {
  const double us = (*a.rows)[i].measured_ns / 1e3;
  return us < 6 ? "1: below 6 us" : us < 30 ? "2: 6 to 30 us" : us < 300 ? "3: 30 to 300 us" : "4: 300 us and more";
}

std::string percent(double part) {
  return fmt::format("{:.1f} %", 100 * part);
}

Ordered score_json(const Score& s) {
  return {{"rows", s.rows}, {"median", s.median}, {"p90", s.p90}, {"within_30", s.within_30}, {"worst", s.worst}};
}

// Scores of the groups, in the order of their names; a name may begin with its place: "1: ".
Ordered section(const Accuracy& a, const char* by, const Groups& groups) {
  Ordered scores = Ordered::array();
  for (const auto& [name, rows] : groups) {
    Ordered score = score_json(score_of(a, a.left_out, rows));
    score["name"] = name.find(": ") == 1 ? name.substr(3) : name;
    scores.push_back(std::move(score));
  }
  return {{"by", by}, {"scores", std::move(scores)}};
}

std::string ranking_text(const Ranking& r) {
  return fmt::format(
      "Ranking: pairs are two rungs of one topic, size and type whose times differ by more than 5 %. The estimate "
      "ranks {} of {} pairs ({}) correctly. In {} of {} ladders, its fastest rung is the fastest, or within 10 % of "
      "it.",
      r.right, r.pairs, percent(static_cast<double>(r.right) / static_cast<double>(std::max<std::size_t>(1, r.pairs))),
      r.fastest, r.ladders);
}

std::string csv_cell(const std::string& text) {
  return text.find(',') == std::string::npos ? text : "\"" + text + "\"";
}

}  // namespace

Accuracy judge(const GpuModel& model, const std::vector<StoredRow>& rows, bool elsewhere) {
  Accuracy a{&model, &rows, {}, {}, elsewhere};
  for (const StoredRow& row : rows) a.fitted.push_back(predict(model, row, {}));
  a.left_out = elsewhere ? a.fitted : leave_topics_out(model, rows);
  return a;
}

std::string text_table(const Accuracy& a) {
  std::string out = fmt::format("{:<20}{:>6}{:>10}{:>12}{:>13}{:>9}\n", "never fitted", "rows", "median", "90 % within",
                                "within 30 %", "worst");
  const auto line = [&](const std::string& what, const Score& s) {
    out += fmt::format("{:<20}{:>6}{:>10}{:>12}{:>13}{:>8.2f}x\n", what, s.rows, percent(s.median), percent(s.p90),
                       percent(s.within_30), s.worst);
  };
  line("all topics", score_of(a, a.left_out, all_rows(a)));
  for (const auto& [topic, rows] : group(a, [&](std::size_t i) { return (*a.rows)[i].topic; }))
    line("  " + topic, score_of(a, a.left_out, rows));
  if (!a.elsewhere) line("as it is in use", score_of(a, a.fitted, all_rows(a)));
  return out + ranking_text(ranking(*a.rows, a.left_out)) + "\n";
}

std::string worst_rows(const Accuracy& a, int count) {
  std::vector<std::size_t> order = all_rows(a);
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return std::abs(std::log(ratio(a, a.left_out, x))) > std::abs(std::log(ratio(a, a.left_out, y)));
  });
  std::string out;
  for (std::size_t k = 0; k < order.size() && k < static_cast<std::size_t>(count); ++k) {
    const std::size_t i = order[k];
    out += fmt::format("{:5.2f}  {:10.2f} us  {}  ", ratio(a, a.left_out, i), (*a.rows)[i].measured_ns / 1e3,
                       (*a.rows)[i].range);
    const std::vector<Bound>& bounds = a.left_out[i].bounds;
    for (std::size_t b = 0; b < bounds.size() && b < 5; ++b)
      out += fmt::format(" {} {:.2f}", name(bounds[b].limit), bounds[b].ns / 1e3);
    out += "\n";
  }
  return out;
}

std::string scores_json(const Accuracy& a, const Accuracy& beside) {
  const auto judged = [&](const std::vector<Prediction>& by) {
    const Ranking r = ranking(*a.rows, by);
    return Ordered{
        {"score", score_json(score_of(a, by, all_rows(a)))},
        {"ranking", {{"pairs", r.pairs}, {"right", r.right}, {"ladders", r.ladders}, {"fastest", r.fastest}}}};
  };
  Ordered out = {{"gpu", a.model->name},
                 {"elsewhere", a.elsewhere},
                 {"parameters", kFittedMembers.size()},
                 {"never_fitted", judged(a.left_out)},
                 {"in_use", judged(a.fitted)}};
  out["sections"] = {
      section(a, "topic", group(a, [&](std::size_t i) { return (*a.rows)[i].topic; })),
      section(a, "limit", group(a, [&](std::size_t i) { return std::string(name(a.left_out[i].limit)); })),
      section(a, "measured", group(a, [&](std::size_t i) { return time_class(a, i); }))};
  if (!beside.rows->empty())
    out["beside"] = {
        {"score", score_json(score_of(beside, beside.left_out, all_rows(beside)))},
        {"section", section(beside, "topic", group(beside, [&](std::size_t i) { return (*beside.rows)[i].topic; }))}};
  Ordered& rows = out["rows"] = Ordered::array();
  for (const std::size_t i : all_rows(a))
    rows.push_back({{"topic", (*a.rows)[i].topic},
                    {"range", (*a.rows)[i].range},
                    {"measured_ns", (*a.rows)[i].measured_ns},
                    {"predicted_ns", a.left_out[i].ns},
                    {"in_use_ns", a.fitted[i].ns}});
  return out.dump(1) + "\n";
}

static std::string table_lines(const Accuracy& a) {
  std::string out;
  for (const auto& [topic, rows] : group(a, [&](std::size_t i) { return (*a.rows)[i].topic; }))
    out += fmt::format("median,{},{:.1f}\n", topic, 100 * score_of(a, a.left_out, rows).median);
  for (const std::size_t i : all_rows(a)) {
    const double r = ratio(a, a.left_out, i);
    if (std::max(r, 1 / r) > 2) out += fmt::format("beyond 2x,{},{:.2f}\n", csv_cell((*a.rows)[i].range), r);
  }
  return out;
}

std::string table_csv(const std::vector<const Accuracy*>& parts) {
  std::string out = "what,name,figure\n";
  for (const Accuracy* a : parts) out += table_lines(*a);
  return out;
}

std::string worse_than(const Accuracy& a, const std::string& table) {
  std::map<std::string, double> median;
  std::set<std::string> beyond;
  std::istringstream in(table);
  for (std::string line; std::getline(in, line);) {
    const std::size_t last = line.rfind(','), first = line.find(',');
    if (last == first || first == std::string::npos) continue;
    std::string name = line.substr(first + 1, last - first - 1);
    if (!name.empty() && name.front() == '"') name = name.substr(1, name.size() - 2);
    if (line.rfind("median,", 0) == 0)
      median[name] = std::strtod(line.c_str() + last + 1, nullptr);
    else
      beyond.insert(name);
  }
  std::string out;
  for (const auto& [topic, rows] : group(a, [&](std::size_t i) { return (*a.rows)[i].topic; })) {
    const double now = 100 * score_of(a, a.left_out, rows).median;
    const auto before = median.find(topic);
    if (before != median.end() && now > before->second + 2)
      out += fmt::format("{}: the median error has grown from {:.1f} to {:.1f} %\n", topic, before->second, now);
  }
  for (const std::size_t i : all_rows(a)) {
    const double r = ratio(a, a.left_out, i);
    const std::string& range = (*a.rows)[i].range;
    if (std::max(r, 1 / r) > 2 && !beyond.count(range))
      out += fmt::format("{}: predicted / measured is {:.2f}, and was within a factor of 2\n", range, r);
  }
  return out;
}

static std::vector<std::size_t> rows_of(const Accuracy& a, std::size_t limit) {
  std::vector<std::size_t> rows;
  for (const std::size_t i : all_rows(a))
    if (a.left_out[i].limit == static_cast<Limit>(limit)) rows.push_back(i);
  return rows;
}

namespace {

// Factors of the estimate between which 80 % of the measured times lie, and the shortest and longest of these, in us.
struct Factors {
  std::vector<double> all;
  double shortest = 1e300, longest = 0;

  void add(double measured_ns, double estimated_ns) {
    all.push_back(measured_ns / estimated_ns);
    shortest = std::min(shortest, measured_ns / 1e3);
    longest = std::max(longest, measured_ns / 1e3);
  }
  double low() const { return std::min(1.0, sorted()[all.size() / 10]); }
  double high() const { return std::max(1.0, sorted()[std::min(all.size() - 1, all.size() * 9 / 10)]); }

 private:
  std::vector<double> sorted() const {
    std::vector<double> out = all;
    std::sort(out.begin(), out.end());
    return out;
  }
};

Factors factors_of(const Accuracy& a, const std::vector<std::size_t>& rows) {
  Factors f;
  for (const std::size_t i : rows) {
    const double measured = (*a.rows)[i].measured_ns;
    f.add(measured, measured * ratio(a, a.left_out, i));
  }
  return f;
}

}  // namespace

std::string intervals_inc(const Accuracy& lab, const Accuracy& beside, const std::vector<ProgramKernel>& programs) {
  std::string out =
      "// Between which factors of the estimate 80 % of the measured durations lie, by what binds. The wider of two: "
      "for the\n// lab's rows of an H200, each predicted by a fit without its topic, and for kernels of public "
      "programs. Written by\n// `make accuracy`.\n"
      "//   WG_INTERVAL(limit, rows, low, high, shortest and longest measured, us)\n";
  static constexpr const char* kIds[] = {
#define WG_TERM(id, text) #id,
#include "timing/terms/terms.inc"
#undef WG_TERM
  };
  constexpr std::size_t kLeast = 8;  // rows
  Factors every;
  for (const ProgramKernel& p : programs) every.add(p.measured_ns, p.estimated_ns);
  for (std::size_t k = 0; k < kLimits; ++k) {
    std::vector<Factors> found = {factors_of(lab, rows_of(lab, k)), {}};
    for (const ProgramKernel& p : programs)
      if (p.limit == name(static_cast<Limit>(k))) found[1].add(p.measured_ns, p.estimated_ns);
    std::erase_if(found, [](const Factors& f) { return f.all.size() < kLeast; });
    if (const std::vector<std::size_t> more = rows_of(beside, k); found.empty() && more.size() >= kLeast)
      found.push_back(factors_of(beside, more));
    if (found.empty()) found.push_back(programs.empty() ? factors_of(lab, all_rows(lab)) : every);
    std::size_t rows = 0;
    double low = 1, high = 1, shortest = 1e300, longest = 0;
    for (const Factors& f : found) {
      rows += f.all.size();
      low = std::min(low, f.low()), high = std::max(high, f.high());
      shortest = std::min(shortest, f.shortest), longest = std::max(longest, f.longest);
    }
    out += fmt::format("WG_INTERVAL({}, {}, {:.2f}, {:.2f}, {:.3g}, {:.3g})\n", kIds[k], rows, low, high, shortest,
                       longest);
  }
  return out;
}

}  // namespace warpgrind::timing
