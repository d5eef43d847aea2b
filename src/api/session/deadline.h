// Time limit of --timeout for the run as a whole. It also covers time without GPU work (compiling, host code) and many
// launches that are each short.
#pragma once

#include <functional>

namespace warpgrind::session {

// Calls `expired` on a thread of its own after `seconds`, unless the process has ended. Call once per process. Returns
// false if the host allows no more threads.
bool start_deadline(double seconds, std::function<void()> expired);

}  // namespace warpgrind::session
