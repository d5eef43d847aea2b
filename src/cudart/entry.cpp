// What happens when the library is loaded and when the process ends.
#include <cstdlib>

#include "cudart/redirect.h"
#include "cudart/runtime.h"

namespace warpgrind::cudart {

namespace {

void at_end() {
  if (session::Session::exists()) session::Session::instance().finish();
}

// Runs before the program's own constructors, which register its code. atexit handlers run in reverse order, so the
// program's come first and this library's parts are still whole when the profile is written.
__attribute__((constructor)) void loaded() {
  std::atexit(at_end);
  redirect_static_runtimes();
}

}  // namespace

}  // namespace warpgrind::cudart
