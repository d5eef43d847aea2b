// Time of customers that share stations: the warps, or blocks, of an SM and the units that they need.
//
// The model is a closed network of queues, solved by approximate mean value analysis. A customer that arrives at a
// station finds the queue that (n - 1) / n of the customers leave there on average. Sources: M. Reiser and S. S.
// Lavenberg, "Mean-value analysis of closed multichain queuing networks", J. ACM 27 (1980); P. J. Schweitzer,
// "Approximate analysis of multiclass closed networks of queues" (1979).
#pragma once

#include <functional>
#include <span>

namespace warpgrind::timing {

struct Station {
  double service = 0;    // all of the work that the customers bring to it, ns
  double customers = 1;  // that share it, at least 1
  double of_one() const { return service / customers; }
};

// Time until all customers are done, ns: at least `path` and at least the service of each station. path: what a
// customer takes alone, its own service included. more(t): what a customer waits besides, if all take the time t;
// it must not grow with t.
double time_in_queues(double path, std::span<const Station> stations,
                      const std::function<double(double)>& more = nullptr);

}  // namespace warpgrind::timing
