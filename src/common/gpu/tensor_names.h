// Names of what a tensor map and a tensor copy say, in the words of the CUDA driver API and of PTX: "f16", "128B",
// "gather4". Profile files hold these names.
#pragma once

#include <optional>
#include <string_view>

#include "gpu/tensor_box.h"

namespace warpgrind {

// "f16", "tf32", "u4 (16 in 8 bytes)"
std::string_view name(TensorElement element);
std::string_view name(TensorInterleave interleave);  // "none", "16B", "32B"
std::string_view name(TensorSwizzle swizzle);        // "none", "128B", "128B_ATOM_32B": CU_TENSOR_MAP_SWIZZLE_...
std::string_view name(TensorPromotion promotion);    // "none", "L2_128B"
std::string_view name(TensorFill fill);              // "zero", "NaN"
std::string_view name(TensorMode mode);              // "tile", "rows", "im2col"

// The value with this name; nothing if there is none.
template <class Enum>
std::optional<Enum> tensor_value(std::string_view text);
extern template std::optional<TensorElement> tensor_value(std::string_view);
extern template std::optional<TensorInterleave> tensor_value(std::string_view);
extern template std::optional<TensorSwizzle> tensor_value(std::string_view);
extern template std::optional<TensorFill> tensor_value(std::string_view);
extern template std::optional<TensorMode> tensor_value(std::string_view);

}  // namespace warpgrind
