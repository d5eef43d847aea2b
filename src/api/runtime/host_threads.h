// Virtual clocks of the program's threads. The preload library reports when threads are created and joined
// (preload_hooks.h). A thread's clock starts at its creator's time, and a join advances the joiner's clock to the end
// of the thread. Other waits (OpenMP barriers, locks, flags) do not move a clock.
#pragma once

#include "runtime/preload_hooks.h"

namespace warpgrind::runtime {

void* thread_made(StartRoutine start);
void thread_begins(void* made);
void thread_joined(pthread_t thread);

}  // namespace warpgrind::runtime
