#include "cudart/operation.h"

#include "cudart/graph.h"
#include "cudart/runtime.h"

namespace warpgrind::cudart {

std::vector<void*> KernelOperation::pointers() {
  std::vector<void*> out;
  out.reserve(offsets.size() + 1);
  for (std::size_t offset : offsets) out.push_back(parameters.data() + offset);
  return out;
}

namespace {

cudaError_t run(KernelOperation& op, Stream& stream, bool) {
  return perform(op, stream);
}
cudaError_t run(CopyOperation& op, Stream& stream, bool host_blocks) {
  return perform(op, stream, host_blocks);
}
cudaError_t run(FillOperation& op, Stream& stream, bool host_blocks) {
  return perform(op, stream, host_blocks);
}
cudaError_t run(HostOperation& op, Stream& stream, bool) {
  if (the_session().device_in_use(stream.device)) the_session().device(stream.device).flush_output();
  the_session().timeline().work(stream.id, kHostCallNs);
  if (op.callback) {
    op.callback(&stream, cudaSuccess, op.data);
  } else if (op.function) {
    op.function(op.data);
  }
  return cudaSuccess;
}
cudaError_t run(EventOperation& op, Stream& stream, bool) {
  if (!is_event(op.event)) return cudaErrorInvalidResourceHandle;  // destroyed after it became a node of a graph
  timing::Timeline& time = the_session().timeline();
  if (op.wait) {
    if (op.event->recorded) time.wait(stream.id, op.event->time_ns);
    return cudaSuccess;
  }
  time.host_work(kHostCallNs);
  op.event->time_ns = time.work(stream.id, 0).end;
  op.event->recorded = true;
  op.event->device = stream.device;
  op.event->capture.reset();
  return cudaSuccess;
}
cudaError_t run(EmptyOperation&, Stream&, bool) {
  return cudaSuccess;
}
cudaError_t run(ChildGraphOperation& op, Stream& stream, bool) {
  return launch_nodes(*op.graph, stream);
}
cudaError_t run(AllocOperation&, Stream&, bool) {
  return cudaSuccess;  // the memory is there since the node was made
}
cudaError_t run(FreeOperation&, Stream&, bool) {
  return cudaSuccess;  // given back with the graph, so that it can be launched again
}

}  // namespace

cudaError_t execute(Operation& operation, Stream& stream, bool host_blocks) {
  return std::visit([&](auto& op) { return run(op, stream, host_blocks); }, operation);
}

cudaError_t submit(Stream* stream, Operation operation, bool host_blocks) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (stream->capture) {
    if (host_blocks) {
      stream->capture->invalidated = true;
      return cudaErrorStreamCaptureUnsupported;
    }
    return capture_operation(*stream, std::move(operation));
  }
  return execute(operation, *stream, host_blocks);
}

}  // namespace warpgrind::cudart
