#include "results/tensor_copies.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/tensor_names.h"
#include "gpu/types.h"

namespace warpgrind::results {

namespace {

constexpr unsigned kRows = 4;  // of a gather or scatter

// Dimension of W. H and D follow.
unsigned first_spatial(const TensorMap& map) {
  return map.interleave == TensorInterleave::none ? 1 : 0;
}

void read_dimension(const TensorDimension& from, unsigned d, RecordedCopy& to) {
  to.map.sizes[d] = static_cast<std::uint32_t>(from.size - 1);
  if (d > 0) to.map.strides[d - 1] = from.stride;
  to.map.box[d] = static_cast<std::uint16_t>(from.box);
  to.map.element_strides[d] = static_cast<std::uint8_t>(from.element_stride);
  to.copy.coordinates[d] = static_cast<std::int32_t>(from.coordinate);
  const unsigned first = first_spatial(to.map);
  if (to.copy.mode != TensorMode::im2col || d < first || d - first + 2 >= to.map.rank) return;
  to.map.lower_corner[d - first] = static_cast<std::int16_t>(from.lower);
  to.map.upper_corner[d - first] = static_cast<std::int16_t>(from.upper);
  to.copy.offsets[d - first] = static_cast<std::uint16_t>(from.offset);
}

// A file may hold any numbers. True if the box is one that shared memory can hold.
bool fits(const TensorCopyProfile& profile, TensorMode mode) {
  constexpr std::uint64_t kMostElements = 1u << 20, kMostShared = std::uint64_t{1} << kClusterShift;
  constexpr std::uint32_t kMostPixels = 1024, kMostChannels = 256;
  if (profile.shared >= kMostShared) return false;
  if (mode == TensorMode::im2col)
    return profile.dimensions.size() > 2 && profile.pixels >= 1 && profile.pixels <= kMostPixels &&
           profile.channels >= 1 && profile.channels <= kMostChannels;
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
  if (!fits(profile, *mode)) return std::nullopt;
  if (*mode == TensorMode::rows && (profile.rows.size() != kRows || rank != 2)) return std::nullopt;
  RecordedCopy out;
  out.map.address = profile.tensor.offset;
  out.map.kind = *mode == TensorMode::im2col ? TensorMapKind::im2col : TensorMapKind::tiled;
  out.map.element = *element;
  out.map.rank = static_cast<std::uint8_t>(rank);
  out.map.interleave = *interleave;
  out.map.swizzle = *swizzle;
  out.map.fill = *fill;
  out.map.channels_per_pixel = static_cast<std::uint16_t>(profile.channels);
  out.map.pixels_per_column = static_cast<std::uint16_t>(profile.pixels);
  out.copy.mode = *mode;
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
  const bool columns = copy.mode == TensorMode::im2col;
  for (unsigned d = 0; d < map.rank; ++d) {
    TensorDimension& to = out.dimensions.emplace_back();
    to.size = std::uint64_t{map.sizes[d]} + 1;
    to.stride = d > 0 ? map.strides[d - 1] : 0;
    to.box = columns ? 0 : map.box[d];
    to.element_stride = map.element_strides[d];
    to.coordinate = to.lowest = to.highest = copy.coordinates[d];
    const unsigned first = first_spatial(map);
    if (!columns || d < first || d - first + 2 >= map.rank) continue;
    to.lower = map.lower_corner[d - first];
    to.upper = map.upper_corner[d - first];
    to.offset = copy.offsets[d - first];
  }
  if (copy.mode == TensorMode::rows)
    for (unsigned i = 0; i < kRows; ++i) out.rows.push_back({copy.coordinates[1 + i]});
  if (columns) {
    out.channels = map.channels_per_pixel;
    out.pixels = map.pixels_per_column;
  }
  std::vector<TensorRun> runs;
  tensor_runs(map, copy, runs);
  out.bytes = tensor_box(map, copy.mode).bytes;
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
