// Texts about a program's activity (activity_text.h).
#include "report/activity_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/absent_libraries.h"
#include "report/advice_text.h"
#include "report/format.h"

namespace warpgrind::report {
namespace {

using results::Activity;

constexpr std::uint64_t kMostOwnKernels = 100;  // a program with more has them from libraries

constexpr std::size_t kLineWidth = 80, kPathWidth = 50;

std::string why_none(const results::Profile& profile, const Activity& a) {
  if (!profile.library_calls.empty()) return "the library calls ran on the host";
  if (a.loaded_kernels == 1) return "the program loaded one kernel and did not launch it";
  if (a.loaded_kernels != 0) return fmt::format("the program loaded {} kernels and launched none", a.loaded_kernels);
  if (a.asked_for_devices && !a.used_device) return "the program asked for the number of GPUs and used none";
  return "the program called CUDA and loaded no kernel";
}

std::string failed_call(const results::FailedCall& f) {
  std::string out = fmt::format("{} returned {}", f.call, f.error);
  if (f.count > 1) out += fmt::format(" {} times", f.count);
  if (f.line != 0)
    out += fmt::format(", {}at {}:{}", f.count > 1 ? "first " : "", shortened_path(f.file, kPathWidth), f.line);
  if (!f.reason.empty()) out += fmt::format(" ({})", f.reason);
  return out;
}

}  // namespace

std::string no_kernel_line(const results::Profile& profile) {
  if (!profile.activity || !profile.activity->launched.empty()) return "";
  return "no kernel ran: " + why_none(profile, *profile.activity);
}

std::vector<std::string> left_undone(const results::Profile& profile, bool others_ran) {
  std::vector<std::string> out;
  if (!profile.activity) return out;
  const Activity& a = *profile.activity;
  if (const std::string none = no_kernel_line(profile); !none.empty() && !others_ran)
    out.push_back(none);
  else if (none.empty() && a.never_launched != 0 && a.loaded_kernels <= kMostOwnKernels)
    out.push_back(fmt::format("never launched: {} of {} loaded kernels", a.never_launched, a.loaded_kernels));
  if (!a.failed_calls.empty()) {
    const std::size_t more = a.failed_calls.size() - 1;
    out.push_back(fmt::format("the program read an error and continued: {}{}", failed_call(a.failed_calls[0]),
                              more != 0 ? fmt::format("; {} of other kinds (--json has them)", more) : ""));
  }
  if (!a.libraries_not_found.empty())
    out.push_back(fmt::format("the program looked for {}, which {} not there", fmt::join(a.libraries_not_found, ", "),
                              a.libraries_not_found.size() == 1 ? "is" : "are"));
  std::set<std::string_view> advice;
  for (const std::string& file : a.libraries_not_found)
    if (const std::string_view words = advice_without(file); !words.empty() && advice.insert(words).second)
      out.emplace_back(words);
  return out;
}

std::string left_undone_text(const std::vector<results::Profile>& processes) {
  const bool any_ran = std::any_of(processes.begin(), processes.end(), [](const results::Profile& p) {
    return p.activity && !p.activity->launched.empty();
  });
  std::string out;
  for (const results::Profile& p : processes) out += left_undone_text(p, any_ran);
  return out;
}

std::string left_undone_text(const results::Profile& profile, bool others_ran) {
  std::string out;
  for (const std::string& line : left_undone(profile, others_ran)) out += wrapped(line, kLineWidth, "  ");
  return out;
}

}  // namespace warpgrind::report
