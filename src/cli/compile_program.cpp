#include "cli/compile_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/installation.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "gpu/gpu_model.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

std::string find_nvcc() {
  const std::string found = find_in_path("nvcc");
  if (!found.empty()) return found;
  for (const char* path : {"/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"})
    if (access(path, X_OK) == 0) return path;
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

}  // namespace

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

Result<std::string> compile_program(const std::string& source, const std::string& gpu,
                                    const std::vector<std::string>& flags, const std::string& folder,
                                    const std::string& library) {
  const std::string binary = folder + "/" + fs::path(source).stem().string();
  const std::string nvcc = find_nvcc();
  const std::vector<std::string> more = words(flags);
  std::vector<std::string> line;
  if (!nvcc.empty()) {
    line = {nvcc, "-lineinfo", "-O3", "-o", binary, source};
    if (!names_architecture(more)) line.push_back(architecture_flag(gpu));
  } else {
    const std::string script = clang_script();
    if (script.empty() || find_in_path("clang++-19").empty())
      return Error{ErrorKind::environment, fmt::format("no compiler for {}: nvcc is not on the PATH", source),
                   "install the CUDA toolkit, or clang-19 (simple programs), or run a program that is built already"};
    line = {"python3", script, "--cudart", library, source, "-o", binary};
    complain("no nvcc: compiling with clang-19 (no CUDA headers or libraries)");
  }
  line.insert(line.end(), more.begin(), more.end());
  // What is preloaded is meant for the program (nvcc's own passes crash under AddressSanitizer's library).
  std::vector<std::string> call = {"env", "-u", "LD_PRELOAD"};
  call.insert(call.end(), line.begin(), line.end());
  const auto status = run_child(call);
  if (!status) return status.error();
  if (signal_received() != 0) {
    end_by_signal(signal_received());
    return Error{ErrorKind::environment, "stopped by a signal while compiling", ""};
  }
  if (*status != 0)
    return Error{ErrorKind::bad_input, fmt::format("{} does not compile (see the compiler's messages above)", source),
                 fmt::format("the command was: {}", fmt::join(line, " "))};
  return binary;
}

}  // namespace warpgrind::cli
