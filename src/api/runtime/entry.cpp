// Load-time initialisation of the library, and the work at the end of the process.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "base/descriptor.h"
#include "base/host_pages.h"
#include "runtime/call.h"
#include "runtime/host_threads.h"
#include "runtime/preload_hooks.h"
#include "runtime/redirect.h"
#include "runtime/sections.h"
#include "semantics/call_scope.h"
#include "semantics/executor.h"

namespace warpgrind::runtime {

namespace {

// Warns if the program read a host clock before and after a launch: it measured the simulation, not a GPU.
void report_host_clocks() {
  no_more_clocks();
  if (const char* function = clock_around_launches()) session::run().host_clock_read(function);
}

// The last steps of a run: all work ends and is placed, then the profile is written (session/run.h).
void end_run(bool at_once) {
  report_host_clocks();
  Executor::instance().end();
  Executor::instance().settle();
  session::run().finish(at_once);
}

void at_end() {
  if (!session::Session::exists() || session::run().broken_by_fork()) return;
  end_run(false);
}

// At _exit: writes the profile and does nothing else, since the program skips its exit handlers (preload_hooks.cpp).
void at_hard_end() {
  if (!session::Session::exists() || session::run().broken_by_fork()) return;
  if (!session::run().used() || session::run().ended()) return;
  end_run(true);
}

void memory_used(const void* memory, std::size_t bytes) {
  if (HostPages::instance().wanted()) HostPages::instance().open(memory, bytes);
}
void memory_was_used(const void* memory, std::size_t bytes, std::size_t done, bool write, const void* caller) {
  if (HostPages::instance().wanted()) HostPages::instance().close(memory, bytes, done, write, caller);
}

// Removes this library from LD_PRELOAD: each child process decides itself whether it needs it (preload.cpp).
void forget_preload(const std::string& self) {
  ::unsetenv("WARPGRIND_STARTED_AGAIN");
  const char* value = std::getenv("LD_PRELOAD");
  if (!value) return;
  std::string list = value;
  if (list == self) {
    ::unsetenv("LD_PRELOAD");
  } else if (list.compare(0, self.size() + 1, self + ":") == 0) {
    ::setenv("LD_PRELOAD", list.c_str() + self.size() + 1, 1);
  }
}

// Runs before the program's constructors, which register its code. atexit handlers run in reverse order: the program's
// come first, and this library's objects still exist when the profile is written.
__attribute__((constructor)) void loaded() {
  open_missing_streams();
  std::atexit(at_end);
  std::at_quick_exit(at_end);
  static const PreloadHooks hooks{at_hard_end,     thread_made, thread_begins, thread_joined,  memory_used,
                                  memory_was_used, clock_read,  begin_section, section_profile};
  if (const auto set = reinterpret_cast<SetHooks>(::dlsym(RTLD_DEFAULT, kSetHooks))) set(&hooks);
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&loaded), &info)) forget_preload(info.dli_fname);
  redirect_static_runtimes();
}

}  // namespace

}  // namespace warpgrind::runtime
