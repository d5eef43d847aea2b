#include "launchpass/inlined_places.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Path.h>

#include <string>

namespace {

std::string path_of(const llvm::DIFile* file) {
  if (!file) return "";
  llvm::SmallString<256> path;
  if (!llvm::sys::path::is_absolute(file->getFilename())) path = file->getDirectory();
  llvm::sys::path::append(path, file->getFilename());
  return std::string(path);
}

class Places {
 public:
  // Number of the place, from 1; the places around it get smaller numbers. 0: no place.
  unsigned number(const llvm::DILocation* at) {
    if (!at) return 0;
    if (const auto known = numbers_.find(at); known != numbers_.end()) return known->second;
    const unsigned around = number(at->getInlinedAt());
    const std::string path = path_of(at->getFile());
    const auto [file, is_new] = files_.try_emplace(path, files_.size() + 1);
    if (is_new) note("file " + std::to_string(file->second) + " " + path);
    const llvm::DISubprogram* function = at->getScope()->getSubprogram();
    llvm::StringRef name = function ? function->getLinkageName() : "";
    if (name.empty() && function) name = function->getName();
    const auto own = static_cast<unsigned>(numbers_.size() + 1);
    std::string text = "place";
    for (const unsigned n : {own, file->second, at->getLine(), at->getColumn(), around})
      text += " " + std::to_string(n);
    note(text + " " + name.str());
    numbers_[at] = own;
    return own;
  }
  const std::string& notes() const { return notes_; }

 private:
  void note(const std::string& text) { notes_ += "// inlined " + text + "\n"; }

  llvm::DenseMap<const llvm::DILocation*, unsigned> numbers_;
  llvm::StringMap<unsigned> files_;
  std::string notes_;
};

}  // namespace

llvm::PreservedAnalyses FunctionNames::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  for (const llvm::Function& function : module)
    if (llvm::DISubprogram* of = function.getSubprogram(); of && of->isDistinct() && of->getLinkageName().empty())
      of->replaceLinkageName(llvm::MDString::get(module.getContext(), function.getName()));
  return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses InlinedPlaces::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  Places places;
  for (llvm::Function& function : module) {
    llvm::DISubprogram* const scope = function.getSubprogram();
    if (!scope) continue;
    // With -G, DWARF describes the variables of inlined calls, and clang finds these by the scopes of their
    // instructions.
    const bool keeps_scopes = scope->getUnit() && scope->getUnit()->getEmissionKind() == llvm::DICompileUnit::FullDebug;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const llvm::DILocation* at = instruction.getDebugLoc().get();
      if (!at || !at->getInlinedAt()) continue;
      const unsigned line = kFirst + places.number(at);
      instruction.setDebugLoc(
          keeps_scopes ? llvm::DILocation::get(module.getContext(), line, 0, at->getScope(), at->getInlinedAt())
                       : llvm::DILocation::get(module.getContext(), line, 0, scope));
    }
  }
  if (!places.notes().empty()) module.appendModuleInlineAsm(places.notes());
  return llvm::PreservedAnalyses::all();
}
