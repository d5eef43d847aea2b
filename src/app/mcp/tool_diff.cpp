// Tool `diff`: two runs, kernel by kernel and line by line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/words.h"
#include "mcp/kernel_numbers.h"
#include "mcp/result_parts.h"
#include "report/diff.h"
#include "report/format.h"
#include "report/kernel_names.h"

namespace warpgrind::mcp {

namespace {

using report::Change;

const char* verdict(const Change& c) {
  return c.worse() ? "worse" : c.better() ? "better" : "";
}

Json change_json(const Change& c) {
  Json out = {{"figure", c.label}, {"before", c.before}, {"after", c.after}, {"origin", name(c.origin)}};
  if (!c.unit.empty()) out["unit"] = c.unit;
  if (*verdict(c)) out["verdict"] = verdict(c);
  return out;
}

std::string change_line(const Change& c, const char* indent) {
  return fmt::format("{}{}: {}{}{}\n", indent, c.label, report::change_figures(c), *verdict(c) ? ", " : "", verdict(c));
}

// Those with a verdict first; the time is not repeated, and how often a line runs says little.
std::vector<const Change*> worth_showing(const std::vector<Change>& changes, std::size_t most) {
  std::vector<const Change*> out;
  for (const bool judged : {true, false})
    for (const Change& c : changes)
      if ((*verdict(c) != 0) == judged && c.metric != results::MetricId::time &&
          c.metric != results::MetricId::site_inst && out.size() < most)
        out.push_back(&c);
  return out;
}

struct Times {
  double before = 0, after = 0;  // ns of a launch
  bool valid = true;             // both runs ended well
  std::string text() const {
    if (before <= 0 || after <= 0) return "no estimate of the time";
    if (!valid) return "NO VERDICT on the time, because a run did not end well";
    const double ratio = before / after;
    // Within the model's tolerance nothing is decided.
    const bool same = std::abs(after / before - 1) * 100 <= report::kTolerance;
    return fmt::format("{} us before, {} us after, a launch: {}", report::fixed(before / 1000, 2),
                       report::fixed(after / 1000, 2),
                       same        ? "no difference that the model can tell"
                       : ratio > 1 ? fmt::format("{} times FASTER (estimated)", report::fixed(ratio, 2))
                                   : fmt::format("{} times SLOWER (estimated)", report::fixed(1 / ratio, 2)));
  }
};

void add_kernel(ResultBuilder& b, const report::KernelDiff& d, bool valid, const Room& room, Json& kernels) {
  const std::string before = report::short_name(d.before->name), after = report::short_name(d.after->name);
  const Times times{time_ns(*d.before), time_ns(*d.after), valid};
  b.line(fmt::format("KERNEL {}: {}", before == after ? after : before + " -> " + after, times.text()));
  Json one = {{"before", before},
              {"after", after},
              {"time_us_before", times.before / 1000},
              {"time_us_after", times.after / 1000},
              {"verdict", times.text()}};
  one["bound_by_before"] = d.before->metrics.text(results::MetricId::time_limit);
  one["bound_by_after"] = d.after->metrics.text(results::MetricId::time_limit);
  b.line(fmt::format("  bound by {} before, by {} after", json::text(one, "bound_by_before"),
                     json::text(one, "bound_by_after")));
  Json changes = Json::array(), lines = Json::array();
  for (const Change* c : worth_showing(d.changes, room.lines * 2)) {
    b.text(change_line(*c, "  "));
    changes.push_back(change_json(*c));
  }
  for (const report::LineDiff& l : d.lines) {
    const auto shown = worth_showing(l.changes, 3);
    if (shown.empty() || lines.size() == room.lines) continue;
    const std::string place = l.after == 0    ? fmt::format("{}:{} (gone)", base_name(l.file), l.before)
                              : l.before == 0 ? fmt::format("{}:{} (new)", base_name(l.file), l.after)
                                              : fmt::format("{}:{}", base_name(l.file), l.after);
    const std::size_t begin = std::min(l.text.find_first_not_of(" \t"), l.text.size());
    b.line(fmt::format("  {}  {}", place, l.text.substr(begin, 80)));
    Json line_changes = Json::array();
    for (const Change* c : shown) {
      b.text(change_line(*c, "    "));
      line_changes.push_back(change_json(*c));
    }
    lines.push_back({{"at", place}, {"text", l.text.substr(begin)}, {"changes", std::move(line_changes)}});
  }
  if (!d.after->advice.empty()) {
    one["next_advice"] = d.after->advice[0].title;
    b.line("  next: " + d.after->advice[0].title);
  }
  one["changes"] = std::move(changes);
  one["lines"] = std::move(lines);
  kernels.push_back(std::move(one));
}

Result<report::DiffOptions> options_of(const Json& arguments, const results::Profile& before,
                                       const results::Profile& after) {
  report::DiffOptions out;
  if (const auto pairs = arguments.find("kernels"); pairs != arguments.end()) {
    for (const Json& pair : *pairs) out.pairs.emplace_back(json::text(pair, "before"), json::text(pair, "after"));
  } else if (before.kernels.size() == 1 && after.kernels.size() == 1) {
    // One kernel each: their names may differ.
    out.pairs.emplace_back(report::short_name(before.kernels[0].name), report::short_name(after.kernels[0].name));
    if (!report::matches(out.pairs[0].first, before.kernels[0]) ||
        !report::matches(out.pairs[0].second, after.kernels[0]))
      out.pairs.clear();
  }
  return out;
}

}  // namespace

ToolResult call_diff(const Json& arguments, const CallContext& context) {
  const Room room = room_of(arguments);
  std::shared_ptr<const StoredRun> runs[2];
  for (const int side : {0, 1}) {
    const Json& given = arguments[side == 0 ? "before" : "after"];
    auto found = find_or_run(arguments, given, context, room);
    if (!found)
      return refused({found.error().kind, fmt::format("{}: {}", side == 0 ? "before" : "after", found.error().message),
                      found.error().detail});
    if (!found->run) {
      found->failed->text = fmt::format("{}: {}", side == 0 ? "before" : "after", found->failed->text);
      return std::move(*found->failed);
    }
    runs[side] = found->run;
  }
  const results::Profile &before = runs[0]->profile, &after = runs[1]->profile;
  auto options = options_of(arguments, before, after);
  if (!options) return refused(options.error());
  auto diff = report::compare(before, after, *options);
  if (!diff) return refused(diff.error());
  if (diff->nothing_in_common())
    return refused({ErrorKind::bad_input, "the runs have no kernel in common",
                    R"(name pairs: "kernels": [{"before": "NAME", "after": "NAME"}])"});
  ResultBuilder b(room);
  b.object() = {{"before", runs[0]->name}, {"after", runs[1]->name}};
  b.line(fmt::format("DIFF from {} ({}) to {} ({})", runs[0]->name, runs[0]->program, runs[1]->name, runs[1]->program));
  for (const auto& run : runs) {
    if (!run->failed.empty()) b.line(fmt::format("{} did NOT end well: {}.", run->name, run->failed));
    b.line(fmt::format("{}: {}", run->name, run->verification));
    b.object()["verification"][run->name] = run->verification;
  }
  Json kernels = Json::array();
  std::vector<std::string> same, only_before, only_after;
  for (const report::KernelDiff& d : diff->kernels) {
    if (d.after == nullptr)
      only_before.push_back(report::short_name(d.before->name));
    else if (d.before == nullptr)
      only_after.push_back(report::short_name(d.after->name));
    else if (d.changes.empty() && d.lines.empty())
      same.push_back(report::short_name(d.after->name));
    else if (kernels.size() < room.kernels)
      add_kernel(b, d, runs[0]->failed.empty() && runs[1]->failed.empty(), room, kernels);
  }
  b.object()["kernels"] = std::move(kernels);
  b.list("UNCHANGED", "unchanged", same);
  b.list("ONLY BEFORE", "only_before", only_before);
  b.list("ONLY AFTER", "only_after", only_after);
  std::vector<std::string> open = diff->notes;
  open.emplace_back("Times are estimates. `diff` looks for no races: `check` does.");
  b.list("NOT PROVEN", "not_proven", open);
  return b.take();
}

}  // namespace warpgrind::mcp
