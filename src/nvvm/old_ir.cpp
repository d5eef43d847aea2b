#include "nvvm/old_ir.h"

#include <dlfcn.h>

namespace warpgrind::nvvm {

namespace {

// The part of LLVM's C interface that this needs (llvm-c/Core.h, IRReader.h, BitWriter.h), which is the same in all
// releases. No header of theirs: several releases may be in the process, and this one is opened by name.
using Context = void*;
using Module = void*;
using Buffer = void*;

struct OldLlvm {
  Context (*ContextCreate)() = nullptr;
  void (*ContextDispose)(Context) = nullptr;
  Buffer (*CreateMemoryBufferWithMemoryRangeCopy)(const char*, std::size_t, const char*) = nullptr;
  int (*ParseIRInContext)(Context, Buffer, Module*, char**) = nullptr;
  Buffer (*WriteBitcodeToMemoryBuffer)(Module) = nullptr;
  const char* (*GetBufferStart)(Buffer) = nullptr;
  std::size_t (*GetBufferSize)(Buffer) = nullptr;
  void (*DisposeMemoryBuffer)(Buffer) = nullptr;
  void (*DisposeModule)(Module) = nullptr;
  void (*DisposeMessage)(char*) = nullptr;
};

template <typename Function>
bool take(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(dlsym(library, name));
  return into != nullptr;
}

bool take_all(void* library, OldLlvm& out) {
  return take(library, "LLVMContextCreate", out.ContextCreate) &&
         take(library, "LLVMContextDispose", out.ContextDispose) &&
         take(library, "LLVMCreateMemoryBufferWithMemoryRangeCopy", out.CreateMemoryBufferWithMemoryRangeCopy) &&
         take(library, "LLVMParseIRInContext", out.ParseIRInContext) &&
         take(library, "LLVMWriteBitcodeToMemoryBuffer", out.WriteBitcodeToMemoryBuffer) &&
         take(library, "LLVMGetBufferStart", out.GetBufferStart) &&
         take(library, "LLVMGetBufferSize", out.GetBufferSize) &&
         take(library, "LLVMDisposeMemoryBuffer", out.DisposeMemoryBuffer) &&
         take(library, "LLVMDisposeModule", out.DisposeModule) &&
         take(library, "LLVMDisposeMessage", out.DisposeMessage);
}

// Those that read both kinds of pointers come last: they take the first pointer of a text for the kind of all.
const OldLlvm* old_llvm() {
  static const OldLlvm* const one = []() -> const OldLlvm* {
    static OldLlvm found;
    for (const char* const name :
         {"libLLVM-14.so.1", "libLLVM-13.so.1", "libLLVM-11.so.1", "libLLVM-15.so.1", "libLLVM-16.so.1"})
      if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL); library && take_all(library, found)) return &found;
    return nullptr;
  }();
  return one;
}

}  // namespace

Result<std::string> bitcode_of_old_text(const std::string& text, const std::string& name) {
  const OldLlvm* const llvm = old_llvm();
  if (!llvm)
    return Error{ErrorKind::environment, "IR whose pointers have types needs an LLVM that reads it: libLLVM-14.so.1",
                 "Debian's package libllvm14 has it"};
  const Context context = llvm->ContextCreate();
  // Taken over by the parser, also when it fails.
  const Buffer source = llvm->CreateMemoryBufferWithMemoryRangeCopy(text.data(), text.size(), name.c_str());
  Module module = nullptr;
  char* message = nullptr;
  std::string bitcode, problem;
  if (llvm->ParseIRInContext(context, source, &module, &message) == 0) {
    const Buffer written = llvm->WriteBitcodeToMemoryBuffer(module);
    bitcode.assign(llvm->GetBufferStart(written), llvm->GetBufferSize(written));
    llvm->DisposeMemoryBuffer(written);
    llvm->DisposeModule(module);
  } else {
    problem = message ? message : "the IR cannot be read";
  }
  if (message) llvm->DisposeMessage(message);
  llvm->ContextDispose(context);
  if (bitcode.empty()) return Error{ErrorKind::bad_input, problem, ""};
  return bitcode;
}

}  // namespace warpgrind::nvvm
