// The tensor map and the coordinates of a recorded tensor copy, to take its box apart (gpu/tensor_box.h).
#pragma once

#include <optional>

#include "gpu/tensor_box.h"
#include "results/detail.h"

namespace warpgrind::results {

struct RecordedCopy {
  TensorMap map;  // its address is the offset of the tensor in its allocation
  TensorCopy copy;
};

// Nothing if the profile holds names of a later release or numbers that no map has.
std::optional<RecordedCopy> recorded_copy(const TensorCopyProfile& profile);
// Fills in all members that follow from the map and the coordinates; `highest` and `lowest` are the coordinates.
TensorCopyProfile profile_of(const TensorMap& map, const TensorCopy& copy);

}  // namespace warpgrind::results
