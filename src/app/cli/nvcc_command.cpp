// Subcommand `warpgrind nvcc`, also called by the name nvcc (a link to warpgrind in the toolkit folder). It reads the
// environment; src/compiler/toolchain does the rest.
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "cli/child.h"
#include "cli/commands.h"
#include "session/options.h"
#include "toolchain/driver.h"

namespace warpgrind::cli {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

toolchain::Surroundings compiler_surroundings() {
  toolchain::Surroundings out;
  out.path = environment_variable("PATH");
  out.cpath = environment_variable("CPATH");
  out.c_include_path = environment_variable("C_INCLUDE_PATH");
  out.cplus_include_path = environment_variable("CPLUS_INCLUDE_PATH");
  out.nvcc_ccbin = environment_variable("NVCC_CCBIN");
  out.glibc_tunables = environment_variable("GLIBC_TUNABLES");
  out.colours =
      isatty(STDERR_FILENO) == 1 && environment_variable("TERM") != "dumb" && environment_variable("NO_COLOR").empty();
  out.cores = std::max(1U, std::thread::hardware_concurrency());
  return out;
}

std::vector<std::string> with_nvcc_variables(const std::vector<std::string>& words) {
  std::vector<std::string> out = toolchain::split_words(environment_variable("NVCC_PREPEND_FLAGS"));
  out.insert(out.end(), words.begin(), words.end());
  for (std::string& word : toolchain::split_words(environment_variable("NVCC_APPEND_FLAGS")))
    out.push_back(std::move(word));
  return out;
}

std::string precompiled_headers_in(const std::string& cache) {
  return cache.empty() ? "" : cache + "/headers";
}

int nvcc(const std::vector<std::string>& arguments) {
  toolchain::Surroundings surroundings = compiler_surroundings();
  surroundings.precompiled_headers = precompiled_headers_in(session::default_cache_directory());
  const toolchain::Outcome outcome = toolchain::nvcc(with_nvcc_variables(arguments), surroundings);
  if (outcome.signal != 0) end_by_signal(outcome.signal);
  return outcome.exit_code;
}

}  // namespace warpgrind::cli
