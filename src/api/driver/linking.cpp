// Linking of PTX. Of cubins, objects and archives, the linker uses the PTX inside them.
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <span>

#include "driver/driver.h"
#include "fatbin/write.h"
#include "semantics/modules.h"

namespace warpgrind::driver {

namespace {

std::mutex links_mutex;
std::set<const semantics::LinkState*>& links() {
  static auto* set = new std::set<const semantics::LinkState*>;
  return *set;
}
bool is_link(const semantics::LinkState* state) {
  const std::lock_guard lock(links_mutex);
  return links().contains(state);
}

CUresult create(unsigned count, CUjit_option* options, void** values, CUlinkState* state,
                const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        if (!state || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
        auto made = std::make_unique<semantics::LinkState>();
        made->options = semantics::JitOptions(count, reinterpret_cast<const int*>(options), values);
        const std::lock_guard lock(links_mutex);
        links().insert(made.get());
        *state = made.release();
        return CUDA_SUCCESS;
      },
      call);
}

// Adds a piece. nvcc's archives and objects contain whole fatbins, which read_memory finds. LTO IR is refused: its
// format is NVIDIA's own.
CUresult add(semantics::LinkState* state, CUjitInputType type, Result<std::vector<fatbin::FatbinEntry>> piece) {
  if (type == CU_JIT_INPUT_NVVM) return not_supported("linking of LTO IR (CU_JIT_INPUT_NVVM)");
  std::string messages;
  const cudaError_t error = semantics::add_to_link(*state, std::move(piece), messages);
  if (error != cudaSuccess) state->options.give(messages, "");
  return driver_error(error);
}

// Adds each member of an archive that has device code. An archive without any, such as our libcudadevrt.a, adds
// nothing.
CUresult add_archive(semantics::LinkState* state, const char* path) {
  const auto parts = fatbin::relocatable_parts(path);
  if (!parts) return add(state, CU_JIT_INPUT_LIBRARY, parts.error());
  for (const fatbin::RelocatablePart& part : *parts) {
    if (part.fatbin.empty()) continue;
    const CUresult error =
        add(state, CU_JIT_INPUT_LIBRARY, fatbin::read_memory(std::as_bytes(std::span(part.fatbin)), path));
    if (error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}

CUresult add_data(CUlinkState state, CUjitInputType type, void* data, std::size_t size, const char* name,
                  const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        if (!is_link(state)) return CUDA_ERROR_INVALID_HANDLE;
        if (!data || size == 0 || type >= CU_JIT_NUM_INPUT_TYPES) return CUDA_ERROR_INVALID_VALUE;
        const std::span bytes(static_cast<const std::byte*>(data), size);
        return add(state, type, fatbin::read_memory(bytes, name ? name : "linked code"));
      },
      call);
}
CUresult add_file(CUlinkState state, CUjitInputType type, const char* path, const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        if (!is_link(state)) return CUDA_ERROR_INVALID_HANDLE;
        if (!path || type >= CU_JIT_NUM_INPUT_TYPES) return CUDA_ERROR_INVALID_VALUE;
        if (std::error_code none; !std::filesystem::exists(path, none)) return CUDA_ERROR_FILE_NOT_FOUND;
        return type == CU_JIT_INPUT_LIBRARY ? add_archive(state, path) : add(state, type, fatbin::read_file(path));
      },
      call);
}

}  // namespace

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return create(count, options, values, state);
}
CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return create(count, options, values, state);
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t size, const char* name, unsigned,
                       CUjit_option*, void**) {
  return add_data(state, type, data, size, name);
}
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, std::size_t size, const char* name,
                          unsigned, CUjit_option*, void**) {
  return add_data(state, type, data, size, name);
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned, CUjit_option*, void**) {
  return add_file(state, type, path);
}
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned, CUjit_option*, void**) {
  return add_file(state, type, path);
}
// The image is a fatbin with the PTX of all pieces. It lives as long as the link state.
CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* size) {
  return driver([&]() -> CUresult {
    if (!is_link(state)) return CUDA_ERROR_INVALID_HANDLE;
    if (!image) return CUDA_ERROR_INVALID_VALUE;
    std::string messages;
    const cudaError_t error = semantics::complete_link(*state, messages);
    state->options.give(messages, "");
    if (error != cudaSuccess) return driver_error(error);
    *image = state->image.data();
    if (size) *size = state->image.size();
    return CUDA_SUCCESS;
  });
}
CUresult cuLinkDestroy(CUlinkState state) {
  return driver([&]() -> CUresult {
    const std::lock_guard lock(links_mutex);
    if (links().erase(state) == 0) return CUDA_ERROR_INVALID_HANDLE;
    delete state;
    return CUDA_SUCCESS;
  });
}

}  // namespace warpgrind::driver
