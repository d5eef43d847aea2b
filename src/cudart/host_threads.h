// The program's threads, as the preload library sees them come and go (preload_hooks.h): a thread begins at the virtual
// time of the one that makes it, and who joins it has waited until its end. What else threads wait for (OpenMP's
// barriers, locks, flags) does not move their clocks.
#pragma once

#include "cudart/preload_hooks.h"

namespace warpgrind::cudart {

void* thread_made(StartRoutine start);
void thread_begins(void* made);
void thread_joined(pthread_t thread);

}  // namespace warpgrind::cudart
