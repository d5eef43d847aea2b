// `warpgrind run`: prepares the environment, starts the program with our CUDA runtime in place of NVIDIA's, and passes
// its exit on.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/temporary_folder.h"
#include "cli/commands.h"
#include "cli/mpi_rank.h"
#include "gpu/gpu_model.h"
#include "results/json.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kProfileName = "profile.json";

// Beside the executable in a build (bin/../lib) and in an installation (bin/../lib/warpgrind).
Result<std::string> runtime_library() {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  const fs::path root = self.parent_path().parent_path();
  for (const fs::path& folder : {root / "lib" / "warpgrind", root / "lib"}) {
    const fs::path library = folder / "libcudart.so.13";
    if (fs::exists(library, problem)) return library.string();
  }
  return Error{ErrorKind::environment, "libcudart.so.13 of warpgrind is not where it belongs",
               fmt::format("looked in {}/lib/warpgrind and {}/lib; build or install warpgrind again", root.string(),
                           root.string())};
}

std::string find_in_path(const std::string& name) {
  if (const char* path = std::getenv("PATH")) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const auto end = rest.find(':');
      const std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
  }
  return "";
}

std::string find_nvcc() {
  const std::string found = find_in_path("nvcc");
  if (!found.empty()) return found;
  for (const char* path : {"/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"})
    if (access(path, X_OK) == 0) return path;
  return "";
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

int execute(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[0], argv.data());
    _exit(127);
  }
  return child < 0 ? -1 : wait_for(child);
}

// The script that compiles simple CUDA with clang-19, for machines without the toolkit.
std::string clang_script() {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  for (fs::path at = self.parent_path(); at.has_relative_path(); at = at.parent_path())
    for (const char* place : {"scripts/cuda_clang.py", "lib/warpgrind/cuda_clang.py"})
      if (fs::exists(at / place, problem)) return (at / place).string();
  return "";
}

// nvcc 13 makes code for compute capability 7.5 and later; PTX for a newer GPU than the model runs, too.
std::string architecture_flag(const std::string& gpu) {
  constexpr int kLowest = 75;
  auto model = find_gpu_model(gpu);
  const int cc = model ? (*model)->cc_major * 10 + (*model)->cc_minor : 0;
  return fmt::format("-arch=sm_{}", std::max(cc, kLowest));
}

std::vector<std::string> words(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) {
    std::istringstream stream(text);
    for (std::string word; stream >> word;) out.push_back(word);
  }
  return out;
}

bool names_architecture(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag.starts_with("-arch") || flag.starts_with("--gpu-arch") || flag.starts_with("-gencode") ||
           flag.starts_with("--generate-code");
  });
}

Result<std::string> compile(const std::string& source, const std::string& gpu, const std::vector<std::string>& flags,
                            const std::string& folder, const std::string& library) {
  const std::string binary = folder + "/" + fs::path(source).stem().string();
  const std::string nvcc = find_nvcc();
  std::vector<std::vector<std::string>> lines;
  if (!nvcc.empty()) {
    lines = {{nvcc, "-lineinfo", "-O3", "-o", binary, source}};
    if (!names_architecture(flags)) lines[0].push_back(architecture_flag(gpu));
    lines[0].insert(lines[0].end(), flags.begin(), flags.end());
  } else {
    const std::string script = clang_script();
    if (script.empty() || find_in_path("clang++-19").empty())
      return Error{ErrorKind::environment, fmt::format("no compiler for {}: nvcc is not on the PATH", source),
                   "install the CUDA toolkit, or clang-19 (simple programs), or run a program that is built already"};
    lines = {{"python3", script, "--cudart", library, source, "-o", binary}};
    lines[0].insert(lines[0].end(), flags.begin(), flags.end());
    complain("no nvcc: compiling with clang-19 (no CUDA headers or libraries)");
  }
  for (const std::vector<std::string>& line : lines)
    if (execute(line) != 0)
      return Error{ErrorKind::bad_input, fmt::format("{} does not compile (see the compiler's messages above)", source),
                   fmt::format("the command was: {}", fmt::join(line, " "))};
  return binary;
}

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

void prepend(const char* variable, const std::string& value, char separator) {
  const char* old = std::getenv(variable);
  setenv(variable, old && *old ? (value + separator + old).c_str() : value.c_str(), 1);
}

bool has_status(const std::string& folder, const std::string& kind) {
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem))
    if (entry.path().filename().string().starts_with(kind + ".")) return true;
  return false;
}

pid_t child_process = 0;
void pass_on(int signal) {
  if (child_process > 0) kill(child_process, signal);
}

// The wait status of the program, or why it could not be started.
Result<int> start(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  auto failure = [&](int error) {
    return Error{ErrorKind::environment, fmt::format("cannot start {}: {}", arguments[0], std::strerror(error)), ""};
  };
  int report[2];  // closed by a successful exec; otherwise carries errno
  if (pipe2(report, O_CLOEXEC) != 0) return failure(errno);
  child_process = fork();
  if (child_process == 0) {
    execv(argv[0], argv.data());
    const int error = errno;
    if (write(report[1], &error, sizeof error) < 0) _exit(126);
    _exit(126);
  }
  if (child_process < 0) return failure(errno);
  close(report[1]);
  // The terminal sends Ctrl-C to the program as well; it decides.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  std::signal(SIGTERM, pass_on);
  std::signal(SIGHUP, pass_on);
  int error = 0;
  const bool started = read(report[0], &error, sizeof error) != sizeof error;
  close(report[0]);
  const int status = wait_for(child_process);
  if (!started) return failure(error);
  return status;
}

int finish(int status, const std::string& folder, const std::string& program) {
  const bool problem = has_status(folder, "problem");
  const bool no_cuda = !has_status(folder, "cuda") && !problem;
  if (no_cuda)
    complain(fmt::format("no CUDA code found: {} and what it started never registered any", program),
             "is it a CUDA program, built by nvcc or clang? One that loads kernels through the driver API (libcuda) "
             "alone is not supported yet");
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    std::signal(signal, SIG_DFL);
    if (signal != SIGKILL && signal != SIGABRT && signal != SIGSEGV) raise(signal);
    return 128 + signal;
  }
  const int code = WEXITSTATUS(status);
  if (code == 0 && no_cuda) return kUsageError;
  if (code == 0 && problem) {
    complain("the run is not complete: see the messages above");
    return kUsageError;
  }
  return code;
}

// "1", "1,2" or "1,2,3"
Status read_block(const std::string& text, Dim3& block) {
  char rest = 0;
  block = {0, 0, 0};
  if (std::sscanf(text.c_str(), "%u%c", &block.x, &rest) == 1 ||
      std::sscanf(text.c_str(), "%u,%u%c", &block.x, &block.y, &rest) == 2 ||
      std::sscanf(text.c_str(), "%u,%u,%u%c", &block.x, &block.y, &block.z, &rest) == 3)
    return Ok{};
  return Error{ErrorKind::bad_input, fmt::format("--block wants X,Y,Z: \"{}\"", text), ""};
}

// What the processes of the run wrote: profile.json, and profile.json.PID of those that came later. A file that the
// user asked for gets the same text.
Status read_profiles(const std::string& folder, const std::string& wanted, FinishedRun& out) {
  std::error_code problem;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, problem))
    if (const std::string name = entry.path().filename().string(); name.starts_with(kProfileName))
      names.push_back(name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    std::ifstream file(folder + "/" + name, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!wanted.empty()) {
      const std::string suffix = wanted == "-" ? "" : name.substr(std::strlen(kProfileName));
      if (Status s = results::write_file(wanted + suffix, text); !s) return s.error();
    }
    auto profile = results::from_json(text, name);
    if (!profile) return profile.error();
    out.profiles.push_back(profile.take());
    out.texts.push_back(text);
  }
  return Ok{};
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

int run(const RunCommand& asked) {
  RunCommand command = asked;
  for (std::string* path : {&command.options.json_path, &command.options.csv_path, &command.reports.junit_path,
                            &command.reports.sarif_path})
    *path = of_this_rank(*path);
  if (!command.reports.needs_profile()) return run_program(command, nullptr);
  if (!command.options.counters) {
    complain("--no-counters leaves nothing to show",
             "leave it out for --expect, --junit, --sarif, --report and --source");
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

int run_program(const RunCommand& command, FinishedRun* finished) {
  if (command.program.empty()) {
    complain("run: no program given", "warpgrind run [OPTIONS] PROGRAM [ARGUMENTS...]");
    return kUsageError;
  }
  session::RunOptions options = command.options;
  if (Status block = read_block(command.trace_block, options.trace_block); !block)
    return complain(block.error()), kUsageError;
  if (auto model = find_gpu_model(options.gpu); !model) return complain(model.error()), kUsageError;
  if (command.no_cache) options.cache_directory.clear();
  for (const std::string* path : {&options.json_path, &options.csv_path})
    if (Status writable = check_writable(*path); !writable) return complain(writable.error()), kUsageError;
  for (std::string* path : {&options.json_path, &options.csv_path})
    if (!path->empty() && *path != "-") *path = fs::absolute(*path).string();
  const std::string wanted_json = options.json_path;
  auto program = find_program(command.program[0]);
  if (!program) return complain(program.error()), kUsageError;
  auto library = runtime_library();
  if (!library) return complain(library.error()), kUsageError;
  TemporaryFolder folder;
  if (folder.path.empty()) return complain(folder.problem, "set TMPDIR to a folder that can be written"), kUsageError;
  std::vector<std::string> arguments = command.program;
  arguments[0] = *program;
  if (program->ends_with(".cu")) {
    auto binary = compile(*program, options.gpu, words(command.nvcc_flags), folder.path, *library);
    if (!binary) return complain(binary.error()), kUsageError;
    arguments[0] = *binary;
  }
  options.program = command.program[0];
  options.command = fmt::format("{}", fmt::join(command.program, " "));
  if (finished) options.json_path = folder.path + "/" + kProfileName;
  options.status_directory = folder.path + "/status";
  std::error_code no_folder;
  fs::create_directory(options.status_directory, no_folder);
  if (no_folder)
    return complain(fmt::format("cannot make {}: {}", options.status_directory, no_folder.message())), kUsageError;
  setenv(session::kOptionsVariable, session::encode(options).c_str(), 1);
  // The small library starts the program again with the real one where it finds CUDA code; other processes stay as they
  // are.
  prepend("LD_PRELOAD", (fs::path(*library).parent_path() / "libwarpgrind_preload.so").string(), ':');
  prepend("LD_LIBRARY_PATH", fs::path(*library).parent_path().string(), ':');
  setenv("NVTX_INJECTION64_PATH", library->c_str(), 0);  // named ranges; a tool that the user named himself stays
  const auto begin = std::chrono::steady_clock::now();
  auto status = start(arguments);
  if (!status) return complain(status.error()), kUsageError;
  if (!finished) return finish(*status, options.status_directory, command.program[0]);
  finished->started = true;
  finished->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  finished->program = options.program;
  finished->command = options.command;
  const Status read = read_profiles(folder.path, wanted_json, *finished);
  if (!read) complain(read.error());
  finished->exit_code = finish(*status, options.status_directory, command.program[0]);
  if (!read && finished->exit_code == 0) finished->exit_code = kUsageError;
  return finished->exit_code;
}

}  // namespace warpgrind::cli
