// Text for the model at the beginning of a session.
#include "mcp/instructions.h"

#include <fmt/format.h>

namespace warpgrind::mcp {

std::string instructions(const Settings& settings) {
  std::string out = fmt::format(
      "warpgrind is a virtual NVIDIA GPU. It runs CUDA programs on the CPU, finds their bugs, counts every memory "
      "access "
      "and explains why a kernel is slow. Default GPU model: {}.\n"
      "Origins of numbers: counts of accesses are exact; caches are modelled; times are ESTIMATED by a model and never "
      "measured (half of the kernels within 9 %, nine in ten within 26 %). So a difference of a few percent between "
      "two "
      "kernels decides nothing.\n"
      "A good order: `run` (does it work, what binds it), `check` (races, bounds, uninitialised memory: `run` does not "
      "look "
      "for these), `explain` (the access of a line, drawn), change the kernel, `diff` (better or worse, and why), "
      "`check` "
      "again. Programs must verify their own results: give `expect_output` to have that confirmed. Read the section "
      "NOT "
      "PROVEN of each result before you claim anything.\n",
      settings.gpu);
  out += settings.folder.empty() ? "Programs are sent as `source`; this server reads no files.\n"
                                 : fmt::format(
                                       "Programs are sent as `source`, or named by a `path` inside {}. They can "
                                       "read that folder and write nothing there.\n",
                                       settings.folder);
  if (!settings.boxed)
    out += "There is NO SANDBOX: programs run with all permissions of the user. Run only what the user may run.\n";
  else if (!sandbox::why_none().empty())
    out += "Every run will be refused, because this machine allows no sandbox. Ask the user to mend that.\n";
  return out;
}

}  // namespace warpgrind::mcp
