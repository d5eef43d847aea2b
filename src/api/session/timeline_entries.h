// Work on the virtual timeline other than launches: copies, fills, prefetches, calls into libraries, and rows of the
// host. Each function estimates the time of one piece of work, places it, and adds it to the profile.
// Thread-safe; the ledger (timing/ledger.h) calls it in the order of issue. Lives as long as the session.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/gpu_model.h"
#include "results/collect.h"
#include "session/managed_memory.h"
#include "session/time_estimates.h"
#include "timing/estimate.h"
#include "timing/library_estimate.h"
#include "timing/timeline.h"

namespace warpgrind::session {

class TimelineEntries {
 public:
  // All arguments outlive this object.
  TimelineEntries(const GpuModel& model, timing::Timeline& timeline, TimeEstimates& estimates, ManagedMemory& managed,
                  results::Collector& collector);

  // Entries of the calling thread belong to this work (events::StreamWork::id) from now on; 0: to none.
  static void placing(std::uint64_t work);

  enum class HostPart : std::uint8_t {
    none,    // the call only issues the copy
    stages,  // it also stages the bytes of pageable memory
    waits    // it returns when the copy is done
  };
  timing::Span copy(int device, timing::StreamId stream, timing::HostClock& host, timing::CopyPath path,
                    timing::HostMemory memory, std::uint64_t bytes, HostPart part);
  timing::Span fill(timing::StreamId stream, const timing::HostClock& host, std::uint64_t address, std::uint64_t bytes);
  // Prefetches `bytes` bytes of the managed allocation that begins at `low`.
  timing::Span prefetch(int device, timing::StreamId stream, const timing::HostClock& host, std::uint64_t low,
                        std::uint64_t bytes, bool to_device);
  // A call into a library that ran on the host.
  struct LibraryCallName {
    std::string function, arguments, by;
  };
  timing::Span library_call(int device, timing::StreamId stream, timing::HostClock& host, const LibraryCallName& name,
                            const timing::LibraryWork& work);
  // A copy within the device has passed through its L2 cache.
  void copied(int device, const timing::L2Contents::Span& from, const timing::L2Contents::Span& to) {
    estimates_.copied(device, from, to);
  }
  // Later work finds none of its data in the L2 cache of this GPU.
  void flush_l2(int device) { estimates_.flush_l2(device); }

  // A row of the host's timeline: a call or a range of a thread.
  void host_row(unsigned thread, const char* kind, const std::string& name, double begin_ns, double end_ns);
  void host_row_left_out();

 private:
  const GpuModel& model_;
  timing::Timeline& timeline_;
  TimeEstimates& estimates_;
  ManagedMemory& managed_;
  results::Collector& collector_;
};

}  // namespace warpgrind::session
