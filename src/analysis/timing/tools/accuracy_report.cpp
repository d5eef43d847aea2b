// Scores, tables, chart and intervals of the time model's accuracy.
#include "timing/tools/accuracy_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <sstream>

namespace warpgrind::timing {
namespace {

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

std::string row_of(const std::string& what, const Score& s) {
  return fmt::format("| {} | {} | {} | {} | {} | {:.2f}x |\n", what, s.rows, percent(s.median), percent(s.p90),
                     percent(s.within_30), s.worst);
}
constexpr const char* kHead =
    "| {} | rows | median | 90 % are within | within 30 % | worst |\n|---|---|---|---|---|---|\n";

std::string section(const Accuracy& a, const char* what, const Groups& groups) {
  std::string out = fmt::format(fmt::runtime(kHead), what);
  for (const auto& [name, rows] : groups) {
    const std::size_t colon = name.find(": ");
    out += row_of(colon == 1 ? name.substr(3) : name, score_of(a, a.left_out, rows));
  }
  return out + "\n";
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

std::string markdown(const Accuracy& a, const std::string& svg_path) {
  const Score left_out = score_of(a, a.left_out, all_rows(a)), fitted = score_of(a, a.fitted, all_rows(a));
  std::string out =
      "# Accuracy of the time estimate\n\nMade by `make accuracy` from stored measurements (lab/results), without a "
      "GPU.\n\n";
  out += fmt::format(
      "**Never fitted**: {}. {} rows, {}: **median error {}, 90 % of the rows within {}, {} within 30 %, worst "
      "{:.2f}x.** {}\n\n",
      a.elsewhere ? "the constants are from `warpgrind calibrate`, the parameters from a fit to the rows of another GPU"
                  : "each topic of the lab is predicted by a fit to all other topics",
      left_out.rows, a.model->name, percent(left_out.median), percent(left_out.p90), percent(left_out.within_30),
      left_out.worst, ranking_text(ranking(*a.rows, a.left_out)));
  if (!a.elsewhere)
    out += fmt::format(
        "In use, with {} parameters fitted to these same rows: median error {}, 90 % within {}, worst {:.2f}x. "
        "{}\n\n",
        kFittedMembers.size(), percent(fitted.median), percent(fitted.p90), fitted.worst,
        ranking_text(ranking(*a.rows, a.fitted)));
  if (!svg_path.empty())
    out += fmt::format("![measured and predicted times]({})\n\n", svg_path.substr(svg_path.rfind('/') + 1));
  out +=
      "A row is one kernel, or a few that belong together, between two CUDA events. Rows are left out if their time is "
      "not only the GPU's work: host effects, migration of managed memory, barriers of a grid.\n\n";
  if (!a.elsewhere)
    out +=
        "Each fit starts from the parameters in use, which all topics have influenced. On 2026-11-23, fits also "
        "started from 3 and from 8 points that do not depend on the rows; the other topics chose the best of each. "
        "Their median errors were 10.2 and 11.2 %, with 94.2 and 94.7 % of the pairs ranked correctly.\n\n";
  out += "## By topic, never fitted\n\n";
  out += section(a, "topic", group(a, [&](std::size_t i) { return (*a.rows)[i].topic; }));
  out += "## By limit, never fitted\n\n";
  out += section(a, "limit", group(a, [&](std::size_t i) { return std::string(name(a.left_out[i].limit)); }));
  out += "## By time, never fitted\n\n";
  out += section(a, "measured", group(a, [&](std::size_t i) { return time_class(a, i); }));
  return out;
}

namespace {

constexpr double kWidth = 640, kHeight = 520, kMargin = 60;

struct Axes {
  double low = 1e300, high = 0;  // us, powers of ten
  double x(double us) const { return kMargin + (kWidth - kMargin - 20) * place(us); }
  double y(double us) const { return kHeight - kMargin - (kHeight - kMargin - 20) * place(us); }
  double place(double us) const { return std::log(us / low) / std::log(high / low); }
};

std::string diagonal(const Axes& axes, double factor, const char* style, const std::string& label) {
  const double from = axes.low * std::max(1.0, 1 / factor), to = axes.high / std::max(1.0, factor);
  std::string out = fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", axes.x(from),
                                axes.y(from * factor), axes.x(to), axes.y(to * factor), style);
  if (!label.empty())
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" fill=\"#666\">{}</text>\n", axes.x(to) - 26,
                       axes.y(to * factor) + (factor < 1 ? 12 : -2), label);
  return out;
}

std::string scale(const Axes& axes) {
  std::string out;
  for (double us = axes.low; us <= axes.high * 1.01; us *= 10) {
    const std::string label = us < 1000 ? fmt::format("{:g} us", us) : fmt::format("{:g} ms", us / 1000);
    out += fmt::format("<line x1=\"{0:.1f}\" y1=\"20\" x2=\"{0:.1f}\" y2=\"{1:.1f}\" stroke=\"#ddd\"/>\n", axes.x(us),
                       kHeight - kMargin);
    out += fmt::format("<line x1=\"{1:.1f}\" y1=\"{0:.1f}\" x2=\"{2:.1f}\" y2=\"{0:.1f}\" stroke=\"#ddd\"/>\n",
                       axes.y(us), kMargin, kWidth - 20);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"11\">{}</text>\n",
                       axes.x(us), kHeight - kMargin + 16, label);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\" font-size=\"11\">{}</text>\n", kMargin - 6,
                       axes.y(us) + 4, label);
  }
  return out;
}

}  // namespace

std::string svg(const Accuracy& a) {
  static constexpr const char* kColours[] = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd",
                                             "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"};
  Axes axes;
  for (std::size_t i = 0; i < a.rows->size(); ++i)
    for (const double ns : {(*a.rows)[i].measured_ns, a.left_out[i].ns}) {
      axes.low = std::min(axes.low, ns / 1e3);
      axes.high = std::max(axes.high, ns / 1e3);
    }
  axes.low = std::pow(10, std::floor(std::log10(axes.low)));
  axes.high = std::pow(10, std::ceil(std::log10(axes.high)));
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kWidth + 110, kHeight);
  out += scale(axes);
  out += diagonal(axes, 1, "stroke=\"#000\"", "");
  for (const double f : {1.25, 0.8}) out += diagonal(axes, f, "stroke=\"#999\" stroke-dasharray=\"4 3\"", "");
  out += diagonal(axes, 2, "stroke=\"#ccc\"", "2x") + diagonal(axes, 0.5, "stroke=\"#ccc\"", "1/2");
  unsigned n = 0;
  for (const auto& [topic, rows] : group(a, [&](std::size_t i) { return (*a.rows)[i].topic; })) {
    const char* colour = kColours[n % std::size(kColours)];
    for (const std::size_t i : rows)
      out += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" fill=\"{}\" fill-opacity=\"{}\"><title>{}</title></circle>\n",
          axes.x((*a.rows)[i].measured_ns / 1e3), axes.y(a.left_out[i].ns / 1e3), colour, n < 10 ? 0.75 : 0.4,
          (*a.rows)[i].range);
    out += fmt::format(
        "<circle cx=\"{0}\" cy=\"{1}\" r=\"4\" fill=\"{2}\" fill-opacity=\"{3}\"/><text x=\"{4}\" y=\"{5}\" "
        "font-size=\"11\">{6}</text>\n",
        kWidth, 30 + 16 * n, colour, n < 10 ? 0.75 : 0.4, kWidth + 8, 34 + 16 * n, topic);
    ++n;
  }
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"12\">measured</text>\n", kWidth / 2,
                     kHeight - 18);
  out += fmt::format(
      "<text x=\"14\" y=\"{0}\" text-anchor=\"middle\" font-size=\"12\" transform=\"rotate(-90 14 {0})\">predicted, "
      "never fitted</text>\n</svg>\n",
      kHeight / 2);
  return out;
}

std::string table_csv(const Accuracy& a) {
  std::string out = "what,name,figure\n";
  for (const auto& [topic, rows] : group(a, [&](std::size_t i) { return (*a.rows)[i].topic; }))
    out += fmt::format("median,{},{:.1f}\n", topic, 100 * score_of(a, a.left_out, rows).median);
  for (const std::size_t i : all_rows(a)) {
    const double r = ratio(a, a.left_out, i);
    if (std::max(r, 1 / r) > 2) out += fmt::format("beyond 2x,{},{:.2f}\n", csv_cell((*a.rows)[i].range), r);
  }
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

std::string intervals_inc(const Accuracy& a) {
  std::string out =
      "// Between which factors of the estimate 80 % of the measured durations lie, by what binds; of the lab's rows "
      "of "
      "an\n// H200, each predicted by a fit without its topic. Written by `make accuracy`.\n"
      "//   WG_INTERVAL(limit, rows, low, high, shortest and longest measured, us)\n";
  const auto line = [&](const std::string& what, const std::vector<std::size_t>& rows) {
    std::vector<double> factors;
    double shortest = 1e300, longest = 0;
    for (const std::size_t i : rows) {
      factors.push_back(1 / ratio(a, a.left_out, i));
      shortest = std::min(shortest, (*a.rows)[i].measured_ns / 1e3);
      longest = std::max(longest, (*a.rows)[i].measured_ns / 1e3);
    }
    std::sort(factors.begin(), factors.end());
    const std::size_t n = factors.size();
    out += fmt::format("WG_INTERVAL({}, {}, {:.2f}, {:.2f}, {:.3g}, {:.3g})\n", what, n, std::min(1.0, factors[n / 10]),
                       std::max(1.0, factors[std::min(n - 1, n * 9 / 10)]), shortest, longest);
  };
  static constexpr const char* kIds[] = {
#define WG_TERM(id, text) #id,
#include "timing/terms/terms.inc"
#undef WG_TERM
  };
  constexpr std::size_t kLeast = 8;  // rows; a limit with fewer gets the interval of all rows
  for (std::size_t k = 0; k < kLimits; ++k) {
    std::vector<std::size_t> rows;
    for (const std::size_t i : all_rows(a))
      if (a.left_out[i].limit == static_cast<Limit>(k)) rows.push_back(i);
    line(kIds[k], rows.size() >= kLeast ? rows : all_rows(a));
  }
  return out;
}

}  // namespace warpgrind::timing
