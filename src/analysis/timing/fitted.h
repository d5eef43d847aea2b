// Fitted parameters of the time model, which no microbenchmark measures. They were fitted on the lab's rows of an H200
// (`warpgrind-accuracy --fit` prints them anew; docs/accuracy.md has the score without each topic). They describe how
// the parts of an SM overlap and how ptxas translates PTX, so other GPUs use them too.
#pragma once

#include <array>
#include <string_view>

namespace warpgrind::timing {

struct Fitted {
  double start_ns = 598.8;      // start of a launch: parameters, page tables and code are cold
  double overlap_many = 3.205;  // exponent of the norm of latency and throughput, with 16 warps per scheduler
  double overlap_one = 1;       // the same with one warp per scheduler
  double sharing = 1.834;       // exponent of the norm of the groups of units
  double fetch_ns = 2.023;      // first fetch of an instruction
  double integer = 0.4;         // SASS integer instructions per PTX integer instruction
  double issue = 0.8988;        // SASS instructions per instruction by machine/'s weights
  double path = 1.211;          // factor of the path's part that depends on memory latency
  double merge = 0.6831;        // factor of the bytes that partial writes of sectors cost
};

struct FittedMember {
  std::string_view name;
  double Fitted::*value = nullptr;
  double low = 0, high = 0;  // search range
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
