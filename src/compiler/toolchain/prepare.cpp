// Makes the precompiled headers of every base, for both passes.
#include "toolchain/prepare.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/installation.h"
#include "base/signal_mask.h"
#include "base/temporary_folder.h"
#include "toolchain/precompiled_headers.h"

namespace warpgrind::toolchain {

namespace {

struct Job {
  std::size_t base;
  PrecompiledHeaders::Making making;
};

}  // namespace

Result<PreparedHeaders> prepare_headers(const std::vector<std::string>& words, const Surroundings& surroundings,
                                        const std::string& folder) {
  const auto line = parse_command_line(words);
  if (!line) return line.error();
  const auto toolkit = find_toolkit(surroundings.path);
  if (!toolkit) return toolkit.error();
  const auto request = read_request(*line);
  if (!request) return request.error();
  if (Status whole = check_parts(toolkit->parts, {NeededBy::every_compilation}); !whole) return whole.error();
  const TemporaryFolder temporary;
  if (temporary.path.empty())
    return Error{ErrorKind::environment, temporary.problem, "set TMPDIR to a folder that can be written"};
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (access(folder.c_str(), W_OK) != 0)
    return Error{ErrorKind::environment, fmt::format("{} cannot be written", folder), ""};

  const Plan plan = make_plan(*request, *toolkit, surroundings, temporary.path);
  const PrecompiledHeaders headers(*toolkit, {folder, ""});
  std::vector<Job> jobs;
  for (const Unit& unit : plan.units)
    for (std::size_t base = 0; base < std::size(kHeaderBases); base++)
      for (const Words* flags : {&unit.device_flags, &unit.host_flags}) {
        if (flags->empty()) continue;
        auto making = headers.make({*flags, plan.variables, kHeaderBases[base]}, temporary.path);
        if (making) jobs.push_back({base, std::move(*making)});
      }

  const SignalMask held = SignalMask::block(held_signals());
  Children children;
  Words variables = plan.variables;
  append(variables, plan.large_pages);
  std::map<int, const Job*> running;
  std::map<std::size_t, bool> whole;  // by base
  const std::size_t at_once = std::max(1U, surroundings.cores);
  for (std::size_t next = 0; next < jobs.size() || !running.empty();) {
    if (next < jobs.size() && running.size() < at_once) {
      const Job& job = jobs[next++];
      const auto child = children.start(job.making.command, job.making.messages, variables);
      if (!child) return child.error();
      running.emplace(*child, &job);
      continue;
    }
    const Children::Ended ended = children.wait();
    if (ended.signal != 0) return Error{ErrorKind::environment, "stopped by a signal", ""};
    const Job& job = *running[ended.child];
    running.erase(ended.child);
    const bool kept = headers.keep(job.making, ended.exit_code == 0).has_value();
    whole.emplace(job.base, true).first->second &= kept;
  }
  PreparedHeaders out;
  for (const auto& [base, good] : whole) (good ? out.made : out.lacking).emplace_back(name_of(kHeaderBases[base]));
  return out;
}

}  // namespace warpgrind::toolchain
