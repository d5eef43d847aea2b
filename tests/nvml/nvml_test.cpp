// NVML: what it says of the virtual GPUs is what the CUDA APIs say.
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nvml.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#define OK(...) EXPECT_EQ(__VA_ARGS__, NVML_SUCCESS)
#define FAILS(error, ...) EXPECT_EQ(__VA_ARGS__, error)

namespace {

struct Options {
  // As `warpgrind run --devices 2` does.
  Options() { ::setenv("WARPGRIND_OPTIONS", R"({"gpu": "h200", "devices": 2, "threads": 2, "quiet": true})", 1); }
} options;

class Nvml : public testing::Test {
 protected:
  Nvml() {
    OK(nvmlInit_v2());
    OK(nvmlDeviceGetHandleByIndex_v2(0, &first));
    OK(nvmlDeviceGetHandleByIndex_v2(1, &second));
  }
  ~Nvml() override { OK(nvmlShutdown()); }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  nvmlDevice_t first = nullptr, second = nullptr;
};

template <class Value, class... Arguments>
Value get(nvmlReturn_t (*function)(nvmlDevice_t, Value*), nvmlDevice_t device) {
  Value value{};
  OK(function(device, &value));
  FAILS(NVML_ERROR_INVALID_ARGUMENT, function(device, nullptr));
  FAILS(NVML_ERROR_INVALID_ARGUMENT, function(nullptr, &value));
  FAILS(NVML_ERROR_INVALID_ARGUMENT, function(reinterpret_cast<nvmlDevice_t>(&value), &value));
  return value;
}

}  // namespace

TEST(NvmlInitialization, ComesFirstAndIsCounted) {
  unsigned count = 0;
  int version = 0;
  char text[80] = "";
  FAILS(NVML_ERROR_UNINITIALIZED, nvmlDeviceGetCount_v2(&count));
  FAILS(NVML_ERROR_UNINITIALIZED, nvmlShutdown());
  OK(nvmlSystemGetCudaDriverVersion(&version));
  EXPECT_EQ(version, 13000);
  OK(nvmlInit());
  OK(nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS));
  FAILS(NVML_ERROR_INVALID_ARGUMENT, nvmlInitWithFlags(64));
  OK(nvmlShutdown());
  OK(nvmlDeviceGetCount(&count));
  EXPECT_EQ(count, 2u);
  OK(nvmlDeviceGetCount_v2(&count));
  EXPECT_EQ(count, 2u);
  FAILS(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetCount_v2(nullptr));
  OK(nvmlSystemGetDriverVersion(text, sizeof text));
  EXPECT_GE(std::stod(text), 580.0);
  FAILS(NVML_ERROR_INSUFFICIENT_SIZE, nvmlSystemGetDriverVersion(text, 3));
  OK(nvmlSystemGetNVMLVersion(text, sizeof text));
  EXPECT_EQ(std::string(text).substr(0, 3), "13.");
  OK(nvmlSystemGetCudaDriverVersion_v2(&version));
  EXPECT_EQ(version, 13000);
  OK(nvmlUnitGetCount(&count));
  EXPECT_EQ(count, 0u);
  OK(nvmlSystemGetProcessName(static_cast<unsigned>(::getpid()), text, sizeof text));
  EXPECT_FALSE(std::string(text).empty());
  OK(nvmlSystemGetProcessName(static_cast<unsigned>(::getpid()), text, 4));
  EXPECT_EQ(std::string(text).size(), 3u);
  FAILS(NVML_ERROR_NOT_FOUND, nvmlSystemGetProcessName(0x7fffffff, text, sizeof text));
  OK(nvmlShutdown());
  FAILS(NVML_ERROR_UNINITIALIZED, nvmlDeviceGetCount_v2(&count));
  EXPECT_STREQ(nvmlErrorString(NVML_ERROR_NOT_SUPPORTED), "Not Supported");
  EXPECT_STREQ(nvmlErrorString(static_cast<nvmlReturn_t>(12345)), "Unknown Error");
}

TEST_F(Nvml, DevicesAreFound) {
  nvmlDevice_t found = nullptr;
  char uuid[96] = "";
  nvmlPciInfo_t pci{};
  FAILS(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetHandleByIndex_v2(2, &found));
  OK(nvmlDeviceGetHandleByIndex(1, &found));
  EXPECT_EQ(found, second);
  OK(nvmlDeviceGetUUID(second, uuid, sizeof uuid));
  EXPECT_EQ(std::string(uuid).size(), 40u);  // GPU-8-4-4-4-12
  OK(nvmlDeviceGetHandleByUUID(uuid, &found));
  EXPECT_EQ(found, second);
  FAILS(NVML_ERROR_NOT_FOUND, nvmlDeviceGetHandleByUUID("GPU-none", &found));
  FAILS(NVML_ERROR_NOT_FOUND, nvmlDeviceGetHandleBySerial("1234", &found));
  OK(nvmlDeviceGetPciInfo_v3(second, &pci));
  OK(nvmlDeviceGetHandleByPciBusId_v2(pci.busId, &found));
  EXPECT_EQ(found, second);
  OK(nvmlDeviceGetHandleByPciBusId(pci.busIdLegacy, &found));
  EXPECT_EQ(found, second);
  FAILS(NVML_ERROR_NOT_FOUND, nvmlDeviceGetHandleByPciBusId_v2("0000:7f:00.0", &found));
  FAILS(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetHandleByPciBusId_v2("nonsense", &found));
  // The CUDA APIs mean the same GPU by it.
  char id[16] = "";
  int device = -1;
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, pci.busIdLegacy), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaDeviceGetPCIBusId(id, sizeof id, 1), cudaSuccess);
  EXPECT_STREQ(id, pci.busIdLegacy);
  OK(nvmlDeviceGetPciInfo(first, &pci));
  OK(nvmlDeviceGetPciInfo_v2(first, &pci));
  EXPECT_NE(std::string(id), pci.busIdLegacy);
}

TEST_F(Nvml, DevicesAreDescribed) {
  char name[96] = "";
  OK(nvmlDeviceGetName(first, name, sizeof name));
  EXPECT_NE(std::string(name).find("H200"), std::string::npos);
  FAILS(NVML_ERROR_INSUFFICIENT_SIZE, nvmlDeviceGetName(first, name, 2));
  EXPECT_EQ(get(nvmlDeviceGetBrand, first), NVML_BRAND_NVIDIA);
  EXPECT_EQ(get(nvmlDeviceGetIndex, second), 1u);
  EXPECT_EQ(get(nvmlDeviceGetMinorNumber, second), 1u);
  EXPECT_NE(get(nvmlDeviceGetBoardId, first), get(nvmlDeviceGetBoardId, second));
  EXPECT_EQ(get(nvmlDeviceGetMultiGpuBoard, first), 0u);
  int major = 0, minor = -1, same = -1;
  OK(nvmlDeviceGetCudaComputeCapability(first, &major, &minor));
  EXPECT_EQ(major * 10 + minor, 90);
  EXPECT_EQ(get(nvmlDeviceGetArchitecture, first), unsigned{NVML_DEVICE_ARCH_HOPPER});
  EXPECT_EQ(get(nvmlDeviceGetNumGpuCores, first), 132u * 128);
  EXPECT_EQ(get(nvmlDeviceGetMemoryBusWidth, first), 6016u);
  EXPECT_EQ(get(nvmlDeviceGetBusType, first), unsigned{NVML_BUS_TYPE_PCIE});
  EXPECT_EQ(get(nvmlDeviceGetMaxPcieLinkGeneration, first), 5u);
  EXPECT_EQ(get(nvmlDeviceGetGpuMaxPcieLinkGeneration, first), 5u);
  EXPECT_EQ(get(nvmlDeviceGetCurrPcieLinkGeneration, first), 5u);
  EXPECT_EQ(get(nvmlDeviceGetMaxPcieLinkWidth, first), 16u);
  EXPECT_EQ(get(nvmlDeviceGetCurrPcieLinkWidth, first), 16u);
  OK(nvmlDeviceOnSameBoard(first, second, &same));
  EXPECT_EQ(same, 0);
  nvmlGpuTopologyLevel_t level{};
  OK(nvmlDeviceGetTopologyCommonAncestor(first, second, &level));
  EXPECT_EQ(level, NVML_TOPOLOGY_SYSTEM);
  nvmlGpuP2PStatus_t status{};
  OK(nvmlDeviceGetP2PStatus(first, second, NVML_P2P_CAPS_INDEX_READ, &status));
  EXPECT_EQ(status, NVML_P2P_STATUS_OK);
  FAILS(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetP2PStatus(first, first, NVML_P2P_CAPS_INDEX_READ, &status));
}

TEST_F(Nvml, MemoryIsThatOfTheProcess) {
  constexpr std::size_t kBytes = 64 << 20;
  nvmlMemory_t before = get(nvmlDeviceGetMemoryInfo, second);
  EXPECT_EQ(before.used, 0u);
  unsigned count = 0;
  OK(nvmlDeviceGetComputeRunningProcesses_v3(second, &count, nullptr));
  EXPECT_EQ(count, 0u);
  void* memory = nullptr;
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&memory, kBytes), cudaSuccess);
  const nvmlMemory_t after = get(nvmlDeviceGetMemoryInfo, second);
  EXPECT_GE(after.used, kBytes);
  EXPECT_EQ(after.used + after.free, after.total);
  nvmlMemory_v2_t more{};
  FAILS(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, nvmlDeviceGetMemoryInfo_v2(second, &more));
  more.version = nvmlMemory_v2;
  OK(nvmlDeviceGetMemoryInfo_v2(second, &more));
  EXPECT_EQ(more.used, after.used);
  FAILS(NVML_ERROR_INSUFFICIENT_SIZE, nvmlDeviceGetComputeRunningProcesses_v3(second, &count, nullptr));
  EXPECT_EQ(count, 1u);
  nvmlProcessInfo_t process{};
  OK(nvmlDeviceGetComputeRunningProcesses_v3(second, &count, &process));
  EXPECT_EQ(process.pid, static_cast<unsigned>(::getpid()));
  EXPECT_EQ(process.usedGpuMemory, after.used);
  nvmlProcessInfo_v1_t oldest{};
  OK(nvmlDeviceGetComputeRunningProcesses(second, &count, &oldest));
  EXPECT_EQ(oldest.usedGpuMemory, after.used);
  nvmlProcessInfo_v2_t older{};
  OK(nvmlDeviceGetComputeRunningProcesses_v2(second, &count, &older));
  EXPECT_EQ(older.usedGpuMemory, after.used);
  OK(nvmlDeviceGetGraphicsRunningProcesses(second, &count, &oldest));
  OK(nvmlDeviceGetGraphicsRunningProcesses_v2(second, &count, &older));
  OK(nvmlDeviceGetGraphicsRunningProcesses_v3(second, &count, &process));
  OK(nvmlDeviceGetMPSComputeRunningProcesses(second, &count, &oldest));
  OK(nvmlDeviceGetMPSComputeRunningProcesses_v2(second, &count, &older));
  OK(nvmlDeviceGetMPSComputeRunningProcesses_v3(second, &count, &process));
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(Nvml, ClocksAreTheModels) {
  unsigned clock = 0, memory = 0, count = 0, same = 0;
  OK(nvmlDeviceGetClockInfo(first, NVML_CLOCK_SM, &clock));
  EXPECT_EQ(clock, 1980u);
  OK(nvmlDeviceGetMaxClockInfo(first, NVML_CLOCK_MEM, &memory));
  EXPECT_EQ(memory, 3201u);
  OK(nvmlDeviceGetClock(first, NVML_CLOCK_GRAPHICS, NVML_CLOCK_ID_CURRENT, &same));
  EXPECT_EQ(same, clock);
  FAILS(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetClock(first, NVML_CLOCK_GRAPHICS, NVML_CLOCK_ID_COUNT, &same));
  OK(nvmlDeviceGetApplicationsClock(first, NVML_CLOCK_SM, &same));
  OK(nvmlDeviceGetDefaultApplicationsClock(first, NVML_CLOCK_SM, &same));
  EXPECT_EQ(same, clock);
  FAILS(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetClockInfo(first, NVML_CLOCK_VIDEO, &same));
  FAILS(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetClockInfo(first, NVML_CLOCK_COUNT, &same));
  FAILS(NVML_ERROR_INSUFFICIENT_SIZE, nvmlDeviceGetSupportedMemoryClocks(first, &count, nullptr));
  OK(nvmlDeviceGetSupportedMemoryClocks(first, &count, &same));
  EXPECT_EQ(same, memory);
  OK(nvmlDeviceGetSupportedGraphicsClocks(first, memory, &count, &same));
  EXPECT_EQ(same, clock);
  FAILS(NVML_ERROR_NOT_FOUND, nvmlDeviceGetSupportedGraphicsClocks(first, 1, &count, &same));
  const nvmlUtilization_t idle = get(nvmlDeviceGetUtilizationRates, first);
  EXPECT_EQ(idle.gpu + idle.memory, 0u);
  EXPECT_EQ(get(nvmlDeviceGetPerformanceState, first), NVML_PSTATE_0);
  EXPECT_EQ(get(nvmlDeviceGetPowerState, first), NVML_PSTATE_0);
  EXPECT_EQ(get(nvmlDeviceGetCurrentClocksEventReasons, first), 0u);
  EXPECT_EQ(get(nvmlDeviceGetCurrentClocksThrottleReasons, first), 0u);
}

TEST_F(Nvml, HasModes) {
  nvmlEnableState_t current{}, pending{};
  unsigned mig = 9, mig_pending = 9;
  EXPECT_EQ(get(nvmlDeviceGetComputeMode, first), NVML_COMPUTEMODE_DEFAULT);
  EXPECT_EQ(get(nvmlDeviceGetPersistenceMode, first), NVML_FEATURE_DISABLED);
  EXPECT_EQ(get(nvmlDeviceGetDisplayMode, first), NVML_FEATURE_DISABLED);
  EXPECT_EQ(get(nvmlDeviceGetDisplayActive, first), NVML_FEATURE_DISABLED);
  OK(nvmlDeviceGetEccMode(first, &current, &pending));
  EXPECT_EQ(current, NVML_FEATURE_ENABLED);
  EXPECT_EQ(get(nvmlDeviceGetDefaultEccMode, first), NVML_FEATURE_ENABLED);
  OK(nvmlDeviceGetMigMode(first, &mig, &mig_pending));
  EXPECT_EQ(mig + mig_pending, 0u);
  EXPECT_EQ(get(nvmlDeviceGetMaxMigDeviceCount, first), 0u);
  EXPECT_EQ(get(nvmlDeviceIsMigDeviceHandle, first), 0u);
  EXPECT_EQ(get(nvmlDeviceGetVirtualizationMode, first), NVML_GPU_VIRTUALIZATION_MODE_NONE);
}

// What a virtual GPU has not; none of these takes more than ten arguments.
TEST_F(Nvml, RefusesTheRest) {
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto call = [&](const char* name) {
    using Function = nvmlReturn_t (*)(long, long, long, long, long, long, long, long, long, long);
    const auto function = reinterpret_cast<Function>(::dlsym(library, name));
    EXPECT_NE(function, nullptr) << name;
    return function ? function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0) : NVML_SUCCESS;
  };
#define WG_NVML(result, name, parameters, arguments)
#define WG_NVML_UNSUPPORTED(name, parameters) EXPECT_EQ(call(#name), NVML_ERROR_NOT_SUPPORTED) << #name;
#define WG_NVML_UNDECLARED(name) WG_NVML_UNSUPPORTED(name, ())
#include "warpgrind/nvml_functions.inc"
  unsigned temperature = 0;
  FAILS(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetTemperature(first, NVML_TEMPERATURE_GPU, &temperature));
}
