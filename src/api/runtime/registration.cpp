// Registration of fatbins, kernels and variables. nvcc's generated host code calls these functions before main.
// Source: crt/host_runtime.h of the toolkit (the declarations are in every compiled program).
#include <malloc.h>

#include <algorithm>

#include "device/memory/address_space.h"
#include "runtime/call.h"
#include "semantics/memory.h"

namespace warpgrind::runtime {

namespace {

// Object behind the handle that __cudaRegisterFatBinary returns. The program only passes the handle on.
struct FatbinHandle {
  session::Program* program = nullptr;
  std::vector<const void*> functions, variables;
  std::vector<std::pair<std::string, void*>> managed;  // variables in the program's memory: name, host address
};
FatbinHandle* of(void** handle) {
  return reinterpret_cast<FatbinHandle*>(handle);
}

// False: no fatbin was registered, or its code could not be read.
bool has_code(const FatbinHandle* handle) {
  return handle && handle->program;
}

void add_variable(FatbinHandle* handle, const void* host, Variable variable) {
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  r.variables[host] = std::move(variable);
  handle->variables.push_back(host);
}

// A section of the program or its libraries that contains only __managed__ variables. Code compiled by clang reports it
// (include/warpgrind/managed.h) before it registers the variables.
struct Section {
  const char *begin, *end;
};
std::mutex sections_mutex;
std::vector<Section>& managed_sections() {
  static auto* sections = new std::vector<Section>;
  return *sections;
}
bool is_managed(const char* variable) {
  const std::lock_guard lock(sections_mutex);
  return std::ranges::any_of(managed_sections(),
                             [&](const Section& s) { return variable >= s.begin && variable < s.end; });
}

}  // namespace

extern "C" {

WG_API void warpgrind_managed_section(const char* begin, const char* end) {
  const std::lock_guard lock(sections_mutex);
  managed_sections().push_back({begin, end});
}

WG_API void** __cudaRegisterFatBinary(void* wrapper) {
  if (!wrapper) return nullptr;
  auto* handle = new FatbinHandle;
  Result<session::Program*> program = session::programs().add(wrapper);
  if (program) {
    handle->program = *program;
  } else {
    session::messages().problem(program.error());
  }
  return reinterpret_cast<void**>(handle);
}

// Returns the heap's free pages to the system (malloc_trim). Loading LLVM uses the heap before main. Programs that read
// memory they never wrote usually see the zeros of a fresh heap, and some public ones pass their own checks only then.
WG_API void __cudaRegisterFatBinaryEnd(void** handle) {
  if (has_code(of(handle)))
    for (const auto& [name, host] : of(handle)->managed)
      if (Status placed = of(handle)->program->place(name, host); !placed) session::messages().problem(placed.error());
  ::malloc_trim(0);
}

// The program ends or a library is unloaded. Its kernels can no longer be launched; their results stay in the profile.
WG_API void __cudaUnregisterFatBinary(void** handle) {
  FatbinHandle* fatbin = of(handle);
  if (!fatbin) return;
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  for (const void* f : fatbin->functions) {
    auto found = r.kernels.find(f);
    if (found == r.kernels.end() || found->second->program != fatbin->program) continue;
    r.kernel_handles.erase(found->second.get());
    found->second.release();  // leaked, since graphs may still refer to it: a few bytes a kernel, once a library
    r.kernels.erase(found);
  }
  for (const void* v : fatbin->variables) r.variables.erase(v);
  for (const auto& [name, host] : fatbin->managed)
    device::AddressSpace::instance().unregister_host(reinterpret_cast<std::uint64_t>(host));
  delete fatbin;
}

WG_API void __cudaRegisterFunction(void** handle, const char* host_function, char*, const char* device_name, int, void*,
                                   void*, void*, void*, int*) {
  FatbinHandle* fatbin = of(handle);
  if (!has_code(fatbin) || !device_name) return;
  session::activity().kernel_loaded(device_name);
  auto kernel = std::make_unique<KernelHandle>();
  kernel->program = fatbin->program;
  kernel->name = device_name;
  kernel->host_function = host_function;
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  r.kernel_handles.insert(kernel.get());
  fatbin->functions.push_back(host_function);
  r.kernels[host_function] = std::move(kernel);
}

WG_API void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* device_name, int, std::size_t size,
                              int, int) {
  if (!has_code(of(handle)) || !device_name) return;
  add_variable(of(handle), host_variable, {of(handle)->program, device_name, size, nullptr});
  if (is_managed(host_variable)) of(handle)->managed.emplace_back(device_name, host_variable);
}

WG_API void __cudaRegisterManagedVar(void** handle, void** host_pointer, char* device_address, const char* device_name,
                                     int, std::size_t size, int, int) {
  if (!has_code(of(handle)) || !device_name) return;
  Variable variable{of(handle)->program, device_name, size, host_pointer};
  add_variable(of(handle), host_pointer, variable);
  if (device_address) add_variable(of(handle), device_address, variable);
}

WG_API void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}
WG_API void __cudaRegisterUnifiedTable(void**, void*) {}

// Called before the host accesses a __managed__ variable: stores its device address in the host's pointer.
WG_API char __cudaInitModule(void** handle) {
  if (!handle) return 0;
  std::vector<Variable> managed;
  {
    HostState& r = HostState::instance();
    std::lock_guard lock(r.mutex);
    for (const void* host : of(handle)->variables)
      if (auto found = r.variables.find(host); found != r.variables.end() && found->second.managed_pointer)
        managed.push_back(found->second);
  }
  for (const Variable& variable : managed) {
    DeviceVariable where;
    if (locate(variable, 0, where) == cudaSuccess) *variable.managed_pointer = where.address;
  }
  return 1;
}

WG_API cudaError_t __cudaGetKernel(cudaKernel_t* out, const void* host_function) {
  return api_without_context([&]() -> cudaError_t {
    KernelHandle* kernel = find_kernel(host_function);
    if (!out) return cudaErrorInvalidValue;
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    *out = kernel;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaGetKernel(cudaKernel_t* out, const void* host_function) {
  return __cudaGetKernel(out, host_function);
}
WG_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* out, const void* symbol) {
  return __cudaGetKernel(out, symbol);
}

}  // extern "C"

}  // namespace warpgrind::runtime
