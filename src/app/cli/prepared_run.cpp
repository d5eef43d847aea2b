// Preparation of a run: checks of its options, compilation, and the environment.
#include "cli/prepared_run.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/installation.h"
#include "base/run_variables.h"
#include "cli/commands.h"
#include "cli/compile_program.h"
#include "cli/needed_libraries.h"
#include "cli/nvrtc_choice.h"
#include "cli/program_content.h"
#include "gpu/gpu_model.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kProfileName = "profile.json";

}  // namespace

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

namespace {

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
// CuPy's results of a debugged run name lines of the program's script, which may move: they are not kept.
void keep_caches_apart(const fs::path& folder, bool debuggable) {
  if (debuggable) setenv("CUPY_CACHE_IN_MEMORY", "1", 0);
  constexpr std::pair<const char*, const char*> kCaches[] = {{"CUPY_CACHE_DIR", "cupy"},
                                                             {"TRITON_CACHE_DIR", "triton"}};
  for (const auto& [variable, name] : kCaches) setenv(variable, (folder / name).c_str(), 0);
}

// Programs fill arrays on the host before they copy them. With large pages, malloc's big blocks take one page fault for
// 2 MiB instead of 512: Rodinia's nw took 0.57 of its CPU time, nn 0.54. A choice of the user stays.
void use_large_pages_for_malloc() {
  constexpr const char* kSettings = "GLIBC_TUNABLES";
  if (environment_variable(kSettings).find("glibc.malloc.hugetlb=") != std::string::npos) return;
  append_to_environment(kSettings, "glibc.malloc.hugetlb=1");
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

namespace {

// Paths of the output files, as they are from any folder. They are checked before a long run.
Status prepare_outputs(session::RunOptions& options) {
  std::error_code gone;
  for (std::string* path : {&options.json_path, &options.csv_path, &options.work_path}) {
    if (Status writable = check_writable(*path); !writable) return writable.error();
    if (!path->empty() && *path != "-") *path = fs::absolute(*path, gone).string();
  }
  if (gone) return Error{ErrorKind::environment, "the current folder no longer exists: " + gone.message(), ""};
  return Ok{};
}

// Sets variables of this process that make the programs it starts run on the virtual GPU.
Status set_environment(const RunCommand& command, const PreparedRun& run, const std::string& library) {
  setenv(session::kOptionsVariable, session::encode(run.options).c_str(), 1);
  setenv(run_variables::kStatusFolder, run.options.status_directory.c_str(), 1);
  // The small library starts the program again with the real one if it finds CUDA code; other processes stay unchanged.
  prepend_to_environment("LD_PRELOAD", (fs::path(library).parent_path() / "libwarpgrind_preload.so").string());
  put_first_in_library_path(library);
  use_large_pages_for_malloc();
  if (Status s = choose_nvrtc(command.nvrtc, library); !s) return s.error();
  // Programs that compile by calling nvcc find ours if there is no other.
  setenv(run_variables::kExecutable, own_executable().c_str(), 1);
  append_to_environment("PATH", toolkit_folder() + "/bin");
  setenv("NVTX_INJECTION64_PATH", library.c_str(), 0);  // named ranges; a tool that the user set stays
  name_older_driver(library);
  const std::string& cache = run.options.cache_directory;
  const fs::path caches = cache.empty() ? run.folder.path : cache;
  // What the debugger compiles has debug information, and is no result for other runs.
  keep_caches_apart(command.debuggable ? caches / "debug" : caches, command.debuggable);
  return Ok{};
}

}  // namespace

Status prepare_run(const RunCommand& command, bool own_profile, PreparedRun& out) {
  if (command.program.empty())
    return Error{ErrorKind::bad_input, "run: no program given", "warpgrind run [OPTIONS] PROGRAM [ARGUMENTS...]"};
  session::RunOptions& options = out.options;
  options = command.options;
  if (Status block = read_block(command.trace_block, options.trace_block); !block) return block.error();
  if (Status filter = session::check(options.launches); !filter) return filter.error();
  if (auto model = find_gpu_model(options.gpu); !model) return model.error();
  if (command.no_cache) options.cache_directory.clear();
  if (Status outputs = prepare_outputs(options); !outputs) return outputs.error();
  out.wanted_json = options.json_path;
  auto program = find_program(command.program[0]);
  if (!program) return program.error();
  if (Status whole = check_parts(own_parts(), {NeededBy::every_run}); !whole) return whole.error();
  auto library = runtime_library();
  if (!library) return library.error();
  if (out.folder.path.empty())
    return Error{ErrorKind::environment, out.folder.problem, "set TMPDIR to a folder that can be written"};
  out.words = command.program;
  out.words[0] = *program;
  if (program->ends_with(".cu")) {
    CompileCommand compile{{*program},        options.gpu,        command.nvcc_flags,
                           command.compiler,  command.host_lines, options.cache_directory,
                           command.debuggable};
    compile.sources.insert(compile.sources.end(), command.sources.begin(), command.sources.end());
    auto binary = compile_program(compile, out.folder.path);
    if (!binary) return binary.error();
    out.words[0] = *binary;
  }
  if (!command.content_path.empty()) {
    auto content = read_content(out.words[0]);
    if (!content) content = ProgramContent{};  // no CUDA code: the run says so
    content->path = command.program[0];
    if (Status written = write_whole(command.content_path, content_json(*content)); !written) return written.error();
  }
  if (Status found = check_needed_libraries(out.words[0]); !found) return found.error();
  options.program = command.program[0];
  std::error_code as_given;
  options.executable = fs::canonical(out.words[0], as_given).string();
  options.command = fmt::format("{}", fmt::join(command.program, " "));
  if (own_profile) options.json_path = out.folder.path + "/" + kProfileName;
  options.status_directory = out.folder.path + "/status";
  std::error_code no_folder;
  fs::create_directory(options.status_directory, no_folder);
  if (no_folder)
    return Error{ErrorKind::environment,
                 fmt::format("cannot create {}: {}", options.status_directory, no_folder.message()), ""};
  return set_environment(command, out, *library);
}

}  // namespace warpgrind::cli
