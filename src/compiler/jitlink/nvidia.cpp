// NVIDIA's libnvJitLink, loaded at run time, as the linker of LTO IR.
#include "jitlink/nvidia.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/run_variables.h"
#include "nvrtc.h"
#include "toolchain/toolkit.h"

namespace warpgrind::jitlink {

namespace {

struct Functions {
#define WG_JITLINK(name, parameters, arguments) nvJitLinkResult(*name) parameters = nullptr;
#include "warpgrind/nvjitlink_functions.inc"
#undef WG_JITLINK
};

void* open_library(const char* name) {
  const char* const folder = std::getenv(run_variables::kNvidiaJitLink);
  if (!folder || !*folder) return nullptr;
  return dlopen(fmt::format("{}/{}.so.{}", folder, name, toolchain::kReleaseMajor).c_str(), RTLD_LAZY | RTLD_LOCAL);
}

const Functions* open_jitlink() {
  void* const handle = open_library("libnvJitLink");
  if (!handle) return nullptr;
  static Functions out;
  bool whole = true;
#define WG_JITLINK(name, parameters, arguments)                                                 \
  out.name = reinterpret_cast<nvJitLinkResult(*) parameters>(dlsym(handle, "nvJitLink" #name)); \
  whole &= out.name != nullptr;
#include "warpgrind/nvjitlink_functions.inc"
#undef WG_JITLINK
  return whole ? &out : nullptr;
}

const Functions* nvidia_jitlink() {
  static const Functions* const one = open_jitlink();
  return one;
}

template <typename Function>
Function* nvrtc_function(void* handle, const char* name) {
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

// LTO IR of this CUDA C++ source, made by the NVRTC beside that library; nullopt: there is no NVRTC.
std::optional<std::string> lto_of(const std::string& source, const std::string& architecture) {
  void* const handle = open_library("libnvrtc");
  if (!handle) return std::nullopt;
  auto* const create = nvrtc_function<decltype(nvrtcCreateProgram)>(handle, "nvrtcCreateProgram");
  auto* const compile = nvrtc_function<decltype(nvrtcCompileProgram)>(handle, "nvrtcCompileProgram");
  auto* const size_of = nvrtc_function<decltype(nvrtcGetLTOIRSize)>(handle, "nvrtcGetLTOIRSize");
  auto* const copy = nvrtc_function<decltype(nvrtcGetLTOIR)>(handle, "nvrtcGetLTOIR");
  auto* const destroy = nvrtc_function<decltype(nvrtcDestroyProgram)>(handle, "nvrtcDestroyProgram");
  if (!create || !compile || !size_of || !copy || !destroy) return std::nullopt;
  nvrtcProgram program = nullptr;
  if (create(&program, source.c_str(), "called.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS) return std::nullopt;
  const std::string arch = "-arch=" + architecture;
  const char* const options[] = {arch.c_str(), "-dlto", "-rdc=true"};
  std::optional<std::string> out;
  std::size_t size = 0;
  if (compile(program, 3, options) == NVRTC_SUCCESS && size_of(program, &size) == NVRTC_SUCCESS && size > 0) {
    out.emplace(size, '\0');
    if (copy(program, out->data()) != NVRTC_SUCCESS) out.reset();
  }
  destroy(&program);
  return out;
}

// CUDA C++ with a variable that holds the addresses of these functions, so that the linker keeps them.
std::string source_that_keeps(const std::vector<std::string>& functions) {
  std::string out;
  for (const std::string& one : functions) out += fmt::format("extern \"C\" __device__ void {}();\n", one);
  return out + fmt::format("__device__ void (*__warpgrind_called[])() = {{{}}};\n", fmt::join(functions, ", "));
}

// "-arch=sm_90a" -> "compute_90a"
std::string virtual_architecture(const std::vector<std::string>& options) {
  constexpr std::string_view kArch = "-arch=";
  for (const std::string& one : options)
    if (one.starts_with(kArch)) return "compute_" + one.substr(one.find('_') + 1);
  return "";
}

template <typename Size, typename Copy>
std::string text_of(nvJitLinkHandle handle, Size size_of, Copy copy) {
  std::size_t size = 0;
  if (size_of(handle, &size) != NVJITLINK_SUCCESS || size == 0) return "";
  std::string out(size + 1, '\0');
  if (copy(handle, out.data()) != NVJITLINK_SUCCESS) return "";
  out.resize(out.find('\0'));
  return out;
}

nvJitLinkResult run(const Functions& theirs, nvJitLinkHandle handle, const std::vector<LtoInput>& inputs) {
  for (const LtoInput& one : inputs)
    if (const auto result = theirs.AddData(handle, one.type, one.bytes.data(), one.bytes.size(), one.name.c_str());
        result != NVJITLINK_SUCCESS)
      return result;
  return theirs.Complete(handle);
}

}  // namespace

bool reads_lto() {
  return nvidia_jitlink() != nullptr;
}

LtoLinked link_lto(const std::vector<LtoInput>& inputs, const std::vector<std::string>& options,
                   const std::vector<std::string>& called) {
  LtoLinked out;
  const Functions& theirs = *nvidia_jitlink();
  std::vector<LtoInput> all = inputs;
  if (!called.empty())
    if (auto kept = lto_of(source_that_keeps(called), virtual_architecture(options)))
      all.push_back({NVJITLINK_INPUT_LTOIR, std::move(*kept), "called"});
  std::vector<const char*> words;
  for (const std::string& one : options) words.push_back(one.c_str());
  for (const char* word : {"-lto", "-ptx"})
    if (std::find(options.begin(), options.end(), word) == options.end()) words.push_back(word);
  nvJitLinkHandle handle = nullptr;
  out.result = theirs.Create(&handle, static_cast<std::uint32_t>(words.size()), words.data());
  if (out.result == NVJITLINK_SUCCESS) out.result = run(theirs, handle, all);
  if (handle) {
    out.errors = text_of(handle, theirs.GetErrorLogSize, theirs.GetErrorLog);
    out.info = text_of(handle, theirs.GetInfoLogSize, theirs.GetInfoLog);
  }
  if (out.result == NVJITLINK_SUCCESS) out.ptx = text_of(handle, theirs.GetLinkedPtxSize, theirs.GetLinkedPtx);
  if (out.result == NVJITLINK_SUCCESS && out.ptx.empty()) out.result = NVJITLINK_ERROR_INTERNAL;
  if (handle) theirs.Destroy(&handle);
  return out;
}

}  // namespace warpgrind::jitlink
