// Evaluation of expectations on the kernels of a profile, and output of the results.
#include "report/expectations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/words.h"
#include "counters/metric_table.h"
#include "report/advice_text.h"
#include "report/format.h"
#include "report/kernel_names.h"

namespace warpgrind::report {
namespace {

using Kind = ExpressionNode::Kind;
using Outcome = ExpectationResult::Outcome;
using results::KernelProfile;
using results::MetricId;

struct Value {
  bool known = false;
  double number = 0;
  std::string text, unit;
  Origin origin = Origin::exact;
};

class Evaluator {
 public:
  Evaluator(const Expectation& e, const KernelProfile& kernel) : e_(e), kernel_(kernel) {}

  Value value(std::size_t index) const {
    const ExpressionNode& n = e_.nodes[index];
    switch (n.kind) {
      case Kind::number:
        return {true, n.number, "", n.unit, Origin::exact};
      case Kind::text:
        return {true, 0, n.text, "", Origin::exact};
      case Kind::metric:
        return metric(n.metric);
      case Kind::negate: {
        Value v = value(n.left);
        v.number = -v.number;
        return v;
      }
      default:
        return arithmetic(n, value(n.left), value(n.right));
    }
  }

 private:
  Value metric(MetricId id) const {
    const results::Metric* m = kernel_.metrics.find(id);
    if (m == nullptr) return {};
    // Nsight Compute prints 0 if the divisor is 0. That is not a figure to compare with a limit.
    if (counters::row(id).zero_when_undefined && m->value == 0) return {};
    return {true, m->value, m->text, m->unit, m->origin};
  }

  static Value arithmetic(const ExpressionNode& n, const Value& a, const Value& b) {
    Value v{a.known && b.known, 0, "", n.unit, std::max(a.origin, b.origin)};
    switch (n.kind) {
      case Kind::add:
        v.number = a.number + b.number;
        break;
      case Kind::subtract:
        v.number = a.number - b.number;
        break;
      case Kind::multiply:
        v.number = a.number * b.number;
        break;
      default:
        v.known = v.known && b.number != 0;
        v.number = b.number != 0 ? a.number / b.number : 0;
    }
    return v;
  }

  const Expectation& e_;
  const KernelProfile& kernel_;
};

const char* sign(Comparison c) {
  switch (c) {
    case Comparison::less:
      return "<";
    case Comparison::less_equal:
      return "<=";
    case Comparison::equal:
      return "==";
    case Comparison::not_equal:
      return "!=";
    case Comparison::greater_equal:
      return ">=";
    case Comparison::greater:
      return ">";
  }
  return "?";
}

bool holds(Comparison c, const Value& a, const Value& b) {
  if (!a.text.empty() || !b.text.empty()) return (a.text == b.text) == (c == Comparison::equal);
  return compare_numbers(c, a.number, b.number);
}

std::string figure(const Value& v) {
  if (!v.text.empty()) return "'" + v.text + "'";
  if (v.unit == "ns") return with_time(v.number);
  if (v.unit == "%") return percent(v.number);
  const std::string number = grouped(v.number);
  return v.unit.empty() ? number : fmt::format("{} {}{}", number, v.unit, plural(v.number));
}

// Contribution of a site to a counter of its kernel.
double share(MetricId metric, const results::SiteProfile& s) {
  const std::string_view name = counters::name(metric);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  const auto of = [&](MetricId id) { return s.metrics.value(id); };
  if (has("_op_ld") && s.kind != "load") return 0;
  if (has("_op_st") && s.kind != "store") return 0;
  if (has("_op_atom") && s.kind != "atomic") return 0;
  if (has("_op_red") && s.kind != "reduction") return 0;
  if (has("bank_conflicts")) return of(MetricId::shared_conflicts);
  if (has("shared")) return has("excessive") ? of(MetricId::shared_excessive) : of(MetricId::shared_wavefronts);
  if (has("excessive")) return of(MetricId::excessive_sectors);
  if (has("local")) return of(MetricId::local_theoretical_sectors);
  if (has("global")) return of(MetricId::theoretical_sectors);
  if (has("branch")) return of(MetricId::divergent_branches);
  return 0;
}

std::vector<results::Advice::Place> places_of(const Expectation& e, const KernelProfile& kernel) {
  std::map<std::pair<std::string, std::uint32_t>, std::pair<double, results::Advice::Place>> lines;
  for (const ExpressionNode& n : e.nodes) {
    if (n.kind != Kind::metric) continue;
    for (const results::SiteProfile& s : kernel.sites) {
      const double w = share(n.metric, s);
      if (w <= 0) continue;
      auto& [sum, place] = lines[{s.file, s.line != 0 ? s.line : s.ptx_line}];
      if (sum == 0) place = {s.file, s.line, s.ptx_line};
      sum += w;
    }
  }
  std::vector<std::pair<double, results::Advice::Place>> sorted;
  for (const auto& [key, entry] : lines) sorted.push_back(entry);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kMost = 3;
  std::vector<results::Advice::Place> out;
  for (std::size_t i = 0; i < std::min(kMost, sorted.size()); ++i) out.push_back(sorted[i].second);
  return out;
}

ExpectationResult check_one(const Expectation& e, const KernelProfile& kernel) {
  ExpectationResult r;
  r.text = e.text;
  r.kernel = kernel.name;
  const Evaluator evaluator(e, kernel);
  const Value a = evaluator.value(e.left), b = evaluator.value(e.right);
  if (!a.known || !b.known) {
    r.outcome = Outcome::not_applicable;
    r.figures = "no figure: it did nothing of the kind";
    return r;
  }
  r.origin = std::max(a.origin, b.origin);
  const bool good = holds(e.comparison, a, b);
  r.outcome = good ? Outcome::passed : Outcome::failed;
  r.figures = fmt::format("{} {} {}", figure(a),
                          good ? sign(e.comparison) : fmt::format("is not {}", sign(e.comparison)), figure(b));
  if (!good) r.places = places_of(e, kernel);
  return r;
}

}  // namespace

bool compare_numbers(Comparison c, double a, double b) {
  switch (c) {
    case Comparison::less:
      return a < b;
    case Comparison::less_equal:
      return a <= b;
    case Comparison::equal:
      return a == b;
    case Comparison::not_equal:
      return a != b;
    case Comparison::greater_equal:
      return a >= b;
    case Comparison::greater:
      return a > b;
  }
  return false;
}

double evaluate_constant(const Expectation& expectation, std::size_t node) {
  const KernelProfile none;
  return Evaluator(expectation, none).value(node).number;
}

std::vector<ExpectationResult> check(const std::vector<Expectation>& expectations,
                                     const std::vector<results::Profile>& profiles) {
  std::vector<const KernelProfile*> kernels;
  for (const results::Profile& p : profiles)
    for (const KernelProfile& k : p.kernels) kernels.push_back(&k);
  std::vector<ExpectationResult> out;
  for (std::size_t i = 0; i < expectations.size(); ++i) {
    const Expectation& e = expectations[i];
    std::size_t matching = 0, checked = 0;
    for (const KernelProfile* k : kernels) {
      if (!matches(e.kernels, *k)) continue;
      ++matching;
      ExpectationResult r = check_one(e, *k);
      r.expectation = i;
      checked += r.outcome != Outcome::not_applicable;
      out.push_back(std::move(r));
    }
    if (checked != 0) continue;
    ExpectationResult& r = out.emplace_back();
    r.expectation = i;
    r.text = e.text;
    r.outcome = Outcome::nothing_checked;
    if (kernels.empty())
      r.figures = "nothing was checked: no kernel ran";
    else if (matching == 0)
      r.figures =
          fmt::format("nothing was checked: no kernel is called \"{}\"; there are {}", e.kernels, kernel_list(kernels));
    else
      r.figures = "nothing was checked: none of the kernels has this figure";
  }
  return out;
}

std::string expectations_text(const std::vector<ExpectationResult>& results, const TextOptions& options) {
  const auto paint = [&](const char* code, const std::string& t) { return options.colour ? code + t + "\033[0m" : t; };
  constexpr std::size_t kWidth = 80, kName = 34;
  std::string out;
  std::size_t bad = 0, all = 0;
  for (std::size_t i = 0; i < results.size();) {
    std::size_t end = i;
    bool good = true;
    for (; end < results.size() && results[end].expectation == results[i].expectation; ++end)
      good &= !results[end].bad();
    out += (good ? paint("\033[32m", "pass") : paint("\033[1;31m", "FAIL")) + "  " + results[i].text + "\n";
    for (; i < end; ++i) {
      const ExpectationResult& r = results[i];
      if (r.outcome == Outcome::nothing_checked) {
        out += wrapped("      " + r.figures, kWidth, "      ");
        continue;
      }
      std::string name = short_name(r.kernel);
      if (name.size() > kName) name = name.substr(0, kName - 3) + "...";
      const char* mark = r.outcome == Outcome::failed ? "!" : r.outcome == Outcome::not_applicable ? "-" : " ";
      const std::string origin = r.outcome == Outcome::not_applicable ? "" : warpgrind::name(r.origin);
      std::string line = fmt::format("    {} {} ", mark, left(name, kName));
      if (line.size() + r.figures.size() + (origin.empty() ? 0 : 1) + origin.size() <= kWidth)
        line = left(line + r.figures, static_cast<int>(kWidth - 1 - origin.size())) + " " + origin;
      else
        line += "\n" + wrapped("        " + r.figures + " " + origin, kWidth, "        ");
      while (!line.empty() && (line.back() == ' ' || line.back() == '\n')) line.pop_back();
      out += line + "\n";
      for (const results::Advice::Place& p : r.places)
        out += p.line != 0 ? fmt::format("        at {}:{}\n", shortened_path(p.file, kWidth - 18), p.line)
                           : fmt::format("        at PTX line {}\n", p.ptx_line);
    }
    ++all;
    bad += !good;
  }
  return out + fmt::format("{} of {} expectations hold\n", all - bad, all);
}

}  // namespace warpgrind::report
