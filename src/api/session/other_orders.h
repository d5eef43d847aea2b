// Runs of a launch in other orders, for `warpgrind check --schedules N`. Each launch whose result may depend on the
// order also runs in N - 1 other orders, each in a copy of the process. Each copy begins with the memory, and the state
// of the checkers, of the program's own run.
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

// True if the kernel has instructions by which one thread can see another's progress (atomics, fences, mbarriers), or
// if races are not checked. Otherwise one order is enough: either no result depends on it, or there is a race, which
// every order shows.
bool depends_on_order(const events::KernelFacts& facts, const checkers::Selection& checks);

// `number` - 1 schedules other than the program's own.
std::vector<device::Schedule> other_schedules(const device::Schedule& own, unsigned number);

// Findings in one order.
struct OrderOutcome {
  device::Schedule schedule;
  std::vector<results::Finding> findings;
  std::string problem;  // why the launch could not run to its end in this order; empty: it could
};

// A copy of this process in its present state. It waits until the launch has run here and ask() is called.
class Snapshot {
 public:
  // Runs the launch in the given order, in a process of its own that ends after it, and returns the findings.
  using Run = std::function<std::vector<results::Finding>(const device::Schedule&)>;
  // In the copy, the constructor does not return.
  Snapshot(std::vector<device::Schedule> schedules, const device::Device& gpu, const Run& run);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  // seconds: duration of the launch in its own order. If it takes far longer in another order, it is stopped and
  // reported to hang. Returns one outcome for every schedule, in their order.
  std::vector<OrderOutcome> ask(double seconds);

 private:
  std::vector<device::Schedule> schedules_;
  pid_t process_ = -1;
  int line_ = -1;  // socket to the copy
};

// INFO finding: the launch was not tried in this order, and why.
results::Finding not_tried(const std::string& kernel, const std::string& order, const std::string& why);

// Adds the findings that only another order shows to those of the program's own order (`findings`).
void join(std::vector<results::Finding>& findings, const std::vector<OrderOutcome>& others);

}  // namespace warpgrind::session
