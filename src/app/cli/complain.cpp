// Errors of warpgrind itself, on stderr.
#include <fmt/format.h>

#include <cstdio>

#include "base/printable.h"
#include "cli/commands.h"

namespace warpgrind::cli {

void complain(const std::string& message, const std::string& detail) {
  std::string text = fmt::format("warpgrind: {}\n", message);
  if (!detail.empty()) text += fmt::format("  {}\n", detail);
  print_text(stderr, text);
}

void complain(const Error& error) {
  complain(error.message, error.detail);
}

}  // namespace warpgrind::cli
