#include "base/digest.h"

#include <fmt/format.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/xxhash.h>

#include <cstdint>

namespace warpgrind {

std::string digest(std::string_view text) {
  const auto hash = llvm::xxh3_128bits(llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace warpgrind
