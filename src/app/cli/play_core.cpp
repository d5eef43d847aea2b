// Start of a core file's launch at addresses where its memory has place.
#include "cli/play_core.h"

#include <sys/personality.h>
#include <unistd.h>

#include <cstdlib>

#include "base/installation.h"
#include "base/run_variables.h"
#include "cli/commands.h"
#include "session/core_player.h"

namespace warpgrind::cli {

namespace {

// Without random addresses, code lies above the memory of nearly all other processes. Where the host does not allow
// that (Docker), or that process had fixed addresses, too, about one of two random starts fits.
constexpr int kFixedStarts = 1, kMostStarts = 60;

char** own_arguments = nullptr;

int starts() {
  return std::atoi(environment_variable(run_variables::kCoreStarts).c_str());
}

void start_again() {
  const int count = starts() + 1;
  if (count > kMostStarts) return;
  setenv(run_variables::kCoreStarts, std::to_string(count).c_str(), 1);
  const int now = personality(0xffffffff);
  if (now >= 0) {
    const unsigned random = static_cast<unsigned>(now) & ~unsigned{ADDR_NO_RANDOMIZE};
    personality(count <= kFixedStarts ? random | ADDR_NO_RANDOMIZE : random);
  }
  execv(own_executable().c_str(), own_arguments);
}

}  // namespace

int play_core(const std::string& path, char** arguments) {
  own_arguments = arguments;
  if (starts() == 0) start_again();
  session::take_core_addresses(path, start_again);
  return session::play_core(path);
}

}  // namespace warpgrind::cli
