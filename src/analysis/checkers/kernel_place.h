// A place in a kernel, as one that takes part in a finding.
#pragma once

#include <cstdint>
#include <string>

#include "events/events.h"
#include "results/finding.h"

namespace warpgrind::checkers {

// The thread of a lane, by the launch's block shape.
Dim3 thread_of(const events::Launch& launch, std::uint32_t warp, unsigned lane);
std::uint64_t linear_block(const events::Launch& launch, const Dim3& block);
Dim3 block_of(const events::Launch& launch, std::uint64_t linear);

// While the launch runs: texts are made of its module. access: "write", "read", "barrier".
results::FindingAccess access_at(const events::Launch& launch, std::uint32_t site, const Dim3& block,
                                 std::uint32_t warp, unsigned lane, std::string access);
// lane: a lane's number, or that of the event's first lane when there is no such lane in its mask.
results::FindingAccess access_at(const events::WarpEvent& event, unsigned lane, std::string access);

// In the user's own code: what is inlined there from a library's header counts as its line.
void leave_library(results::FindingAccess& access);
// Names another instruction of the same function instead.
void move_to(results::FindingAccess& access, const events::Launch& launch, const events::Site& from,
             std::uint32_t instruction);

const char* verb_of(AccessType type);  // "read", "write", "atomic"

// "s" of "kernel(float*)::s": a variable by the name that its source gives it.
std::string plain_name(const std::string& mangled);
// "tile.cu:14", "PTX line 88" without line information.
std::string place_text(const results::FindingAccess& access);
// kernel, file, line, text, ptx_line, block and thread of the first access.
void take_place(results::Finding& finding, const results::FindingAccess& access);

// Who comes first of several that are the same finding: by the order of issue, then as a GPU numbers its threads.
struct Who {
  std::uint64_t work = 0, launch = 0, block = 0;
  std::uint32_t warp = 0, lane = 0;
  auto operator<=>(const Who&) const = default;
};

}  // namespace warpgrind::checkers
