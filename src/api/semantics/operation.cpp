// Work for the executor from operations of all kinds, and their issue or capture.
#include "semantics/operation.h"

#include "base/assert.h"
#include "semantics/graph.h"
#include "semantics/shared_events.h"
#include "semantics/streams.h"

namespace warpgrind::semantics {

std::vector<void*> KernelOperation::pointers() {
  std::vector<void*> out;
  out.reserve(entry->parameters.size() + 1);
  for (const jit::ParameterLayout& p : entry->parameters) {
    WG_ASSERT(p.offset + p.size <= parameters.bytes.size());
    out.push_back(parameters.bytes.data() + p.offset);
  }
  return out;
}

namespace {

cudaError_t make(KernelOperation& op, const Target& target, bool, WorkPtr& out) {
  return make_work(op, target, out);
}
cudaError_t make(CopyOperation& op, const Target& target, bool host_blocks, WorkPtr& out) {
  return make_work(op, target, host_blocks, out);
}
cudaError_t make(FillOperation& op, const Target& target, bool host_blocks, WorkPtr& out) {
  return make_work(op, target, host_blocks, out);
}
cudaError_t make(HostOperation& op, const Target& target, bool, WorkPtr& out) {
  out = std::make_shared<Work>();
  out->kind = Work::Kind::host_function;
  out->what = events::StreamWork::Kind::host_function;
  out->run = [op, device = target.device, handle = target.handle] {
    if (session::devices().in_use(device)) session::devices()[device].flush_output();
    const cudaError_t error = context(device).fault;
    if (op.callback)
      op.callback(handle, error, op.data);
    else if (op.function && error == cudaSuccess)
      op.function(op.data);
  };
  out->place = [target] {
    target.host.pay();
    session::timeline().work(target.stream, *target.host.clock, timing::kHostCallNs);
  };
  return cudaSuccess;
}
cudaError_t make(LibraryOperation& op, const Target& target, bool host_blocks, WorkPtr& out) {
  return make_work(op, target, host_blocks, out);
}
cudaError_t make(MemoryOperation& op, const Target& target, bool, WorkPtr& out) {
  return make_work(op, target, out);
}
// Creates the work of a record. Waits see it when set_latest() has been called.
std::shared_ptr<EventMark> make_record(Event& event, const Target& target, WorkPtr& out) {
  out = std::make_shared<Work>();
  out->what = events::StreamWork::Kind::event_record;
  auto mark = std::make_shared<EventMark>();
  mark->work = out;
  out->place = [target, mark] {
    target.host.pay();
    const double takes = session::model().timing.event_pair_ns;
    mark->time_ns = session::timeline().work(target.stream, *target.host.clock, takes).end;
  };
  record_for_other_processes(event, *mark, *out);
  return mark;
}
void set_latest(Event& event, std::shared_ptr<EventMark> mark, int device) {
  std::shared_ptr<Capture> before;  // may hold the last reference to a graph: released without the lock
  const std::lock_guard lock(event.mutex);
  event.mark = std::move(mark);
  event.device = device;
  before.swap(event.capture);
}
cudaError_t make(EventOperation& op, const Target& target, bool, WorkPtr& out) {
  if (!find_event(op.event.get()))
    return cudaErrorInvalidResourceHandle;  // destroyed after it became a node of a graph
  if (!op.wait) {
    set_latest(*op.event, make_record(*op.event, target, out), target.device);
    return cudaSuccess;
  }
  out = std::make_shared<Work>();
  out->what = events::StreamWork::Kind::event_wait;
  if (const std::uint64_t record = foreign_record(*op.event)) {
    out->device = target.device;
    wait_for_other_process(op.event->shared, record, *out);
    out->place = [target] { target.host.pay(); };
    return cudaSuccess;
  }
  int of = 0;
  {
    const std::lock_guard lock(op.event->mutex);
    of = op.event->device;
  }
  out->place = [target, mark = op.event->latest(), other = of != target.device] {
    target.host.pay();
    if (mark) session::timeline().wait(target.stream, mark->time_ns, other);
  };
  return cudaSuccess;
}
// The memory of an alloc node is allocated with the node and freed with the graph, so that the graph can be launched
// again. Child graphs are issued by GraphLaunch (graph.cpp).
void describe_work(const AllocOperation& op, Work& work) {
  work.what = events::StreamWork::Kind::allocation;
  work.memory = reinterpret_cast<std::uint64_t>(op.pointer);
}
void describe_work(const FreeOperation& op, Work& work) {
  work.what = events::StreamWork::Kind::deallocation;
  work.memory = reinterpret_cast<std::uint64_t>(op.pointer);
}
template <class Other>
void describe_work(const Other&, Work&) {}

template <class Nothing>
cudaError_t make(Nothing& op, const Target& target, bool, WorkPtr& out) {
  out = std::make_shared<Work>();
  describe_work(op, *out);
  out->place = [target] { target.host.pay(); };
  return cudaSuccess;
}

}  // namespace

cudaError_t make_work(Operation& operation, const Target& target, bool host_blocks, WorkPtr& out) {
  return std::visit([&](auto& op) { return make(op, target, host_blocks, out); }, operation);
}

std::optional<cudaError_t> try_capture(Stream& stream, Operation& operation, bool host_blocks) {
  if (cudaError_t error = implicit_dependency(stream)) return error;
  if (!stream.capturing) return std::nullopt;
  const GraphsLock lock;
  if (!stream.capture) return std::nullopt;
  if (!host_blocks) return capture_operation(stream, std::move(operation));
  stream.capture->invalidated = true;
  return cudaErrorStreamCaptureUnsupported;
}

Target target_of(Stream& stream) {
  return {stream.device, stream.id, take_host_time(), &stream, nullptr};
}

void issue(const StreamRef& stream, const WorkPtr& work, const std::vector<WorkPtr>& others) {
  WG_ASSERT(stream && work && work->place);
  work->place = [stream, place = std::move(work->place)] { place(); };  // the stream lives until then
  Executor::instance().issue(*stream, work, others);
}

namespace {

// Another thread's wait sees the record only once the record stands in its stream. Otherwise that wait could come to
// stand before it in the same stream, and each would wait for the other.
cudaError_t record(const StreamRef& stream, const EventOperation& op) {
  charge_host();
  if (!find_event(op.event.get())) return cudaErrorInvalidResourceHandle;
  WorkPtr work;
  std::shared_ptr<EventMark> mark = make_record(*op.event, target_of(*stream), work);
  issue(stream, work, {});
  set_latest(*op.event, std::move(mark), stream->device);
  return cudaSuccess;
}

}  // namespace

cudaError_t submit(const StreamRef& stream, Operation operation, bool host_blocks) {
  WG_ASSERT(!std::holds_alternative<KernelOperation>(operation));
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (const auto captured = try_capture(*stream, operation, host_blocks)) return *captured;
  const auto* event = std::get_if<EventOperation>(&operation);
  if (event && !event->wait) return record(stream, *event);
  bool waits = host_blocks;
  if (auto* copy = std::get_if<CopyOperation>(&operation)) {
    waits = waits || waits_for_host_memory(*copy);
    // cudaMemcpyPeer waits for all work of both devices.
    if (copy->peer && host_blocks)
      for (const CopySide* side : {&copy->from, &copy->to})
        if (const Place place = place_of(side->pointer); place.memory == Memory::device)
          Executor::instance().wait_device(place.device);
  }
  std::vector<WorkPtr> others;
  if (event && !foreign_record(*event->event))
    if (auto mark = event->event->latest()) others.push_back(mark->work);
  if (!event) charge_host();
  WorkPtr work;
  if (cudaError_t error = make_work(operation, target_of(*stream), host_blocks, work)) return error;
  issue(stream, work, others);
  if (!waits) return cudaSuccess;
  Executor::instance().wait(work);
  note_wait();
  if (session::devices().in_use(stream->device)) session::devices()[stream->device].flush_output();
  return show_fault(stream->device);
}

}  // namespace warpgrind::semantics
