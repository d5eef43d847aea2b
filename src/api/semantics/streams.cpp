// Streams, callbacks, and stream capture.
#include "semantics/streams.h"

#include <algorithm>
#include <atomic>

#include "base/assert.h"
#include "semantics/graph.h"
#include "semantics/operation.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

cudaError_t create_stream(cudaStream_t* out, unsigned flags, int priority) {
  if (!out || (flags & ~cudaStreamNonBlocking)) return cudaErrorInvalidValue;
  // The timeline stream is removed with the last reference: code that still uses the destroyed stream needs it.
  const StreamRef stream(new Stream, [](Stream* s) {
    Executor::instance().ledger().add([id = s->id] { session::timeline().remove_stream(id); });
    delete s;
  });
  stream->device = thread_state().device;
  stream->flags = flags;
  stream->priority = std::clamp(priority, kGreatestPriority, 0);
  stream->kind = flags & cudaStreamNonBlocking ? timing::StreamKind::non_blocking : timing::StreamKind::blocking;
  stream->id = session::timeline().add_stream(stream->device, stream->kind);
  HostState& r = HostState::instance();
  stream->unique_id = r.next_id++;
  std::lock_guard lock(r.mutex);
  *out = stream.get();
  r.streams.emplace(stream.get(), stream);
  session::handles().made("stream", reinterpret_cast<std::uint64_t>(stream.get()));
  return cudaSuccess;
}
namespace {

// Captures in progress. The count can be read without a lock; GraphsLock guards the list.
std::atomic<std::size_t> g_capture_count{0};
std::vector<std::weak_ptr<Capture>>& captures() {
  static auto* list = new std::vector<std::weak_ptr<Capture>>;
  return *list;
}
void add_capture(const std::shared_ptr<Capture>& capture) {
  WG_ASSERT(thread_state().graphs_locks > 0);
  captures().push_back(capture);
  g_capture_count = captures().size();
}
void remove_capture(const Capture& capture) {
  WG_ASSERT(thread_state().graphs_locks > 0);
  std::erase_if(captures(), [&](const std::weak_ptr<Capture>& c) {
    const auto there = c.lock();
    return !there || there.get() == &capture;
  });
  g_capture_count = captures().size();
}

// Called when a stream is destroyed. A stream that joined a capture stays a member, so that the end of the capture can
// check that its work was joined. GPUs do this too: NVIDIA's sample graphMemoryNodes destroys a member before the end.
// Without its origin stream, a capture cannot be ended.
void leave_capture(const StreamRef& stream) {
  const GraphsLock lock;
  if (!stream->capture || stream->capture->origin != stream.get()) return;
  Capture& capture = *stream->capture;
  capture.invalidated = true;
  std::erase(capture.members, stream);
  capture.origin = nullptr;
  remove_capture(capture);
  stream->end_capture();  // the last reference deletes the unfinished graph
}

}  // namespace

// Returns at once; the work in the stream goes on.
cudaError_t destroy_stream(cudaStream_t handle) {
  HostState& r = HostState::instance();
  StreamRef stream;
  {
    std::lock_guard lock(r.mutex);
    auto found = r.streams.find(handle);
    if (found == r.streams.end()) {
      thread_state().refused_handle = reinterpret_cast<std::uint64_t>(handle);
      return cudaErrorInvalidResourceHandle;
    }
    session::handles().destroyed(reinterpret_cast<std::uint64_t>(handle));
    stream = std::move(found->second);
    r.streams.erase(found);
  }
  leave_capture(stream);
  return cudaSuccess;
}

cudaError_t takes_calls(const StreamRef& stream) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (cudaError_t error = implicit_dependency(*stream)) return error;
  if (!stream->capturing) return cudaSuccess;
  const GraphsLock lock;
  return stream->capture && stream->capture->invalidated ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}

// Check for calls that are not allowed on a capturing stream.
cudaError_t usable(const StreamRef& stream) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (cudaError_t error = implicit_dependency(*stream)) return error;
  if (!stream->capturing) return cudaSuccess;
  const GraphsLock lock;
  if (!stream->capture) return cudaSuccess;
  stream->capture->invalidated = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t synchronize_stream(cudaStream_t handle) {
  const StreamRef stream = resolve(handle);
  if (cudaError_t error = usable(stream)) return error;
  if (cudaError_t error = forbidden_by_captures()) return error;
  return synchronize(*stream);
}

cudaError_t query_stream(cudaStream_t handle) {
  const StreamRef stream = resolve(handle);
  if (cudaError_t error = usable(stream)) return error;
  if (cudaError_t error = forbidden_by_captures()) return error;
  // A query takes host time; otherwise a polling program would never see the end.
  charge_host();
  timing::Timeline& time = session::timeline();
  Executor& executor = Executor::instance();
  executor.ledger().add([host = take_host_time()] { host.pay(); });
  if (!executor.settle() && !executor.ended(*stream)) return cudaErrorNotReady;
  if (!time.finished(*thread_state().clock, stream->id)) return cudaErrorNotReady;
  executor.publish_wait(*stream);
  if (session::devices().in_use(stream->device)) session::devices()[stream->device].flush_output();
  return show_fault(stream->device);
}

int priority_of(Stream& stream) {
  const std::lock_guard lock(stream.mutex);
  return stream.priority;
}

cudaError_t implicit_dependency(const Stream& stream, bool invalidates) {
  if (stream.kind != timing::StreamKind::legacy_default || g_capture_count.load(std::memory_order_relaxed) == 0)
    return cudaSuccess;
  const GraphsLock lock;
  cudaError_t error = cudaSuccess;
  for (const std::weak_ptr<Capture>& one : captures()) {
    const std::shared_ptr<Capture> capture = one.lock();
    if (!capture) continue;
    const bool depends = std::any_of(capture->members.begin(), capture->members.end(), [&](const StreamRef& member) {
      return member->kind == timing::StreamKind::blocking && member->device == stream.device;
    });
    if (!depends) continue;
    if (invalidates) capture->invalidated = true;
    error = refuse(cudaErrorStreamCaptureImplicit,
                   "the legacy default stream waits for a blocking stream that is being captured");
  }
  return error;
}

cudaError_t forbidden_by_captures() {
  const cudaStreamCaptureMode mine = thread_state().capture_mode;
  if (mine == cudaStreamCaptureModeRelaxed || g_capture_count.load(std::memory_order_relaxed) == 0) return cudaSuccess;
  const GraphsLock lock;
  cudaError_t error = cudaSuccess;
  for (const std::weak_ptr<Capture>& one : captures()) {
    const std::shared_ptr<Capture> capture = one.lock();
    if (!capture || capture->mode == cudaStreamCaptureModeRelaxed) continue;
    const bool of_all = capture->mode == cudaStreamCaptureModeGlobal && mine != cudaStreamCaptureModeThreadLocal;
    if (!of_all && capture->begun_by != std::this_thread::get_id()) continue;
    capture->invalidated = true;
    error = refuse(cudaErrorStreamCaptureUnsupported, "a stream is being captured, and the call may wait for its work");
  }
  return error;
}

cudaError_t no_captures(int device) {
  const GraphsLock lock;
  cudaError_t error = cudaSuccess;
  for (const std::weak_ptr<Capture>& one : captures()) {
    const std::shared_ptr<Capture> capture = one.lock();
    const auto here = [&](const StreamRef& member) { return member->device == device; };
    if (!capture || std::none_of(capture->members.begin(), capture->members.end(), here)) continue;
    capture->invalidated = true;
    error = cudaErrorStreamCaptureUnsupported;
  }
  return error;
}

cudaError_t is_capturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const StreamRef stream = resolve(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  return capture_info(handle, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t wait_event(cudaStream_t handle, cudaEvent_t event_handle, unsigned flags) {
  const StreamRef stream = resolve(handle);
  const EventRef event = find_event(event_handle);
  const bool external = flags == cudaEventWaitExternal;
  if (stream)
    if (cudaError_t error = takes_calls(stream)) return error;
  if (flags && !external) return cudaErrorInvalidValue;
  if (!stream || !event) return cudaErrorInvalidResourceHandle;
  if (external && !stream->capturing) return cudaErrorIllegalState;
  if (external) return submit(stream, EventOperation{event, true, true}, false);
  // A wait for an event of a capture adds this stream to the capture.
  if (auto capture = event->captured_by()) {
    const GraphsLock lock;
    if (capture->ended) return cudaErrorCapturedEvent;
    if (!stream->capture && !capture->invalidated) {
      stream->begin_capture(capture, event->tail_of(*capture));
      capture->members.push_back(stream);
      return cudaSuccess;
    }
  }
  return submit(stream, EventOperation{event, true}, false);
}

// ---- Capture

cudaError_t begin_capture(cudaStream_t handle, Graph* into, const cudaGraphNode_t* dependencies, std::size_t count,
                          cudaStreamCaptureMode mode) {
  const StreamRef stream = resolve(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (mode < 0 || mode > 2) return cudaErrorInvalidValue;
  if (cudaError_t error = implicit_dependency(*stream)) return error;
  if (stream->id == timing::Timeline::legacy_default(stream->device)) return cudaErrorStreamCaptureUnsupported;
  const GraphsLock lock;
  if (stream->capture) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  HostState& r = HostState::instance();
  capture->id = r.next_id++;
  capture->origin = stream.get();
  capture->mode = mode;
  capture->begun_by = std::this_thread::get_id();
  capture->members = {stream};
  for (std::size_t i = 0; i < count; i++)
    if (!dependencies || !is_node(dependencies[i]) || dependencies[i]->graph != into) return cudaErrorInvalidValue;
  if (into) {
    capture->graph = into;
  } else {
    capture->own_graph = std::make_unique<Graph>();
    capture->graph = capture->own_graph.get();
    capture->graph->id = r.next_id++;
  }
  add_capture(capture);
  stream->begin_capture(capture, {dependencies, dependencies + count});
  return cudaSuccess;
}
namespace {

// True if the origin's last nodes come after the last nodes of every stream that joined.
bool joined(const Capture& capture) {
  WG_ASSERT(capture.origin);  // leave_capture() has invalidated captures without one
  std::vector<const GraphNode*> work(capture.origin->capture_tail.begin(), capture.origin->capture_tail.end());
  std::set<const GraphNode*> before(work.begin(), work.end());
  while (!work.empty()) {
    const GraphNode* node = work.back();
    work.pop_back();
    if (!is_node(node)) continue;  // destroyed meanwhile
    for (const GraphNode* d : node->dependencies)
      if (before.insert(d).second) work.push_back(d);
  }
  for (const StreamRef& member : capture.members)
    for (const GraphNode* tail : member->capture_tail)
      if (!before.count(tail)) return false;
  return true;
}

}  // namespace

// out: null if the program does not want the graph, as after cudaStreamBeginCaptureToGraph. An H200 takes it always.
cudaError_t end_capture(cudaStream_t handle, cudaGraph_t* out) {
  const StreamRef stream = resolve(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (cudaError_t error = implicit_dependency(*stream)) return error;
  const GraphsLock lock;
  if (!stream->capture) return cudaErrorIllegalState;
  std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin && capture->origin != stream.get()) {
    capture->invalidated = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->begun_by != std::this_thread::get_id())
    return cudaErrorStreamCaptureWrongThread;
  WG_ASSERT(!capture->ended && capture->graph);
  bool good = !capture->invalidated, whole = good && joined(*capture);
  for (const StreamRef& member : capture->members) member->end_capture();
  capture->members.clear();
  capture->ended = true;
  remove_capture(*capture);
  if (out) *out = nullptr;
  if (!good || !whole) return good ? cudaErrorStreamCaptureUnjoined : cudaErrorStreamCaptureInvalidated;
  if (out) *out = capture->graph;
  if (out && capture->own_graph) {
    HostState& r = HostState::instance();
    std::lock_guard lock(r.mutex);
    session::handles().made("graph", reinterpret_cast<std::uint64_t>(capture->own_graph.get()));
    r.graphs.insert(capture->own_graph.release());
  }
  return cudaSuccess;
}

cudaError_t capture_info(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id,
                         cudaGraph_t* graph, const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                         std::size_t* count) {
  const StreamRef stream = resolve(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (!status) return cudaErrorInvalidValue;
  if (cudaError_t error = implicit_dependency(*stream, false)) return error;
  *status = cudaStreamCaptureStatusNone;
  if (edges) *edges = nullptr;
  const GraphsLock lock;
  if (!stream->capture) return cudaSuccess;
  const Capture& capture = *stream->capture;
  *status = capture.invalidated ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  if (id) *id = capture.id;
  if (graph) *graph = capture.graph;
  if (dependencies) *dependencies = stream->capture_tail.data();
  if (edges) {
    stream->tail_edges.assign(stream->capture_tail.size(), cudaGraphEdgeData{});
    *edges = stream->tail_edges.data();
  }
  if (count) *count = stream->capture_tail.size();
  return cudaSuccess;
}

cudaError_t update_capture(cudaStream_t handle, cudaGraphNode_t* nodes, std::size_t count, unsigned flags) {
  const StreamRef stream = resolve(handle);
  const GraphsLock lock;
  if (!stream || !stream->capture) return cudaErrorIllegalState;
  if (flags > 1 || (count && !nodes)) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; i++)
    if (!is_node(nodes[i]) || nodes[i]->graph != stream->capture->graph) return cudaErrorInvalidValue;
  if (flags == 1) stream->capture_tail.clear();
  stream->capture_tail.insert(stream->capture_tail.end(), nodes, nodes + count);
  return cudaSuccess;
}

cudaError_t device_get_stream_priority_range(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = kGreatestPriority;
  return cudaSuccess;
}

cudaError_t launch_host_function(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (!function) return cudaErrorInvalidValue;
  return submit(resolve(stream), HostOperation{function, nullptr, data}, false);
}

cudaError_t stream_add_callback(cudaStream_t handle, cudaStreamCallback_t callback, void* data, unsigned flags) {
  if (!callback || flags) return cudaErrorInvalidValue;
  const StreamRef stream = resolve(handle);
  if (cudaError_t error = usable(stream)) return error;
  return submit(stream, HostOperation{nullptr, callback, data}, false);
}

namespace {

bool of_streams(cudaLaunchAttributeID id) {
  return id == cudaStreamAttributeAccessPolicyWindow || id == cudaStreamAttributeSynchronizationPolicy ||
         id == cudaStreamAttributePriority || id == cudaStreamAttributeMemSyncDomainMap ||
         id == cudaStreamAttributeMemSyncDomain;
}

}  // namespace

cudaError_t stream_set_attribute(cudaStream_t handle, cudaLaunchAttributeID id, const cudaLaunchAttributeValue* value) {
  const StreamRef stream = resolve(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (!value || !of_streams(id)) return cudaErrorInvalidValue;
  const std::lock_guard lock(stream->mutex);
  stream->attributes[id] = *value;
  if (id == cudaLaunchAttributePriority) stream->priority = value->priority;
  return cudaSuccess;
}

cudaError_t stream_get_attribute(cudaStream_t handle, cudaLaunchAttributeID id, cudaLaunchAttributeValue* value) {
  const StreamRef stream = resolve(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (!value || !of_streams(id)) return cudaErrorInvalidValue;
  const std::lock_guard lock(stream->mutex);
  *value = stream->attributes[id];
  if (id == cudaLaunchAttributePriority) value->priority = stream->priority;
  return cudaSuccess;
}

cudaError_t stream_copy_attributes(cudaStream_t to, cudaStream_t from) {
  const StreamRef a = resolve(to), b = resolve(from);
  if (!a || !b) return cudaErrorInvalidResourceHandle;
  for (const StreamRef& stream : {a, b})
    if (cudaError_t error = takes_calls(stream)) return error;
  if (a == b) return cudaSuccess;
  const std::scoped_lock lock(a->mutex, b->mutex);
  std::copy(std::begin(b->attributes), std::end(b->attributes), a->attributes);
  return cudaSuccess;
}

cudaError_t stream_begin_capture_to_graph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* nodes,
                                          std::size_t count, cudaStreamCaptureMode mode) {
  const GraphsLock lock;
  if (!is_graph(graph)) return cudaErrorInvalidValue;
  return begin_capture(stream, graph, nodes, count, mode);
}

cudaError_t thread_exchange_stream_capture_mode(cudaStreamCaptureMode* mode) {
  if (!mode) return cudaErrorInvalidValue;  // an invalid mode is accepted, and as strict as the global one
  std::swap(*mode, thread_state().capture_mode);
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
