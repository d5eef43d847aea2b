// Entry points of NVRTC (include/warpgrind/nvrtc_functions.inc). Programs are looked up by their handle, so that an
// invalid or destroyed handle is an error and no crash.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/assert.h"
#include "base/run_variables.h"
#include "nvrtc/compile.h"
#include "nvrtc/debugged.h"
#include "nvrtc/forward.h"
#include "nvrtc/release.h"

namespace warpgrind::nvrtc {

namespace {

constexpr std::size_t kPchHeapBytes = std::size_t{256} << 20;  // NVIDIA's default

struct Program {
  std::mutex mutex;  // held while it is compiled
  Source source;
  bool compiled = false;  // a compilation was tried, with valid options
  Compiled result;
  int (*callback)(void*, void*) = nullptr;
  void* payload = nullptr;
};

// Never destroyed: a program may call NVRTC from its own destructors.
struct Library {
  std::mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<Program>> programs;
  std::size_t pch_heap = kPchHeapBytes;
};
Library& library() {
  static auto* const one = new Library;
  return *one;
}

std::shared_ptr<Program> find(nvrtcProgram handle) {
  const std::lock_guard lock(library().mutex);
  const auto found = library().programs.find(handle);
  return found == library().programs.end() ? nullptr : found->second;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

Surroundings surroundings() {
  Surroundings out;
  Dl_info info{};
  std::error_code none;
  // This library is in a subfolder of our libraries' folder (cmake/Toolkit.cmake).
  if (dladdr(reinterpret_cast<const void*>(&library), &info) != 0 && info.dli_fname)
    out.libraries = std::filesystem::canonical(info.dli_fname, none).parent_path().parent_path().string();
  out.path = variable("PATH");
  return out;
}

nvrtcResult size_of(nvrtcProgram prog, size_t* size, std::string Compiled::*text, std::size_t more) {
  const auto program = find(prog);
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!size) return NVRTC_ERROR_INVALID_INPUT;
  const std::lock_guard lock(program->mutex);
  *size = (program->result.*text).size() + more;
  return NVRTC_SUCCESS;
}

nvrtcResult copy_of(nvrtcProgram prog, char* to, std::string Compiled::*text, std::size_t more) {
  const auto program = find(prog);
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!to) return NVRTC_ERROR_INVALID_INPUT;
  const std::lock_guard lock(program->mutex);
  const std::string& from = program->result.*text;
  std::memcpy(to, from.c_str(), from.size() + more);
  return NVRTC_SUCCESS;
}

const char* GetErrorString(nvrtcResult result) {
  switch (static_cast<int>(result)) {
#define WG_NVRTC_RESULT(name, value) \
  case value:                        \
    return #name;
#include "warpgrind/nvrtc_results.inc"
#undef WG_NVRTC_RESULT
    default:
      return "NVRTC_ERROR unknown";
  }
}

nvrtcResult Version(int* major, int* minor) {
  if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
  *major = release().major;
  *minor = release().minor;
  return NVRTC_SUCCESS;
}

nvrtcResult GetNumSupportedArchs(int* count) {
  if (!count) return NVRTC_ERROR_INVALID_INPUT;
  *count = static_cast<int>(release().architectures.size());
  return NVRTC_SUCCESS;
}

nvrtcResult GetSupportedArchs(int* architectures) {
  if (!architectures) return NVRTC_ERROR_INVALID_INPUT;
  for (const int one : release().architectures) *architectures++ = one;
  return NVRTC_SUCCESS;
}

nvrtcResult CreateProgram(nvrtcProgram* prog, const char* src, const char* name, int count, const char* const* headers,
                          const char* const* names) {
  if (!prog) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!src || count < 0 || (count > 0 && (!headers || !names))) return NVRTC_ERROR_INVALID_INPUT;
  auto program = std::make_shared<Program>();
  program->source.text = src;
  program->source.name = name && *name ? name : kDefaultName;
  for (int i = 0; i < count; i++) {
    if (!headers[i] || !names[i]) return NVRTC_ERROR_INVALID_INPUT;
    program->source.headers.emplace_back(names[i], headers[i]);
  }
  const std::lock_guard lock(library().mutex);
  WG_ASSERT(!library().programs.contains(program.get()));
  *prog = reinterpret_cast<nvrtcProgram>(program.get());
  library().programs[program.get()] = std::move(program);
  return NVRTC_SUCCESS;
}

nvrtcResult DestroyProgram(nvrtcProgram* prog) {
  if (!prog) return NVRTC_ERROR_INVALID_PROGRAM;
  const std::lock_guard lock(library().mutex);
  if (library().programs.erase(*prog) == 0) return NVRTC_ERROR_INVALID_PROGRAM;
  *prog = nullptr;
  return NVRTC_SUCCESS;
}

// With debug information if the debugger wants it. A program that does not compile this way is compiled as it asks.
Compiled compile_maybe_debugged(const Source& source, const std::vector<std::string>& words,
                                const std::function<bool()>& cancelled) {
  if (!debug_folder().empty()) {
    Compiled out = compile(source, with_debug_option(words), surroundings(), cancelled);
    if (out.result == NVRTC_SUCCESS || out.result == NVRTC_ERROR_CANCELLED) return out;
  }
  return compile(source, words, surroundings(), cancelled);
}

nvrtcResult CompileProgram(nvrtcProgram prog, int count, const char* const* options) {
  const auto program = find(prog);
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (count < 0) return NVRTC_ERROR_INVALID_INPUT;
  std::vector<std::string> words;
  for (int i = 0; i < count; i++) {
    if (!options || !options[i]) return NVRTC_ERROR_INVALID_OPTION;
    words.emplace_back(options[i]);
  }
  const std::lock_guard lock(program->mutex);
  std::function<bool()> cancelled;
  if (program->callback) cancelled = [&program] { return program->callback(program->payload, nullptr) == 1; };
  program->result = compile_maybe_debugged(program->source, words, cancelled);
  program->compiled |= program->result.result != NVRTC_ERROR_INVALID_OPTION;
  return program->result.result;
}

nvrtcResult GetPTXSize(nvrtcProgram prog, size_t* size) {
  return size_of(prog, size, &Compiled::ptx, 1);
}
nvrtcResult GetPTX(nvrtcProgram prog, char* ptx) {
  return copy_of(prog, ptx, &Compiled::ptx, 1);
}
nvrtcResult GetCUBINSize(nvrtcProgram prog, size_t* size) {
  return size_of(prog, size, &Compiled::cubin, 0);
}
nvrtcResult GetCUBIN(nvrtcProgram prog, char* cubin) {
  return copy_of(prog, cubin, &Compiled::cubin, 0);
}
nvrtcResult GetLTOIRSize(nvrtcProgram prog, size_t* size) {
  return size_of(prog, size, &Compiled::lto_ir, 0);
}
nvrtcResult GetLTOIR(nvrtcProgram prog, char* ir) {
  return copy_of(prog, ir, &Compiled::lto_ir, 0);
}
// The older name of GetLTOIRSize.
[[maybe_unused]] nvrtcResult GetNVVMSize(nvrtcProgram prog, size_t* size) {
  return size_of(prog, size, &Compiled::lto_ir, 0);
}
[[maybe_unused]] nvrtcResult GetNVVM(nvrtcProgram prog, char* ir) {
  return copy_of(prog, ir, &Compiled::lto_ir, 0);
}

// There is never any OptiX IR.
nvrtcResult GetOptiXIRSize(nvrtcProgram prog, size_t* size) {
  if (!find(prog)) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!size) return NVRTC_ERROR_INVALID_INPUT;
  *size = 0;
  return NVRTC_SUCCESS;
}
nvrtcResult GetOptiXIR(nvrtcProgram prog, char* ir) {
  if (!find(prog)) return NVRTC_ERROR_INVALID_PROGRAM;
  return ir ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_INPUT;
}

nvrtcResult GetProgramLogSize(nvrtcProgram prog, size_t* size) {
  return size_of(prog, size, &Compiled::log, 1);
}
nvrtcResult GetProgramLog(nvrtcProgram prog, char* log) {
  return copy_of(prog, log, &Compiled::log, 1);
}

nvrtcResult AddNameExpression(nvrtcProgram prog, const char* expression) {
  const auto program = find(prog);
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!expression) return NVRTC_ERROR_INVALID_INPUT;
  const std::lock_guard lock(program->mutex);
  if (program->compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  program->source.expressions.insert(expression);
  return NVRTC_SUCCESS;
}

nvrtcResult GetLoweredName(nvrtcProgram prog, const char* expression, const char** name) {
  const auto program = find(prog);
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!expression || !name) return NVRTC_ERROR_INVALID_INPUT;
  const std::lock_guard lock(program->mutex);
  if (!program->compiled || program->result.result != NVRTC_SUCCESS)
    return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const auto found = program->result.lowered.find(expression);
  if (found == program->result.lowered.end()) return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *name = found->second.c_str();
  return NVRTC_SUCCESS;
}

nvrtcResult GetPCHHeapSize(size_t* size) {
  if (!size) return NVRTC_ERROR_INVALID_INPUT;
  const std::lock_guard lock(library().mutex);
  *size = library().pch_heap;
  return NVRTC_SUCCESS;
}
nvrtcResult SetPCHHeapSize(size_t size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::lock_guard lock(library().mutex);
  library().pch_heap = (size + page - 1) / page * page;
  return NVRTC_SUCCESS;
}
nvrtcResult GetPCHCreateStatus(nvrtcProgram prog) {
  const auto program = find(prog);
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  const std::lock_guard lock(program->mutex);
  return program->result.pch;
}
nvrtcResult GetPCHHeapSizeRequired(nvrtcProgram prog, size_t* size) {
  if (!find(prog)) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!size) return NVRTC_ERROR_INVALID_INPUT;
  *size = 0;
  return NVRTC_SUCCESS;
}

nvrtcResult SetFlowCallback(nvrtcProgram prog, int (*callback)(void*, void*), void* payload) {
  const auto program = find(prog);
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!callback) return NVRTC_ERROR_INVALID_INPUT;
  const std::lock_guard lock(program->mutex);
  program->callback = callback;
  program->payload = payload;
  return NVRTC_SUCCESS;
}

const Forwarded* nvidias() {
  static const std::string& folder = *new std::string(variable(run_variables::kNvidiaNvrtc));
  return forwarded(folder);
}

}  // namespace

}  // namespace warpgrind::nvrtc

#if WARPGRIND_NVRTC_MAJOR != 12
#undef WG_NVRTC_12
#endif
#define WG_NVRTC(result, name, parameters, arguments)                                          \
  extern "C" __attribute__((visibility("default"))) result nvrtc##name parameters {            \
    const warpgrind::nvrtc::Forwarded* const theirs = warpgrind::nvrtc::nvidias();             \
    return theirs && theirs->name ? theirs->name arguments : warpgrind::nvrtc::name arguments; \
  }
#include "warpgrind/nvrtc_functions.inc"
