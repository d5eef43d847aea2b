// Subcommand `warpgrind prepare`.
#include <fmt/format.h>

#include <cstdio>

#include "base/installation.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/compile_program.h"
#include "session/options.h"
#include "toolchain/prepare.h"

namespace warpgrind::cli {

int prepare_headers(const PrepareCommand& command) {
  const std::string folder = command.installation ? own_parts().libraries + "/prepared"
                                                  : precompiled_headers_in(session::default_cache_directory());
  if (folder.empty()) return complain("there is no folder for the cache: HOME is not set", ""), kUsageError;
  std::vector<std::string> words = usual_options(command.gpu);
  words.emplace_back("prepared.cu");
  const auto prepared = toolchain::prepare_headers(with_nvcc_variables(words), compiler_surroundings(), folder);
  if (!prepared) return complain(prepared.error()), kUsageError;
  print_text(stdout, fmt::format("precompiled in {}:\n", folder));
  for (const std::string& header : prepared->made) print_text(stdout, fmt::format("  {}\n", header));
  for (const std::string& header : prepared->lacking)
    print_text(stdout, fmt::format("  {}: left out, clang does not find or compile it\n", header));
  return prepared->made.empty() ? 1 : 0;
}

}  // namespace warpgrind::cli
