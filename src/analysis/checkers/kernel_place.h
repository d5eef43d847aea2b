// Places in kernels (site, block, thread) as accesses of findings.
#pragma once

#include <cstdint>
#include <string>

#include "events/blocks.h"
#include "events/events.h"
#include "results/finding.h"

namespace warpgrind::checkers {

// threadIdx of a lane, from the launch's block shape.
Dim3 thread_of(const events::Launch& launch, std::uint32_t warp, unsigned lane);
Dim3 block_of(const events::Launch& launch, std::uint64_t linear);

// Call only while the launch runs: the texts come from its module. access: "write", "read", "barrier".
results::FindingAccess access_at(const events::Launch& launch, std::uint32_t site, const Dim3& block,
                                 std::uint32_t warp, unsigned lane, std::string access);
// If `lane` is not in the event's mask, its first lane is used.
results::FindingAccess access_at(const events::WarpEvent& event, unsigned lane, std::string access);

// Moves the access to another instruction of the same function.
void move_to(results::FindingAccess& access, const events::Launch& launch, const events::Site& from,
             std::uint32_t instruction);

const char* verb_of(AccessType type);  // "read", "write", "atomic"

// A variable's name in the source: "s" for "kernel(float*)::s".
std::string plain_name(const std::string& mangled);
// "tile.cu:14"; without line information "PTX line 88".
std::string place_text(const results::FindingAccess& access);
// Copies kernel, file, line, text, ptx_line, block and thread of the access into the finding.
void take_place(results::Finding& finding, const results::FindingAccess& access);

// Sort key that selects the first of several equal findings: order of issue, then the GPU's numbering of threads.
struct OrderKey {
  std::uint64_t work = 0, launch = 0, block = 0;
  std::uint32_t warp = 0, lane = 0;
  auto operator<=>(const OrderKey&) const = default;
};

}  // namespace warpgrind::checkers
