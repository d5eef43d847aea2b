// Profile files: JSON text, format check, and file access.
#include "results/json.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "results/member_json.h"
#include "results/profile_members.h"

namespace warpgrind::results {
namespace {

using Json = nlohmann::ordered_json;

// Older files have no severity: a warning's kind begins with "warning, " or is "warning".
void read_severity(Finding& f) {
  constexpr std::string_view kWarning = "warning, ";
  if (f.kind.starts_with(kWarning)) {
    f.kind.erase(0, kWarning.size());
    f.severity = Severity::warning;
  }
  if (f.kind == "warning") f.severity = Severity::warning;
}

// Resets invalid pattern indexes to 0.
void bound_indexes(SiteProfile& s) {
  for (std::uint32_t* index : {&s.worst, &s.best})
    if (*index >= s.patterns.size()) *index = 0;
}

}  // namespace

std::string to_json(const Profile& p) {
  // `replace`: a name that is not UTF-8 must not lose the profile. Detailed profiles are not indented: their long lists
  // of numbers would take one line each.
  return JsonWriter::value(p).dump(p.detail ? -1 : 1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Profile> from_json(std::string_view text, std::string_view file) {
  const Json j = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!j.is_object())
    return Error{ErrorKind::bad_input, fmt::format("{}: not a warpgrind profile (JSON object)", file), {}};
  int format = 0;
  json::read(j, "format", format);
  if (format < 1 || j.find("kernels") == j.end())
    return Error{
        ErrorKind::bad_input, fmt::format("{}: not a warpgrind profile (no \"format\" or \"kernels\")", file), {}};
  if (format > Profile::kFormatVersion)
    return Error{
        ErrorKind::bad_input,
        fmt::format("{}: format {} is newer than this warpgrind reads ({})", file, format, Profile::kFormatVersion),
        "use the warpgrind that wrote it, or a newer one"};
  Profile p;
  if (const std::string problem = JsonReader::read(j, p); !problem.empty())
    return Error{ErrorKind::bad_input, fmt::format("{}: not a warpgrind profile ({})", file, problem.substr(1)),
                 "the file was changed or damaged; make it again"};
  for (Finding& f : p.findings) read_severity(f);
  for (auto* kernels : {&p.kernels, &p.launches})
    for (KernelProfile& k : *kernels)
      for (SiteProfile& s : k.sites) bound_indexes(s);
  return p;
}

Result<Profile> read_profile(const std::string& path) {
  const auto text = read_whole(path);
  if (!text) return Error{ErrorKind::bad_input, fmt::format("cannot read {}: {}", path, std::strerror(errno)), ""};
  return from_json(*text, path);
}

}  // namespace warpgrind::results
