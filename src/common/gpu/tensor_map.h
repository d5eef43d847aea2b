// A tensor map (CUtensorMap): where a tensor lies in global memory, the box of it that one tensor copy moves, and how
// the box is laid out in shared memory. cuTensorMapEncode*() writes one, tensormap.replace changes it, tensor copies
// read it.
//
// NVIDIA does not document the 128 bytes. Programs must not look into them, so this layout is ours. The fields are
// those of tensormap.replace (PTX ISA) and of cuTensorMapEncodeTiled(), ...Im2col() and ...Im2colWide() (CUDA driver
// API). CUTLASS clears bit 21 of the second 64-bit word in maps of small tensors, if the driver is 13.1 or older, so no
// field may use this bit.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace warpgrind {

constexpr unsigned kMaxTensorRank = 5;
constexpr std::uint64_t kTensorMapBytes = 128;

// The values of these enums are those of CUtensorMapDataType, ...Interleave, ...Swizzle, ...L2promotion and
// ...FloatOOBfill. Those of tensormap.replace differ for .elemtype and .swizzle_mode.
enum class TensorElement : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  u4_16_align_8,   // 16 packed values in 8 bytes, in memory as in shared memory
  u4_16_align_16,  // 16 packed values in 8 bytes of memory, which take 16 bytes of shared memory
  u6_16_align_16,  // 16 packed values in 12 bytes of memory, which take 16 bytes of shared memory
};
enum class TensorInterleave : std::uint8_t { none, b16, b32 };
enum class TensorSwizzle : std::uint8_t { none, b32, b64, b128, b128_atom_32, b128_atom_32_flip_8, b128_atom_64 };
enum class TensorPromotion : std::uint8_t { none, l2_64, l2_128, l2_256 };
enum class TensorFill : std::uint8_t { zero, nan };  // nan: NaN for floating-point types
enum class TensorMapKind : std::uint8_t { tiled, im2col, im2col_wide };
enum class TensorWideMode : std::uint8_t { w, w128 };  // of im2col_wide

struct TensorMap {
  static constexpr std::uint32_t kMagic = 0x70614d54;  // "TMap"

  std::uint64_t address = 0;  // of the element at coordinates 0
  TensorMapKind kind = TensorMapKind::tiled;
  TensorElement element = TensorElement::u8;
  std::uint8_t rank = 1;  // 1 to 5; CUTLASS clears its bit 5
  TensorInterleave interleave = TensorInterleave::none;
  std::uint32_t magic = kMagic;
  std::array<std::uint64_t, kMaxTensorRank - 1>
      strides{};  // bytes between elements of dimension 1, 2, ... (dimension 0 is packed)
  std::array<std::uint32_t, kMaxTensorRank> sizes{};                        // elements, less 1: up to 2^32 elements fit
  std::array<std::uint16_t, kMaxTensorRank> box{};                          // elements of the box (tiled): 1 to 256
  std::array<std::uint8_t, kMaxTensorRank> element_strides{1, 1, 1, 1, 1};  // 1 to 8
  TensorSwizzle swizzle = TensorSwizzle::none;
  TensorPromotion promotion = TensorPromotion::none;
  TensorFill fill = TensorFill::zero;
  // Corners of the bounding box in dimensions 1 to rank - 2, as offsets from the tensor's first and last element
  // (im2col). im2col_wide has one pair, of its dimension W, at index 0.
  std::array<std::int16_t, 3> lower_corner{}, upper_corner{};
  std::uint16_t channels_per_pixel = 0;  // im2col: elements of dimension 0, 1 to 256
  std::uint16_t pixels_per_column = 0;   // im2col: 1 to 1024
  TensorWideMode wide_mode = TensorWideMode::w;

  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};
static_assert(sizeof(TensorMap) <= kTensorMapBytes && std::is_trivially_copyable_v<TensorMap>);

// The 128 bytes of a map. The rest is zero.
inline std::array<std::byte, kTensorMapBytes> tensor_map_bytes(const TensorMap& map) {
  std::array<std::byte, kTensorMapBytes> bytes{};
  std::memcpy(bytes.data(), &map, sizeof map);
  return bytes;
}

// The map in 128 bytes. Its fields have only been checked if `magic` is right and nothing but tensormap.replace has
// changed it since, so a reader must check what it uses as an index.
inline TensorMap tensor_map_of(const void* bytes) {
  TensorMap map;
  std::memcpy(&map, bytes, sizeof map);
  return map;
}

}  // namespace warpgrind
