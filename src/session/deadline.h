// The limit of --timeout for the run as a whole: also while nothing runs on the GPU (compiling, host code), and for
// many launches that are each short.
#pragma once

#include <functional>

namespace warpgrind::session {

// Calls `expired` on a thread of its own when `seconds` have passed, unless the process has ended. Once a process.
// False: the host allows no more threads.
bool start_deadline(double seconds, std::function<void()> expired);

}  // namespace warpgrind::session
