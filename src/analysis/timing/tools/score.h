// Scores of the time model on stored rows: errors, fits of its parameters, ranking of pairs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "timing/tools/stored_rows.h"

namespace warpgrind::timing {

inline constexpr unsigned kSweeps = 5;  // of a fit

// ns: time between the two events around a row's launches. limit: the longest bound.
struct Prediction {
  double ns = 0;
  Limit limit = Limit::launch;
  std::vector<Bound> bounds;  // summed over all launches
};
Prediction predict(const GpuModel& model, const StoredRow& row, const Fitted& fitted);

struct Score {
  std::size_t rows = 0;
  double median = 0, p90 = 0;  // |predicted / measured - 1|
  double worst = 1;            // largest factor between the two, in either direction
  double within_30 = 0;        // part of the rows with an error up to 30 %
};
Score score(const std::vector<double>& ratios);  // predicted / measured

// Coordinate descent on the sum of |log(predicted / measured)|. A topic's weight is the square root of its row count.
Fitted fit(const GpuModel& model, const std::vector<const StoredRow*>& rows, const Fitted& from, unsigned sweeps);

// Predicts each row with a fit on the rows of all other topics. In the order of `rows`.
std::vector<Prediction> leave_topics_out(const GpuModel& model, const std::vector<StoredRow>& rows);

struct Ranking {
  std::size_t pairs = 0, right = 0;      // pairs of rungs of one topic, size and type that differ by more than 5 %
  std::size_t ladders = 0, fastest = 0;  // ladders of 3+ rungs; those whose predicted fastest is within 10 % of it
};
Ranking ranking(const std::vector<StoredRow>& rows, const std::vector<Prediction>& predictions);

}  // namespace warpgrind::timing
