// Tool `explain`: the access of a source line, drawn.
#include <fmt/format.h>

#include "base/json.h"
#include "base/words.h"
#include "mcp/result_parts.h"
#include "report/access_view.h"
#include "report/kernel_names.h"
#include "report/source_lines.h"

namespace warpgrind::mcp {

namespace {

using results::KernelProfile;
using results::MetricId;

const KernelProfile* kernel_of(const results::Profile& profile, const std::string& pattern) {
  for (const KernelProfile& k : profile.kernels)
    if (pattern.empty() || report::matches(pattern, k)) return &k;
  return nullptr;
}

// The line that wastes most: of the first advice, else with most sectors and wavefronts.
std::uint32_t worst_line(const KernelProfile& k) {
  for (const results::Advice& a : k.advice)
    for (const auto& place : a.places)
      for (const results::SiteProfile& site : k.sites)
        if (site.line == place.line && site.line != 0 && !site.patterns.empty()) return place.line;
  double most = 0;
  std::uint32_t line = 0;
  for (const report::SourceLine& l : report::source_lines(k)) {
    const double cost = l.metrics.value(MetricId::theoretical_sectors) + l.metrics.value(MetricId::shared_wavefronts);
    if (cost > most && !l.file.empty()) most = cost, line = l.line;
  }
  return line;
}

Json accesses_json(const results::Profile& profile, const KernelProfile& k, std::uint32_t line) {
  Json out = Json::array();
  for (const results::SiteProfile& s : k.sites) {
    if (s.line != line || s.patterns.empty() || out.size() == 8) continue;
    const results::AccessPattern& typical = s.patterns[0];
    Json one = {{"kind", s.kind}, {"space", s.space}, {"ptx", s.ptx}, {"typical_requests", typical.count}};
    if (s.space == "shared") {
      one["wavefronts"] = typical.wavefronts;
      one["ideal_wavefronts"] = typical.ideal_wavefronts;
    } else {
      one["sectors"] = typical.sectors;
      one["ideal_sectors"] = typical.ideal_sectors;
    }
    out.push_back(std::move(one));
  }
  (void)profile;
  return out;
}

}  // namespace

ToolResult call_explain(const Json& arguments, const CallContext& context) {
  const Room room = room_of(arguments);
  auto found = find_or_run(arguments, arguments, context, room);
  if (!found) return refused(found.error());
  if (!found->run) return std::move(*found->failed);
  const StoredRun& run = *found->run;
  report::AccessQuery query;
  query.kernel = json::text(arguments, "kernel");
  query.file = json::text(arguments, "file");
  query.line = json::get<std::uint32_t>(arguments, "line");
  if (run.profile.kernels.empty())
    return refused(
        {ErrorKind::bad_input, fmt::format("no kernel ran in {}, so no access can be drawn", run.name), run.failed});
  const KernelProfile* const kernel = kernel_of(run.profile, query.kernel);
  const bool chosen = query.line == 0;
  if (chosen && kernel && (query.line = worst_line(*kernel)) != 0 && query.kernel.empty())
    query.kernel = report::short_name(kernel->name);
  auto view = report::access_view(run.profile, query, {});
  if (!view) return refused(view.error());
  ResultBuilder b(room);
  b.object() = {{"run", run.name}, {"program", run.program}};
  if (kernel) {
    b.object()["kernel"] = kernel->name;
    b.object()["line"] = query.line;
    b.object()["accesses"] = accesses_json(run.profile, *kernel, query.line);
  }
  if (!run.failed.empty()) b.line(fmt::format("The run did NOT end well: {}.", run.failed));
  if (kernel && kernel->metrics.value(MetricId::blocks_run) > 0)
    b.line("Only some blocks of the launch ran: the requests below are theirs.");
  if (chosen) b.line(fmt::format("`line` was not given: line {} is the one that costs most.", query.line));
  b.text(*view);
  b.object()["drawing"] = cut(plain(*view), room.text);
  return b.take();
}

}  // namespace warpgrind::mcp
