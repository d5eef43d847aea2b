// Compiled kernels on disk, by content: the key is a hash of the unoptimised LLVM IR, the CPU and our version.
#pragma once

#include <llvm/Support/MemoryBuffer.h>

#include <memory>
#include <string>

namespace warpgrind::jit {

class ObjectCache {
 public:
  explicit ObjectCache(std::string directory) : directory_(std::move(directory)) {}
  bool enabled() const { return !directory_.empty(); }
  std::string key(llvm::StringRef bitcode, const std::string& cpu) const;
  std::unique_ptr<llvm::MemoryBuffer> find(const std::string& key) const;  // null: not there or damaged
  void store(const std::string& key, llvm::StringRef object) const;  // a failure (full disk) only loses the speed-up

 private:
  std::string directory_;
};

}  // namespace warpgrind::jit
