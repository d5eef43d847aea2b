// How good the time model is on stored rows: errors, fits of its parameters, orders of pairs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "timing/tools/stored_rows.h"

namespace warpgrind::timing {

// Nanoseconds between the two events around a row's launches. limit: what binds most of it.
inline constexpr unsigned kSweeps = 5;  // of a fit

struct Prediction {
  double ns = 0;
  Limit limit = Limit::launch;
  std::vector<Bound> bounds;  // of all launches, added up
};
Prediction predict(const GpuModel& model, const StoredRow& row, const Fitted& fitted);

struct Score {
  std::size_t rows = 0;
  double median = 0, p90 = 0;  // |predicted / measured - 1|
  double worst = 1;            // the largest factor, either way
  double within_30 = 0;        // part of the rows
};
Score score(const std::vector<double>& ratios);  // predicted / measured

// Coordinate descent on the sum of |log(predicted / measured)|, each topic weighted by the root of its rows.
Fitted fit(const GpuModel& model, const std::vector<const StoredRow*>& rows, const Fitted& from, unsigned sweeps);

// Each row predicted by a fit on the rows of all other topics. In the order of `rows`.
std::vector<Prediction> leave_topics_out(const GpuModel& model, const std::vector<StoredRow>& rows);

struct Ranking {
  std::size_t pairs = 0, right = 0;      // rungs of one topic, size and type that differ by more than 5 %
  std::size_t ladders = 0, fastest = 0;  // of three rungs or more; the one called fastest is within 10 % of it
};
Ranking ranking(const std::vector<StoredRow>& rows, const std::vector<Prediction>& predictions);

}  // namespace warpgrind::timing
