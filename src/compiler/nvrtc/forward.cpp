// NVIDIA's libnvrtc, loaded at run time; its cubins are replaced by containers of its PTX.
#include "nvrtc/forward.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "fatbin/write.h"
#include "nvrtc/debugged.h"
#include "nvrtc/release.h"

namespace warpgrind::nvrtc {

namespace {

Forwarded theirs;

// Under the debugger: the sources of their programs, by handle.
struct Sources {
  std::mutex mutex;
  std::unordered_map<const void*, Source> of;
};
Sources& sources() {
  static auto* const one = new Sources;
  return *one;
}

// ".target sm_90a"
std::uint32_t target_of(const std::string& ptx) {
  constexpr std::string_view kTarget = ".target sm_";
  std::uint32_t number = 0;
  if (const auto at = ptx.find(kTarget); at != std::string::npos)
    std::from_chars(ptx.data() + at + kTarget.size(), ptx.data() + ptx.size(), number);
  return number;
}

// The PTX as the debugger wants it (nvrtc/debugged.h), without a NUL.
nvrtcResult ptx_of(nvrtcProgram program, std::string& out) {
  std::size_t size = 0;
  nvrtcResult result = theirs.GetPTXSize(program, &size);
  if (result != NVRTC_SUCCESS || size == 0) return result;
  out.resize(size);
  result = theirs.GetPTX(program, out.data());
  if (result != NVRTC_SUCCESS) return result;
  out.resize(std::strlen(out.c_str()));
  if (debug_folder().empty()) return result;
  const std::lock_guard lock(sources().mutex);
  const auto source = sources().of.find(program);
  if (source != sources().of.end()) out = with_stored_sources(out, source->second, debug_folder());
  return result;
}

nvrtcResult debugged_ptx_size(nvrtcProgram program, std::size_t* size) {
  if (!program || !size) return theirs.GetPTXSize(program, size);
  std::string text;
  const nvrtcResult result = ptx_of(program, text);
  if (result == NVRTC_SUCCESS) *size = text.size() + 1;
  return result;
}

nvrtcResult debugged_ptx(nvrtcProgram program, char* to) {
  if (!program || !to) return theirs.GetPTX(program, to);
  std::string text;
  const nvrtcResult result = ptx_of(program, text);
  if (result == NVRTC_SUCCESS) std::memcpy(to, text.c_str(), text.size() + 1);
  return result;
}

nvrtcResult debugged_create(nvrtcProgram* program, const char* text, const char* name, int count,
                            const char* const* headers, const char* const* names) {
  if (!text) return theirs.CreateProgram(program, text, name, count, headers, names);
  Source source;
  source.text = text;
  source.name = name && *name ? name : kDefaultName;
  const std::string given = with_own_script_lines(source);
  const nvrtcResult result = theirs.CreateProgram(program, given.c_str(), name, count, headers, names);
  if (result != NVRTC_SUCCESS) return result;
  for (int i = 0; i < count; ++i) source.headers.emplace_back(names[i], headers[i]);
  const std::lock_guard lock(sources().mutex);
  sources().of[*program] = std::move(source);
  return result;
}

nvrtcResult debugged_destroy(nvrtcProgram* program) {
  if (program) {
    const std::lock_guard lock(sources().mutex);
    sources().of.erase(*program);
  }
  return theirs.DestroyProgram(program);
}

// A program that does not compile with debug information is compiled as it asks.
nvrtcResult debugged_compile(nvrtcProgram program, int count, const char* const* options) {
  if (count >= 0 && (count == 0 || options) && std::find(options, options + count, nullptr) == options + count) {
    const std::vector<std::string> words = with_debug_option({options, options + count});
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    const nvrtcResult result = theirs.CompileProgram(program, static_cast<int>(words.size()), pointers.data());
    if (result == NVRTC_SUCCESS) return result;
  }
  return theirs.CompileProgram(program, count, options);
}

// `out` stays empty if the program did not ask for a cubin.
nvrtcResult container(nvrtcProgram program, std::string& out) {
  std::size_t size = 0;
  nvrtcResult result = theirs.GetCUBINSize(program, &size);
  if (result != NVRTC_SUCCESS || size == 0) return result;
  std::string ptx;
  result = ptx_of(program, ptx);
  if (result != NVRTC_SUCCESS || ptx.empty()) return result;
  fatbin::PtxCode code;
  code.arch = target_of(ptx);
  code.text = fmt::format("// PTX in place of machine code for sm_{}: warpgrind runs PTX.\n", code.arch) + ptx;
  out = fatbin::make_fatbin({code});
  return NVRTC_SUCCESS;
}

nvrtcResult cubin_size(nvrtcProgram program, std::size_t* size) {
  if (!program || !size) return theirs.GetCUBINSize(program, size);
  std::string text;
  const nvrtcResult result = container(program, text);
  if (result == NVRTC_SUCCESS) *size = text.size();
  return result;
}

nvrtcResult cubin(nvrtcProgram program, char* to) {
  if (!program || !to) return theirs.GetCUBIN(program, to);
  std::string text;
  const nvrtcResult result = container(program, text);
  if (result == NVRTC_SUCCESS) std::memcpy(to, text.data(), text.size());
  return result;
}

const Forwarded* open_library(const std::string& folder) {
  if (folder.empty()) return nullptr;
  void* const handle =
      dlopen(fmt::format("{}/libnvrtc.so.{}", folder, release().major).c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return nullptr;
    // Functions that an older library lacks stay ours.
#define WG_NVRTC(result, name, parameters, arguments) \
  theirs.name = reinterpret_cast<result(*) parameters>(dlsym(handle, "nvrtc" #name));
#include "warpgrind/nvrtc_functions.inc"
#undef WG_NVRTC
  if (!theirs.CreateProgram || !theirs.GetPTX || !theirs.GetPTXSize || !theirs.GetCUBINSize) return nullptr;
  static Forwarded out;
  out = theirs;
  out.GetCUBINSize = cubin_size;
  out.GetCUBIN = cubin;
  if (debug_folder().empty()) return &out;
  out.CreateProgram = debugged_create;
  out.DestroyProgram = debugged_destroy;
  out.CompileProgram = debugged_compile;
  out.GetPTXSize = debugged_ptx_size;
  out.GetPTX = debugged_ptx;
  return &out;
}

}  // namespace

const Forwarded* forwarded(const std::string& folder) {
  static const Forwarded* const library = open_library(folder);
  return library;
}

}  // namespace warpgrind::nvrtc
