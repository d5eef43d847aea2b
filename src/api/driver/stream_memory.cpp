// Stream memory operations of the driver API: waits for and writes of words in memory.
#include "driver/stream_memory.h"

#include <algorithm>

#include "semantics/stream_memory.h"

namespace warpgrind::driver {

namespace {

using Step = semantics::MemoryOperation::Step;

CUresult wait_step(CUdeviceptr address, unsigned bytes, std::uint64_t value, unsigned flags, Step& out) {
  // Needs CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, which no virtual GPU has.
  if (flags & CU_STREAM_WAIT_VALUE_FLUSH) return CUDA_ERROR_NOT_SUPPORTED;
  if (flags > CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_INVALID_VALUE;
  out = {Step::Kind::wait, static_cast<Step::Compare>(flags), bytes, reinterpret_cast<void*>(address), value};
  return CUDA_SUCCESS;
}

CUresult write_step(CUdeviceptr address, unsigned bytes, std::uint64_t value, unsigned flags, Step& out) {
  if (flags & ~static_cast<unsigned>(CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)) return CUDA_ERROR_INVALID_VALUE;
  out = {Step::Kind::write, {}, bytes, reinterpret_cast<void*>(address), value};
  return CUDA_SUCCESS;
}

CUresult step_of(const CUstreamBatchMemOpParams& p, Step& out) {
  switch (p.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait_step(p.waitValue.address, 4, p.waitValue.value, p.waitValue.flags, out);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait_step(p.waitValue.address, 8, p.waitValue.value64, p.waitValue.flags, out);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write_step(p.writeValue.address, 4, p.writeValue.value, p.writeValue.flags, out);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write_step(p.writeValue.address, 8, p.writeValue.value64, p.writeValue.flags, out);
    case CU_STREAM_MEM_OP_BARRIER:
      out = {};
      return p.memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

template <class Make>
CUresult issue(CUstream stream, Make make, const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        Step step;
        if (const CUresult error = make(step); error != CUDA_SUCCESS) return error;
        return driver_error(semantics::issue_memory_operation({{step}, nullptr}, stream));
      },
      call);
}

}  // namespace

CUresult memory_operation(const CUstreamBatchMemOpParams* parameters, unsigned count, unsigned flags,
                          semantics::MemoryOperation& out) {
  if (!parameters || count == 0 || count > kMostMemoryOperations || flags) return CUDA_ERROR_INVALID_VALUE;
  out.steps.resize(count);
  for (unsigned i = 0; i < count; i++)
    if (const CUresult error = step_of(parameters[i], out.steps[i]); error != CUDA_SUCCESS) return error;
  auto given = std::make_shared<std::vector<CUstreamBatchMemOpParams>>(parameters, parameters + count);
  out.given = std::shared_ptr<const void>(given, given->data());
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return issue(stream, [&](Step& step) { return wait_step(address, 4, value, flags, step); });
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return issue(stream, [&](Step& step) { return wait_step(address, 8, value, flags, step); });
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return issue(stream, [&](Step& step) { return write_step(address, 4, value, flags, step); });
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return issue(stream, [&](Step& step) { return write_step(address, 8, value, flags, step); });
}
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* parameters,
                               unsigned int flags) {
  return driver([&]() -> CUresult {
    semantics::MemoryOperation operation;
    if (const CUresult error = memory_operation(parameters, count, flags, operation); error != CUDA_SUCCESS)
      return error;
    return driver_error(semantics::issue_memory_operation(std::move(operation), stream));
  });
}

// ---- The forms of CUDA 8 to 11.6. They did the same, but needed a setting of NVIDIA's kernel module.
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return cuStreamWaitValue32_v2(stream, address, value, flags);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return cuStreamWaitValue64_v2(stream, address, value, flags);
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return cuStreamWriteValue32_v2(stream, address, value, flags);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return cuStreamWriteValue64_v2(stream, address, value, flags);
}
CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* parameters,
                            unsigned int flags) {
  return cuStreamBatchMemOp_v2(stream, count, parameters, flags);
}

}  // namespace warpgrind::driver
