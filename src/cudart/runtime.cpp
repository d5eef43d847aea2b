#include "cudart/runtime.h"

#include <fmt/core.h>

#include "base/assert.h"

namespace warpgrind::cudart {

Runtime& Runtime::instance() {
  static auto* runtime = new Runtime;  // never destroyed, as the session
  return *runtime;
}

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

Context& context(int device) {
  Runtime& r = Runtime::instance();
  std::lock_guard lock(r.mutex);
  if (r.contexts.empty()) {
    int count = the_session().device_count();
    for (int i = 0; i < count; i++) {
      auto c = std::make_unique<Context>();
      c->legacy.device = i;
      c->legacy.id = timing::Timeline::legacy_default(i);
      c->pool.device = i;
      r.pools.insert(&c->pool);
      r.contexts.push_back(std::move(c));
    }
  }
  WG_ASSERT(static_cast<std::size_t>(device) < r.contexts.size());
  return *r.contexts[static_cast<std::size_t>(device)];
}

cudaError_t sticky_error() {
  return context(thread_state().device).sticky;
}

Stream* resolve(cudaStream_t handle, bool per_thread) {
  ThreadState& thread = thread_state();
  if (handle == nullptr && (per_thread || thread.null_stream_is_own)) handle = kStreamPerThread;
  if (handle == nullptr || handle == kStreamLegacy) return &context(thread.device).legacy;
  Runtime& r = Runtime::instance();
  if (handle == kStreamPerThread) {
    Stream*& own = thread.per_thread_streams[thread.device];
    if (!own) {
      own = new Stream;  // the timeline's end of it outlives the thread
      own->device = thread.device;
      own->id = the_session().timeline().add_stream(thread.device, timing::StreamKind::blocking);
      own->unique_id = r.next_id++;
    }
    return own;
  }
  std::lock_guard lock(r.mutex);
  return r.streams.count(handle) ? handle : nullptr;
}

bool is_event(const Event* event) {
  Runtime& r = Runtime::instance();
  std::lock_guard lock(r.mutex);
  return r.events.count(event) != 0;
}

KernelHandle* find_kernel(const void* function) {
  Runtime& r = Runtime::instance();
  std::lock_guard lock(r.mutex);
  if (auto found = r.kernels.find(function); found != r.kernels.end()) return found->second.get();
  auto* handle = static_cast<const KernelHandle*>(function);
  return r.kernel_handles.count(handle) ? const_cast<KernelHandle*>(handle) : nullptr;
}

const Variable* find_variable(const void* symbol) {
  Runtime& r = Runtime::instance();
  std::lock_guard lock(r.mutex);
  auto found = r.variables.find(symbol);
  return found == r.variables.end() ? nullptr : &found->second;
}

cudaError_t locate(const Variable& variable, int device, DeviceVariable& out) {
  device::Device& gpu = the_session().device(device);
  auto module = variable.program->loaded(gpu);
  if (!module) {
    the_session().problem(module.error());
    return error_of(module.error());
  }
  auto allocation = gpu.variable(*module, variable.name);
  if (!allocation) return cudaErrorInvalidSymbol;
  out.address = reinterpret_cast<void*>(allocation->address);
  out.size = variable.size ? variable.size : allocation->size;
  return cudaSuccess;
}

cudaError_t resolve_function(KernelHandle& kernel, std::uint32_t& function) {
  auto module = kernel.program->module();
  if (!module) {
    the_session().problem(module.error());
    return error_of(module.error());
  }
  auto index = kernel.program->function(kernel.name);
  if (!index) return cudaErrorInvalidDeviceFunction;
  function = *index;
  return cudaSuccess;
}

cudaError_t error_of(const device::Fault& fault) {
  using device::FaultKind;
  switch (fault.kind) {
    case FaultKind::illegal_address:
    case FaultKind::shared_out_of_bounds:
    case FaultKind::local_out_of_bounds:
    case FaultKind::write_to_constant:
    case FaultKind::invalid_texture:
      return cudaErrorIllegalAddress;
    case FaultKind::misaligned_address:
      return cudaErrorMisalignedAddress;
    case FaultKind::stack_overflow:
      return cudaErrorHardwareStackError;
    case FaultKind::assertion:
      return cudaErrorAssert;
    case FaultKind::illegal_instruction:
    case FaultKind::unsupported:
      return cudaErrorIllegalInstruction;
    case FaultKind::invalid_pc:
      return cudaErrorInvalidPc;
    case FaultKind::timeout:
    case FaultKind::interrupted:
      return cudaErrorLaunchTimeout;
    case FaultKind::out_of_resources:
      return cudaErrorLaunchOutOfResources;
    case FaultKind::trap:
    case FaultKind::deadlock:
    case FaultKind::barrier_mismatch:
    case FaultKind::warp_mismatch:
    case FaultKind::out_of_heap:
      return cudaErrorLaunchFailure;
  }
  return cudaErrorLaunchFailure;
}

cudaError_t error_of(const Error& error) {
  already_said(cudaSuccess);  // whoever has an Error says it: Session::problem
  switch (error.kind) {
    case ErrorKind::bad_input:
      return error.message.find("no PTX") != std::string::npos ? cudaErrorNoKernelImageForDevice : cudaErrorInvalidPtx;
    case ErrorKind::unsupported:
      return cudaErrorNotSupported;
    case ErrorKind::environment:
      return cudaErrorMemoryAllocation;
  }
  return cudaErrorUnknown;
}

cudaError_t not_supported(const char* what) {
  the_session().say_once(fmt::format("{} is not supported: cudaErrorNotSupported is returned", what));
  return already_said(cudaErrorNotSupported);
}

cudaError_t unsupported_call(const char* name) {
  return api([&] { return not_supported(name); });
}

void synchronize(Stream& stream) {
  session::Session& s = the_session();
  if (s.device_in_use(stream.device)) s.device(stream.device).flush_output();
  s.timeline().host_work(kHostCallNs);
  s.timeline().synchronize(stream.id);
}

void synchronize_device(int device) {
  session::Session& s = the_session();
  if (s.device_in_use(device)) s.device(device).flush_output();
  s.timeline().host_work(kHostCallNs);
  s.timeline().synchronize_device(device);
}

}  // namespace warpgrind::cudart
