#include "gpu/tensor_box.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace warpgrind {

unsigned element_bits(TensorElement element) {
  switch (element) {
    case TensorElement::u8:
      return 8;
    case TensorElement::u16:
    case TensorElement::f16:
    case TensorElement::bf16:
      return 16;
    case TensorElement::u32:
    case TensorElement::s32:
    case TensorElement::f32:
    case TensorElement::f32_ftz:
    case TensorElement::tf32:
    case TensorElement::tf32_ftz:
      return 32;
    case TensorElement::u64:
    case TensorElement::s64:
    case TensorElement::f64:
      return 64;
    case TensorElement::u4_16_align_8:
    case TensorElement::u4_16_align_16:
      return 4;
    case TensorElement::u6_16_align_16:
      return 6;
  }
  return 8;
}

bool is_floating(TensorElement element) {
  switch (element) {
    case TensorElement::f16:
    case TensorElement::f32:
    case TensorElement::f64:
    case TensorElement::bf16:
    case TensorElement::f32_ftz:
    case TensorElement::tf32:
    case TensorElement::tf32_ftz:
      return true;
    default:
      return false;
  }
}

TensorGroup tensor_group(const TensorMap& map) {
  if (map.interleave != TensorInterleave::none) {
    const std::uint32_t slice = map.interleave == TensorInterleave::b16 ? 16 : 32;
    return {1, slice, slice};
  }
  switch (map.element) {
    case TensorElement::u4_16_align_8:
      return {16, 8, 8};
    case TensorElement::u4_16_align_16:
      return {16, 8, 16};
    case TensorElement::u6_16_align_16:
      return {16, 12, 16};
    default: {
      const std::uint32_t bytes = element_bits(map.element) / 8;
      return {1, bytes, bytes};
    }
  }
}

namespace {

std::uint32_t swizzle_span(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::none:
      return 0;
    case TensorSwizzle::b32:
      return 32;
    case TensorSwizzle::b64:
      return 64;
    default:
      return 128;
  }
}

// Of dimension 0 in the box of a tile. Only where it is one of space, in interleaved tensors, has its stride an effect.
std::uint32_t first_step(const TensorMap& map) {
  return map.interleave == TensorInterleave::none ? 1 : map.element_strides[0];
}

// Elements of dimension 0 in a row of the box.
std::uint32_t row_elements(const TensorMap& map, TensorMode mode) {
  if (mode == TensorMode::tile) return (map.box[0] + first_step(map) - 1) / first_step(map);
  if (mode == TensorMode::rows) return map.box[0];
  return map.interleave == TensorInterleave::none ? map.channels_per_pixel : 1;  // one slice of channels
}

std::uint32_t row_bytes(const TensorMap& map, TensorMode mode) {
  const TensorGroup inner = tensor_group(map);
  return (row_elements(map, mode) + inner.elements - 1) / inner.elements * inner.shared;
}

// Bytes from one row to the next: a swizzle takes whole spans.
std::uint32_t row_pitch(const TensorMap& map, TensorMode mode) {
  const std::uint32_t bytes = row_bytes(map, mode), span = swizzle_span(map.swizzle);
  return span == 0 || map.interleave != TensorInterleave::none ? bytes : (bytes + span - 1) / span * span;
}

// Steps of dimension `d` in the box. An interleaved box has one slice of channels, whatever the map says.
std::uint32_t steps_of(const TensorMap& map, unsigned d) {
  if (map.interleave != TensorInterleave::none && d + 2 == map.rank) return 1;
  return (map.box[d] + map.element_strides[d] - 1u) / map.element_strides[d];
}

// .im2col::w::128 loads halo pixels after each quarter.
constexpr std::uint32_t kQuarters = 4, kQuarterPixels = 32;

std::uint32_t rows_of(const TensorMap& map, const TensorCopy& copy) {
  constexpr std::uint32_t kGathered = 4;
  switch (copy.mode) {
    case TensorMode::rows:
      return kGathered;
    case TensorMode::im2col:
      return map.pixels_per_column;
    case TensorMode::im2col_w:
      return std::uint32_t{map.pixels_per_column} + copy.halo();
    case TensorMode::im2col_w_128:
      return kQuarters * (kQuarterPixels + copy.halo());
    case TensorMode::tile:
      break;
  }
  std::uint32_t rows = 1;
  for (unsigned d = 1; d < map.rank; ++d) rows *= steps_of(map, d);
  return rows;
}

// Dimension of W. H and D follow, and the last one is that of the images. Interleaved tensors have their channels
// before the images.
unsigned first_spatial(const TensorMap& map) {
  return map.interleave == TensorInterleave::none ? 1 : 0;
}

// Appends the runs of one row: elements of dimension 0 from `first` on. `at`: the other coordinates; those of dimension
// 0 are ignored.
void add_row(const TensorMap& map, const std::array<std::int64_t, kMaxTensorRank>& at, std::int64_t first,
             std::uint32_t elements, std::uint32_t shared, bool stores, std::vector<TensorRun>& runs) {
  constexpr std::uint32_t kChunk = 16;
  const TensorGroup inner = tensor_group(map);
  const auto bytes_of = [&](std::int64_t n) {
    return static_cast<std::uint32_t>((n + inner.elements - 1) / inner.elements * inner.shared);
  };
  const std::int64_t size = std::int64_t{map.sizes[0]} + 1;
  std::int64_t low = std::clamp<std::int64_t>(-first, 0, elements);
  std::int64_t high = std::clamp<std::int64_t>(size - first, low, elements);
  std::uint64_t address = map.address;
  for (unsigned d = 1; d < map.rank; ++d) {
    if (at[d] < 0 || at[d] > map.sizes[d]) high = low;
    address += static_cast<std::uint64_t>(at[d]) * map.strides[d - 1];
  }
  if (high == low) {
    runs.push_back({0, shared, bytes_of(elements), false});
    return;
  }
  if (low > 0) runs.push_back({0, shared, bytes_of(low), false});
  address += static_cast<std::uint64_t>((first + low) / inner.elements) * inner.memory;
  const std::uint32_t begin = bytes_of(low), all = bytes_of(elements);
  const std::uint32_t end = stores ? std::min(all, (bytes_of(high) + kChunk - 1) / kChunk * kChunk) : bytes_of(high);
  runs.push_back({address, shared + begin, end - begin, true});
  if (end < all) runs.push_back({0, shared + end, all - end, false});
}

}  // namespace

std::string coordinate_problem(const TensorMap& map, const TensorCopy& copy) {
  constexpr std::int64_t kChunk = 16;
  const unsigned bits = element_bits(map.element);
  const std::int64_t first = copy.coordinates[0];
  if (map.interleave == TensorInterleave::none && first * bits % (8 * kChunk) != 0)
    return "its first coordinate, " + std::to_string(first) + ", is not at a multiple of 16 bytes";
  for (unsigned k = 0; copy.mode == TensorMode::im2col && k + 2 < map.rank; ++k) {
    const unsigned d = first_spatial(map) + k;
    const std::int64_t low = map.lower_corner[k], high = std::int64_t{map.sizes[d]} + map.upper_corner[k];
    if (copy.coordinates[d] < low || copy.coordinates[d] > high)
      return "coordinate " + std::to_string(d) + " is " + std::to_string(copy.coordinates[d]) +
             "; the bounding box of the map has " + std::to_string(low) + " to " + std::to_string(high);
    if (copy.stores && (low < 0 || high > map.sizes[d]))
      return "the map's bounding box, " + std::to_string(low) + " to " + std::to_string(high) + " of coordinate " +
             std::to_string(d) + ", reaches beyond the tensor, which stores do not take";
  }
  if (copy.along_width()) {
    const unsigned d = first_spatial(map);
    const std::int64_t high = std::int64_t{map.sizes[d]} + map.upper_corner[0];
    if (copy.coordinates[d] > high)
      return "coordinate " + std::to_string(d) + " is " + std::to_string(copy.coordinates[d]) +
             "; the bounding box of the map ends at " + std::to_string(high);
    if (high < map.lower_corner[0]) return "the map's bounding box has no pixel";
  }
  const unsigned used = copy.mode == TensorMode::rows ? kMaxTensorRank : map.rank;
  for (unsigned d = 0; copy.stores && d < used; ++d)
    if (copy.coordinates[d] < 0)
      return "coordinate " + std::to_string(d) + " is " + std::to_string(copy.coordinates[d]) +
             "; stores take no negative ones";
  return "";
}

TensorBox tensor_box(const TensorMap& map, const TensorCopy& copy) {
  const std::uint32_t rows = rows_of(map, copy);
  return {row_bytes(map, copy.mode) * rows, row_pitch(map, copy.mode) * rows};
}

namespace {

using Coordinates = std::array<std::int64_t, kMaxTensorRank>;

Coordinates wide(const std::array<std::int32_t, kMaxTensorRank>& coordinates) {
  Coordinates out;
  std::copy(coordinates.begin(), coordinates.end(), out.begin());
  return out;
}

// The elements are apart from each other in memory where dimension 0 has a stride.
void add_tile_row(const TensorMap& map, const Coordinates& at, std::int64_t first, std::uint32_t shared, bool stores,
                  std::vector<TensorRun>& runs) {
  const std::uint32_t step = first_step(map), elements = row_elements(map, TensorMode::tile);
  if (step == 1) return add_row(map, at, first, elements, shared, stores, runs);
  for (std::uint32_t k = 0; k < elements; ++k)
    add_row(map, at, first + std::int64_t{k} * step, 1, shared + k * tensor_group(map).shared, stores, runs);
}

void tile_runs(const TensorMap& map, const TensorCopy& copy, std::vector<TensorRun>& runs) {
  const std::uint32_t pitch = row_pitch(map, copy.mode), rows = rows_of(map, copy);
  const Coordinates first = wide(copy.coordinates);
  std::array<std::uint32_t, kMaxTensorRank> index{};
  Coordinates at = first;
  for (std::uint32_t row = 0; row < rows; ++row) {
    add_tile_row(map, at, first[0], row * pitch, copy.stores, runs);
    for (unsigned d = 1; d < map.rank; ++d) {
      const bool more = ++index[d] < steps_of(map, d);
      if (!more) index[d] = 0;
      at[d] = first[d] + std::int64_t{index[d]} * map.element_strides[d];
      if (more) break;
    }
  }
}

void gathered_runs(const TensorMap& map, const TensorCopy& copy, std::vector<TensorRun>& runs) {
  const std::uint32_t pitch = row_pitch(map, copy.mode);
  for (std::uint32_t row = 0; row < 4; ++row)
    add_row(map, {0, copy.coordinates[1 + row]}, copy.coordinates[0], row_elements(map, copy.mode), row * pitch,
            copy.stores, runs);
}

// Calls f(row, coordinates) for the pixels of the bounding box from the coordinates on, W fastest. The offsets move the
// pixel that is read.
template <class F>
void each_pixel(const TensorMap& map, const TensorCopy& copy, F&& f) {
  const std::uint32_t rows = rows_of(map, copy);
  const unsigned spatial = map.rank - 2, w = first_spatial(map), images = map.rank - 1;
  Coordinates pixel = wide(copy.coordinates);
  for (std::uint32_t row = 0; row < rows; ++row) {
    Coordinates at = pixel;
    for (unsigned k = 0; k < spatial; ++k) at[w + k] += copy.offsets[k];
    f(row, at);
    bool more = false;
    for (unsigned k = 0; k < spatial && !more; ++k) {
      pixel[w + k] += map.element_strides[w + k];
      more = pixel[w + k] <= std::int64_t{map.sizes[w + k]} + map.upper_corner[k];
      if (!more) pixel[w + k] = map.lower_corner[k];
    }
    if (!more) ++pixel[images];
  }
}

// Coordinates of the pixel that lies `steps` pixels after the first one, along W and then in the next image. The first
// one may lie on the left of the bounding box.
Coordinates pixel_along_width(const TensorMap& map, const TensorCopy& copy, std::uint32_t steps) {
  const unsigned w = first_spatial(map), images = map.rank - 1;
  const std::int64_t stride = map.element_strides[w], low = map.lower_corner[0];
  const std::int64_t high = std::int64_t{map.sizes[w]} + map.upper_corner[0];
  Coordinates at = wide(copy.coordinates);
  const std::int64_t of_first = (high - at[w]) / stride + 1, of_image = (high - low) / stride + 1;
  if (steps < of_first) {
    at[w] += stride * steps;
  } else {
    at[images] += 1 + (steps - of_first) / of_image;
    at[w] = low + (steps - of_first) % of_image * stride;
  }
  at[w] += copy.offsets[1];
  return at;
}

// Calls f(row, coordinates) for the pixels, and behind them for those of the halo: the pixels that follow. With
// .im2col::w::128 they are those that follow each quarter, and the first ones of the four quarters lie together, as
// tcgen05.cp.4x256b reads them. The manual shows this order in a figure alone; it is that of TVM's simulator.
template <class F>
void each_pixel_along_width(const TensorMap& map, const TensorCopy& copy, F&& f) {
  const std::uint32_t rows = rows_of(map, copy);
  const bool quarters = copy.mode == TensorMode::im2col_w_128;
  const std::uint32_t pixels = quarters ? kQuarters * kQuarterPixels : map.pixels_per_column;
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::uint32_t steps = row;
    if (quarters && row >= pixels)
      steps = kQuarterPixels * (1 + (row - pixels) % kQuarters) + (row - pixels) / kQuarters;
    f(row, pixel_along_width(map, copy, steps));
  }
}

void column_runs(const TensorMap& map, const TensorCopy& copy, std::vector<TensorRun>& runs) {
  const std::uint32_t pitch = row_pitch(map, copy.mode), elements = row_elements(map, copy.mode);
  const auto add = [&](std::uint32_t row, const Coordinates& at) {
    add_row(map, at, at[0], elements, row * pitch, copy.stores, runs);
  };
  if (copy.mode == TensorMode::im2col)
    each_pixel(map, copy, add);
  else
    each_pixel_along_width(map, copy, add);
}

}  // namespace

void tensor_runs(const TensorMap& map, const TensorCopy& copy, std::vector<TensorRun>& runs) {
  runs.clear();
  switch (copy.mode) {
    case TensorMode::tile:
      return tile_runs(map, copy, runs);
    case TensorMode::rows:
      return gathered_runs(map, copy, runs);
    case TensorMode::im2col:
    case TensorMode::im2col_w:
    case TensorMode::im2col_w_128:
      return column_runs(map, copy, runs);
  }
}

TensorRows tensor_rows(const TensorMap& map, const TensorCopy& copy) {
  return {rows_of(map, copy), row_bytes(map, copy.mode), row_pitch(map, copy.mode)};
}

std::vector<std::array<std::int64_t, kMaxTensorRank>> row_coordinates(const TensorMap& map, const TensorCopy& copy) {
  std::vector<Coordinates> out(rows_of(map, copy), wide(copy.coordinates));
  switch (copy.mode) {
    case TensorMode::tile:
      for (std::uint32_t row = 0; row < out.size(); ++row)
        for (std::uint32_t d = 1, rest = row; d < map.rank; rest /= steps_of(map, d++))
          out[row][d] += std::int64_t{rest % steps_of(map, d)} * map.element_strides[d];
      break;
    case TensorMode::rows:
      for (std::uint32_t row = 0; row < out.size(); ++row) out[row] = {copy.coordinates[0], copy.coordinates[1 + row]};
      break;
    case TensorMode::im2col:
      each_pixel(map, copy, [&](std::uint32_t row, const Coordinates& at) { out[row] = at; });
      break;
    case TensorMode::im2col_w:
    case TensorMode::im2col_w_128:
      each_pixel_along_width(map, copy, [&](std::uint32_t row, const Coordinates& at) { out[row] = at; });
      break;
  }
  return out;
}

std::uint64_t swizzled(TensorSwizzle swizzle, std::uint64_t address) {
  const auto bits = [&](unsigned from, unsigned count, unsigned to) {
    return (address >> from & ((1u << count) - 1)) << to;
  };
  switch (swizzle) {
    case TensorSwizzle::none:
      return address;
    case TensorSwizzle::b32:
      return address ^ bits(7, 1, 4);
    case TensorSwizzle::b64:
      return address ^ bits(7, 2, 4);
    case TensorSwizzle::b128:
      return address ^ bits(7, 3, 4);
    case TensorSwizzle::b128_atom_32:
      return address ^ bits(7, 2, 5);
    case TensorSwizzle::b128_atom_32_flip_8:
      return address ^ bits(7, 2, 5) ^ bits(7, 1, 3);
    case TensorSwizzle::b128_atom_64:
      return address ^ bits(7, 1, 6);
  }
  return address;
}

void fill_outside(const TensorMap& map, std::uint8_t* to, std::size_t bytes) {
  if (map.fill == TensorFill::zero || !is_floating(map.element)) {
    std::memset(to, 0, bytes);
    return;
  }
  constexpr std::uint16_t kNan = 0x7ff7;  // repeated for wider types
  for (std::size_t i = 0; i + 2 <= bytes; i += 2) std::memcpy(to + i, &kNan, sizeof kNan);
}

bool rounds_elements(TensorElement element) {
  return element == TensorElement::tf32 || element == TensorElement::tf32_ftz;
}

void round_elements(std::uint8_t* bytes, std::size_t count) {
  constexpr std::uint32_t kInfinity = 0x7f800000, kSign = 0x80000000, kNan = 0x7fffe000, kBelow = 0x1fff;
  for (std::size_t i = 0; i + 4 <= count; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, bytes + i, sizeof word);
    const std::uint32_t half = kBelow / 2 + (word >> 13 & 1);  // ties go to the even value
    word = (word & ~kSign) > kInfinity ? kNan : (word + half) & ~kBelow;
    std::memcpy(bytes + i, &word, sizeof word);
  }
}

namespace {

template <class Enum>
bool within(Enum value, Enum last) {
  return static_cast<unsigned>(value) <= static_cast<unsigned>(last);
}

// Fields that are used as indexes or counts. tensormap.replace can set them to anything.
std::string field_problem(const TensorMap& map) {
  if (map.rank < 1 || map.rank > kMaxTensorRank) return "its rank is not 1 to 5";
  if (!within(map.element, TensorElement::u6_16_align_16)) return "its element type is unknown";
  if (!within(map.swizzle, TensorSwizzle::b128_atom_64)) return "its swizzle mode is unknown";
  if (!within(map.interleave, TensorInterleave::b32)) return "its interleave layout is unknown";
  if (!within(map.kind, TensorMapKind::im2col_wide)) return "its kind is unknown";
  for (unsigned d = 0; d < map.rank; ++d) {
    if (map.element_strides[d] < 1 || map.element_strides[d] > 8) return "an element stride is not 1 to 8";
    if (map.kind == TensorMapKind::tiled && (map.box[d] < 1 || map.box[d] > 256))
      return "a dimension of its box is not 1 to 256";
  }
  const std::uint64_t row_bits = std::uint64_t{map.box[0]} * element_bits(map.element);
  if (map.kind == TensorMapKind::tiled && map.interleave == TensorInterleave::none && row_bits % 128 != 0)
    return "a row of its box is not a multiple of 16 bytes";
  return "";
}

TensorMapKind kind_for(TensorMode mode) {
  switch (mode) {
    case TensorMode::im2col:
      return TensorMapKind::im2col;
    case TensorMode::im2col_w:
    case TensorMode::im2col_w_128:
      return TensorMapKind::im2col_wide;
    case TensorMode::tile:
    case TensorMode::rows:
      break;
  }
  return TensorMapKind::tiled;
}

const char* encoder_of(TensorMapKind kind) {
  switch (kind) {
    case TensorMapKind::tiled:
      return "cuTensorMapEncodeTiled";
    case TensorMapKind::im2col:
      return "cuTensorMapEncodeIm2col";
    case TensorMapKind::im2col_wide:
      return "cuTensorMapEncodeIm2colWide";
  }
  return "";
}

}  // namespace

std::string tensor_problem(const TensorMap& map, TensorMode mode, unsigned rank) {
  if (map.magic != TensorMap::kMagic) return "there is no tensor map at this address";
  if (std::string problem = field_problem(map); !problem.empty()) return problem;
  const TensorMapKind wanted = kind_for(mode);
  if (map.kind != wanted)
    return std::string("it is of ") + encoder_of(map.kind) + "; this copy needs one of " + encoder_of(wanted);
  if (wanted == TensorMapKind::im2col_wide) {
    const bool of_128 = map.wide_mode == TensorWideMode::w128;
    if (of_128 != (mode == TensorMode::im2col_w_128))
      return of_128 ? "its mode is W128, for .im2col::w::128" : "its mode is W, for .im2col::w";
    if (map.interleave != TensorInterleave::none) return "it is interleaved, which .im2col::w does not take";
  }
  if (map.rank != rank) return "it has " + std::to_string(map.rank) + " dimensions, the copy " + std::to_string(rank);
  return "";
}

}  // namespace warpgrind
