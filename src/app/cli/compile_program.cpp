// Compilation of a program's CUDA sources, by nvcc or clang.
#include "cli/compile_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/printable.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "gpu/gpu_model.h"
#include "toolchain/dependencies.h"
#include "toolchain/driver.h"
#include "toolchain/included_libraries.h"
#include "toolchain/messages.h"
#include "toolchain/program_cache.h"
#include "toolchain/toolkit.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

std::string find_nvcc() {
  std::string found = find_in_path("nvcc");
  if (!found.empty()) return found;
  for (const char* path : {"/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"})
    if (access(path, X_OK) == 0) return path;
  return "";
}

// nvcc 13 makes code for compute capability 7.5 and later; PTX for a newer GPU than the model also runs.
std::string architecture_flag(const std::string& gpu) {
  constexpr int kLowest = 75;
  auto model = find_gpu_model(gpu);
  const int cc = model ? (*model)->cc_major * 10 + (*model)->cc_minor : 0;
  return fmt::format("-arch=sm_{}", std::max(cc, kLowest));
}

std::vector<std::string> words(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts)
    for (std::string& word : toolchain::split_words(text)) out.push_back(std::move(word));
  return out;
}

bool names_architecture(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag.starts_with("-arch") || flag.starts_with("--gpu-architecture") || flag.starts_with("-gencode") ||
           flag.starts_with("--generate-code");
  });
}

// `warpgrind prepare` uses them, too.
const std::vector<std::string> kUsual = {"-lineinfo", "-O3"};

std::string search_path() {
  const char* const path = std::getenv("PATH");
  return path ? path : "";
}

}  // namespace

std::string find_in_path(const std::string& name) {
  return toolchain::find_program(name, search_path());
}

std::vector<std::string> usual_options(const std::string& gpu) {
  std::vector<std::string> out = kUsual;
  out.push_back(architecture_flag(gpu));
  return out;
}

namespace {

// `said`: the messages of the compiler and the linker.
Error does_not_compile(const CompileCommand& command, const std::vector<std::string>& line, const std::string& said) {
  std::string advice = fmt::format("the command was: {}", toolchain::quoted(line));
  if (const auto flags = toolchain::missing_flags(said); !flags.empty())
    advice += fmt::format("\n  put such options before the program: --nvcc-flags '{}'", fmt::join(flags, " "));
  return {ErrorKind::bad_input,
          fmt::format("{} does not compile (see the compiler's messages above)", fmt::join(command.sources, ", ")),
          advice};
}

Error stopped(int signal) {
  end_by_signal(signal);
  return {ErrorKind::environment, "stopped by a signal while compiling", ""};
}

// No options that decide about the dependency file: -MD, -MF, ...
bool can_be_cached(const std::vector<std::string>& line) {
  return std::none_of(line.begin(), line.end(), [](const std::string& word) {
    return word.starts_with("-M") || word.starts_with("--generate-dep") || word.starts_with("--dependency-");
  });
}

// All files that the program is made of; empty: not known. nvcc's dependency file has those of the last source, so each
// source of several is asked for its own (0.2 s).
std::vector<std::string> files_of(const CompileCommand& command, const std::vector<std::string>& line,
                                  const std::string& dependencies) {
  std::vector<std::string> out;
  const std::vector<std::string>& sources = command.sources;
  for (const std::string& source : sources) {
    std::vector<std::string> words;
    for (const std::string& word : line)
      if (word == source || std::find(sources.begin(), sources.end(), word) == sources.end()) words.push_back(word);
    words.insert(words.end(), {"-M", "-MF", dependencies});
    if (sources.size() > 1) {
      const auto end = run_child({.words = words, .unset = {"LD_PRELOAD"}});
      if (!end || !end->good()) return {};
    }
    const auto read = toolchain::read_dependencies(dependencies);
    if (!read || read->empty()) return {};
    out = toolchain::merged(std::move(out), *read);
  }
  return out;
}

Result<std::string> compile_with_nvcc(const CompileCommand& command, std::vector<std::string> line,
                                      const std::string& binary) {
  const std::vector<std::string> words = with_nvcc_variables(line);
  const bool cached = can_be_cached(words);
  const auto cache =
      toolchain::ProgramCache::of_nvcc(cached ? command.cache : "", line[0], words, compiler_surroundings());
  if (const auto found = cache.find()) {
    print_text(stderr, found->messages);
    return found->program;
  }
  const std::string messages = binary + ".messages", dependencies = binary + ".d";
  std::vector<std::string> whole = line;
  const std::vector<std::string> plain = line;
  if (cached) whole.insert(whole.end(), {"-MD", "-MF", dependencies});
  for (auto* words_of : {&line, &whole}) words_of->insert(words_of->end(), {"-o", binary});
  // LD_PRELOAD is meant for the program: nvcc's own passes crash under AddressSanitizer's library. The messages go to a
  // file, because advice is added to them.
  const auto end = run_child({.words = whole, .unset = {"LD_PRELOAD"}, .errors = Stream::file(messages)});
  toolchain::Outcome outcome;
  outcome.messages = read_whole(messages).value_or("");
  outcome.messages += toolchain::hints_for(outcome.messages);
  print_text(stderr, outcome.messages);
  if (!end) return end.error();
  if (signal_received() != 0) return stopped(signal_received());
  if (!end->good()) return does_not_compile(command, line, outcome.messages);
  if (!cached) return binary;
  outcome.dependencies = files_of(command, plain, dependencies);
  if (outcome.dependencies.empty() || signal_received() != 0) return binary;
  return cache.store(binary, outcome).value_or(binary);
}

Result<std::string> compile_with_clang(const CompileCommand& command, std::vector<std::string> line,
                                       const std::string& binary) {
  toolchain::Surroundings surroundings = compiler_surroundings();
  surroundings.precompiled_headers = precompiled_headers_in(command.cache);
  surroundings.uses_precompiled_headers = !command.cache.empty();
  const auto cache = toolchain::ProgramCache::of_clang(command.cache, with_nvcc_variables(line), surroundings);
  if (const auto found = cache.find()) {
    print_text(stderr, found->messages);
    return found->program;
  }
  line.insert(line.end(), {"-t", "0", "-o", binary});
  const toolchain::Outcome outcome = toolchain::nvcc(with_nvcc_variables(line), surroundings);
  if (outcome.signal != 0) return stopped(outcome.signal);
  line.insert(line.begin(), {"warpgrind", "nvcc"});
  if (outcome.exit_code == toolchain::kNotPossible)
    return Error{ErrorKind::environment,
                 fmt::format("{} was not compiled: see the message above", fmt::join(command.sources, ", ")), ""};
  if (outcome.exit_code != 0) return does_not_compile(command, line, outcome.messages);
  return cache.store(binary, outcome).value_or(binary);
}

}  // namespace

Result<std::string> compile_program(const CompileCommand& command, const std::string& folder) {
  const std::string binary = folder + "/" + fs::path(command.sources[0]).stem().string();
  const std::string nvcc = command.compiler == "clang" ? "" : find_nvcc();
  if (nvcc.empty() && command.compiler == "nvcc")
    return Error{ErrorKind::environment, "nvcc is not on the PATH", "--compiler clang needs no NVIDIA software"};
  std::vector<std::string> line = kUsual;
  if (command.debuggable)
    line = {"-G", "-g", "-O0"};
  else if (command.host_lines)
    line.emplace_back("-g");
  line.insert(line.end(), command.sources.begin(), command.sources.end());
  const std::vector<std::string> more = words(command.flags);
  // Parts of one program: their device code may call each other's functions.
  if (std::count_if(command.sources.begin(), command.sources.end(), [](auto& s) { return s.ends_with(".cu"); }) > 1)
    line.emplace_back("-rdc=true");
  if (!names_architecture(more)) line.push_back(architecture_flag(command.gpu));
  line.insert(line.end(), more.begin(), more.end());
  const std::vector<std::string> libraries = toolchain::options_for_includes(command.sources, more, search_path());
  line.insert(line.end(), libraries.begin(), libraries.end());
  if (nvcc.empty()) return compile_with_clang(command, std::move(line), binary);
  line.insert(line.begin(), nvcc);
  return compile_with_nvcc(command, std::move(line), binary);
}

}  // namespace warpgrind::cli
