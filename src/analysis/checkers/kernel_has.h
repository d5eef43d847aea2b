// Kinds of events a kernel can raise, from the instructions of the kernel and of the functions it may call. A checker
// does not request events that cannot happen (Observer::wants_of).
#pragma once

#include "events/events.h"

namespace warpgrind::checkers {

struct KernelHas {
  bool barriers = false;   // of the block or of the cluster
  bool meetings = false;   // WarpSync events
  bool mbarriers = false;  // also copies and stores that signal an mbarrier
  bool order = false;      // any of the above, or another instruction that may order two threads
  bool shared_accesses = false;
  bool global_writes = false;  // except writes to each thread's own memory (Launch::own)
};

KernelHas what_has(const events::Launch& launch);

}  // namespace warpgrind::checkers
