// State of a device in NVML: memory and processes (of this process only), clocks of the model, modes.
#include <unistd.h>

#include "nvml/call.h"

namespace warpgrind::nvml {

namespace {

// Bytes that this process uses on the device. Other processes are not known.
unsigned long long used_bytes(nvmlDevice_t device) {
  session::Devices& gpus = session::devices();
  const int index = static_cast<int>(device->index);
  if (!gpus.in_use(index)) return 0;
  return gpus[index].bytes_total() - gpus[index].bytes_free();
}

// Clocks, in MHz, on which the model's times are based.
nvmlReturn_t clock_of(nvmlDevice_t device, nvmlClockType_t type, unsigned* clock) {
  return call_of(device, clock, [&]() -> nvmlReturn_t {
    switch (type) {
      case NVML_CLOCK_GRAPHICS:
      case NVML_CLOCK_SM:
        *clock = static_cast<unsigned>(model().sm_clock_mhz);
        return NVML_SUCCESS;
      case NVML_CLOCK_MEM:
        *clock = static_cast<unsigned>(model().memory_clock_mhz);
        return NVML_SUCCESS;
      case NVML_CLOCK_VIDEO:
        return NVML_ERROR_NOT_SUPPORTED;
      default:
        return NVML_ERROR_INVALID_ARGUMENT;
    }
  });
}

// A list with one clock. Always sets `count` to 1, even if there is no room.
nvmlReturn_t only_clock(double mhz, unsigned* count, unsigned* clocks) {
  const unsigned room = *count;
  *count = 1;
  if (room < 1 || !clocks) return NVML_ERROR_INSUFFICIENT_SIZE;
  *clocks = static_cast<unsigned>(mhz);
  return NVML_SUCCESS;
}

nvmlReturn_t mode_of(nvmlDevice_t device, nvmlEnableState_t* mode, nvmlEnableState_t is) {
  return call_of(device, mode, [&] { return *mode = is, NVML_SUCCESS; });
}

void fill(nvmlProcessInfo_v1_t& process, unsigned long long used) {
  process = {static_cast<unsigned>(::getpid()), used};
}
void fill(nvmlProcessInfo_v2_t& process, unsigned long long used) {
  constexpr unsigned kNoInstance = 0xffffffff;  // value without MIG; the manual: "Otherwise, 0xFFFFFFFF"
  process = {static_cast<unsigned>(::getpid()), used, kNoInstance, kNoInstance};
}

template <class Process>
nvmlReturn_t running(nvmlDevice_t device, unsigned* count, Process* processes) {
  return call_of(device, count, [&]() -> nvmlReturn_t {
    const unsigned room = *count;
    *count = session::devices().in_use(static_cast<int>(device->index)) ? 1 : 0;
    if (*count > room) return NVML_ERROR_INSUFFICIENT_SIZE;
    if (*count > 0 && !processes) return NVML_ERROR_INVALID_ARGUMENT;
    if (*count > 0) fill(*processes, used_bytes(device));
    return NVML_SUCCESS;
  });
}
nvmlReturn_t none_running(nvmlDevice_t device, unsigned* count) {
  return call_of(device, count, [&] { return *count = 0, NVML_SUCCESS; });
}

// True for GPUs that support MIG: those with ECC of compute capability 8.0, 9.0, 10.x and 12.0 (NVIDIA Multi-Instance
// GPU User Guide, "Supported GPUs").
bool can_have_instances() {
  return model().ecc && model().cc_major >= 8 && (model().cc_minor == 0 || model().cc_major == 10);
}

}  // namespace

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return call_of(device, memory, [&] {
    memory->total = model().memory_bytes;
    memory->used = used_bytes(device);
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  return call_of(device, memory, [&]() -> nvmlReturn_t {
    if (memory->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    memory->total = model().memory_bytes;
    memory->reserved = 0;
    memory->used = used_bytes(device);
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
  });
}
// Always 0: it is the "percent of time over the past sample period" of the host's clock, and no real GPU works then.
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* utilization) {
  return call_of(device, utilization, [&] { return *utilization = {}, NVML_SUCCESS; });
}

// ---- Clocks
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int* clock) {
  return clock_of(device, type, clock);
}
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int* clock) {
  return clock_of(device, type, clock);
}
nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t which, unsigned int* clock) {
  if (initialized() && which >= NVML_CLOCK_ID_COUNT) return NVML_ERROR_INVALID_ARGUMENT;
  return clock_of(device, type, clock);
}
nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t type, unsigned int* clock) {
  return clock_of(device, type, clock);
}
nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, nvmlClockType_t type, unsigned int* clock) {
  return clock_of(device, type, clock);
}
nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned int* count, unsigned int* clocks) {
  return call_of(device, count, [&] { return only_clock(model().memory_clock_mhz, count, clocks); });
}
nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned int memory_clock, unsigned int* count,
                                                  unsigned int* clocks) {
  return call_of(device, count, [&]() -> nvmlReturn_t {
    if (memory_clock != static_cast<unsigned>(model().memory_clock_mhz)) return NVML_ERROR_NOT_FOUND;
    return only_clock(model().sm_clock_mhz, count, clocks);
  });
}
nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t* state) {
  return call_of(device, state, [&] { return *state = NVML_PSTATE_0, NVML_SUCCESS; });
}
nvmlReturn_t nvmlDeviceGetPowerState(nvmlDevice_t device, nvmlPstates_t* state) {
  return nvmlDeviceGetPerformanceState(device, state);
}
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* reasons) {
  return call_of(device, reasons, [&] { return *reasons = nvmlClocksEventReasonNone, NVML_SUCCESS; });
}
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long* reasons) {
  return nvmlDeviceGetCurrentClocksEventReasons(device, reasons);
}

// ---- Modes
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t* mode) {
  return call_of(device, mode, [&] { return *mode = NVML_COMPUTEMODE_DEFAULT, NVML_SUCCESS; });
}
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  return mode_of(device, mode, NVML_FEATURE_DISABLED);
}
nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  return mode_of(device, mode, NVML_FEATURE_DISABLED);
}
nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t* active) {
  return mode_of(device, active, NVML_FEATURE_DISABLED);
}
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t* current, nvmlEnableState_t* pending) {
  return call_of(device, current, [&]() -> nvmlReturn_t {
    if (!pending) return NVML_ERROR_INVALID_ARGUMENT;
    if (!model().ecc) return NVML_ERROR_NOT_SUPPORTED;
    *current = *pending = NVML_FEATURE_ENABLED;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, nvmlEnableState_t* mode) {
  return call_of(device, mode, [&]() -> nvmlReturn_t {
    if (!model().ecc) return NVML_ERROR_NOT_SUPPORTED;
    *mode = NVML_FEATURE_ENABLED;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int* current, unsigned int* pending) {
  return call_of(device, current, [&]() -> nvmlReturn_t {
    if (!pending) return NVML_ERROR_INVALID_ARGUMENT;
    if (!can_have_instances()) return NVML_ERROR_NOT_SUPPORTED;
    *current = *pending = NVML_DEVICE_MIG_DISABLE;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int* count) {
  return call_of(device, count, [&] { return *count = 0, NVML_SUCCESS; });
}
nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int* is) {
  return call_of(device, is, [&] { return *is = 0, NVML_SUCCESS; });
}
nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, nvmlGpuVirtualizationMode_t* mode) {
  return call_of(device, mode, [&] { return *mode = NVML_GPU_VIRTUALIZATION_MODE_NONE, NVML_SUCCESS; });
}

// ---- Processes. Each version of the structure has its own layout
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int* count,
                                                  nvmlProcessInfo_v1_t* processes) {
  return running(device, count, processes);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_v2_t* processes) {
  return running(device, count, processes);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_t* processes) {
  return running(device, count, processes);
}
#define WG_NONE_RUN(name, Process)                                        \
  nvmlReturn_t name(nvmlDevice_t device, unsigned int* count, Process*) { \
    return none_running(device, count);                                   \
  }
WG_NONE_RUN(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t)
WG_NONE_RUN(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t)
WG_NONE_RUN(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t)
WG_NONE_RUN(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t)
WG_NONE_RUN(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_v2_t)
WG_NONE_RUN(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t)
#undef WG_NONE_RUN

}  // namespace warpgrind::nvml
