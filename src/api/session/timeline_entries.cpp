// Places of work other than launches on the virtual timeline.
#include "session/timeline_entries.h"

namespace warpgrind::session {

namespace {

thread_local std::uint64_t t_placing = 0;

const char* direction_name(timing::CopyPath path) {
  switch (path) {
    case timing::CopyPath::host_to_device:
      return "HtoD";
    case timing::CopyPath::device_to_host:
      return "DtoH";
    case timing::CopyPath::device_to_device:
      return "DtoD";
    case timing::CopyPath::peer:
      return "PtoP";
    case timing::CopyPath::host_to_host:
      return "HtoH";
  }
  return "-";
}

}  // namespace

TimelineEntries::TimelineEntries(const GpuModel& model, timing::Timeline& timeline, TimeEstimates& estimates,
                                 ManagedMemory& managed, results::Collector& collector)
    : model_(model), timeline_(timeline), estimates_(estimates), managed_(managed), collector_(collector) {}

void TimelineEntries::placing(std::uint64_t work) {
  t_placing = work;
}

timing::Span TimelineEntries::copy(int device, timing::StreamId stream, timing::HostClock& host, timing::CopyPath path,
                                   timing::HostMemory memory, std::uint64_t bytes, HostPart part) {
  const timing::CopyEstimate e = timing::estimate_copy(model_, path, memory, bytes);
  using timing::CopyPath;
  bool host_link = path == CopyPath::host_to_device || path == CopyPath::device_to_host;
  collector_.add_transfer(direction_name(path),
                          !host_link                             ? "-"
                          : memory == timing::HostMemory::pinned ? "pinned"
                                                                 : "pageable",
                          bytes, e.staging_ns + e.time.alone);
  timing::CopyEngine engine = path == CopyPath::host_to_device   ? timing::CopyEngine::to_device
                              : path == CopyPath::device_to_host ? timing::CopyEngine::to_host
                              : path == CopyPath::peer           ? timing::CopyEngine::peer
                                                                 : timing::CopyEngine::none;
  // A call that waits stages nothing before its stream is idle.
  if (part == HostPart::waits && e.staging_ns > 0) timeline_.synchronize(host, stream);
  if (part != HostPart::none) timeline_.host_work(host, e.staging_ns);
  timing::Span span = timeline_.copy(stream, host, engine, e.time);
  collector_.add_to_timeline({device, stream, "copy", direction_name(path), span.begin, span.end, bytes, t_placing});
  if (part == HostPart::waits && !e.returns_early) timeline_.synchronize_time(host, span.end);
  return span;
}

timing::Span TimelineEntries::fill(timing::StreamId stream, const timing::HostClock& host, std::uint64_t address,
                                   std::uint64_t bytes) {
  estimates_.written(timeline_.device_of(stream), address, bytes);
  timing::Span span = timeline_.fill(stream, host, timing::estimate_memset_ns(model_, bytes));
  collector_.add_to_timeline(
      {timeline_.device_of(stream), stream, "memset", "memset", span.begin, span.end, bytes, t_placing});
  return span;
}

timing::Span TimelineEntries::prefetch(int device, timing::StreamId stream, const timing::HostClock& host,
                                       std::uint64_t low, std::uint64_t bytes, bool to_device) {
  const double n = static_cast<double>(bytes);
  const double moved = to_device ? managed_.to_device(low, n) : managed_.to_host(low, n);
  const timing::CopyEngine engine = to_device ? timing::CopyEngine::to_device : timing::CopyEngine::to_host;
  const timing::Span span =
      timeline_.copy(stream, host, engine, timing::estimate_prefetch(model_, static_cast<std::uint64_t>(moved)));
  collector_.add_to_timeline({device, stream, "copy", to_device ? "prefetch to the device" : "prefetch to the host",
                              span.begin, span.end, static_cast<std::uint64_t>(moved), t_placing});
  return span;
}

timing::Span TimelineEntries::library_call(int device, timing::StreamId stream, timing::HostClock& host,
                                           const LibraryCallName& name, const timing::LibraryWork& work) {
  const timing::LibraryEstimate estimate = timing::estimate_library(model_, work);
  collector_.add_library_call(device, name.function, name.arguments, name.by, estimate.ns);
  const timing::Span span =
      timeline_.kernel(stream, host, {estimate.ns, estimate.ns, estimate.ns, estimate.ns}, estimate.gpu_fraction);
  collector_.add_to_timeline({device, stream, "library call",
                              name.arguments.empty() ? name.function : name.function + " " + name.arguments, span.begin,
                              span.end, 0, t_placing});
  return span;
}

void TimelineEntries::host_row(unsigned thread, const char* kind, const std::string& name, double begin_ns,
                               double end_ns) {
  collector_.add_to_host_timeline({0, thread, kind, name, begin_ns, end_ns, 0, 0});
}

void TimelineEntries::host_row_left_out() {
  collector_.leave_out_host_row();
}

}  // namespace warpgrind::session
