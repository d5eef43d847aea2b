// Parameters of the time model that no microbenchmark measures. They were chosen for the lab's rows of an H200 and the
// cases of lab/results/h200/kinds.csv. `warpgrind-accuracy --fit` fits those of kFittedMembers to the lab's rows alone,
// and docs/accuracy.md has the score without each topic. They describe how the parts of an SM share its time and how
// ptxas translates PTX, so other GPUs use them too.
#pragma once

#include <array>
#include <string_view>

namespace warpgrind::timing {

struct Fitted {
  double start_ns = 110;         // start of a launch: its parameters and code are cold
  double first_access_ns = 190;  // its first access to memory: translations of loads, the last stores' way to L2
  double event_start_ns = 500;   // both between two events
  double fetch_ns = 2.023;       // first fetch of an instruction
  double issue = 1.05;           // issue slots per instruction by machine/'s weights
  double pipes = 20;             // exponent of the norm of a scheduler's pipes and its issue slots
  double requests = 6;           // exponent of the norm of the parts of memory
  double traffic = 1.02;         // factor of the memory's time: it is never busy all the time
  double dram_queue = 40;        // cycles of the queue of a channel of DRAM that is busy half of the time
  double l2_queue = 50;          // the same for a slice of L2
  double merge = 0.6831;         // factor of the bytes that partial writes of sectors cost
};

struct FittedMember {
  std::string_view name;
  double Fitted::*value = nullptr;
  double low = 0, high = 0;  // search range
};
inline constexpr std::array kFittedMembers = {
    FittedMember{"event_start_ns", &Fitted::event_start_ns, 200, 1200},
    FittedMember{"fetch_ns", &Fitted::fetch_ns, 0, 5},
    FittedMember{"merge", &Fitted::merge, 0.5, 1.1},
};

}  // namespace warpgrind::timing
