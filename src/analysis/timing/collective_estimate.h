// Time estimates of collective operations between GPUs (NCCL) over the links of the GPU model, for the ring and the
// tree algorithm. Constants and their sources: collective_estimate.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gpu_model.h"

namespace warpgrind::timing {

// One operation, as one of its ranks takes part.
struct Collective {
  enum class Kind : std::uint8_t {
    all_reduce,
    reduce,
    broadcast,
    all_gather,
    reduce_scatter,
    all_to_all,
    gather,
    scatter,
    send,
    receive
  };
  Kind kind = Kind::all_reduce;
  int ranks = 1;
  double bytes = 0;  // of the larger of the two buffers
};

// Part of the GPU that the kernel of a collective occupies, 0 to 1.
inline constexpr double kCollectiveShareOfGpu = 0.12;

// Time of operations that one rank starts together, ns. Sends and receives of one group run at the same time.
double estimate_collectives(const GpuModel& model, const std::vector<Collective>& collectives);

}  // namespace warpgrind::timing
