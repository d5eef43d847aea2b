// What may happen in a kernel, by the instructions that it and what it may call have: what cannot happen a checker does
// not want to be told of (Observer::wants_of).
#pragma once

#include "events/events.h"

namespace warpgrind::checkers {

struct KernelHas {
  bool barriers = false;   // of the block, or of the cluster
  bool meetings = false;   // of lanes of a warp: WarpSync
  bool mbarriers = false;  // and copies and stores that tell one
  bool order = false;      // any of them, or else something that may order one thread after another
  bool shared_accesses = false;
  bool global_writes = false;  // but to what is each thread's own (Launch::own)
};

KernelHas what_has(const events::Launch& launch);

}  // namespace warpgrind::checkers
