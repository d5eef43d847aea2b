// NVIDIA's libnvrtc, loaded at run time; its cubins are replaced by containers of its PTX.
#include "nvrtc/forward.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "fatbin/write.h"
#include "nvrtc/release.h"

namespace warpgrind::nvrtc {

namespace {

Forwarded theirs;

// ".target sm_90a"
std::uint32_t target_of(const std::string& ptx) {
  constexpr std::string_view kTarget = ".target sm_";
  std::uint32_t number = 0;
  if (const auto at = ptx.find(kTarget); at != std::string::npos)
    std::from_chars(ptx.data() + at + kTarget.size(), ptx.data() + ptx.size(), number);
  return number;
}

// `out` stays empty if the program did not ask for a cubin.
nvrtcResult container(nvrtcProgram program, std::string& out) {
  std::size_t size = 0;
  nvrtcResult result = theirs.GetCUBINSize(program, &size);
  if (result != NVRTC_SUCCESS || size == 0) return result;
  result = theirs.GetPTXSize(program, &size);
  if (result != NVRTC_SUCCESS || size <= 1) return result;
  std::string ptx(size, '\0');
  result = theirs.GetPTX(program, ptx.data());
  if (result != NVRTC_SUCCESS) return result;
  ptx.resize(std::strlen(ptx.c_str()));
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
  return &out;
}

}  // namespace

const Forwarded* forwarded(const std::string& folder) {
  static const Forwarded* const library = open_library(folder);
  return library;
}

}  // namespace warpgrind::nvrtc
