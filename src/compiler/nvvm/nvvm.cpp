// Entry points of libNVVM (include/nvvm.h). Programs are looked up by their handle, so that an invalid or destroyed
// handle is an error and no crash.
#include "nvvm.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/assert.h"
#include "nvvm/compile.h"

namespace warpgrind::nvvm {

namespace {

struct Program {
  std::mutex mutex;  // held while it is compiled
  std::vector<Module> modules;
  Compiled result;
};

// Never destroyed: a program may call libNVVM from its own destructors.
struct Library {
  std::mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<Program>> programs;
};
Library& library() {
  static auto* const one = new Library;
  return *one;
}

std::shared_ptr<Program> find(nvvmProgram handle) {
  const std::lock_guard lock(library().mutex);
  const auto found = library().programs.find(handle);
  return found == library().programs.end() ? nullptr : found->second;
}

Surroundings surroundings() {
  Surroundings out;
  Dl_info info{};
  std::error_code none;
  // This library is in a subfolder of our libraries' folder, wherever links to it are.
  if (dladdr(reinterpret_cast<const void*>(&library), &info) != 0 && info.dli_fname)
    out.libraries = std::filesystem::canonical(info.dli_fname, none).parent_path().parent_path().string();
  const char* const path = std::getenv("PATH");
  out.path = path ? path : "";
  return out;
}

nvvmResult add(nvvmProgram prog, const char* buffer, std::size_t size, const char* name, bool lazy) {
  const auto program = find(prog);
  if (!program) return NVVM_ERROR_INVALID_PROGRAM;
  if (!buffer || size == 0) return NVVM_ERROR_INVALID_INPUT;
  const std::lock_guard lock(program->mutex);
  program->modules.push_back({std::string(buffer, size), name ? name : "<unnamed>", lazy});
  return NVVM_SUCCESS;
}

using Step = Compiled (*)(const std::vector<Module>&, const std::vector<std::string>&, const Surroundings&);

nvvmResult run(nvvmProgram prog, int count, const char** options, Step step) {
  const auto program = find(prog);
  if (!program) return NVVM_ERROR_INVALID_PROGRAM;
  if (count < 0 || (count > 0 && !options)) return NVVM_ERROR_INVALID_INPUT;
  std::vector<std::string> words;
  for (int i = 0; i < count; i++) {
    if (!options[i]) return NVVM_ERROR_INVALID_OPTION;
    words.emplace_back(options[i]);
  }
  const std::lock_guard lock(program->mutex);
  program->result = step(program->modules, words, surroundings());
  return program->result.result;
}

nvvmResult size_of(nvvmProgram prog, std::size_t* size, std::string Compiled::*text) {
  const auto program = find(prog);
  if (!program) return NVVM_ERROR_INVALID_PROGRAM;
  if (!size) return NVVM_ERROR_INVALID_INPUT;
  const std::lock_guard lock(program->mutex);
  *size = (program->result.*text).size() + 1;
  return NVVM_SUCCESS;
}

nvvmResult copy_of(nvvmProgram prog, char* to, std::string Compiled::*text) {
  const auto program = find(prog);
  if (!program) return NVVM_ERROR_INVALID_PROGRAM;
  if (!to) return NVVM_ERROR_INVALID_INPUT;
  const std::lock_guard lock(program->mutex);
  const std::string& from = program->result.*text;
  std::memcpy(to, from.c_str(), from.size() + 1);
  return NVVM_SUCCESS;
}

}  // namespace

}  // namespace warpgrind::nvvm

using namespace warpgrind::nvvm;

#define WG_EXPORTED __attribute__((visibility("default")))

extern "C" {

WG_EXPORTED const char* nvvmGetErrorString(nvvmResult result) {
  static constexpr const char* kNames[] = {"NVVM_SUCCESS",
                                           "NVVM_ERROR_OUT_OF_MEMORY",
                                           "NVVM_ERROR_PROGRAM_CREATION_FAILURE",
                                           "NVVM_ERROR_IR_VERSION_MISMATCH",
                                           "NVVM_ERROR_INVALID_INPUT",
                                           "NVVM_ERROR_INVALID_PROGRAM",
                                           "NVVM_ERROR_INVALID_IR",
                                           "NVVM_ERROR_INVALID_OPTION",
                                           "NVVM_ERROR_NO_MODULE_IN_PROGRAM",
                                           "NVVM_ERROR_COMPILATION"};
  const auto at = static_cast<unsigned>(result);
  return at < std::size(kNames) ? kNames[at] : "NVVM_ERROR not found";
}

// The versions of CUDA 13.0. We also read older IR, which NVIDIA's library of that release refuses.
WG_EXPORTED nvvmResult nvvmVersion(int* major, int* minor) {
  if (!major || !minor) return NVVM_ERROR_INVALID_INPUT;
  *major = 2;
  *minor = 0;
  return NVVM_SUCCESS;
}

WG_EXPORTED nvvmResult nvvmIRVersion(int* majorIR, int* minorIR, int* majorDbg, int* minorDbg) {
  if (!majorIR || !minorIR || !majorDbg || !minorDbg) return NVVM_ERROR_INVALID_INPUT;
  *majorIR = 2;
  *minorIR = 0;
  *majorDbg = 3;
  *minorDbg = 2;
  return NVVM_SUCCESS;
}

WG_EXPORTED nvvmResult nvvmCreateProgram(nvvmProgram* prog) {
  if (!prog) return NVVM_ERROR_INVALID_PROGRAM;
  auto program = std::make_shared<Program>();
  const std::lock_guard lock(library().mutex);
  WG_ASSERT(!library().programs.contains(program.get()));
  *prog = reinterpret_cast<nvvmProgram>(program.get());
  library().programs[program.get()] = std::move(program);
  return NVVM_SUCCESS;
}

WG_EXPORTED nvvmResult nvvmDestroyProgram(nvvmProgram* prog) {
  if (!prog) return NVVM_ERROR_INVALID_PROGRAM;
  const std::lock_guard lock(library().mutex);
  if (library().programs.erase(*prog) == 0) return NVVM_ERROR_INVALID_PROGRAM;
  *prog = nullptr;
  return NVVM_SUCCESS;
}

WG_EXPORTED nvvmResult nvvmAddModuleToProgram(nvvmProgram prog, const char* buffer, size_t size, const char* name) {
  return add(prog, buffer, size, name, false);
}
WG_EXPORTED nvvmResult nvvmLazyAddModuleToProgram(nvvmProgram prog, const char* buffer, size_t size, const char* name) {
  return add(prog, buffer, size, name, true);
}
WG_EXPORTED nvvmResult nvvmCompileProgram(nvvmProgram prog, int numOptions, const char** options) {
  return run(prog, numOptions, options, compile);
}
WG_EXPORTED nvvmResult nvvmVerifyProgram(nvvmProgram prog, int numOptions, const char** options) {
  return run(prog, numOptions, options, verify);
}
WG_EXPORTED nvvmResult nvvmGetCompiledResultSize(nvvmProgram prog, size_t* bufferSizeRet) {
  return size_of(prog, bufferSizeRet, &Compiled::ptx);
}
WG_EXPORTED nvvmResult nvvmGetCompiledResult(nvvmProgram prog, char* buffer) {
  return copy_of(prog, buffer, &Compiled::ptx);
}
WG_EXPORTED nvvmResult nvvmGetProgramLogSize(nvvmProgram prog, size_t* bufferSizeRet) {
  return size_of(prog, bufferSizeRet, &Compiled::log);
}
WG_EXPORTED nvvmResult nvvmGetProgramLog(nvvmProgram prog, char* buffer) {
  return copy_of(prog, buffer, &Compiled::log);
}

}  // extern "C"
