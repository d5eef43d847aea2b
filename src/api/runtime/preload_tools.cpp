// Replacement of NVIDIA's nvcc and ptxas by `warpgrind tool-of-run`.
#include "runtime/preload_tools.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/argument_pointers.h"
#include "base/run_variables.h"

namespace warpgrind::runtime {

void replace_tool(char** argv) {
  char file[4096];
  const ssize_t length = ::readlink("/proc/self/exe", file, sizeof file - 1);
  if (length <= 0) return;
  file[length] = 0;
  const char* slash = std::strrchr(file, '/');
  const char* name = slash ? slash + 1 : file;
  // ptxas-blackwell is the name in Triton's package for the ptxas that supports compute capability 10.
  const bool ptxas = std::strcmp(name, "ptxas") == 0 || std::strcmp(name, "ptxas-blackwell") == 0;
  if (!ptxas && std::strcmp(name, "nvcc") != 0) return;
  const char *ours = std::getenv(run_variables::kExecutable), *stays = std::getenv(run_variables::kToolStays);
  const std::string self = std::to_string(::getpid());  // the same after exec
  if (!ours || (stays && self == stays) || (ptxas && std::getenv(run_variables::kNvidiaPtxas))) return;
  std::vector<std::string> words = {ours, run_variables::kToolOfRun, ptxas ? "ptxas" : name, file};
  for (char** argument = argv + 1; argv[0] && *argument; argument++) words.emplace_back(*argument);
  ::setenv(run_variables::kToolStays, self.c_str(), 1);
  ::execv(ours, argument_pointers(words).data());
}

}  // namespace warpgrind::runtime
