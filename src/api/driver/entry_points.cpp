// Lookup of driver API functions by their documented names (cuGetProcAddress and the runtime's equivalents).
#include <dlfcn.h>

#include <cstring>
#include <string_view>

#include "driver/driver.h"
#include "driver/entries.h"
#include "runtime/call.h"
#include "semantics/devices.h"

namespace warpgrind::driver {

namespace {

constexpr int kFirstOwnStreams = 7000;  // per-thread default streams came with CUDA 7.0

// The newest row of this name that is not newer than `version`.
const DriverEntry* find_entry(const char* name, int version, bool& known) {
  const DriverEntry* found = nullptr;
  known = false;
  for (const DriverEntry* entry = warpgrind_driver_entries; entry->name; entry++) {
    if (std::strcmp(entry->name, name) != 0) continue;
    known = true;
    if (entry->version <= version && (!found || entry->version >= found->version)) found = entry;
  }
  return found;
}

int driver_version() {
  int version = 0;
  semantics::driver_get_version(&version);
  return version;
}

struct Search {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

Search search(const char* name, int version, cuuint64_t flags) {
  Search out;
  bool known = false;
  const DriverEntry* entry = find_entry(name, version, known);
  if (known) out.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  if (!entry) return out;
  const bool own = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) && entry->own_stream;
  if (own && version < kFirstOwnStreams) return out;
  out.function = reinterpret_cast<void*>(own ? entry->own_stream : entry->function);
  out.status = CU_GET_PROC_ADDRESS_SUCCESS;
  return out;
}

bool valid_question(const char* name, void** function, int version, cuuint64_t flags) {
  constexpr cuuint64_t kFlags = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  return name && function && version <= driver_version() && !(flags & ~kFlags);
}

// NVIDIA's run-time compiler asks for such tables and works without them, so the refusal needs no message.
bool caller_is_nvrtc(const void* return_address) {
  Dl_info info{};
  if (::dladdr(return_address, &info) == 0 || !info.dli_fname) return false;
  const std::string_view path = info.dli_fname;
  return path.substr(path.rfind('/') + 1).starts_with("libnvrtc");
}

}  // namespace

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  return driver_always([&]() -> CUresult {
    if (!valid_question(symbol, function, version, flags)) return CUDA_ERROR_INVALID_VALUE;
    *function = search(symbol, version, flags).function;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  return driver_always([&]() -> CUresult {
    if (!valid_question(symbol, function, version, flags)) return CUDA_ERROR_INVALID_VALUE;
    const Search found = search(symbol, version, flags);
    *function = found.function;
    if (status) *status = found.status;
    return CUDA_SUCCESS;
  });
}

// Tables of undocumented functions. None is provided.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  if (caller_is_nvrtc(__builtin_return_address(0))) return CUDA_ERROR_NOT_SUPPORTED;
  if (table) *table = nullptr;
  return not_supported(
      "cuGetExportTable (a request of the program or its libraries for functions that NVIDIA does not document)");
}

}  // namespace warpgrind::driver

namespace warpgrind::runtime {

// The runtime's equivalents. Statuses and flags have the same numbers in both APIs.
static_assert(int{cudaDriverEntryPointVersionNotSufficent} == int{CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT} &&
              int{cudaEnablePerThreadDefaultStream} == int{CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM});

extern "C" {

WG_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                    unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return api_without_context([&]() -> cudaError_t {
    const auto asked = static_cast<int>(version);
    if (!driver::valid_question(name, function, asked, flags)) return cudaErrorInvalidValue;
    if (flags == cudaEnableDefault && thread_state().null_stream_is_own) flags = cudaEnablePerThreadDefaultStream;
    const driver::Search found = driver::search(name, asked, flags);
    *function = found.function;
    if (status) *status = static_cast<cudaDriverEntryPointQueryResult>(found.status);
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                           cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, status);
}

}  // extern "C"

}  // namespace warpgrind::runtime
