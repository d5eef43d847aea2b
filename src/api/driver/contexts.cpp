// Primary contexts, and contexts that the program creates.
#include "base/assert.h"
#include "driver/addresses.h"
#include "driver/driver.h"
#include "semantics/devices.h"
#include "semantics/streams.h"

namespace warpgrind::driver {

namespace {

constexpr unsigned kApiVersion = 3020;  // of contexts; the manual: "e.g. 3010 or 3020"

// At most one scheduling flag, and no bits that cuda.h does not define.
bool valid_flags(unsigned flags) {
  const unsigned wait = flags & CU_CTX_SCHED_MASK;
  return !(flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) && (wait & (wait - 1)) == 0;
}

// Context of a handle. A null handle means the calling thread's current context.
CUresult context_of(CUcontext handle, Context*& out) {
  out = handle ? handle : current_context();
  if (!out) return CUDA_ERROR_INVALID_CONTEXT;
  return check(out);
}

// Answers a query about the current context. Works even if that context is destroyed.
template <class Value, class Question>
CUresult of_current(Value* out, Question question, const char* call = __builtin_FUNCTION()) {
  return driver_without_context(
      [&]() -> CUresult {
        if (!out) return CUDA_ERROR_INVALID_VALUE;
        const Context* const current = current_context();
        if (!current) return CUDA_ERROR_INVALID_CONTEXT;
        *out = question(*current);
        return CUDA_SUCCESS;
      },
      call);
}

CUresult create(CUcontext* out, unsigned flags, CUdevice device, const char* call = __builtin_FUNCTION()) {
  return driver_without_context(
      [&]() -> CUresult {
        if (!out) return CUDA_ERROR_INVALID_VALUE;
        if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
        if (!valid_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
        Context& made = create_context(device, flags);
        push_context(made);
        *out = &made;
        return CUDA_SUCCESS;
      },
      call);
}

CUresult destroy(CUcontext context) {
  if (const CUresult error = check(context); error != CUDA_SUCCESS) return error;
  if (context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  free_memory_of(*context);
  if (current_context() == context) pop_context();
  context->alive = false;
  context->flags = 0;
  return CUDA_SUCCESS;
}

// After the last release of a primary context: frees its memory, unless the runtime uses the device.
void let_go(Context& primary) {
  semantics::Context& of_device = semantics::context(primary.device);
  of_device.retained = false;
  if (!of_device.used) free_memory_of(primary);
}

// Limits of contexts created for graphics (cuCtxCreate_v4). There are none here: the limits are 0 and cannot be set.
bool is_of_graphics(CUlimit limit) {
  return limit == CU_LIMIT_SHMEM_SIZE || limit == CU_LIMIT_CIG_ENABLED;
}

}  // namespace

// ---- Primary contexts, which the runtime uses
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return driver_without_context([&]() -> CUresult {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    Context& primary = primary_context(device);
    ++primary.uses;
    semantics::context(device).retained = true;
    session::activity().device_used();
    *context = &primary;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return driver_without_context([&]() -> CUresult {
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    Context& primary = primary_context(device);
    for (int before = primary.uses; before > 0;) {
      if (!primary.uses.compare_exchange_weak(before, before - 1)) continue;
      if (before == 1) let_go(primary);
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_CONTEXT;
  });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return cuDevicePrimaryCtxRelease_v2(device);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
  return driver_without_context([&]() -> CUresult {
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (!valid_flags(flags) || flags & CU_CTX_MAP_HOST) return CUDA_ERROR_INVALID_VALUE;
    primary_context(device).flags = flags;
    return CUDA_SUCCESS;
  });
}
// Before CUDA 11, flags could only be set while the context was not active.
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
  return driver_without_context([&]() -> CUresult {
    if (valid_device(device) && is_alive(primary_context(device))) return CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
    return cuDevicePrimaryCtxSetFlags_v2(device, flags);
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  return driver_without_context([&]() -> CUresult {
    if (!flags && !active) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    const Context& primary = primary_context(device);
    if (flags) *flags = primary.flags;
    if (active) *active = is_alive(primary);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return driver_without_context([&]() -> CUresult {
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    int& current = semantics::thread_state().device;
    const int before = current;
    current = device;
    const cudaError_t error = cudaDeviceReset();  // of the runtime: it also destroys the objects of registered programs
    current = before;
    return driver_error(error);
  });
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return cuDevicePrimaryCtxReset_v2(device);
}

// ---- Contexts that the program creates
CUresult cuCtxCreate(CUcontext* context, unsigned int flags, CUdevice device) {
  return create(context, flags, device);
}
CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  return create(context, flags, device);
}
// Refuses a share of the SMs, which needs MPS, and contexts for graphics, which need a graphics driver.
CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* parameters, int count, unsigned int flags,
                        CUdevice device) {
  if (count < 0 || (count > 0 && !parameters)) return CUDA_ERROR_INVALID_VALUE;
  if (count > 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return create(context, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags, CUdevice device) {
  if (parameters && parameters->cigParams) return not_supported("cuCtxCreate for graphics (cigParams)");
  if (parameters && parameters->numExecAffinityParams > 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return create(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  if (!context) return leave(CUDA_ERROR_INVALID_VALUE, "cuCtxDestroy");
  return driver_without_context([&]() -> CUresult { return destroy(context); });
}
CUresult cuCtxDestroy(CUcontext context) {
  return cuCtxDestroy_v2(context);
}

CUresult cuCtxAttach(CUcontext* context, unsigned int flags) {
  return driver([&]() -> CUresult {
    if (!context || flags) return CUDA_ERROR_INVALID_VALUE;
    *context = current_context();
    WG_ASSERT(*context);  // driver() refuses a call without one
    ++(*context)->uses;
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxDetach(CUcontext context) {
  return driver([&]() -> CUresult {
    if (context != current_context()) return CUDA_ERROR_INVALID_CONTEXT;
    return --context->uses > 0 ? CUDA_SUCCESS : destroy(context);
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return driver_without_context([&]() -> CUresult {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check(context); error != CUDA_SUCCESS) return error;
    push_context(*context);
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxPushCurrent(CUcontext context) {
  return cuCtxPushCurrent_v2(context);
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return driver_without_context([&]() -> CUresult {
    Context* const top = pop_context();
    if (context) *context = top;
    return top ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  });
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  return cuCtxPopCurrent_v2(context);
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return driver_without_context([&]() -> CUresult {
    if (context)
      if (const CUresult error = check(context); error != CUDA_SUCCESS) return error;
    replace_context(context);
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  return driver_without_context([&]() -> CUresult {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = current_context();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return of_current(device, [](const Context& current) { return current.device; });
}
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return driver_without_context([&]() -> CUresult {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    Context* of = nullptr;
    if (const CUresult error = context_of(context, of); error != CUDA_SUCCESS) return error;
    *device = of->device;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return of_current(flags, [](const Context& current) { return current.flags.load(); });
}
CUresult cuCtxSetFlags(unsigned int flags) {
  return driver([&]() -> CUresult {
    if (!valid_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    current_context()->flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return driver_without_context([&]() -> CUresult {
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    Context* of = nullptr;
    if (const CUresult error = context_of(context, of); error != CUDA_SUCCESS) return error;
    *id = of->id;
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxGetApiVersion(CUcontext context, unsigned int* version) {
  return driver_without_context([&]() -> CUresult {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    Context* of = nullptr;
    if (const CUresult error = context_of(context, of); error != CUDA_SUCCESS) return error;
    *version = kApiVersion;
    return CUDA_SUCCESS;
  });
}

namespace {

// Waits for all streams of a device. An error if any stream is being captured, even in relaxed mode.
CUresult synchronize(int device) {
  if (const cudaError_t error = semantics::no_captures(device)) return driver_error(error);
  return driver_error(semantics::synchronize_device(device));
}

}  // namespace

CUresult cuCtxSynchronize() {
  return driver([&]() -> CUresult { return synchronize(semantics::thread_state().device); });
}
CUresult cuCtxSynchronize_v2(CUcontext context) {
  return driver_without_context([&]() -> CUresult {
    Context* of = nullptr;
    if (const CUresult error = context_of(context, of); error != CUDA_SUCCESS) return error;
    return synchronize(of->device);
  });
}

// ---- Limits and settings of a context
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return driver([&]() -> CUresult {
    if (limit < 0 || limit >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
    if (is_of_graphics(limit)) return CUDA_ERROR_NOT_PERMITTED;
    return driver_error(semantics::device_set_limit(static_cast<cudaLimit>(limit), value));
  });
}
CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return driver([&]() -> CUresult {
    if (limit < 0 || limit >= CU_LIMIT_MAX || !value) return CUDA_ERROR_INVALID_VALUE;
    if (is_of_graphics(limit)) {
      *value = 0;
      return CUDA_SUCCESS;
    }
    return driver_error(semantics::device_get_limit(value, static_cast<cudaLimit>(limit)));
  });
}
CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return driver([&]() -> CUresult {
    return driver_error(semantics::device_get_cache_config(reinterpret_cast<cudaFuncCache*>(config)));
  });
}
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return driver([&]() -> CUresult {
    return driver_error(semantics::device_set_cache_config(static_cast<cudaFuncCache>(config)));
  });
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return driver([&]() -> CUresult {
    return driver_error(semantics::device_get_shared_mem_config(reinterpret_cast<cudaSharedMemConfig*>(config)));
  });
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return driver([&]() -> CUresult {
    return driver_error(semantics::device_set_shared_mem_config(static_cast<cudaSharedMemConfig>(config)));
  });
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return driver(
      [&]() -> CUresult { return driver_error(semantics::device_get_stream_priority_range(least, greatest)); });
}
CUresult cuCtxResetPersistingL2Cache() {
  return driver([&]() -> CUresult { return CUDA_SUCCESS; });
}
// Every context may use all SMs.
CUresult cuCtxGetExecAffinity(CUexecAffinityParam* exec_affinity, CUexecAffinityType type) {
  return driver([&]() -> CUresult {
    if (!exec_affinity || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) return CUDA_ERROR_INVALID_VALUE;
    exec_affinity->type = type;
    exec_affinity->param.smCount.val = session::model().sm_count;
    return CUDA_SUCCESS;
  });
}

// ---- Peers
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  return driver([&]() -> CUresult {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (check(peer) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
    if (peer->device == current_context()->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    return driver_error(semantics::device_enable_peer_access(peer->device, flags));
  });
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return driver([&]() -> CUresult {
    if (check(peer) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
    return driver_error(semantics::device_disable_peer_access(peer->device));
  });
}

CUresult cuProfilerStart() {
  return driver([]() -> CUresult { return CUDA_SUCCESS; });
}
CUresult cuProfilerStop() {
  return driver([]() -> CUresult { return CUDA_SUCCESS; });
}

}  // namespace warpgrind::driver
