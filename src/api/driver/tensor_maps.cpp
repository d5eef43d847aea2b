// Tensor map objects of the driver API: checks the arguments and writes the map (gpu/tensor_map.h). The rules are those
// of the manual, as an H200's driver applies them (tests/data/h200/tensor_maps.txt).
#include <algorithm>
#include <cstring>

#include "driver/driver.h"
#include "gpu/tensor_map.h"

namespace warpgrind::driver {

namespace {

constexpr std::uint64_t kAddressEnd = 1ull << 57;
constexpr std::uint64_t kMostSize = 1ull << 32, kStrideEnd = 1ull << 40;
constexpr cuuint32_t kMostBox = 256, kMostStep = 8, kMostPixels = 1024;
constexpr cuuint32_t kPackedBox = 128;  // elements of the innermost dimension of types with gaps

// Arguments that all three functions share.
struct TensorArguments {
  CUtensorMap* map = nullptr;
  CUtensorMapDataType type{};
  cuuint32_t rank = 0;
  void* address = nullptr;
  const cuuint64_t* sizes = nullptr;
  const cuuint64_t* strides = nullptr;
  const cuuint32_t* steps = nullptr;
  CUtensorMapInterleave interleave{};
  CUtensorMapSwizzle swizzle{};
  CUtensorMapL2promotion promotion{};
  CUtensorMapFloatOOBfill fill{};
};

template <class Enum>
bool is_enumerator(Enum value, Enum last) {
  return static_cast<unsigned>(value) <= static_cast<unsigned>(last);
}

// The types whose 16 elements have gaps in shared memory.
bool has_gaps(CUtensorMapDataType type) {
  return type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B || type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

bool is_floating_point(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

// Bytes that elements of the innermost dimension take in shared memory.
std::uint64_t shared_bytes(CUtensorMapDataType type, std::uint64_t elements) {
  constexpr std::uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  if (has_gaps(type)) return elements;
  return type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B ? elements / 2 : elements * kBytes[type];
}

// Bytes of the pattern of a swizzle; 0: no swizzle.
std::uint64_t swizzle_span(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_NONE:
      return 0;
    case CU_TENSOR_MAP_SWIZZLE_32B:
      return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B:
      return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B:
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B:
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B:
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B:
      return 128;
  }
  return 0;
}

// Alignment of the address and of the strides, in bytes.
std::uint64_t alignment_of(const TensorArguments& a) {
  return a.interleave == CU_TENSOR_MAP_INTERLEAVE_32B || has_gaps(a.type) ? 32 : 16;
}

bool good_address(const void* address, std::uint64_t alignment) {
  const auto number = reinterpret_cast<std::uint64_t>(address);
  return number % alignment == 0 && number < kAddressEnd;
}

// Packed types and swizzles of larger atoms came with compute capability 10.0.
bool good_enumerators(const TensorArguments& a) {
  const bool newer = session::model().cc_major >= 10;
  return is_enumerator(a.type, newer ? CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B : CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ) &&
         is_enumerator(a.interleave, CU_TENSOR_MAP_INTERLEAVE_32B) &&
         is_enumerator(a.swizzle, newer ? CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B : CU_TENSOR_MAP_SWIZZLE_128B) &&
         is_enumerator(a.promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B) &&
         is_enumerator(a.fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
}

template <class Number>
bool has_zero(const Number* numbers, cuuint32_t rank) {
  const Number* const end = numbers + std::min(rank, kMaxTensorRank);
  return std::find(numbers, end, 0u) != end;
}

// The first checks of the driver. Only after them it writes into the map, whatever comes of the others.
bool is_complete(const TensorArguments& a) {
  return a.map && a.rank != 0 && a.sizes && a.strides && a.steps && !has_zero(a.sizes, a.rank) &&
         !has_zero(a.steps, a.rank);
}

bool good_sizes(const TensorArguments& a) {
  if (std::any_of(a.sizes, a.sizes + a.rank, [](cuuint64_t size) { return size > kMostSize; })) return false;
  if (has_gaps(a.type)) return a.sizes[0] % kPackedBox == 0;
  return a.type != CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B || a.sizes[0] % 2 == 0;
}

bool good_strides(const TensorArguments& a) {
  return std::all_of(a.strides, a.strides + a.rank - 1,
                     [&](cuuint64_t stride) { return stride < kStrideEnd && stride % alignment_of(a) == 0; });
}

bool good_steps(const TensorArguments& a) {
  return std::all_of(a.steps, a.steps + a.rank, [](cuuint32_t step) { return step <= kMostStep; });
}

bool good_swizzle(const TensorArguments& a) {
  if (!has_gaps(a.type)) return true;
  if (a.type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B && a.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return false;
  return a.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || a.swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
         a.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B ||
         (a.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B && a.type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
}

bool good_common(const TensorArguments& a, cuuint32_t least_rank) {
  if (!good_enumerators(a)) return false;
  const cuuint32_t least = a.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? least_rank : 3;
  if (a.rank < least || a.rank > kMaxTensorRank) return false;
  if (!good_address(a.address, alignment_of(a))) return false;
  if (a.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !is_floating_point(a.type)) return false;
  return good_sizes(a) && good_strides(a) && good_steps(a) && good_swizzle(a);
}

// The innermost dimension of the box, or the channels of a pixel.
bool good_inner(const TensorArguments& a, cuuint32_t elements) {
  if (elements > kMostBox) return false;
  if (has_gaps(a.type) && elements != kPackedBox) return false;
  const std::uint64_t bytes = shared_bytes(a.type, elements), span = swizzle_span(a.swizzle);
  if (bytes % 16 != 0) return false;
  return a.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || span == 0 || bytes <= span;
}

// True if what one copy moves fits into the shared memory of an SM. The driver divides by the steps and drops the
// remainders.
bool fits_shared_memory(const TensorArguments& a, const cuuint32_t* box) {
  std::uint64_t elements = 1;
  for (cuuint32_t d = 1; d < a.rank; d++) elements *= box[d] / a.steps[d];
  return shared_bytes(a.type, box[0] / a.steps[0]) * elements <= session::model().shared_per_sm;
}

bool good_pixels(const TensorArguments& a, cuuint32_t channels, cuuint32_t pixels) {
  return shared_bytes(a.type, channels) * pixels <= session::model().shared_per_sm;
}

TensorMap common_map(const TensorArguments& a, TensorMapKind kind) {
  TensorMap map;
  map.kind = kind;
  map.element = static_cast<TensorElement>(a.type);
  map.rank = static_cast<std::uint8_t>(a.rank);
  map.interleave = static_cast<TensorInterleave>(a.interleave);
  map.address = reinterpret_cast<std::uint64_t>(a.address);
  map.swizzle = static_cast<TensorSwizzle>(a.swizzle);
  map.promotion = static_cast<TensorPromotion>(a.promotion);
  map.fill = static_cast<TensorFill>(a.fill);
  for (cuuint32_t d = 0; d < a.rank; d++) {
    map.sizes[d] = static_cast<std::uint32_t>(a.sizes[d] - 1);
    if (d > 0) map.strides[d - 1] = a.strides[d - 1];
    const bool ignored = d == 0 && a.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
    map.element_strides[d] = ignored ? std::uint8_t{1} : static_cast<std::uint8_t>(a.steps[d]);
  }
  return map;
}

// `map` is no CUtensorMap*, because the driver takes any address, and the compiler would rely on 128-byte alignment.
void clear(void* map) {
  std::memset(map, 0, kTensorMapBytes);
}
void write_map(void* out, const TensorMap& map) {
  static_assert(sizeof(CUtensorMap) == kTensorMapBytes);
  std::memcpy(out, tensor_map_bytes(map).data(), kTensorMapBytes);
}

// True if the bounding box has an element along a dimension. The driver computes with 32 bits.
bool has_elements(cuuint64_t size, int lower, int upper) {
  const auto end = static_cast<std::int32_t>(static_cast<std::uint32_t>(size) + static_cast<std::uint32_t>(upper));
  return end > lower;
}

// Corners of the bounding box: the offsets' range depends on their number, and the box must hold an element.
bool good_corners(const TensorArguments& a, const int* lower, const int* upper) {
  constexpr int kBits[] = {16, 8, 5};  // of each offset, by the rank less 3
  const int end = 1 << (kBits[a.rank - 3] - 1);
  for (cuuint32_t d = 0; d < a.rank - 2; d++) {
    if (lower[d] < -end || lower[d] >= end || upper[d] < -end || upper[d] >= end) return false;
    if (!has_elements(a.sizes[d + 1], lower[d], upper[d])) return false;
  }
  return true;
}

// The manual's swizzles of im2col::w. An H200's driver takes the others, too.
bool good_wide_swizzle(CUtensorMapSwizzle swizzle) {
  return session::model().cc_major < 10 || swizzle == CU_TENSOR_MAP_SWIZZLE_64B ||
         swizzle == CU_TENSOR_MAP_SWIZZLE_128B || swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
}

// Makes a map. `body` returns false for wrong arguments.
template <class Body>
CUresult encode(Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        if (session::model().cc_major < 9) return CUDA_ERROR_NOT_SUPPORTED;
        return body() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
      },
      call);
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return encode([&] {
    const TensorArguments a{map, type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill};
    if (!is_complete(a) || !box || has_zero(box, rank)) return false;
    clear(map);
    if (!good_common(a, 1) || !good_inner(a, box[0])) return false;
    if (std::any_of(box, box + rank, [](cuuint32_t extent) { return extent > kMostBox; })) return false;
    if (!fits_shared_memory(a, box)) return false;
    TensorMap out = common_map(a, TensorMapKind::tiled);
    for (cuuint32_t d = 0; d < rank; d++) out.box[d] = static_cast<std::uint16_t>(box[d]);
    write_map(map, out);
    return true;
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* sizes, const cuuint64_t* strides, const int* lower, const int* upper,
                                 cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return encode([&] {
    const TensorArguments a{map, type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill};
    if (!is_complete(a) || !lower || !upper || channels == 0 || pixels == 0) return false;
    clear(map);
    if (!good_common(a, 3) || !good_inner(a, channels) || pixels > kMostPixels) return false;
    if (!good_pixels(a, channels, pixels)) return false;
    if (!good_corners(a, lower, upper)) return false;
    TensorMap out = common_map(a, TensorMapKind::im2col);
    for (cuuint32_t d = 0; d < rank - 2; d++) {
      out.lower_corner[d] = static_cast<std::int16_t>(lower[d]);
      out.upper_corner[d] = static_cast<std::int16_t>(upper[d]);
    }
    out.channels_per_pixel = static_cast<std::uint16_t>(channels);
    out.pixels_per_column = static_cast<std::uint16_t>(pixels);
    write_map(map, out);
    return true;
  });
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                     const cuuint64_t* sizes, const cuuint64_t* strides, int lower_width,
                                     int upper_width, cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                                     CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
                                     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill) {
  return encode([&] {
    const TensorArguments a{map, type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill};
    const bool with_pixels = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W;
    if (!is_complete(a) || channels == 0 || pixels == 0) return false;
    clear(map);
    if (!good_common(a, 3) || !good_inner(a, channels)) return false;
    if (!is_enumerator(mode, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128) || !good_wide_swizzle(swizzle)) return false;
    if (pixels > kMostPixels || !good_pixels(a, channels, pixels)) return false;
    constexpr int kEnd = 1 << 15;
    if (lower_width < -kEnd || lower_width >= kEnd || upper_width < -kEnd || upper_width >= kEnd) return false;
    if (!has_elements(sizes[1], lower_width, upper_width)) return false;
    for (cuuint32_t d = 2; d + 1 < rank; d++)
      if (!has_elements(sizes[d], 0, 0)) return false;
    TensorMap out = common_map(a, TensorMapKind::im2col_wide);
    out.lower_corner[0] = static_cast<std::int16_t>(lower_width);
    out.upper_corner[0] = static_cast<std::int16_t>(upper_width);
    out.channels_per_pixel = static_cast<std::uint16_t>(channels);
    out.pixels_per_column = with_pixels ? static_cast<std::uint16_t>(pixels) : std::uint16_t{128};
    out.wide_mode = static_cast<TensorWideMode>(mode);
    write_map(map, out);
    return true;
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return encode([&] {
    if (!map || !address || !good_address(address, 16)) return false;
    TensorMap changed = tensor_map_of(map);
    changed.address = reinterpret_cast<std::uint64_t>(address);
    write_map(map, changed);
    return true;
  });
}

}  // namespace warpgrind::driver
