// Subcommand `warpgrind run`: prepares the environment, starts the program with our CUDA runtime in place of NVIDIA's,
// and passes its exit code or signal on.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/absent_libraries.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "cli/core_options.h"
#include "cli/debug_on_fault.h"
#include "cli/mpi_rank.h"
#include "cli/needed_libraries.h"
#include "cli/output_aside.h"
#include "cli/prepared_run.h"
#include "report/advice_text.h"
#include "results/json.h"
#include "session/processes.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

bool has_status(const std::string& folder, const std::string& kind) {
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem))
    if (at->path().filename().string().starts_with(kind + ".")) return true;
  return false;
}

bool uses_cuda(const std::string& folder) {
  return has_status(folder, "cuda");
}

// Says why the program registered no CUDA code.
void explain_no_cuda(const ProcessEnd& end, const std::string& program) {
  constexpr int kNotLoaded = 127;  // the loader's exit code
  const std::vector<std::string> absent =
      end.signal() == 0 && end.shell_code() == kNotLoaded ? absent_libraries(program) : std::vector<std::string>{};
  if (!absent.empty())
    return complain(fmt::format("{} needs {}, which is not on this machine", program, fmt::join(absent, ", ")),
                    std::string(advice_without(absent.front())));
  complain(fmt::format("no CUDA code found: {} and its child processes registered none", program),
           "the program must be a CUDA program built by nvcc or clang, or call the driver API (libcuda.so.1)");
}

int finish(const ProcessEnd& end, const std::string& folder, const std::string& program) {
  const bool problem = has_status(folder, "problem");
  const bool no_cuda = !uses_cuda(folder) && !problem;
  if (no_cuda) explain_no_cuda(end, program);
  if (const int signal = end.signal(); signal != 0) {
    if (signal != SIGKILL && signal != SIGABRT && signal != SIGSEGV) end_by_signal(signal);
    return end.shell_code();
  }
  const int code = end.lost ? 0 : end.shell_code();
  if (code == 0 && no_cuda) return kUsageError;
  if (code == 0 && problem) {
    complain("the run is not complete: see the messages above");
    return kUsageError;
  }
  return code;
}

// Reads the profiles that the run's processes wrote. A file that the user named gets the same text.
Status read_profiles(std::vector<session::ProcessNote>& notes, const std::string& wanted, FinishedRun& out) {
  for (session::ProcessNote& note : notes) {
    if (note.json.empty()) {
      ++out.lost_processes;
      continue;
    }
    const std::string text = read_whole(note.json).value_or("");
    auto profile = results::from_json(text, note.json);
    note.json = session::of_process(wanted, note.number);
    if (!note.json.empty())
      if (Status s = write_whole(note.json, text); !s) return s.error();
    if (!profile) return profile.error();
    out.profiles.push_back(profile.take());
    out.texts.push_back(text);
  }
  return Ok{};
}

// Paths of a process's files, or the reason why there are none; empty: none were requested.
std::string place_of_profile(const session::ProcessNote& note) {
  if (!note.ended)
    return note.pid > 0 && kill(static_cast<pid_t>(note.pid), 0) == 0
               ? "none yet: it is still running"
               : "none: it was killed, or became another program";
  std::string where;
  for (const std::string* path : {&note.json, &note.csv})
    if (!path->empty() && *path != "-") where += (where.empty() ? "" : ", ") + *path;
  return where;
}

// For several processes, prints the path of each profile. A missing profile is reported in any case.
void name_profiles(const std::vector<session::ProcessNote>& notes, bool files_wanted, bool quiet) {
  std::string text;
  for (const session::ProcessNote& note : notes) {
    const std::string where = place_of_profile(note);
    if (!where.empty() && (!note.ended || notes.size() > 1))
      text += fmt::format("  process {} ({}): {}\n", note.number, note.command, where);
  }
  if (!text.empty() && (files_wanted || !quiet))
    print_text(stderr, "warpgrind: profiles of the run's processes\n" + text);
}

// Reports a rank that mpirun ended, or that died and ends the others with it. Printed even with --quiet, because a
// shell would show nothing.
void name_lost_rank(const std::vector<session::ProcessNote>& notes, int signal, bool files_wanted) {
  const std::optional<MpiRank> rank = mpi_rank();
  if (!rank) return;
  std::string profiles;
  for (const session::ProcessNote& note : notes)
    if (const std::string where = place_of_profile(note); files_wanted && !where.empty())
      profiles +=
          fmt::format("{}profile of the run until then ({}): {}", profiles.empty() ? "" : "\n  ", note.command, where);
  const LostRank lost = lost_rank(*rank, signal, profiles);
  complain(lost.message, lost.detail);
}

// Says once why no kernel ran, if none ran in any process: programs probe the GPU in child processes. A process that
// left no profile may have run some.
void say_if_no_kernel_ran(const std::vector<session::ProcessNote>& notes) {
  constexpr std::size_t kLineWidth = 80;
  std::vector<std::string> reasons;
  for (const session::ProcessNote& note : notes) {
    if (!note.ended || note.no_kernel.empty()) return;
    if (std::find(reasons.begin(), reasons.end(), note.no_kernel) == reasons.end()) reasons.push_back(note.no_kernel);
  }
  for (const std::string& reason : reasons) print_text(stderr, report::wrapped(reason, kLineWidth, "  "));
}

// Messages after the program's end, before its exit code is passed on.
void name_what_is_left(const std::vector<session::ProcessNote>& notes, const ProcessEnd& end, bool files_wanted,
                       bool quiet) {
  if (!quiet) say_if_no_kernel_ran(notes);
  if (end.signal() != 0)
    name_lost_rank(notes, end.signal(), files_wanted);
  else
    name_profiles(notes, files_wanted, quiet);
}

}  // namespace

int run(const RunCommand& given) {
  RunCommand command = given;
  for (std::string* path : {&command.options.json_path, &command.options.csv_path, &command.options.work_path,
                            &command.reports.junit_path, &command.reports.sarif_path})
    *path = of_this_rank(*path);
  if (command.debug_on_fault)
    if (Status possible = prepare_debug_on_fault(command); !possible) return complain(possible.error()), kUsageError;
  if (Status ready = prepare_core(command); !ready) return complain(ready.error()), kUsageError;
  if (command.options.steps) {
    if (command.reports.html_path.empty() && command.options.json_path.empty()) {
      complain("--steps needs --report FILE or --json FILE", "the page of --report goes through the steps");
      return kUsageError;
    }
    if (!command.options.counters) {
      complain("--steps cannot be combined with --no-counters", "it records the accesses that counters see");
      return kUsageError;
    }
    command.options.detail = command.debuggable = true;
  }
  if (!command.reports.needs_profile()) return run_program(command, nullptr);
  if (!command.options.counters && command.reports.needs_counters()) {
    complain("with --no-counters there is nothing to show",
             "do not combine it with --expect, --junit, --sarif, --report or --source");
    return kUsageError;
  }
  auto expectations = prepare(command.reports);
  if (!expectations) return complain(expectations.error()), kUsageError;
  FinishedRun finished;
  RunCommand detailed = command;
  detailed.options.detail |= command.reports.needs_detail();
  const int code = run_program(detailed, &finished);
  if (!finished.started) return code;
  return write_reports(command.reports, *expectations, finished, stderr);
}

int run_program_aside(const RunCommand& command, FinishedRun* finished) {
  const OutputAside aside;
  return run_program(command, finished);
}

int run_program(const RunCommand& command, FinishedRun* finished) {
  PreparedRun prepared;
  if (Status ready = prepare_run(command, finished != nullptr, prepared); !ready)
    return complain(ready.error()), kUsageError;
  const session::RunOptions& options = prepared.options;
  const auto begin = std::chrono::steady_clock::now();
  const auto end = command.debug_on_fault ? run_until_fault(command, prepared) : run_child({.words = prepared.words});
  if (!end) return complain(end.error()), kUsageError;
  std::vector<session::ProcessNote> notes = session::process_notes(options.status_directory);
  const bool files_wanted = finished || !options.json_path.empty() || !options.csv_path.empty();
  if (!finished) {
    name_what_is_left(notes, *end, files_wanted, options.quiet);
    return finish(*end, options.status_directory, command.program[0]);
  }
  finished->started = true;
  finished->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  finished->program = options.program;
  finished->command = options.command;
  const Status read = read_profiles(notes, prepared.wanted_json, *finished);
  if (!read) complain(read.error());
  name_what_is_left(notes, *end, files_wanted, options.quiet);
  finished->exit_code = finish(*end, options.status_directory, command.program[0]);
  finished->no_cuda = !end->lost && end->shell_code() == 0 && !uses_cuda(options.status_directory) &&
                      !has_status(options.status_directory, "problem");
  if (!read && finished->exit_code == 0) finished->exit_code = kUsageError;
  return finished->exit_code;
}

}  // namespace warpgrind::cli
