// Subcommand `warpgrind run`: prepares the environment, starts the program with our CUDA runtime in place of NVIDIA's,
// and passes its exit code or signal on.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/installation.h"
#include "base/printable.h"
#include "base/run_variables.h"
#include "base/temporary_folder.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "cli/compile_program.h"
#include "cli/mpi_rank.h"
#include "cli/needed_libraries.h"
#include "cli/nvrtc_choice.h"
#include "cli/output_aside.h"
#include "gpu/gpu_model.h"
#include "results/json.h"
#include "session/processes.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kProfileName = "profile.json";

Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos || access(name.c_str(), F_OK) == 0) {
    struct stat info {};
    const std::string path = name.find('/') == std::string::npos ? "./" + name : name;
    if (stat(path.c_str(), &info) != 0)
      return Error{ErrorKind::bad_input, fmt::format("{}: {}", name, std::strerror(errno)), ""};
    if (S_ISDIR(info.st_mode)) return Error{ErrorKind::bad_input, fmt::format("{} is a directory", name), ""};
    if (path.ends_with(".cu")) return path;
    if (access(path.c_str(), X_OK) != 0)
      return Error{ErrorKind::bad_input, fmt::format("{} is not an executable program", name),
                   "warpgrind runs executables and .cu files"};
    return path;
  }
  const std::string found = find_in_path(name);
  if (found.empty()) return Error{ErrorKind::bad_input, fmt::format("{}: no such program", name), ""};
  return found;
}

bool has_status(const std::string& folder, const std::string& kind) {
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem))
    if (at->path().filename().string().starts_with(kind + ".")) return true;
  return false;
}

int finish(const ProcessEnd& end, const std::string& folder, const std::string& program) {
  const bool problem = has_status(folder, "problem");
  const bool no_cuda = !has_status(folder, "cuda") && !problem;
  if (no_cuda)
    complain(fmt::format("no CUDA code found: {} and its child processes registered none", program),
             "the program must be a CUDA program built by nvcc or clang, or call the driver API (libcuda.so.1)");
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

// Parses "1,2,3". All three are required, so that a second number is not mistaken for z.
Status read_block(const std::string& text, Dim3& block) {
  std::uint32_t* const parts[] = {&block.x, &block.y, &block.z};
  const char *at = text.data(), *const end = at + text.size();
  for (std::uint32_t* part : parts) {
    const auto [next, problem] = std::from_chars(at, end, *part);
    const bool last = part == parts[2];
    if (problem != std::errc() || (last ? next != end : next == end || *next != ','))
      return Error{ErrorKind::bad_input, fmt::format("--block needs X,Y,Z: \"{}\"", text),
                   "give three numbers such as 0,0,0: the block whose accesses are recorded in order"};
    at = next + 1;
  }
  return Ok{};
}

// Reads the profiles that the run's processes wrote. A file that the user named gets the same text.
Status read_profiles(std::vector<session::ProcessNote>& notes, const std::string& wanted, FinishedRun& out) {
  for (session::ProcessNote& note : notes) {
    if (note.json.empty()) continue;
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

// Messages after the program's end, before its exit code is passed on.
void name_what_is_left(const std::vector<session::ProcessNote>& notes, const ProcessEnd& end, bool files_wanted,
                       bool quiet) {
  if (end.signal() != 0)
    name_lost_rank(notes, end.signal(), files_wanted);
  else
    name_profiles(notes, files_wanted, quiet);
}

// Numba up to 0.56 calls NAME_v2 if the driver has such a symbol, but some of CUDA 13's have another meaning. It
// therefore gets the previous driver library. Later versions call each function in the form they know, and work with
// either.
void name_older_driver(const std::string& library) {
  const fs::path older = fs::path(library).parent_path() / "driver12" / "libcuda.so.1";
  constexpr int kKeep = 0;  // keeps a value that the user set
  setenv("NUMBA_CUDA_DRIVER", older.c_str(), kKeep);
}

// Run-time compilers cache their results under keys that name the GPU's type, but not whether it is real. Machine code
// made for a real GPU cannot run here. So their caches are separate from those of other runs, unless the user sets a
// folder.
void keep_caches_apart(const fs::path& folder) {
  constexpr std::pair<const char*, const char*> kCaches[] = {{"CUPY_CACHE_DIR", "cupy"},
                                                             {"TRITON_CACHE_DIR", "triton"}};
  for (const auto& [variable, name] : kCaches) setenv(variable, (folder / name).c_str(), 0);
}

}  // namespace

Status check_writable(const std::string& path) {
  if (path.empty() || path == "-") return Ok{};
  const bool existed = access(path.c_str(), F_OK) == 0;
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (!file)
    return Error{ErrorKind::environment, fmt::format("cannot write {}: {}", path, std::strerror(errno)),
                 "choose another place for the output file"};
  std::fclose(file);
  if (!existed) unlink(path.c_str());
  return Ok{};
}

int run(const RunCommand& given) {
  RunCommand command = given;
  for (std::string* path : {&command.options.json_path, &command.options.csv_path, &command.options.work_path,
                            &command.reports.junit_path, &command.reports.sarif_path})
    *path = of_this_rank(*path);
  if (!command.reports.needs_profile()) return run_program(command, nullptr);
  if (!command.options.counters) {
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
  if (command.program.empty()) {
    complain("run: no program given", "warpgrind run [OPTIONS] PROGRAM [ARGUMENTS...]");
    return kUsageError;
  }
  session::RunOptions options = command.options;
  if (Status block = read_block(command.trace_block, options.trace_block); !block)
    return complain(block.error()), kUsageError;
  if (Status filter = session::check(options.launches); !filter) return complain(filter.error()), kUsageError;
  if (auto model = find_gpu_model(options.gpu); !model) return complain(model.error()), kUsageError;
  if (command.no_cache) options.cache_directory.clear();
  for (const std::string* path : {&options.json_path, &options.csv_path, &options.work_path})
    if (Status writable = check_writable(*path); !writable) return complain(writable.error()), kUsageError;
  std::error_code gone;
  for (std::string* path : {&options.json_path, &options.csv_path, &options.work_path})
    if (!path->empty() && *path != "-") *path = fs::absolute(*path, gone).string();
  if (gone) return complain("the current folder no longer exists: " + gone.message()), kUsageError;
  const std::string wanted_json = options.json_path;
  auto program = find_program(command.program[0]);
  if (!program) return complain(program.error()), kUsageError;
  if (Status whole = check_parts(own_parts(), {NeededBy::every_run}); !whole)
    return complain(whole.error()), kUsageError;
  auto library = runtime_library();
  if (!library) return complain(library.error()), kUsageError;
  TemporaryFolder folder;
  if (folder.path.empty()) return complain(folder.problem, "set TMPDIR to a folder that can be written"), kUsageError;
  std::vector<std::string> arguments = command.program;
  arguments[0] = *program;
  if (program->ends_with(".cu")) {
    CompileCommand compile{{*program},       options.gpu,        command.nvcc_flags,
                           command.compiler, command.host_lines, options.cache_directory};
    compile.sources.insert(compile.sources.end(), command.sources.begin(), command.sources.end());
    auto binary = compile_program(compile, folder.path);
    if (!binary) return complain(binary.error()), kUsageError;
    arguments[0] = *binary;
  }
  if (Status found = check_needed_libraries(arguments[0]); !found) return complain(found.error()), kUsageError;
  options.program = command.program[0];
  std::error_code as_given;
  options.executable = fs::canonical(arguments[0], as_given).string();
  options.command = fmt::format("{}", fmt::join(command.program, " "));
  options.tell_at_signals = mpi_rank().has_value();
  if (finished) options.json_path = folder.path + "/" + kProfileName;
  options.status_directory = folder.path + "/status";
  std::error_code no_folder;
  fs::create_directory(options.status_directory, no_folder);
  if (no_folder)
    return complain(fmt::format("cannot create {}: {}", options.status_directory, no_folder.message())), kUsageError;
  setenv(session::kOptionsVariable, session::encode(options).c_str(), 1);
  setenv(run_variables::kStatusFolder, options.status_directory.c_str(), 1);
  // The small library starts the program again with the real one if it finds CUDA code; other processes stay unchanged.
  prepend_to_environment("LD_PRELOAD", (fs::path(*library).parent_path() / "libwarpgrind_preload.so").string());
  put_first_in_library_path(*library);
  if (Status s = choose_nvrtc(command.nvrtc, *library); !s) return complain(s.error()), kUsageError;
  // Programs that compile by calling nvcc find ours if there is no other.
  setenv(run_variables::kExecutable, own_executable().c_str(), 1);
  append_to_environment("PATH", toolkit_folder() + "/bin");
  setenv("NVTX_INJECTION64_PATH", library->c_str(), 0);  // named ranges; a tool that the user set stays
  name_older_driver(*library);
  keep_caches_apart(options.cache_directory.empty() ? folder.path : options.cache_directory);
  const auto begin = std::chrono::steady_clock::now();
  const auto end = run_child({.words = arguments});
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
  const Status read = read_profiles(notes, wanted_json, *finished);
  if (!read) complain(read.error());
  name_what_is_left(notes, *end, files_wanted, options.quiet);
  finished->exit_code = finish(*end, options.status_directory, command.program[0]);
  if (!read && finished->exit_code == 0) finished->exit_code = kUsageError;
  return finished->exit_code;
}

}  // namespace warpgrind::cli
