// What no microbenchmark measures: parameters of the time model that were fitted on the lab's rows of an H200
// (`make accuracy` fits them anew, docs/accuracy.md has the score without each topic). They describe how the parts of
// an SM overlap and what ptxas makes of PTX, so that other GPUs take them over.
#pragma once

#include <array>
#include <string_view>

namespace warpgrind::timing {

struct Fitted {
  double start_ns = 598.8;      // parameters, page tables and code that a launch finds cold
  double overlap_many = 3.205;  // norm of latency and throughput with 16 warps a scheduler,
  double overlap_one = 1;       // ... with one
  double sharing = 1.834;       // norm of the groups of units
  double fetch_ns = 2.023;      // an instruction that is fetched for the first time
  double integer = 0.4;         // SASS integer instructions for one of PTX
  double issue = 0.8988;        // SASS instructions for one by machine/'s weights
  double path = 1.211;          // of the path's part that depends on the latency of memory
  double merge = 0.6831;        // of the bytes that writes of parts of sectors cost
};

struct FittedMember {
  std::string_view name;
  double Fitted::*value = nullptr;
  double low = 0, high = 0;  // between which it is looked for
};
inline constexpr std::array kFittedMembers = {
    FittedMember{"start_ns", &Fitted::start_ns, 200, 1000},
    FittedMember{"overlap_many", &Fitted::overlap_many, 1.2, 5},
    FittedMember{"overlap_one", &Fitted::overlap_one, 1.0, 3},
    FittedMember{"sharing", &Fitted::sharing, 1.5, 8},
    FittedMember{"fetch_ns", &Fitted::fetch_ns, 0, 5},
    FittedMember{"integer", &Fitted::integer, 0.4, 1.1},
    FittedMember{"issue", &Fitted::issue, 0.6, 1.2},
    FittedMember{"path", &Fitted::path, 0.7, 1.5},
    FittedMember{"merge", &Fitted::merge, 0.5, 1.1},
};

}  // namespace warpgrind::timing
