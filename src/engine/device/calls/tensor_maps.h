// Tensor maps in memory that a kernel names.
#pragma once

#include "device/access/access.h"
#include "gpu/tensor_box.h"

namespace warpgrind::device {

// The map at an address. An address where no map can be is a fault.
TensorMap read_tensor_map(jit::WarpContext& w, std::uint32_t site, unsigned lane, GenericAddress at);
// Raises a fault if the map cannot serve such a copy.
void check_tensor_map(jit::WarpContext& w, std::uint32_t site, unsigned lane, GenericAddress at, const TensorMap& map,
                      TensorMode mode, unsigned rank);

}  // namespace warpgrind::device
