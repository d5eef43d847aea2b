// Initialization of NVML, versions, process names.
#include <atomic>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "nvml/call.h"
#include "semantics/devices.h"

namespace warpgrind::nvml {

namespace {

// Reported versions: the first driver with CUDA 13.0 (CUDA Toolkit Release Notes, table "CUDA Toolkit and Corresponding
// Driver Versions").
constexpr const char* kDriverVersion = "580.65.06";
constexpr const char* kNvmlVersion = "13.580.65.06";

std::atomic<int> g_users{0};

const std::vector<nvmlDevice_st>& devices() {
  static const auto* devices = [] {
    auto* made = new std::vector<nvmlDevice_st>(static_cast<std::size_t>(session::devices().count()));
    for (unsigned i = 0; i < made->size(); i++) (*made)[i].index = i;
    return made;
  }();
  return *devices;
}

}  // namespace

bool initialized() {
  return g_users > 0;
}

unsigned device_count() {
  return static_cast<unsigned>(devices().size());
}

nvmlDevice_t handle_of(unsigned index) {
  return index < device_count() ? const_cast<nvmlDevice_t>(&devices()[index]) : nullptr;
}

bool valid(nvmlDevice_t device) {
  const std::vector<nvmlDevice_st>& all = devices();
  return !all.empty() && device >= all.data() && device < all.data() + all.size() && device == handle_of(device->index);
}

nvmlReturn_t copy_text(const char* text, char* out, unsigned length) {
  if (!out) return NVML_ERROR_INVALID_ARGUMENT;
  const std::size_t size = std::strlen(text) + 1;
  if (size > length) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(out, text, size);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
  if (flags & ~unsigned{NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH}) return NVML_ERROR_INVALID_ARGUMENT;
  session::run().announce();  // a program that only uses NVML also gets the message about its GPUs
  ++g_users;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlInit_v2() {
  return nvmlInitWithFlags(0);
}
nvmlReturn_t nvmlInit() {
  return nvmlInitWithFlags(0);
}
nvmlReturn_t nvmlShutdown() {
  for (int before = g_users; before > 0;)
    if (g_users.compare_exchange_weak(before, before - 1)) return NVML_SUCCESS;
  return NVML_ERROR_UNINITIALIZED;
}

const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
#define WG_NVML_ERROR(name, value, text) \
  case NVML_##name:                      \
    return text;
#include "warpgrind/nvml_errors.inc"
#undef WG_NVML_ERROR
  }
  return "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  return call([&] { return copy_text(kDriverVersion, version, length); });
}
nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int length) {
  return call([&] { return copy_text(kNvmlVersion, version, length); });
}
// Works before nvmlInit: "retrieves the version of the CUDA driver from the shared library".
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return semantics::driver_get_version(version) == cudaSuccess ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char* name, unsigned int length) {
  return call([&]() -> nvmlReturn_t {
    if (!name || length == 0) return NVML_ERROR_INVALID_ARGUMENT;
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
    std::string words;
    if (!std::getline(file, words, '\0')) return NVML_ERROR_NOT_FOUND;
    words.resize(std::min<std::size_t>(words.size(), length - 1));  // "cropped to provided length"
    return copy_text(words.c_str(), name, length);
  });
}

// Units exist only in S-class systems.
nvmlReturn_t nvmlUnitGetCount(unsigned int* count) {
  return call([&]() -> nvmlReturn_t {
    if (!count) return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    return NVML_SUCCESS;
  });
}

}  // namespace warpgrind::nvml
