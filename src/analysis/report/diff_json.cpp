#include "report/diff_json.h"

#include <nlohmann/json.hpp>

namespace warpgrind::report {
namespace {

using SortedJson = nlohmann::json;

SortedJson changes_of(const std::vector<Change>& changes) {
  SortedJson out = SortedJson::array();
  for (const Change& c : changes)
    out.push_back({{"label", c.label},
                   {"metric", name(c.metric)},
                   {"unit", c.unit},
                   {"before", c.before},
                   {"after", c.after},
                   {"verdict", c.worse()    ? "worse"
                               : c.better() ? "better"
                                            : ""},
                   {"origin", name(c.origin)}});
  return out;
}

}  // namespace

std::string diff_json(const ProfileDiff& diff, const results::Profile& before, const std::string& file) {
  SortedJson kernels = SortedJson::array();
  for (const KernelDiff& d : diff.kernels) {
    SortedJson lines = SortedJson::array();
    for (const LineDiff& l : d.lines)
      lines.push_back({{"file", l.file},
                       {"text", l.text},
                       {"before", l.before},
                       {"after", l.after},
                       {"changes", changes_of(l.changes)}});
    kernels.push_back({{"name", (d.after ? d.after : d.before)->name},
                       {"state", !d.before  ? "new"
                                 : !d.after ? "gone"
                                            : "both"},
                       {"changes", changes_of(d.changes)},
                       {"lines", std::move(lines)}});
  }
  const SortedJson out = {
      {"file", file}, {"command", before.command}, {"notes", diff.notes}, {"kernels", std::move(kernels)}};
  return out.dump(-1, ' ', false, SortedJson::error_handler_t::replace);
}

}  // namespace warpgrind::report
