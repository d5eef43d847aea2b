// Conversion of old LLVM text to bitcode, with an old LLVM that is loaded at run time.
#include "nvvm/old_ir.h"

#include <dlfcn.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace warpgrind::nvvm {

namespace {

// The functions of LLVM's C interface that this file uses (llvm-c/Core.h, IRReader.h, BitWriter.h); they are the same
// in all releases. It includes no LLVM header: several releases may be in the process, and this one is opened by name.
using ContextRef = void*;
using ModuleRef = void*;
using MemoryBufferRef = void*;
using ValueRef = void*;
using BasicBlockRef = void*;
using BuilderRef = void*;
using AttributeRef = void*;
using TypeRef = void*;

struct OldLlvm {
  ContextRef (*ContextCreate)() = nullptr;
  void (*ContextDispose)(ContextRef) = nullptr;
  MemoryBufferRef (*CreateMemoryBufferWithMemoryRangeCopy)(const char*, std::size_t, const char*) = nullptr;
  int (*ParseIRInContext)(ContextRef, MemoryBufferRef, ModuleRef*, char**) = nullptr;
  MemoryBufferRef (*WriteBitcodeToMemoryBuffer)(ModuleRef) = nullptr;
  const char* (*GetBufferStart)(MemoryBufferRef) = nullptr;
  std::size_t (*GetBufferSize)(MemoryBufferRef) = nullptr;
  void (*DisposeMemoryBuffer)(MemoryBufferRef) = nullptr;
  void (*DisposeModule)(ModuleRef) = nullptr;
  void (*DisposeMessage)(char*) = nullptr;
  ValueRef (*GetFirstFunction)(ModuleRef) = nullptr;
  ValueRef (*GetNextFunction)(ValueRef) = nullptr;
  BasicBlockRef (*GetFirstBasicBlock)(ValueRef) = nullptr;
  BasicBlockRef (*GetNextBasicBlock)(BasicBlockRef) = nullptr;
  ValueRef (*GetFirstInstruction)(BasicBlockRef) = nullptr;
  ValueRef (*GetNextInstruction)(ValueRef) = nullptr;
  ValueRef (*IsACallInst)(ValueRef) = nullptr;
  ValueRef (*IsAInlineAsm)(ValueRef) = nullptr;
  ValueRef (*GetCalledValue)(ValueRef) = nullptr;
  const char* (*GetValueName2)(ValueRef, std::size_t*) = nullptr;
  ValueRef (*GetOperand)(ValueRef, unsigned) = nullptr;
  TypeRef (*TypeOf)(ValueRef) = nullptr;
  unsigned (*GetEnumAttributeKindForName)(const char*, std::size_t) = nullptr;
  AttributeRef (*CreateEnumAttribute)(ContextRef, unsigned, std::uint64_t) = nullptr;
  AttributeRef (*CreateStringAttribute)(ContextRef, const char*, unsigned, const char*, unsigned) = nullptr;
  void (*AddAttributeAtIndex)(ValueRef, unsigned, AttributeRef) = nullptr;
  void (*AddCallSiteAttribute)(ValueRef, unsigned, AttributeRef) = nullptr;
  BuilderRef (*CreateBuilderInContext)(ContextRef) = nullptr;
  void (*DisposeBuilder)(BuilderRef) = nullptr;
  void (*PositionBuilderBefore)(BuilderRef, ValueRef) = nullptr;
  ValueRef (*BuildAddrSpaceCast)(BuilderRef, ValueRef, TypeRef, const char*) = nullptr;
  void (*ReplaceAllUsesWith)(ValueRef, ValueRef) = nullptr;
  void (*InstructionEraseFromParent)(ValueRef) = nullptr;
};

bool take_all(void* library, OldLlvm& out) {
  const auto take = [library](const char* name, auto& into) {
    into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(dlsym(library, name));
    return into != nullptr;
  };
#define WG_TAKE(name) take("LLVM" #name, out.name)
  return WG_TAKE(ContextCreate) && WG_TAKE(ContextDispose) && WG_TAKE(CreateMemoryBufferWithMemoryRangeCopy) &&
         WG_TAKE(ParseIRInContext) && WG_TAKE(WriteBitcodeToMemoryBuffer) && WG_TAKE(GetBufferStart) &&
         WG_TAKE(GetBufferSize) && WG_TAKE(DisposeMemoryBuffer) && WG_TAKE(DisposeModule) && WG_TAKE(DisposeMessage) &&
         WG_TAKE(GetFirstFunction) && WG_TAKE(GetNextFunction) && WG_TAKE(GetFirstBasicBlock) &&
         WG_TAKE(GetNextBasicBlock) && WG_TAKE(GetFirstInstruction) && WG_TAKE(GetNextInstruction) &&
         WG_TAKE(IsACallInst) && WG_TAKE(IsAInlineAsm) && WG_TAKE(GetCalledValue) && WG_TAKE(GetValueName2) &&
         WG_TAKE(GetOperand) && WG_TAKE(TypeOf) && WG_TAKE(GetEnumAttributeKindForName) &&
         WG_TAKE(CreateEnumAttribute) && WG_TAKE(CreateStringAttribute) && WG_TAKE(AddAttributeAtIndex) &&
         WG_TAKE(AddCallSiteAttribute) && WG_TAKE(CreateBuilderInContext) && WG_TAKE(DisposeBuilder) &&
         WG_TAKE(PositionBuilderBefore) && WG_TAKE(BuildAddrSpaceCast) && WG_TAKE(ReplaceAllUsesWith) &&
         WG_TAKE(InstructionEraseFromParent);
#undef WG_TAKE
}

// Releases that read both kinds of pointers come last: they take the kind of a text's first pointer for all.
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

// Adds to the IR what NVVM assumes and LLVM must be given explicitly.
class Explained {
 public:
  Explained(const OldLlvm& llvm, ContextRef context, bool flush_to_zero)
      : llvm_(llvm), builder_(llvm.CreateBuilderInContext(context)) {
    constexpr std::string_view kName = "convergent";
    convergent_ = llvm.CreateEnumAttribute(context, llvm.GetEnumAttributeKindForName(kName.data(), kName.size()), 0);
    constexpr std::string_view kDenormals = "denormal-fp-math-f32", kFlushed = "preserve-sign";
    if (flush_to_zero)
      flushed_ =
          llvm.CreateStringAttribute(context, kDenormals.data(), kDenormals.size(), kFlushed.data(), kFlushed.size());
  }
  ~Explained() { llvm_.DisposeBuilder(builder_); }
  Explained(const Explained&) = delete;
  Explained& operator=(const Explained&) = delete;

  // Marks every function as convergent, because it may have a barrier, until LLVM finds that it has none. LLVM must not
  // merge the calls in the two branches of a condition into one call before it.
  void all_of(ModuleRef module) {
    for (ValueRef function = llvm_.GetFirstFunction(module); function; function = llvm_.GetNextFunction(function)) {
      llvm_.AddAttributeAtIndex(function, kOfTheFunction, convergent_);
      if (flushed_) llvm_.AddAttributeAtIndex(function, kOfTheFunction, flushed_);
      for (BasicBlockRef block = llvm_.GetFirstBasicBlock(function); block; block = llvm_.GetNextBasicBlock(block))
        for (ValueRef at = llvm_.GetFirstInstruction(block); at;) {
          const ValueRef next = llvm_.GetNextInstruction(at);
          if (llvm_.IsACallInst(at)) call(at);
          at = next;
        }
    }
  }

 private:
  static constexpr unsigned kOfTheFunction = ~0U;  // LLVMAttributeFunctionIndex

  void call(ValueRef at) {
    const ValueRef called = llvm_.GetCalledValue(at);
    if (llvm_.IsAInlineAsm(called)) {
      llvm_.AddCallSiteAttribute(at, kOfTheFunction, convergent_);
      return;
    }
    std::size_t length = 0;
    const char* const text = llvm_.GetValueName2(called, &length);
    const std::string_view name(text ? text : "", text ? length : 0);
    // Intrinsics through which LLVM infers no address space ("Address Space Conversion" of NVVM IR's specification).
    if (!name.starts_with("llvm.nvvm.ptr.") || name.find(".to.gen.") == std::string_view::npos) return;
    llvm_.PositionBuilderBefore(builder_, at);
    llvm_.ReplaceAllUsesWith(at, llvm_.BuildAddrSpaceCast(builder_, llvm_.GetOperand(at, 0), llvm_.TypeOf(at), ""));
    llvm_.InstructionEraseFromParent(at);
  }

  const OldLlvm& llvm_;
  BuilderRef builder_;
  AttributeRef convergent_;
  AttributeRef flushed_ = nullptr;  // null: denormals stay
};

}  // namespace

Result<std::string> bitcode_of_old_text(const std::string& text, const std::string& name, bool flush_to_zero) {
  const OldLlvm* const llvm = old_llvm();
  if (!llvm)
    return Error{ErrorKind::environment, "IR whose pointers have types needs an LLVM that reads it: libLLVM-14.so.1",
                 "Debian's package libllvm14 has it"};
  const ContextRef context = llvm->ContextCreate();
  // The parser takes ownership, also on failure.
  const MemoryBufferRef source = llvm->CreateMemoryBufferWithMemoryRangeCopy(text.data(), text.size(), name.c_str());
  ModuleRef module = nullptr;
  char* message = nullptr;
  std::string bitcode, problem;
  if (llvm->ParseIRInContext(context, source, &module, &message) == 0) {
    Explained(*llvm, context, flush_to_zero).all_of(module);
    const MemoryBufferRef written = llvm->WriteBitcodeToMemoryBuffer(module);
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
