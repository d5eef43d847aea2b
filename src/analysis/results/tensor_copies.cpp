#include "results/tensor_copies.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/tensor_names.h"
#include "gpu/types.h"

namespace warpgrind::results {

namespace {

constexpr unsigned kRows = 4;              // of a gather or scatter
constexpr unsigned kOffsetAlongWidth = 1;  // in TensorCopy::offsets; before it lies the halo

// Dimension of W. H and D follow.
unsigned first_spatial(const TensorMap& map) {
  return map.interleave == TensorInterleave::none ? 1 : 0;
}

// Of an im2col copy: whether the dimension is one whose pixels an offset moves. Copies along W have an offset there
// alone.
bool has_offset(const TensorMap& map, const TensorCopy& copy, unsigned d) {
  const unsigned first = first_spatial(map), dimensions = copy.along_width() ? 1 : map.rank - 2;
  return copy.columns() && d >= first && d - first < dimensions;
}

std::uint16_t& offset_of(TensorCopy& copy, unsigned spatial) {
  return copy.offsets[copy.along_width() ? kOffsetAlongWidth : spatial];
}

void read_dimension(const TensorDimension& from, unsigned d, RecordedCopy& to) {
  to.map.sizes[d] = static_cast<std::uint32_t>(from.size - 1);
  if (d > 0) to.map.strides[d - 1] = from.stride;
  to.map.box[d] = static_cast<std::uint16_t>(from.box);
  to.map.element_strides[d] = static_cast<std::uint8_t>(from.element_stride);
  to.copy.coordinates[d] = static_cast<std::int32_t>(from.coordinate);
  const unsigned first = first_spatial(to.map);
  if (!has_offset(to.map, to.copy, d)) return;
  to.map.lower_corner[d - first] = static_cast<std::int16_t>(from.lower);
  to.map.upper_corner[d - first] = static_cast<std::int16_t>(from.upper);
  offset_of(to.copy, d - first) = static_cast<std::uint16_t>(from.offset);
}

// A file may hold any numbers. True if the box is one that shared memory can hold.
bool fits(const TensorCopyProfile& profile, const TensorCopy& copy) {
  constexpr std::uint64_t kMostElements = 1u << 20, kMostShared = std::uint64_t{1} << kClusterShift;
  constexpr std::uint32_t kMostPixels = 1024, kMostChannels = 256, kMostHalo = 512;
  if (profile.shared >= kMostShared) return false;
  if (copy.columns())
    return profile.halo <= kMostHalo && profile.dimensions.size() > 2 && profile.pixels >= 1 &&
           profile.pixels <= kMostPixels && profile.channels >= 1 && profile.channels <= kMostChannels;
  std::uint64_t elements = 1;
  for (const TensorDimension& d : profile.dimensions) {
    if (d.box == 0 || d.box > kMostElements) return false;
    elements *= d.box;
    if (elements > kMostElements) return false;
  }
  return true;
}

}  // namespace

std::optional<RecordedCopy> recorded_copy(const TensorCopyProfile& profile) {
  const auto element = tensor_value<TensorElement>(profile.element);
  const auto interleave = tensor_value<TensorInterleave>(profile.interleave);
  const auto swizzle = tensor_value<TensorSwizzle>(profile.swizzle);
  const auto fill = tensor_value<TensorFill>(profile.fill);
  const auto mode = tensor_value<TensorMode>(profile.mode);
  const std::size_t rank = profile.dimensions.size();
  if (!element || !interleave || !swizzle || !fill || !mode || rank < 1 || rank > kMaxTensorRank) return std::nullopt;
  if (*mode == TensorMode::rows && (profile.rows.size() != kRows || rank != 2)) return std::nullopt;
  RecordedCopy out;
  out.map.address = profile.tensor.offset;
  out.copy.mode = *mode;
  if (!fits(profile, out.copy)) return std::nullopt;
  out.map.kind = !out.copy.columns()      ? TensorMapKind::tiled
                 : out.copy.along_width() ? TensorMapKind::im2col_wide
                                          : TensorMapKind::im2col;
  out.map.wide_mode = *mode == TensorMode::im2col_w_128 ? TensorWideMode::w128 : TensorWideMode::w;
  if (out.copy.along_width()) out.copy.offsets[0] = static_cast<std::uint16_t>(profile.halo);
  out.map.element = *element;
  out.map.rank = static_cast<std::uint8_t>(rank);
  out.map.interleave = *interleave;
  out.map.swizzle = *swizzle;
  out.map.fill = *fill;
  out.map.channels_per_pixel = static_cast<std::uint16_t>(profile.channels);
  out.map.pixels_per_column = static_cast<std::uint16_t>(profile.pixels);
  out.copy.stores = profile.operation == "store" || profile.operation == "reduce";
  for (unsigned d = 0; d < rank; ++d) read_dimension(profile.dimensions[d], d, out);
  for (unsigned i = 0; i < profile.rows.size() && i < kRows; ++i)
    out.copy.coordinates[1 + i] = static_cast<std::int32_t>(profile.rows[i].row);
  if (!tensor_problem(out.map, out.copy.mode, out.map.rank).empty()) return std::nullopt;
  return out;
}

TensorCopyProfile profile_of(const TensorMap& map, const TensorCopy& copy) {
  TensorCopyProfile out;
  out.mode = name(copy.mode);
  out.element = name(map.element);
  out.interleave = name(map.interleave);
  out.swizzle = name(map.swizzle);
  out.promotion = name(map.promotion);
  out.fill = name(map.fill);
  const bool columns = copy.columns();
  for (unsigned d = 0; d < map.rank; ++d) {
    TensorDimension& to = out.dimensions.emplace_back();
    to.size = std::uint64_t{map.sizes[d]} + 1;
    to.stride = d > 0 ? map.strides[d - 1] : 0;
    to.box = columns ? 0 : map.box[d];
    to.element_stride = map.element_strides[d];
    to.coordinate = to.lowest = to.highest = copy.coordinates[d];
    const unsigned first = first_spatial(map);
    if (!has_offset(map, copy, d)) continue;
    to.lower = map.lower_corner[d - first];
    to.upper = map.upper_corner[d - first];
    to.offset = copy.offsets[copy.along_width() ? kOffsetAlongWidth : d - first];
  }
  if (copy.mode == TensorMode::rows)
    for (unsigned i = 0; i < kRows; ++i) out.rows.push_back({copy.coordinates[1 + i]});
  if (columns) {
    out.channels = map.channels_per_pixel;
    out.pixels = map.pixels_per_column;
    out.halo = copy.halo();
  }
  std::vector<TensorRun> runs;
  tensor_runs(map, copy, runs);
  out.bytes = tensor_box(map, copy).bytes;
  const TensorGroup group = tensor_group(map);
  constexpr std::uint64_t kSector = 32;
  for (const TensorRun& run : runs) {
    if (!run.inside) continue;
    out.inside += run.bytes;
    const std::uint64_t memory = run.bytes / group.shared * group.memory;
    out.sectors += (run.address + memory - 1) / kSector - run.address / kSector + 1;
  }
  return out;
}

}  // namespace warpgrind::results
