// Names of processes, from /proc.
#include "debug/process_name.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/file.h"

namespace warpgrind::debug {

namespace {

// Variables in which launchers pass the rank, the most special first. A launcher of another kind may have started the
// launcher itself.
constexpr std::string_view kRanks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MPI_RANKID", "SLURM_PROCID"};
// A batch script of Slurm has a rank, too. Only tasks of `srun` have a step.
constexpr std::string_view kSlurmRank = "SLURM_PROCID", kSlurmStep = "SLURM_STEP_ID";

// `environment`: NAME=VALUE texts, each with a zero byte behind it.
std::string value_of(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::size_t end = environment.find('\0');
    const std::string_view one = environment.substr(0, end);
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return std::string(one.substr(name.size() + 1));
    environment = end == std::string_view::npos ? std::string_view{} : environment.substr(end + 1);
  }
  return "";
}

}  // namespace

std::string ProcessName::text() const {
  return rank.empty() ? fmt::format("process {}", id) : fmt::format("process {}, rank {}", id, rank);
}

ProcessName name_of_process(pid_t id) {
  ProcessName out{id, "", ""};
  const std::string folder = fmt::format("/proc/{}", id);
  std::error_code none;
  out.program = std::filesystem::read_symlink(folder + "/exe", none).string();
  const std::optional<std::string> environment = read_whole(folder + "/environ");
  if (!environment) return out;
  for (const std::string_view name : kRanks) {
    if (!out.rank.empty()) break;
    if (name == kSlurmRank && value_of(*environment, kSlurmStep).empty()) continue;
    out.rank = value_of(*environment, name);
  }
  return out;
}

}  // namespace warpgrind::debug
