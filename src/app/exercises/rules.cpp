// Rules of a rubric: checks of counters, copies and the source, and the times that rules compare.
#include "exercises/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/regular_expression.h"
#include "base/words.h"
#include "report/access_view.h"
#include "report/advice_text.h"
#include "report/format.h"
#include "report/kernel_names.h"

namespace warpgrind::exercises {

namespace {

using Outcome = Judged::Outcome;

double time_of(const results::KernelProfile& kernel) {
  return kernel.metrics.value(results::MetricId::time);
}

// Drawing of the accesses at the line that fails the rule.
std::string drawn(const results::Profile& profile, const std::string& kernel, const results::Advice::Place& place,
                  bool colour) {
  report::AccessQuery query;
  query.kernel = kernel;
  query.file = place.file;
  query.line = place.line;
  query.ptx_line = place.line == 0 ? place.ptx_line : 0;
  auto text = report::access_view(profile, query, {.colour = colour});
  return text ? text.take() : std::string();
}

// Sectors or passes that a request takes too many.
std::uint64_t excess(const results::AccessPattern& p) {
  return p.space == "shared" ? p.wavefronts - std::min(p.wavefronts, p.ideal_wavefronts)
                             : p.sectors - std::min(p.sectors, p.ideal_sectors);
}

// The worst request of the accesses at a place: a line often has a good load and a bad store.
std::optional<results::AccessPattern> worst_request(const results::Profile& profile, const std::string& kernel,
                                                    const results::Advice::Place& place) {
  std::optional<results::AccessPattern> out;
  for (const results::KernelProfile& k : profile.kernels)
    for (const results::SiteProfile& site : k.sites) {
      if (k.name != kernel || site.file != place.file || site.line != place.line) continue;
      if (site.worst >= site.patterns.size()) continue;
      const results::AccessPattern& pattern = site.patterns[site.worst];
      if (!out || excess(pattern) > excess(*out)) out = pattern;
    }
  return out;
}

Judged begin(const Rule& rule) {
  return {.rule = name(rule.kind), .asked = rule.text};
}

void decide(const Rule& rule, bool good, Judged& out) {
  out.outcome = good ? Outcome::passed : Outcome::failed;
  if (!good) out.message = rule.message;
}

}  // namespace

const char* name(Rule::Kind kind) {
  switch (kind) {
    case Rule::Kind::counter:
      return "counter";
    case Rule::Kind::time:
      return "time";
    case Rule::Kind::copies:
      return "copies";
    case Rule::Kind::source:
      return "source";
  }
  return "?";
}

bool is_of_test(const std::string& kernel) {
  return report::short_name(kernel).starts_with(kOfTest);
}

results::Profile of_hand_in(const results::Profile& profile) {
  results::Profile out = profile;
  std::stable_partition(out.kernels.begin(), out.kernels.end(),
                        [](const results::KernelProfile& k) { return !is_of_test(k.name); });
  return out;
}

double kernels_ns(const results::Profile& profile) {
  double sum = 0;
  for (const results::KernelProfile& k : profile.kernels)
    if (!is_of_test(k.name)) sum += time_of(k);
  for (const results::LibraryCallProfile& call : profile.library_calls) sum += call.estimated_ns;
  return sum;
}

double kernel_ns(const results::Profile& profile, const std::string& kernel) {
  double sum = 0;
  for (const results::KernelProfile& k : profile.kernels)
    if (report::matches(kernel, k)) sum += time_of(k);
  return sum;
}

double timeline_ns(const results::Profile& profile) {
  double begin = 0, end = 0;
  bool any = false;
  for (const results::TimelineEntry& e : profile.timeline) {
    if (is_of_test(e.name)) continue;
    begin = any ? std::min(begin, e.begin_ns) : e.begin_ns;
    end = any ? std::max(end, e.end_ns) : e.end_ns;
    any = true;
  }
  return end - begin;
}

Judged judge_counter(const Rule& rule, const results::Profile& profile, bool colour) {
  Judged out = begin(rule);
  results::Profile judged = profile;
  if (rule.expectation.kernels == "*")
    std::erase_if(judged.kernels, [](const results::KernelProfile& k) { return is_of_test(k.name); });
  const auto found = report::check({rule.expectation}, {judged});
  const auto bad = std::find_if(found.begin(), found.end(), [](const auto& r) { return r.bad(); });
  decide(rule, bad == found.end(), out);
  const bool good = bad == found.end();
  for (const report::ExpectationResult& r : found) {
    if (r.outcome == report::ExpectationResult::Outcome::not_applicable || r.bad() == good) continue;
    out.seen += (out.seen.empty() ? "" : "; ") +
                (r.kernel.empty() ? r.figures : fmt::format("{}: {}", report::short_name(r.kernel), r.figures));
  }
  if (good || bad->places.empty()) return out;
  out.file = bad->places[0].file;
  out.line = bad->places[0].line;
  out.details = drawn(profile, bad->kernel, bad->places[0], colour);
  out.access = worst_request(profile, bad->kernel, bad->places[0]);
  return out;
}

Judged judge_copies(const Rule& rule, const results::Profile& profile) {
  Judged out = begin(rule);
  std::uint64_t all = 0, pageable = 0;
  for (const results::TransferProfile& t : profile.transfers) {
    if (t.direction != "HtoD" && t.direction != "DtoH") continue;
    all += t.count;
    if (t.host_memory != "pinned") pageable += t.count;
  }
  const bool none = rule.copies == "none";
  decide(rule, none ? all == 0 : all != 0 && pageable == 0, out);
  out.seen = none ? fmt::format("{} {} between host and device", all, all == 1 ? "copy" : "copies")
                  : fmt::format("{} of {} copies between host and device use pageable memory", pageable, all);
  return out;
}

Judged judge_source(const Rule& rule, const std::string& source, const std::string& file) {
  Judged out = begin(rule);
  const RegularExpression expression(rule.pattern);
  std::uint32_t line = 0, number = 0;
  for (std::size_t at = 0; at < source.size() && line == 0;) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    ++number;
    if (expression.matches(source.substr(at, end - at))) line = number;
    at = end + 1;
  }
  decide(rule, rule.lacks ? line == 0 : line != 0, out);
  if (out.outcome == Outcome::failed) {
    out.seen = rule.lacks ? "it is there" : "it is not there";
    if (rule.lacks) {
      out.file = file;
      out.line = line;
    }
  }
  return out;
}

std::string slowest_kernel_advice(const results::Profile& profile) {
  const results::KernelProfile* slowest = nullptr;
  for (const results::KernelProfile& k : profile.kernels)
    if (!is_of_test(k.name) && (!slowest || time_of(k) > time_of(*slowest))) slowest = &k;
  if (!slowest) return "";
  std::string out;
  const results::Metric* limit = slowest->metrics.find(results::MetricId::time_limit);
  out += fmt::format("{}: {}{}\n", report::short_name(slowest->name), report::with_time(time_of(*slowest)),
                     limit == nullptr ? "" : ", bound by " + limit->text);
  if (slowest->advice.empty()) return out;
  const results::Advice& advice = slowest->advice[0];
  constexpr std::size_t kWidth = 78;
  out += advice.title + "\n" + report::wrapped(advice.text, kWidth, "");
  for (const results::Advice::Place& p : advice.places)
    if (p.line != 0) out += fmt::format("at {}:{}\n", base_name(p.file), p.line);
  return out;
}

std::string timeline_text(const results::Profile& profile) {
  double copies = 0, kernels = 0;
  for (const results::TimelineEntry& e : profile.timeline) {
    if (is_of_test(e.name)) continue;
    (e.kind == "copy" ? copies : kernels) += e.end_ns - e.begin_ns;
  }
  const double elapsed = timeline_ns(profile), sum = copies + kernels;
  return fmt::format("copies {}, kernels and others {}, together {}: {} of it while something else ran\n",
                     report::with_time(copies), report::with_time(kernels), report::with_time(sum),
                     report::with_time(std::max(0.0, sum - elapsed)));
}

std::string without_comments(const std::string& source) {
  std::string out = source;
  enum class In { code, line, block, text } in = In::code;
  char quote = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char c = out[i], next = i + 1 < out.size() ? out[i + 1] : '\0';
    if (in == In::code && c == '/' && (next == '/' || next == '*')) {
      in = next == '/' ? In::line : In::block;
      out[i] = out[i + 1] = ' ';
      ++i;
    } else if (in == In::code && (c == '"' || c == '\'')) {
      in = In::text;
      quote = c;
    } else if (in == In::text) {
      if (c == '\\') ++i;
      if (c == quote || c == '\n') in = In::code;
    } else if (in == In::block && c == '*' && next == '/') {
      in = In::code;
      out[i] = out[i + 1] = ' ';
      ++i;
    } else if (in == In::line && c == '\n') {
      in = In::code;
    } else if (in != In::code && c != '\n') {
      out[i] = ' ';
    }
  }
  return out;
}

}  // namespace warpgrind::exercises
