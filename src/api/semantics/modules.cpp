// Loading of modules and libraries at run time, their kernels and variables, and linking.
#include "semantics/modules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "device/memory/address_space.h"
#include "fatbin/write.h"
#include "ptx/opaque_references.h"
#include "ptx/printer.h"
#include "semantics/executor.h"
#include "semantics/streams.h"

namespace warpgrind::semantics {

namespace {

// Numbers of CUjit_option.
enum : int { kInfoBuffer = 3, kInfoSize = 4, kErrorBuffer = 5, kErrorSize = 6 };

std::mutex libraries_mutex;
std::set<const LibraryHandle*>& libraries() {
  static auto* set = new std::set<const LibraryHandle*>;
  return *set;
}

std::string text_of(const Error& error) {
  return error.detail.empty() ? error.message : error.message + "\n" + error.detail;
}

// Error for code that cannot be loaded. Faults of the code itself go into the program's log; others are problems of the
// run.
cudaError_t refused_code(const session::Program& program, const Error& error, std::string& messages) {
  messages = text_of(error);
  if (!program.has_image()) return refuse(cudaErrorNoKernelImageForDevice, error.message);
  if (error.kind == ErrorKind::bad_input) return refuse(cudaErrorInvalidPtx, error.message);
  session::messages().problem(error);
  return error_of(error);
}

// Unresolved functions are an error, with the message of ptxas.
cudaError_t check_calls(session::Program& program, std::string& messages) {
  current_device();  // creates the device, and so registers the functions of the virtual GPU
  for (const std::string& name : program.undefined_functions())
    messages += fmt::format("Unresolved extern function '{}'\n", name);
  return messages.empty() ? cudaSuccess : refuse(cudaErrorInvalidPtx, messages);
}

cudaError_t load(LibraryHandle** out, std::vector<fatbin::FatbinEntry> entries, const std::string& name, int device,
                 std::string& messages) {
  const bool any = std::ranges::any_of(entries, [](const auto& e) { return e.kind == fatbin::EntryKind::ptx; });
  if (!any) {
    messages = fmt::format(
        "{} holds no PTX, only machine code, which a virtual GPU cannot run: compile it with PTX (-gencode "
        "arch=compute_XX,code=compute_XX)",
        name);
    session::messages().say_once(messages);
    return refuse(cudaErrorNoKernelImageForDevice, messages);
  }
  Result<session::Program*> program = session::programs().add(std::move(entries), name);
  if (!program) {
    messages = text_of(program.error());
    return error_of(program.error());
  }
  auto module = (*program)->module();
  if (!module) return refused_code(**program, module.error(), messages);
  if (cudaError_t error = check_calls(**program, messages)) return error;
  for (const ptx::Function& function : (*module)->functions)
    if (function.is_entry) session::activity().kernel_loaded(function.name);
  auto handle = std::make_unique<LibraryHandle>();
  handle->program = *program;
  handle->device = device;
  const std::lock_guard lock(libraries_mutex);
  libraries().insert(handle.get());
  *out = handle.release();
  return cudaSuccess;
}

}  // namespace

bool is_library(const LibraryHandle* handle) {
  const std::lock_guard lock(libraries_mutex);
  return libraries().contains(handle);
}

JitOptions::JitOptions(unsigned count, const int* options, void** values) {
  if (!options || !values) return;
  const auto size = [](void* value) {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(value) & 0xffffffffu);
  };
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == kInfoBuffer) info_.text = static_cast<char*>(values[i]);
    if (options[i] == kErrorBuffer) errors_.text = static_cast<char*>(values[i]);
    if (options[i] == kInfoSize) info_.size = &values[i], info_.room = size(values[i]);
    if (options[i] == kErrorSize) errors_.size = &values[i], errors_.room = size(values[i]);
  }
}

void JitOptions::fill(const Buffer& buffer, const std::string& text) {
  std::size_t length = 0;
  if (buffer.text && buffer.room) {
    length = std::min(text.size(), buffer.room - 1);
    std::memcpy(buffer.text, text.data(), length);
    buffer.text[length] = '\0';
  }
  if (buffer.size) *buffer.size = reinterpret_cast<void*>(length);
}

void JitOptions::give(const std::string& errors, const std::string& info) const {
  fill(errors_, errors);
  fill(info_, info);
}

namespace {

cudaError_t load_image(LibraryHandle** out, const void* image, int device, std::string& messages) {
  if (!out || !image) return cudaErrorInvalidValue;
  auto entries = fatbin::read_image(image, "the image");
  if (!entries) {
    messages = text_of(entries.error());
    return refuse(cudaErrorInvalidKernelImage, entries.error().message);
  }
  return load(out, entries.take(), "code loaded at run time", device, messages);
}

cudaError_t load_file(LibraryHandle** out, const char* path, int device, std::string& messages) {
  if (!out || !path) return cudaErrorInvalidValue;
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return refuse(cudaErrorFileNotFound, fmt::format("there is no {}", path));
  auto entries = fatbin::read_file(path);
  if (!entries) {
    messages = text_of(entries.error());
    return refuse(cudaErrorInvalidKernelImage, entries.error().message);
  }
  return load(out, entries.take(), std::filesystem::path(path).filename(), device, messages);
}

}  // namespace

cudaError_t load_image(LibraryHandle** out, const void* image, int device, const JitOptions& options) {
  std::string messages;
  const cudaError_t error = load_image(out, image, device, messages);
  options.give(messages, "");
  return error;
}

cudaError_t load_file(LibraryHandle** out, const char* path, int device, const JitOptions& options) {
  std::string messages;
  const cudaError_t error = load_file(out, path, device, messages);
  options.give(messages, "");
  return error;
}

cudaError_t unload(LibraryHandle* handle) {
  if (!is_library(handle)) return cudaErrorInvalidResourceHandle;
  if (cudaError_t error = forbidden_by_captures()) return error;
  {
    const std::lock_guard lock(libraries_mutex);
    if (libraries().erase(handle) == 0) return cudaErrorInvalidResourceHandle;
  }
  Executor::instance().wait_all();  // kernels may still run, on any device
  session::Devices& gpus = session::devices();
  {
    HostState& state = HostState::instance();
    const std::lock_guard lock(state.mutex);
    for (const auto& [name, kernel] : handle->kernels) state.kernel_handles.erase(kernel.get());
  }
  for (int device = 0; device < gpus.count(); ++device)
    if (gpus.in_use(device)) handle->program->unload(gpus[device]);
  // Graphs may still refer to its kernels, so that these handles stay (a few bytes each).
  for (auto& [name, kernel] : handle->kernels) kernel.release();
  delete handle;
  return cudaSuccess;
}

cudaError_t library_kernel(LibraryHandle& handle, const char* name, KernelHandle** out) {
  if (!name || !out) return cudaErrorInvalidValue;
  const std::lock_guard lock(handle.mutex);
  if (const auto found = handle.kernels.find(name); found != handle.kernels.end()) {
    *out = found->second.get();
    return cudaSuccess;
  }
  const auto index = handle.program->function(name);
  if (!index || !(*handle.program->module())->functions[*index].is_entry)
    return refuse(cudaErrorSymbolNotFound, fmt::format("there is no kernel {}", name));
  auto kernel = std::make_unique<KernelHandle>();
  kernel->program = handle.program;
  kernel->name = name;
  kernel->library = &handle;
  *out = kernel.get();
  HostState& state = HostState::instance();
  const std::lock_guard state_lock(state.mutex);
  state.kernel_handles.insert(kernel.get());
  handle.kernels.emplace(name, std::move(kernel));
  return cudaSuccess;
}

namespace {

cudaError_t all_kernels(LibraryHandle& handle, std::vector<KernelHandle*>& out) {
  const auto module = handle.program->module();
  if (!module) return error_of(module.error());
  for (const ptx::Function& f : (*module)->functions) {
    if (!f.is_entry || !f.has_body) continue;
    KernelHandle* kernel = nullptr;
    if (cudaError_t error = library_kernel(handle, f.name.c_str(), &kernel)) return error;
    out.push_back(kernel);
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t library_kernel_count(LibraryHandle& handle, unsigned* count) {
  if (!count) return cudaErrorInvalidValue;
  std::vector<KernelHandle*> kernels;
  if (cudaError_t error = all_kernels(handle, kernels)) return error;
  *count = static_cast<unsigned>(kernels.size());
  return cudaSuccess;
}

cudaError_t library_kernels(LibraryHandle& handle, KernelHandle** out, unsigned room) {
  if (!out) return cudaErrorInvalidValue;
  std::vector<KernelHandle*> kernels;
  if (cudaError_t error = all_kernels(handle, kernels)) return error;
  std::copy_n(kernels.begin(), std::min<std::size_t>(room, kernels.size()), out);
  return cudaSuccess;
}

cudaError_t library_global(LibraryHandle* handle, const char* name, void** address, std::size_t* bytes) {
  if (!is_library(handle)) return cudaErrorInvalidResourceHandle;
  if (!name || !*name) return cudaErrorInvalidValue;
  // The name of a kernel is known, but it is not a variable.
  if (const auto index = handle->program->function(name);
      index && (*handle->program->module())->functions[*index].is_entry)
    return refuse(cudaErrorInvalidValue, fmt::format("{} is a kernel", name));
  DeviceVariable found;
  const int device = handle->device >= 0 ? handle->device : thread_state().device;
  const cudaError_t error = locate(Variable{handle->program, name, 0, nullptr}, device, found);
  if (error == cudaErrorInvalidSymbol)
    return refuse(cudaErrorSymbolNotFound, fmt::format("there is no variable {}", name));
  if (error != cudaSuccess) return error;
  device::AddressSpace::instance().let_kernels_write(reinterpret_cast<std::uint64_t>(found.address));
  if (address) *address = found.address;
  if (bytes) *bytes = found.size;
  return cudaSuccess;
}

cudaError_t library_managed(LibraryHandle* handle, const char* name, void** address, std::size_t* bytes) {
  if (!is_library(handle)) return cudaErrorInvalidResourceHandle;
  if (!name || !*name) return cudaErrorInvalidValue;
  const auto module = handle->program->module();
  if (!module) return error_of(module.error());
  const auto& variables = (*module)->variables;
  const auto is_it = [&](const ptx::Variable& v) { return v.name == name && v.managed; };
  if (std::none_of(variables.begin(), variables.end(), is_it))
    return refuse(cudaErrorSymbolNotFound, fmt::format("there is no managed variable {}", name));
  return library_global(handle, name, address, bytes);
}

cudaError_t library_reference(LibraryHandle& handle, int device, const char* name, ptx::ScalarType type,
                              std::uint64_t& out) {
  if (!name) return cudaErrorInvalidValue;
  const auto module = handle.program->module();
  if (!module) return error_of(module.error());
  const auto& variables = (*module)->variables;
  const auto is_it = [&](const ptx::Variable& v) { return v.name == name && v.type == type; };
  if (std::none_of(variables.begin(), variables.end(), is_it))
    return refuse(cudaErrorSymbolNotFound, fmt::format("there is no texture or surface reference {}", name));
  DeviceVariable found;
  if (cudaError_t error = locate(Variable{handle.program, name, 0, nullptr}, device, found)) return error;
  out = reinterpret_cast<std::uint64_t>(found.address) | ptx::reference_bit(type);
  return cudaSuccess;
}

cudaError_t add_to_link(LinkState& state, Result<std::vector<fatbin::FatbinEntry>> piece, std::string& messages) {
  if (!piece) {
    messages = text_of(piece.error());
    return refuse(cudaErrorInvalidKernelImage, piece.error().message);
  }
  std::uint32_t image = 0;
  for (const fatbin::FatbinEntry& e : state.entries) image = std::max(image, e.image + 1);
  for (fatbin::FatbinEntry& e : *piece) {
    e.image += image;
    state.entries.push_back(std::move(e));
  }
  return cudaSuccess;
}

cudaError_t complete_link(LinkState& state, std::string& messages) {
  if (state.entries.empty()) return refuse(cudaErrorInvalidValue, "nothing to link");
  const GpuModel& model = session::model();
  const auto cc = static_cast<std::uint32_t>(model.cc_major * 10 + model.cc_minor);
  session::Program program([&] { return Result(state.entries); }, cc, "linked code");
  const auto module = program.module();
  if (!module) return refused_code(program, module.error(), messages);
  if (cudaError_t error = check_calls(program, messages)) return error;
  state.image = fatbin::make_fatbin({{ptx::print(**module), state.entries.front().arch, "linked code", false, false}});
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
