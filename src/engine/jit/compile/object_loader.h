// Loader of object code (ELF, x86-64, position-independent): maps, relocates and protects the sections. LLVM's loader
// is not used, so that a kernel from the disk cache runs without LLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace warpgrind::jit {

class LoadedObject {
 public:
  LoadedObject() = default;
  LoadedObject(std::uint8_t* memory, std::size_t bytes) : memory_(memory), bytes_(bytes) {}
  LoadedObject(LoadedObject&& other) noexcept { *this = std::move(other); }
  LoadedObject& operator=(LoadedObject&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(entry, other.entry);
    return *this;
  }
  ~LoadedObject();

  const void* entry = nullptr;

 private:
  std::uint8_t* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

// `resolve` returns the address of an undefined symbol; null: unknown. Unwind tables are left out: nothing unwinds
// through machine code.
Result<LoadedObject> load_object(std::string_view object, std::string_view entry,
                                 const std::function<void*(const char* name)>& resolve);

}  // namespace warpgrind::jit
