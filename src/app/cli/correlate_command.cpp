// Subcommand `warpgrind correlate`: compares Nsight Compute's counters, from this machine's GPU or another's, with the
// virtual GPU's for the same program.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/printable.h"
#include "base/process.h"
#include "base/temporary_folder.h"
#include "cli/commands.h"
#include "cli/compile_program.h"
#include "cli/run_reports.h"
#include "correlate/correlate.h"
#include "counters/metric_table.h"
#include "gpu/gpu_model.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;
constexpr int kNothingInCommon = 1;

// Found on the PATH, or in the folders of the toolkit and of ncu's own packages.
std::string find_ncu() {
  if (std::string found = find_in_path("ncu"); !found.empty()) return found;
  std::error_code problem;
  if (const char* toolkit = "/usr/local/cuda/bin/ncu"; access(toolkit, X_OK) == 0) return toolkit;
  std::string newest;
  for (fs::directory_iterator at("/opt/nvidia/nsight-compute", problem), end; !problem && at != end;
       at.increment(problem)) {
    const std::string path = (at->path() / "ncu").string();
    if (access(path.c_str(), X_OK) == 0 && path > newest) newest = path;
  }
  return newest;
}

// Our counters that Nsight Compute has under the same name.
std::set<std::string> wanted_metrics() {
  std::set<std::string> out;
  for (const counters::MetricRow& row : counters::metric_table())
    if (const std::string name = row.name; !name.starts_with("warpgrind__") && !row.text) out.insert(name);
  return out;
}

// The names after "Failed to find metric": this GPU or this version of ncu lacks them. A name without a suffix appears
// as the regular expression that ncu made from it: regex:^NAME\.(sum|min|...)$.
std::vector<std::string> unknown_metrics(const std::string& said) {
  static constexpr std::string_view kBefore = "Failed to find metric ", kExpression = "regex:^", kSuffixes = "\\.(";
  std::vector<std::string> out;
  for (std::size_t at = said.find(kBefore); at != std::string::npos; at = said.find(kBefore, at + 1)) {
    const std::size_t begin = at + kBefore.size(), end = said.find_first_of(" \r\n,;", begin);
    std::string name = said.substr(begin, end - begin);
    if (name.starts_with(kExpression)) {
      name = name.substr(kExpression.size(), name.find(kSuffixes) - kExpression.size());
      std::erase(name, '\\');
    }
    out.push_back(std::move(name));
  }
  return out;
}

Error ncu_failed(const std::string& said, int exit_code) {
  if (said.find("ERR_NVGPUCTRPERM") != std::string::npos)
    return {
        ErrorKind::environment, "ncu may not read the GPU's counters (ERR_NVGPUCTRPERM)",
        "only root may read them here: run with sudo, or load the driver with NVreg_RestrictProfilingToAdminUsers=0"};
  std::string last = said.substr(said.size() > 600 ? said.size() - 600 : 0);
  return {ErrorKind::environment, fmt::format("ncu ended with exit code {}", exit_code), last};
}

// Runs the program under ncu and returns the text of its CSV.
Result<std::string> counted_by_ncu(const CorrelateCommand& command) {
  const std::string ncu = find_ncu();
  if (ncu.empty())
    return Error{ErrorKind::environment, "Nsight Compute (ncu) is not installed here",
                 "write its CSV on a machine with a GPU (`ncu --csv --page raw --log-file FILE PROGRAM`), and pass it "
                 "with --ncu FILE"};
  const TemporaryFolder folder;
  if (folder.path.empty()) return Error{ErrorKind::environment, folder.problem, ""};
  const std::string log = folder.path + "/ncu.csv";
  std::set<std::string> metrics = wanted_metrics();
  // Repeats without the unknown metrics: ncu names one at a time, before the first kernel runs.
  while (!metrics.empty()) {
    std::string list;
    for (const std::string& m : metrics) list += (list.empty() ? "" : ",") + m;
    std::vector<std::string> line = {ncu,
                                     "--csv",
                                     "--page",
                                     "raw",
                                     "--print-units",
                                     "base",
                                     "--log-file",
                                     log,
                                     "--force-overwrite",
                                     "--cache-control",
                                     "all",
                                     "--clock-control",
                                     "none",
                                     "--metrics",
                                     list};
    line.insert(line.end(), command.run.program.begin(), command.run.program.end());
    const auto run = run_captured({.words = line, .inherits_files = true, .death_signal = SIGTERM});
    if (!run) return run.error();
    std::string text = read_whole(log).value_or("");
    const std::string said = text + run->output + run->errors;
    const std::vector<std::string> unknown = unknown_metrics(said);
    std::size_t dropped = 0;
    for (const std::string& name : unknown) dropped += metrics.erase(name);
    if (dropped > 0) continue;
    if (said.find("ERR_NVGPUCTRPERM") != std::string::npos || text.find("\"Kernel Name\"") == std::string::npos)
      return ncu_failed(said, run->end.shell_code());
    if (!command.keep_path.empty())
      if (const Status kept = write_whole(command.keep_path, text); !kept) return kept.error();
    return text;
  }
  return Error{ErrorKind::environment, "ncu knows too few of the metrics", "is it older than the GPU?"};
}

}  // namespace

int correlate(const CorrelateCommand& command) {
  if (auto model = find_gpu_model(command.run.options.gpu); !model) return complain(model.error()), kUsageError;
  Result<std::string> csv = std::string();
  if (command.ncu_path.empty()) {
    csv = counted_by_ncu(command);
  } else if (auto text = read_whole(command.ncu_path)) {
    csv = std::move(*text);
  } else {
    csv = Error{ErrorKind::bad_input, fmt::format("cannot read {}", command.ncu_path), ""};
  }
  if (!csv) return complain(csv.error()), kUsageError;
  const auto hardware = correlate::read_hardware_file(*csv, command.ncu_path.empty() ? "ncu" : command.ncu_path);
  if (!hardware) return complain(hardware.error()), kUsageError;

  RunCommand run = command.run;
  run.options.quiet = true;
  run.options.each_launch = true;
  FinishedRun finished;
  const int code = run_program_aside(run, &finished);
  if (!finished.started || finished.profiles.empty()) return code != 0 ? code : kUsageError;
  if (code != 0) complain("the program ended with exit code " + std::to_string(code));
  results::Profile here = finished.profiles[0];
  for (std::size_t i = 1; i < finished.profiles.size(); ++i)
    here.launches.insert(here.launches.end(), finished.profiles[i].launches.begin(),
                         finished.profiles[i].launches.end());

  const correlate::Correlation result = correlate::correlate(*hardware, here);
  print_text(stdout, correlate::correlation_text(result, command.all));
  if (!command.json_path.empty())
    if (const Status written = write_whole(command.json_path, correlate::correlation_json(result)); !written)
      return complain(written.error()), kUsageError;
  if (!result.kernels.empty()) return 0;
  complain("no launch occurs in both: kernel, block and grid must be equal",
           "is it the same program with the same arguments?");
  return kNothingInCommon;
}

}  // namespace warpgrind::cli
