#include "session/launch_choice.h"

#include <fmt/format.h>

#include "base/demangle.h"
#include "report/kernel_names.h"

namespace warpgrind::session {
namespace {

constexpr std::string_view kRegex = "regex:";

}  // namespace

Status check(const LaunchFilter& filter) {
  if (!filter.kernel_name.starts_with(kRegex)) return Ok{};
  const std::string expression = filter.kernel_name.substr(kRegex.size());
  if (!expression.empty() && RegularExpression(expression).good()) return Ok{};
  return Error{ErrorKind::bad_input, fmt::format("--kernel-name: \"{}\" is not a regular expression", expression),
               "--kernel-name NAME or --kernel-name regex:EXPRESSION (an extended regular expression, as in grep -E)"};
}

std::string as_options(const LaunchFilter& f) {
  std::string out;
  if (!f.kernel_name.empty()) out += " --kernel-name " + f.kernel_name;
  if (f.name_base != LaunchFilter().name_base) out += " --kernel-name-base " + f.name_base;
  if (f.skip != 0) out += fmt::format(" --launch-skip {}", f.skip);
  if (f.count != 0) out += fmt::format(" --launch-count {}", f.count);
  return out.empty() ? out : out.substr(1);
}

LaunchChoice::LaunchChoice(const LaunchFilter& filter) : filter_(filter) {
  if (filter_.kernel_name.starts_with(kRegex))
    expression_ = std::make_unique<RegularExpression>(filter_.kernel_name.substr(kRegex.size()));
}

bool LaunchChoice::may_count(const std::string& mangled) {
  if (filter_.kernel_name.empty()) return true;
  const std::lock_guard lock(mutex_);
  const auto [known, fresh] = known_.try_emplace(mangled, false);
  if (!fresh) return known->second;
  std::string name = filter_.name_base == "mangled" ? mangled : demangle(mangled);
  if (filter_.name_base == "function") name = report::function_name(name);
  known->second = expression_ ? expression_->matches(name) : name == filter_.kernel_name;
  return known->second;
}

bool LaunchChoice::counts(const std::string& mangled) {
  if (!filter_.any()) return true;
  if (!may_count(mangled)) return false;
  const std::uint64_t number = matched_++;
  return number >= filter_.skip && (filter_.count == 0 || number - filter_.skip < filter_.count);
}

}  // namespace warpgrind::session
