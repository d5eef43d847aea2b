#include "gpu/tensor_names.h"

namespace warpgrind {

std::string_view name(TensorElement element) {
  switch (element) {
    case TensorElement::u8:
      return "u8";
    case TensorElement::u16:
      return "u16";
    case TensorElement::u32:
      return "u32";
    case TensorElement::s32:
      return "s32";
    case TensorElement::u64:
      return "u64";
    case TensorElement::s64:
      return "s64";
    case TensorElement::f16:
      return "f16";
    case TensorElement::f32:
      return "f32";
    case TensorElement::f64:
      return "f64";
    case TensorElement::bf16:
      return "bf16";
    case TensorElement::f32_ftz:
      return "f32 (ftz)";
    case TensorElement::tf32:
      return "tf32";
    case TensorElement::tf32_ftz:
      return "tf32 (ftz)";
    case TensorElement::u4_16_align_8:
      return "u4 (16 in 8 bytes)";
    case TensorElement::u4_16_align_16:
      return "u4 (16 in 16 bytes)";
    case TensorElement::u6_16_align_16:
      return "u6 (16 in 16 bytes)";
  }
  return "";
}

std::string_view name(TensorInterleave interleave) {
  switch (interleave) {
    case TensorInterleave::none:
      return "none";
    case TensorInterleave::b16:
      return "16B";
    case TensorInterleave::b32:
      return "32B";
  }
  return "";
}

std::string_view name(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::none:
      return "none";
    case TensorSwizzle::b32:
      return "32B";
    case TensorSwizzle::b64:
      return "64B";
    case TensorSwizzle::b128:
      return "128B";
    case TensorSwizzle::b128_atom_32:
      return "128B_ATOM_32B";
    case TensorSwizzle::b128_atom_32_flip_8:
      return "128B_ATOM_32B_FLIP_8B";
    case TensorSwizzle::b128_atom_64:
      return "128B_ATOM_64B";
  }
  return "";
}

std::string_view name(TensorPromotion promotion) {
  switch (promotion) {
    case TensorPromotion::none:
      return "none";
    case TensorPromotion::l2_64:
      return "L2_64B";
    case TensorPromotion::l2_128:
      return "L2_128B";
    case TensorPromotion::l2_256:
      return "L2_256B";
  }
  return "";
}

std::string_view name(TensorFill fill) {
  switch (fill) {
    case TensorFill::zero:
      return "zero";
    case TensorFill::nan:
      return "NaN";
  }
  return "";
}

std::string_view name(TensorMode mode) {
  switch (mode) {
    case TensorMode::tile:
      return "tile";
    case TensorMode::rows:
      return "rows";
    case TensorMode::im2col:
      return "im2col";
    case TensorMode::im2col_w:
      return "im2col::w";
    case TensorMode::im2col_w_128:
      return "im2col::w::128";
  }
  return "";
}

// The values of these enums are 0, 1, 2 and so on. name() of the value after the last is empty.
template <class Enum>
std::optional<Enum> tensor_value(std::string_view text) {
  for (unsigned i = 0; !name(static_cast<Enum>(i)).empty(); ++i)
    if (name(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  return std::nullopt;
}
template std::optional<TensorElement> tensor_value(std::string_view);
template std::optional<TensorInterleave> tensor_value(std::string_view);
template std::optional<TensorSwizzle> tensor_value(std::string_view);
template std::optional<TensorFill> tensor_value(std::string_view);
template std::optional<TensorMode> tensor_value(std::string_view);

}  // namespace warpgrind
