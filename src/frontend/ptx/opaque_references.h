// Values of opaque references: .texref, .samplerref and .surfref variables (PTX ISA, "Texture Sampler and Surface
// Types").
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::ptx {

// What `mov` gets for a variable has this bit for its type, and istypep tests it. ptxas 13.0 compiles both so. An H200
// finds it in no handle of a texture or surface object. 0: no such type.
inline std::uint64_t reference_bit(ScalarType type) {
  switch (type) {
    case ScalarType::texref:
      return std::uint64_t{1} << 61;
    case ScalarType::samplerref:
      return std::uint64_t{1} << 62;
    case ScalarType::surfref:
      return std::uint64_t{1} << 63;
    default:
      return 0;
  }
}

}  // namespace warpgrind::ptx
