// Tensor maps: reading one for a copy, tensormap.replace and tensormap.cp_fenceproxy. A map is read from memory when a
// copy is issued, so the fences of the tensormap proxy have nothing to do.
#include "device/calls/tensor_maps.h"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "device/fault.h"
#include "device/symbols.h"
#include "jit/tensor_copy.h"

namespace warpgrind::device {

namespace {

constexpr std::uint64_t kMapAlignment = 64;  // CUDA driver API, CUtensorMap

using MapBytes = std::array<std::byte, kTensorMapBytes>;

[[noreturn]] void no_map(jit::WarpContext& w, std::uint32_t site, unsigned lane, GenericAddress at, const char* verb) {
  raise(w, site, lane, FaultKind::illegal_address,
        describe_address(fmt::format("{} of a tensor map", verb).c_str(), raw(at), kTensorMapBytes),
        address_advice(raw(at)), raw(at), static_cast<std::uint32_t>(kTensorMapBytes));
}

void check_map_alignment(jit::WarpContext& w, std::uint32_t site, unsigned lane, GenericAddress at) {
  if (raw(at) % kMapAlignment == 0) return;
  raise(
      w, site, lane, FaultKind::misaligned_address,
      fmt::format("tensor map at {:#x}: the address is not a multiple of {}", raw(at), kMapAlignment),
      "keep maps in kernel parameters (const __grid_constant__ CUtensorMap) or in memory that is aligned to 128 bytes",
      raw(at), static_cast<std::uint32_t>(kTensorMapBytes));
}

TensorMap read_map(jit::WarpContext& w, std::uint32_t site, unsigned lane, GenericAddress at) {
  MapBytes bytes;
  if (!read_stretch(w, site, lane, at, bytes.data(), bytes.size())) no_map(w, site, lane, at, "read");
  return tensor_map_of(bytes.data());
}

}  // namespace

TensorMap read_tensor_map(jit::WarpContext& w, std::uint32_t site, unsigned lane, GenericAddress at) {
  check_map_alignment(w, site, lane, at);
  return read_map(w, site, lane, at);
}

void check_tensor_map(jit::WarpContext& w, std::uint32_t site, unsigned lane, GenericAddress at, const TensorMap& map,
                      TensorMode mode, unsigned rank) {
  const std::string problem = tensor_problem(map, mode, rank);
  if (problem.empty()) return;
  raise(
      w, site, lane, FaultKind::illegal_instruction,
      fmt::format("tensor copy with the tensor map at {:#x}: {}", raw(at), problem),
      "encode the map with cuTensorMapEncodeTiled() or one of its relatives, and pass it as a kernel parameter that is "
      "const __grid_constant__ CUtensorMap, or copy it to global memory",
      raw(at), static_cast<std::uint32_t>(kTensorMapBytes));
}

namespace {

using jit::TensorField;

TensorElement element_of(std::uint64_t value) {  // PTX ISA, tensormap.replace: .elemtype
  using enum TensorElement;
  constexpr TensorElement kElements[] = {u8,
                                         u16,
                                         u32,
                                         s32,
                                         u64,
                                         s64,
                                         f16,
                                         f32,
                                         f32_ftz,
                                         f64,
                                         bf16,
                                         tf32,
                                         tf32_ftz,
                                         u4_16_align_8,
                                         u4_16_align_16,
                                         u6_16_align_16};
  return value < std::size(kElements) ? kElements[value] : static_cast<TensorElement>(0xff);
}

// .swizzle_mode and .swizzle_atomicity are two fields of an instruction and one of the map.
TensorSwizzle with_mode(TensorSwizzle now, std::uint64_t mode) {
  constexpr std::uint64_t k128 = 3;
  if (mode > k128) return static_cast<TensorSwizzle>(0xff);
  if (mode == k128 && now > TensorSwizzle::b128) return now;
  return static_cast<TensorSwizzle>(mode);
}
TensorSwizzle with_atomicity(TensorSwizzle now, std::uint64_t atomicity) {
  if (now < TensorSwizzle::b128) return now;
  return static_cast<TensorSwizzle>(static_cast<std::uint64_t>(TensorSwizzle::b128) +
                                    std::min<std::uint64_t>(4, atomicity));
}

// Ordinals and values beyond a field set nothing. PTX leaves both undefined.
void replace(TensorMap& map, TensorField field, std::uint32_t ordinal, std::uint64_t value) {
  switch (field) {
    case TensorField::global_address:
      map.address = value;
      return;
    case TensorField::rank:  // less 1
      map.rank = static_cast<std::uint8_t>(std::min<std::uint64_t>(value, 254) + 1);
      return;
    case TensorField::box_dim:
      if (ordinal < kMaxTensorRank)
        map.box[ordinal] = static_cast<std::uint16_t>(std::min<std::uint64_t>(value, 0xffff));
      return;
    case TensorField::global_dim:
      if (ordinal < kMaxTensorRank) map.sizes[ordinal] = static_cast<std::uint32_t>(value) - 1;
      return;
    case TensorField::global_stride:  // in chunks of 16 bytes, as an H200 keeps it
      if (ordinal < kMaxTensorRank - 1) map.strides[ordinal] = value & ~std::uint64_t{15};
      return;
    case TensorField::element_stride:
      if (ordinal < kMaxTensorRank)
        map.element_strides[ordinal] = static_cast<std::uint8_t>(std::min<std::uint64_t>(value, 0xff));
      return;
    case TensorField::elemtype:
      map.element = element_of(value);
      return;
    case TensorField::interleave_layout:
      map.interleave = static_cast<TensorInterleave>(std::min<std::uint64_t>(value, 0xff));
      return;
    case TensorField::swizzle_mode:
      map.swizzle = with_mode(map.swizzle, value);
      return;
    case TensorField::swizzle_atomicity:
      map.swizzle = with_atomicity(map.swizzle, value);
      return;
    case TensorField::fill_mode:
      map.fill = value == 0 ? TensorFill::zero : TensorFill::nan;
      return;
  }
}

}  // namespace
}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

static void wg_tensormap_replace(void* context, std::uint32_t site, std::uint32_t field, std::uint32_t ordinal,
                                 const std::uint64_t* maps, const std::uint64_t* values, std::uint32_t mask) {
  jit::WarpContext& w = warp(context);
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const GenericAddress at{maps[lane]};
    TensorMap map = read_tensor_map(w, site, lane, at);
    if (map.magic != TensorMap::kMagic) map = {};  // a program may build a map from zeroes
    replace(map, static_cast<jit::TensorField>(field), ordinal, values[lane]);
    const auto bytes = tensor_map_bytes(map);
    if (!write_stretch(w, site, lane, at, bytes.data(), bytes.size())) no_map(w, site, lane, at, "write");
  }
}

// The lanes of a warp copy one map together.
static void wg_tensormap_copy(void* context, std::uint32_t site, const std::uint64_t* to, const std::uint64_t* from,
                              std::uint32_t mask) {
  if (mask == 0) return;
  jit::WarpContext& w = warp(context);
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  const GenericAddress source{from[lane]}, target{to[lane]};
  MapBytes bytes;
  if (!read_stretch(w, site, lane, source, bytes.data(), bytes.size())) no_map(w, site, lane, source, "read");
  if (!write_stretch(w, site, lane, target, bytes.data(), bytes.size())) no_map(w, site, lane, target, "write");
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> tensor_map_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_tensormap_replace", reinterpret_cast<void*>(&wg_tensormap_replace)},
                                            {"wg_tensormap_copy", reinterpret_cast<void*>(&wg_tensormap_copy)}};
  return symbols;
}

}  // namespace warpgrind::device
