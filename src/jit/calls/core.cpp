// Runtime functions of the core lowering that need no device.
#include <ctime>

#include "jit/calls/symbols.h"

namespace {

extern "C" unsigned long long wg_globaltimer() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<unsigned long long>(now.tv_sec) * 1000000000ull + static_cast<unsigned long long>(now.tv_nsec);
}

}  // namespace

namespace warpgrind::jit {

void register_core_symbols() {
  static const CallSymbol symbols[] = {{"wg_globaltimer", reinterpret_cast<void*>(&wg_globaltimer)}};
  register_call_symbols(symbols);
}

}  // namespace warpgrind::jit
