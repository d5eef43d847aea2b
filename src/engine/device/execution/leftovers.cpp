#include "device/execution/leftovers.h"

#include <sys/mman.h>

#include <cstring>

namespace warpgrind::device {

void forget_leftovers(Worker& worker, const Launch& launch) {
  for (const auto& f : worker.fibers) {
    // Up to 16 MiB, mostly untouched: the host gives new pages, which are zero.
    if (f->local && launch.local_size != 0) madvise(f->local, f->local_mapped, MADV_DONTNEED);
    if (f->context.frame) std::memset(f->context.frame, 0, f->frame_capacity);
  }
  if (launch.shared_size == 0) return;
  for (const auto& b : worker.blocks)
    if (b->shared_memory) std::memset(b->shared, 0, b->shared_capacity);
}

}  // namespace warpgrind::device
