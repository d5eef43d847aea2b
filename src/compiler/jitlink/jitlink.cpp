// Entry points of nvJitLink (include/warpgrind/nvjitlink_functions.inc). The PTX of each input is read when the input
// is added; all is linked as PTX. NVIDIA's LTO IR becomes PTX when all of it has been added.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/assert.h"
#include "base/file.h"
#include "fatbin/fatbin.h"
#include "fatbin/write.h"
#include "jitlink/nvidia.h"
#include "nvJitLink.h"
#include "ptx/linker.h"
#include "ptx/parser.h"
#include "ptx/printer.h"
#include "ptx/undefined.h"

namespace warpgrind::jitlink {

namespace {

constexpr int kLowest = 75, kHighest = 121;  // architectures that CUDA 13.0 makes code for
constexpr int kKnown[] = {30, 32, 35, 37, 50, 52, 53,  60,  61,  62,  70,  72, 75,
                          80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

struct Option {
  std::string_view name;
  bool takes_value;
};
constexpr Option kOptions[] = {
#define JITLINK_OPTION(name, takes_value) {name, takes_value},
#include "jitlink/options.inc"
#undef JITLINK_OPTION
};

struct Link {
  std::mutex mutex;
  int architecture = 0;
  bool lto = false, ptx_wanted = false, line_info = false, complete = false;
  std::vector<std::string> options;  // unchanged
  std::vector<std::shared_ptr<ptx::Module>> modules;
  std::vector<LtoInput> lto_inputs;
  std::string cubin, ptx, errors, info;
};

// Never destroyed: a program may call nvJitLink from its own destructors.
struct Library {
  std::mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<Link>> links;
};
Library& library() {
  static auto* const one = new Library;
  return *one;
}

std::shared_ptr<Link> find(nvJitLinkHandle handle) {
  const std::lock_guard lock(library().mutex);
  const auto found = library().links.find(handle);
  return found == library().links.end() ? nullptr : found->second;
}

nvJitLinkResult fail(Link& link, nvJitLinkResult result, const std::string& line) {
  link.errors += line + "\n";
  return result;
}

bool is_known(int number) {
  for (const int one : kKnown)
    if (one == number) return true;
  return false;
}

// Reads names such as "sm_80" and "compute_90a".
nvJitLinkResult read_architecture(Link& link, std::string_view text, bool& is_virtual) {
  const std::string given(text);
  is_virtual = text.starts_with("compute_") || text.starts_with("lto_");
  if (!is_virtual && !text.starts_with("sm_"))
    return fail(link, NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
                fmt::format("ERROR NVJITLINK_ERROR_UNRECOGNIZED_OPTION: missing option value (-arch={})", given));
  text.remove_prefix(text.find('_') + 1);
  std::from_chars(text.data(), text.data() + text.size(), link.architecture);
  if (!is_known(link.architecture))
    return fail(link, NVJITLINK_ERROR_UNRECOGNIZED_ARCH,
                fmt::format("ERROR NVJITLINK_ERROR_UNRECOGNIZED_ARCH: unrecognized architecture (compute_{})", text));
  if (link.architecture < kLowest || link.architecture > kHighest)
    return fail(link, NVJITLINK_ERROR_UNSUPPORTED_ARCH,
                fmt::format("ERROR NVJITLINK_ERROR_UNSUPPORTED_ARCH: unsupported architecture (compute_{})", text));
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult read_options(Link& link, const std::vector<std::string_view>& words) {
  std::string_view arch;
  for (const std::string_view word : words) {
    const std::string_view name = word.substr(std::min<std::size_t>(word.size(), 1), word.find('=') - 1);
    const bool has_value = word.find('=') != std::string_view::npos;
    bool known = word.starts_with("-O");  // -O3
    for (const Option& option : kOptions)
      known |= word.starts_with('-') && option.name == name && option.takes_value == has_value;
    if (!known) return fail(link, NVJITLINK_ERROR_UNRECOGNIZED_OPTION, fmt::format("unrecognized option: {}", word));
    if (name == "arch") arch = word.substr(word.find('=') + 1);
    link.lto |= name == "lto" || name == "dlto";
    link.ptx_wanted |= name == "ptx";
    link.line_info |= name == "lineinfo";
  }
  if (arch.empty()) return NVJITLINK_ERROR_MISSING_ARCH;
  bool is_virtual = false;
  if (const nvJitLinkResult result = read_architecture(link, arch, is_virtual); result != NVJITLINK_SUCCESS)
    return result;
  if (is_virtual && !link.ptx_wanted)
    return fail(link, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "ERROR: virtual arch requires -ptx");
  if (link.ptx_wanted && !link.lto)
    return fail(link, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "ERROR: -ptx requires -lto");
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult add_text(Link& link, std::string text, const std::string& name) {
  auto module = ptx::parse(std::move(text), name);
  if (!module)
    return fail(link, NVJITLINK_ERROR_PTX_COMPILE,
                fmt::format("{}\n{}ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX ({})", module.error().message,
                            module.error().detail, name));
  for (const ptx::Function& f : (*module)->functions)
    for (const ptx::UnknownInstruction& unknown : f.unknown)
      return fail(link, NVJITLINK_ERROR_PTX_COMPILE,
                  fmt::format("{}, line {}: {}\nERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX ({})", name,
                              unknown.range.line, unknown.why, name));
  link.modules.push_back(module.take());
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult add_lto(Link& link, nvJitLinkInputType type, std::string_view bytes, const std::string& name) {
  if (!reads_lto())
    return fail(link, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE,
                name +
                    ": only NVIDIA's libnvJitLink can read NVIDIA's LTO IR, and it was not found; compile with "
                    "warpgrind's NVRTC, or as PTX");
  if (!link.lto)
    return fail(link, NVJITLINK_ERROR_LTO_NOT_ENABLED,
                "ERROR NVJITLINK_ERROR_LTO_NOT_ENABLED: -lto is needed for " + name);
  link.lto_inputs.push_back({type, std::string(bytes), name});
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult add_entries(Link& link, const Result<std::vector<fatbin::FatbinEntry>>& entries,
                            const std::string& name) {
  if (!entries) return fail(link, NVJITLINK_ERROR_INVALID_INPUT, fmt::format("{}: {}", name, entries.error().message));
  for (const std::uint32_t image : fatbin::program_images(*entries)) {
    const auto chosen =
        fatbin::choose_ptx(*entries, image, static_cast<std::uint32_t>(link.architecture), fatbin::UnfitPtx::refuse);
    if (!chosen) return fail(link, NVJITLINK_ERROR_ARCH_MISMATCH, fmt::format("{}: {}", name, chosen.error().message));
    auto text = fatbin::ptx_text(*chosen->entry);
    if (!text) return fail(link, NVJITLINK_ERROR_INVALID_INPUT, fmt::format("{}: {}", name, text.error().message));
    for (std::string& part : ptx::split_texts(text.take()))
      if (const nvJitLinkResult result = add_text(link, std::move(part), name); result != NVJITLINK_SUCCESS)
        return result;
  }
  return NVJITLINK_SUCCESS;
}

bool is_ptx(std::string_view text) {
  return text.find(".version") != std::string_view::npos && text.find(".target") != std::string_view::npos;
}

constexpr std::string_view kArchive = "!<arch>\n";

// Formats that hold a fatbin: ours in place of cubins and LTO IR, and nvcc's objects and programs.
bool is_container(std::string_view bytes) {
  return bytes.starts_with("\x50\xed\x55\xba") ||
         bytes.starts_with(
             "\x7f"
             "ELF") ||
         bytes.starts_with(kArchive);
}

// Adds a fatbin, or an object with one.
nvJitLinkResult add_container(Link& link, nvJitLinkInputType type, std::string_view bytes, const std::string& name) {
  const auto entries = fatbin::read_memory(std::as_bytes(std::span(bytes)), name);
  // nvcc -dlto writes neither PTX nor machine code.
  if ((!entries || entries->empty()) && link.lto && reads_lto()) return add_lto(link, type, bytes, name);
  return add_entries(link, entries, name);
}

nvJitLinkResult add_bytes(Link& link, nvJitLinkInputType type, std::string_view bytes, const std::string& name) {
  if (type == NVJITLINK_INPUT_NONE || (type > NVJITLINK_INPUT_INDEX && type != NVJITLINK_INPUT_ANY))
    return fail(link, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, "unsupported input type: " + name);
  const bool container = is_container(bytes);
  const bool text = !container && is_ptx(bytes);
  if (type == NVJITLINK_INPUT_ANY && !container && !text)
    return fail(link, NVJITLINK_ERROR_UNRECOGNIZED_INPUT, "unrecognized input: " + name);
  if (type == NVJITLINK_INPUT_LTOIR && !container) return add_lto(link, type, bytes, name);
  if (type != NVJITLINK_INPUT_ANY && (type == NVJITLINK_INPUT_PTX ? !text : !container))
    return fail(link, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, "ERROR 1: bad input: does not match its type: " + name);
  if (text) return add_text(link, std::string(bytes.substr(0, bytes.find('\0'))), name);
  if (bytes.starts_with(kArchive)) {
    for (const fatbin::RelocatablePart& part : fatbin::relocatable_parts_of(bytes)) {
      if (part.fatbin.empty()) continue;
      const nvJitLinkResult result = add_container(link, NVJITLINK_INPUT_FATBIN, part.fatbin, name);
      if (result != NVJITLINK_SUCCESS) return result;
    }
    return NVJITLINK_SUCCESS;
  }
  return add_container(link, type, bytes, name);
}

nvJitLinkResult Create(nvJitLinkHandle* handle, uint32_t count, const char** options) {
  if (!handle || (count > 0 && !options)) return NVJITLINK_ERROR_NULL_INPUT;
  auto link = std::make_shared<Link>();
  *handle = reinterpret_cast<nvJitLinkHandle>(link.get());
  {
    const std::lock_guard lock(library().mutex);
    const bool is_new = library().links.emplace(link.get(), link).second;
    WG_ASSERT(is_new);
  }
  std::vector<std::string_view> words;
  for (uint32_t i = 0; i < count; i++) {
    if (!options[i]) return NVJITLINK_ERROR_NULL_INPUT;
    words.emplace_back(options[i]);
    link->options.emplace_back(options[i]);
  }
  return read_options(*link, words);
}

nvJitLinkResult Destroy(nvJitLinkHandle* handle) {
  if (!handle) return NVJITLINK_ERROR_NULL_INPUT;
  const std::lock_guard lock(library().mutex);
  if (library().links.erase(*handle) == 0) return NVJITLINK_ERROR_NULL_INPUT;
  *handle = nullptr;
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult AddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void* data, size_t size,
                        const char* name) {
  const auto link = find(handle);
  if (!link || !data) return NVJITLINK_ERROR_NULL_INPUT;
  const std::lock_guard lock(link->mutex);
  if (link->complete) return NVJITLINK_ERROR_INTERNAL;
  return add_bytes(*link, type, {static_cast<const char*>(data), size}, name ? name : "input");
}

nvJitLinkResult AddFile(nvJitLinkHandle handle, nvJitLinkInputType type, const char* path) {
  const auto link = find(handle);
  if (!link || !path) return NVJITLINK_ERROR_NULL_INPUT;
  const std::lock_guard lock(link->mutex);
  if (link->complete) return NVJITLINK_ERROR_INTERNAL;
  if (type == NVJITLINK_INPUT_NONE || type == NVJITLINK_INPUT_INDEX)
    return fail(*link, NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, fmt::format("unsupported input type: {}", path));
  const std::optional<std::string> bytes = read_whole(path, kLargestProgram);
  if (bytes && (type == NVJITLINK_INPUT_LTOIR || is_container(*bytes))) return add_bytes(*link, type, *bytes, path);
  return add_entries(*link, fatbin::read_file(path), path);
}

// In nvJitLink's form: one line for each module and name.
std::string undefined_references(const Link& link) {
  std::set<std::string> defined;
  for (const auto& module : link.modules) {
    for (const ptx::Function& f : module->functions)
      if (f.has_body || f.alias_of != ptx::kNoId) defined.insert(f.name);
    for (const ptx::Variable& v : module->variables)
      if (v.linkage != ptx::Linkage::external) defined.insert(v.name);
  }
  std::string out;
  for (const auto& module : link.modules)
    for (const ptx::Undefined& one : ptx::undefined_references(*module))
      if (!defined.contains(one.name) && !(one.is_function && ptx::is_always_there(one.name)))
        out += fmt::format("error   : Undefined reference to '{}' in '{}'\n", one.name, module->name);
  return out;
}

// Functions that the modules declare and none of them defines.
std::vector<std::string> called_elsewhere(const Link& link) {
  std::set<std::string> declared, defined;
  for (const auto& module : link.modules)
    for (const ptx::Function& f : module->functions) (f.has_body ? defined : declared).insert(f.name);
  std::vector<std::string> out;
  for (const std::string& name : declared)
    if (!defined.contains(name)) out.push_back(name);
  return out;
}

// Adds the LTO IR as one more module. `text` stays empty unless there is no other module.
nvJitLinkResult take_lto(Link& link, std::string& text) {
  const std::vector<std::string> called = called_elsewhere(link);
  LtoLinked linked = link_lto(link.lto_inputs, link.options, called);
  link.errors += linked.errors;
  link.info += linked.info;
  if (linked.result != NVJITLINK_SUCCESS) return linked.result;
  const bool alone = link.modules.empty();
  if (alone) text = linked.ptx;
  if (const nvJitLinkResult result = add_text(link, std::move(linked.ptx), "LTO IR"); result != NVJITLINK_SUCCESS)
    return result;
  // NVIDIA's linker has made all functions internal except kernels.
  for (ptx::Function& f : link.modules.back()->functions)
    if (f.has_body && f.linkage == ptx::Linkage::internal &&
        std::find(called.begin(), called.end(), f.name) != called.end())
      f.linkage = ptx::Linkage::visible;
  return NVJITLINK_SUCCESS;
}

// Compiled for a debugger (-G, debug=True of Numba).
bool describes_variables(const ptx::Module& module) {
  for (const ptx::DebugPart& part : module.debug_parts)
    for (const ptx::DebugSection& section : part.sections)
      if (section.name == ".debug_info") return true;
  return false;
}

nvJitLinkResult Complete(nvJitLinkHandle handle) {
  const auto link = find(handle);
  if (!link) return NVJITLINK_ERROR_NULL_INPUT;
  const std::lock_guard lock(link->mutex);
  if (link->complete) return NVJITLINK_ERROR_INTERNAL;
  link->complete = true;
  std::string text;
  if (!link->lto_inputs.empty())
    if (const nvJitLinkResult result = take_lto(*link, text); result != NVJITLINK_SUCCESS) return result;
  if (link->modules.empty()) return fail(*link, NVJITLINK_ERROR_INVALID_INPUT, "ERROR: nothing to link");
  if (const std::string undefined = undefined_references(*link); !undefined.empty() && !link->ptx_wanted)
    return fail(*link, NVJITLINK_ERROR_INTERNAL, undefined + "ERROR 9: finish");
  if (text.empty()) {
    const auto linked = ptx::link(link->modules);
    if (!linked) return fail(*link, NVJITLINK_ERROR_INTERNAL, "error   : " + linked.error().message);
    const bool joins = !link->ptx_wanted && link->lto_inputs.empty() && describes_variables(**linked);
    text = joins ? ptx::join_texts(link->modules) : ptx::print(**linked);
  }
  if (link->ptx_wanted) {
    link->ptx = text;
    return NVJITLINK_SUCCESS;
  }
  fatbin::PtxCode code;
  code.text =
      fmt::format("// PTX in place of machine code for sm_{}: warpgrind runs PTX.\n", link->architecture) + text;
  code.arch = static_cast<std::uint32_t>(link->architecture);
  code.line_info = link->line_info;
  link->cubin = fatbin::make_fatbin({code});
  return NVJITLINK_SUCCESS;
}

// `missing`: the result if the text is empty.
nvJitLinkResult size_of(nvJitLinkHandle handle, size_t* size, std::string Link::*text, std::size_t more,
                        nvJitLinkResult missing) {
  const auto link = find(handle);
  if (!link || !size) return NVJITLINK_ERROR_NULL_INPUT;
  const std::lock_guard lock(link->mutex);
  if ((*link.*text).empty()) {
    if (missing == NVJITLINK_SUCCESS) *size = 0;
    return missing;
  }
  *size = (*link.*text).size() + more;
  return NVJITLINK_SUCCESS;
}
nvJitLinkResult copy_of(nvJitLinkHandle handle, void* to, std::string Link::*text, std::size_t more,
                        nvJitLinkResult missing) {
  const auto link = find(handle);
  if (!link || !to) return NVJITLINK_ERROR_NULL_INPUT;
  const std::lock_guard lock(link->mutex);
  if ((*link.*text).empty()) return missing;
  std::memcpy(to, (*link.*text).c_str(), (*link.*text).size() + more);
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult GetLinkedCubinSize(nvJitLinkHandle handle, size_t* size) {
  return size_of(handle, size, &Link::cubin, 0, NVJITLINK_ERROR_INTERNAL);
}
nvJitLinkResult GetLinkedCubin(nvJitLinkHandle handle, void* cubin) {
  return copy_of(handle, cubin, &Link::cubin, 0, NVJITLINK_ERROR_INTERNAL);
}
nvJitLinkResult GetLinkedPtxSize(nvJitLinkHandle handle, size_t* size) {
  return size_of(handle, size, &Link::ptx, 1, NVJITLINK_ERROR_INVALID_INPUT);
}
nvJitLinkResult GetLinkedPtx(nvJitLinkHandle handle, char* ptx) {
  return copy_of(handle, ptx, &Link::ptx, 1, NVJITLINK_ERROR_INVALID_INPUT);
}
nvJitLinkResult GetErrorLogSize(nvJitLinkHandle handle, size_t* size) {
  return size_of(handle, size, &Link::errors, 1, NVJITLINK_SUCCESS);
}
nvJitLinkResult GetErrorLog(nvJitLinkHandle handle, char* log) {
  return copy_of(handle, log, &Link::errors, 1, NVJITLINK_SUCCESS);
}
nvJitLinkResult GetInfoLogSize(nvJitLinkHandle handle, size_t* size) {
  return size_of(handle, size, &Link::info, 1, NVJITLINK_SUCCESS);
}
nvJitLinkResult GetInfoLog(nvJitLinkHandle handle, char* log) {
  return copy_of(handle, log, &Link::info, 1, NVJITLINK_SUCCESS);
}

}  // namespace

}  // namespace warpgrind::jitlink

// Programs compiled with NVIDIA's header append the version to each function's name.
#define WG_JITLINK_AS(symbol, name, parameters, arguments)                              \
  extern "C" __attribute__((visibility("default"))) nvJitLinkResult symbol parameters { \
    return warpgrind::jitlink::name arguments;                                          \
  }
#define WG_JITLINK(name, parameters, arguments)               \
  WG_JITLINK_AS(nvJitLink##name, name, parameters, arguments) \
  WG_JITLINK_AS(__nvJitLink##name##_13_0, name, parameters, arguments)
#include "warpgrind/nvjitlink_functions.inc"
#undef WG_JITLINK
#undef WG_JITLINK_AS

extern "C" __attribute__((visibility("default"))) nvJitLinkResult nvJitLinkVersion(unsigned int* major,
                                                                                   unsigned int* minor) {
  if (!major || !minor) return NVJITLINK_ERROR_NULL_INPUT;
  *major = 13;
  *minor = 0;
  return NVJITLINK_SUCCESS;
}
