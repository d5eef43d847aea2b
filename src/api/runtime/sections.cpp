// Sections of a run: waits for the issued work, then asks the session.
#include "runtime/sections.h"

#include <cstring>
#include <string>

#include "semantics/executor.h"
#include "semantics/state.h"
#include "session/session.h"

namespace warpgrind::runtime {

namespace {

bool is_possible() {
  return !session::run().broken_by_fork() && !session::run().ended() && !semantics::Executor::inside_host_function();
}

// Work that has ended and is placed is in the profile. The host then counts as having waited for all of it. False: a
// kernel waits for the host.
bool wait_for_work() {
  if (!semantics::Executor::instance().settle()) return false;
  semantics::Executor::instance().wait_all();
  return true;
}

}  // namespace

int begin_section() {
  if (!session::Session::exists()) return 0;  // nothing has happened in the present section
  if (!is_possible()) return -1;
  const bool done = wait_for_work();
  session::sections().begin();
  if (done && session::run().used()) semantics::forget_faults();
  return 0;
}

char* section_profile() {
  if (!session::Session::exists() || !session::run().used() || !is_possible()) return nullptr;
  wait_for_work();
  const std::string text = session::sections().profile_json();
  return ::strdup(text.c_str());
}

}  // namespace warpgrind::runtime
