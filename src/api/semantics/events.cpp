// Events: marks on the timeline. Elapsed times are estimated.
#include "semantics/events.h"

#include "semantics/operation.h"
#include "semantics/shared_events.h"
#include "semantics/state.h"
#include "semantics/streams.h"

namespace warpgrind::semantics {

int device_of(Event& event) {
  const std::lock_guard lock(event.mutex);
  return event.device;
}

cudaError_t record_event(cudaEvent_t event_handle, cudaStream_t handle, unsigned flags) {
  const StreamRef stream = resolve(handle);
  const EventRef event = find_event(event_handle);
  const bool external = flags == cudaEventRecordExternal;
  if (cudaError_t error = takes_calls(stream)) return error;
  if (!event) return cudaErrorInvalidResourceHandle;
  if (flags && !external) return cudaErrorInvalidValue;
  if (device_of(*event) != stream->device) return cudaErrorInvalidResourceHandle;
  if (external && !stream->capturing) return cudaErrorIllegalState;
  return submit(stream, EventOperation{event, false, external}, false);
}

// True if the record lies in the virtual past of this thread.
bool has_passed(const EventMark& mark) {
  Executor& executor = Executor::instance();
  executor.ledger().add([host = take_host_time()] { host.pay(); });
  if (!executor.settle() && !mark.work->done()) return false;
  if (mark.time_ns > session::timeline().now(*thread_state().clock)) return false;
  executor.publish_wait(mark.work);
  return true;
}

cudaError_t record_device(cudaEvent_t handle, int device) {
  const EventRef event = find_event(handle);
  if (!event || device_of(*event) != device) return cudaErrorInvalidResourceHandle;
  if (cudaError_t error = no_captures(device)) return error;
  charge_host();
  auto work = std::make_shared<Work>();
  auto mark = std::make_shared<EventMark>();
  work->device = device;
  work->what = events::StreamWork::Kind::event_record;
  mark->work = work;
  record_for_other_processes(*event, *mark, *work);
  work->place = [host = take_host_time(), mark, device] {
    host.pay();
    timing::HostClock end = *host.clock;
    session::timeline().synchronize_device(end, device);
    mark->time_ns = end.now;
  };
  Executor& executor = Executor::instance();
  executor.issue({{work, executor.pending(device)}});
  std::shared_ptr<Capture> before;  // released without the lock
  const std::lock_guard lock(event->mutex);
  event->mark = std::move(mark);
  before.swap(event->capture);
  return cudaSuccess;
}

cudaError_t wait_on_device(cudaEvent_t handle, int device) {
  const EventRef event = find_event(handle);
  if (!event) return cudaErrorInvalidResourceHandle;
  if (cudaError_t error = no_captures(device)) return error;
  if (event->captured_by()) return cudaErrorCapturedEvent;
  if (const std::uint64_t record = foreign_record(*event)) {
    auto work = std::make_shared<Work>();
    work->device = device;
    wait_for_other_process(event->shared, record, *work);
    Executor::instance().issue({{work, {}}});
    Executor::instance().hold(device, work);
    return cudaSuccess;
  }
  const auto mark = event->latest();
  if (!mark) return cudaSuccess;
  std::vector<timing::StreamId> streams{context(device).legacy->id};
  {
    HostState& r = HostState::instance();
    const std::lock_guard lock(r.mutex);
    for (const auto& [there, stream] : r.streams)
      if (stream->device == device) streams.push_back(stream->id);
  }
  Executor& executor = Executor::instance();
  executor.hold(device, mark->work);
  executor.ledger().add([streams, mark, other = device_of(*event) != device] {
    for (const timing::StreamId stream : streams) session::timeline().wait(stream, mark->time_ns, other);
  });
  return cudaSuccess;
}

cudaError_t create_event(cudaEvent_t* out, unsigned flags) {
  constexpr unsigned kAll = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (!out || (flags & ~kAll)) return cudaErrorInvalidValue;
  if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)) return cudaErrorInvalidValue;
  if (!(flags & cudaEventInterprocess)) return adopt_event(out, flags, nullptr);
  std::shared_ptr<SharedEvent> shared = SharedEvent::create();
  if (!shared) return refuse(cudaErrorMemoryAllocation, "the host has no memory left for an interprocess event");
  return adopt_event(out, flags, std::move(shared));
}

cudaError_t adopt_event(cudaEvent_t* out, unsigned flags, std::shared_ptr<SharedEvent> shared) {
  auto event = std::make_shared<Event>();
  event->device = thread_state().device;
  event->flags = flags;
  event->shared = std::move(shared);
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  *out = event.get();
  session::handles().made("event", reinterpret_cast<std::uint64_t>(event.get()));
  r.events.emplace(event.get(), std::move(event));
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  if (r.events.erase(event) == 0) {
    thread_state().refused_handle = reinterpret_cast<std::uint64_t>(event);
    return cudaErrorInvalidResourceHandle;
  }
  session::handles().destroyed(reinterpret_cast<std::uint64_t>(event));
  return cudaSuccess;
}

cudaError_t query_event(cudaEvent_t handle) {
  const EventRef event = find_event(handle);
  if (!event) return cudaErrorInvalidResourceHandle;
  if (event->captured_by()) return cudaErrorCapturedEvent;
  if (cudaError_t error = forbidden_by_captures()) return error;
  charge_host();  // time passes, so that a polling program sees the end
  if (const std::uint64_t record = foreign_record(*event))
    return event->shared->has_ended(record) ? show_fault(device_of(*event)) : cudaErrorNotReady;
  const auto mark = event->latest();
  if (!mark) return cudaSuccess;
  if (!has_passed(*mark)) return cudaErrorNotReady;
  return show_fault(device_of(*event));
}

cudaError_t synchronize_event(cudaEvent_t handle) {
  const EventRef event = find_event(handle);
  if (!event) return cudaErrorInvalidResourceHandle;
  if (event->captured_by()) return cudaErrorCapturedEvent;
  if (cudaError_t error = forbidden_by_captures()) return error;
  if (const std::uint64_t record = foreign_record(*event)) {
    event->shared->wait(record, [] { return Executor::instance().ends(); });
    return show_fault(device_of(*event));
  }
  return synchronize(event->latest(), device_of(*event));
}

cudaError_t elapsed_time(float* milliseconds, cudaEvent_t start_handle, cudaEvent_t end_handle) {
  if (!milliseconds) return cudaErrorInvalidValue;
  const EventRef start = find_event(start_handle), end = find_event(end_handle);
  if (!start || !end) return cudaErrorInvalidResourceHandle;
  if ((start->flags | end->flags) & cudaEventDisableTiming) return cudaErrorInvalidResourceHandle;
  const auto from = start->latest(), to = end->latest();
  if (!from || !to) return cudaErrorInvalidResourceHandle;
  if (!has_passed(*from) || !has_passed(*to)) return cudaErrorNotReady;
  *milliseconds = static_cast<float>((to->time_ns - from->time_ns) / 1e6);
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
