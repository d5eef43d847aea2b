// `warpgrind check --schedules N`: each launch that may end otherwise in another order is run in N - 1 others as well,
// in copies of the process, so that each begins with the memory, and with what the checkers know, of the program's own.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "checkers/selection.h"
#include "device/device.h"
#include "device/schedule.h"
#include "events/site.h"
#include "results/finding.h"

namespace warpgrind::session {

// Of what the launch has in it that lets one thread see how far another has come. Without it, and where races are
// looked for, one order says all: either nothing depends on it, or there is a race, which every order shows.
bool depends_on_order(const events::KernelFacts& facts, const checkers::Selection& checks);

// The N - 1 others, the program's own left out.
std::vector<device::Schedule> other_schedules(const device::Schedule& own, unsigned number);

// What was found in one order.
struct OrderOutcome {
  device::Schedule schedule;
  std::vector<results::Finding> findings;
  std::string problem;  // why the launch could not be run to its end in that order; empty: it was
};

// A copy of this process as it is now: it holds until the launch has run here, and is asked then.
class Snapshot {
 public:
  // Runs the launch in the order, in a process of its own that ends with it, and says what was found.
  using Run = std::function<std::vector<results::Finding>(const device::Schedule&)>;
  // Does not return in the copy.
  Snapshot(std::vector<device::Schedule> schedules, const device::Device& gpu, const Run& run);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  // What the launch took in its own order, in seconds: where it takes far longer in another, it is stopped, and said to
  // hang. In the order of the schedules, of which none is left out.
  std::vector<OrderOutcome> ask(double seconds);

 private:
  std::vector<device::Schedule> schedules_;
  pid_t process_ = -1;
  int line_ = -1;  // to it
};

// INFO: that there is nothing to tell, and why.
results::Finding not_tried(const std::string& kernel, const std::string& order, const std::string& why);

// Adds what only another order showed to what the program's own did (`findings`); what was seen before is left out.
void join(std::vector<results::Finding>& findings, const std::vector<OrderOutcome>& others);

}  // namespace warpgrind::session
