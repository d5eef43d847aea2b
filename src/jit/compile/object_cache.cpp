#include "jit/compile/object_cache.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/SHA256.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

namespace warpgrind::jit {

namespace {

constexpr char kVersion[] = "warpgrind object 1 llvm 19";

std::string digest(llvm::StringRef data) {
  llvm::SHA256 hash;
  hash.update(data);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

}  // namespace

std::string ObjectCache::key(llvm::StringRef bitcode, const std::string& cpu) const {
  llvm::SHA256 hash;
  hash.update(kVersion);
  hash.update(cpu);
  hash.update(bitcode);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

// File: 64 hex digits of the object's SHA-256, then the object. A damaged file is as good as none.
std::unique_ptr<llvm::MemoryBuffer> ObjectCache::find(const std::string& key) const {
  auto file =
      llvm::MemoryBuffer::getFile(directory_ + "/" + key + ".o", /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file || (*file)->getBufferSize() <= 64) return nullptr;
  const llvm::StringRef whole = (*file)->getBuffer();
  const llvm::StringRef object = whole.drop_front(64);
  if (digest(object) != whole.take_front(64)) return nullptr;
  return llvm::MemoryBuffer::getMemBufferCopy(object, "cached kernel");
}

void ObjectCache::store(const std::string& key, llvm::StringRef object) const {
  if (llvm::sys::fs::create_directories(directory_)) return;
  const std::string path = directory_ + "/" + key + ".o";
  const std::string temporary = path + "." + std::to_string(getpid());
  std::error_code problem;
  {
    llvm::raw_fd_ostream out(temporary, problem);
    if (problem) return;
    out << digest(object) << object;
    out.flush();
    if (out.has_error()) {
      out.clear_error();
      llvm::sys::fs::remove(temporary);
      return;
    }
  }
  if (llvm::sys::fs::rename(temporary, path)) llvm::sys::fs::remove(temporary);
}

}  // namespace warpgrind::jit
