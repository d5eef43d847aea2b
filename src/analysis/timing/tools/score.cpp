// Prediction of stored rows, fit of the parameters, and ranking of rungs.
#include "timing/tools/score.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace warpgrind::timing {

Prediction predict(const GpuModel& model, const StoredRow& row, const Fitted& fitted) {
  Prediction p;
  std::map<Limit, double> bounds;
  double dirty = 0;  // the lab flushes L2 by reading
  bool first = true;
  std::vector<double> kernels;  // already run in this row; their size identifies them
  const auto add = [&](const LaunchWork& work, double times) {
    L2State l2{dirty, 0, 0};
    for (const double known : kernels)
      if (known == work.static_instructions) l2.code = 1;
    kernels.push_back(work.static_instructions);
    if (!first) l2.resident = still_there(model, work.touched_bytes());
    const KernelEstimate e = estimate_kernel(model, work, l2, fitted);
    const double queued = row.rung == "graph" ? e.chained_ns(model) : e.queued_ns;
    p.ns += first ? e.event_ns + (times - 1) * queued : times * queued;
    for (const Bound& b : e.bounds) bounds[b.limit] += b.ns * times;
    dirty = std::max(0.0, dirty - e.allocated_bytes);
    first = false;
  };
  for (const StoredLaunch& launch : row.launches) {
    unsigned left = launch.repeat;
    // The first two start with another state of L2; all later ones are equal.
    for (unsigned n = 0; left > 0 && n < 2; --left, ++n) add(launch.work, 1);
    if (left > 0) add(launch.work, left);
  }
  for (const auto& [limit, ns] : bounds) p.bounds.push_back({limit, ns});
  std::stable_sort(p.bounds.begin(), p.bounds.end(), [](const Bound& a, const Bound& b) { return a.ns > b.ns; });
  if (!p.bounds.empty()) p.limit = p.bounds.front().limit;
  return p;
}

Score score(const std::vector<double>& ratios) {
  Score s;
  s.rows = ratios.size();
  if (ratios.empty()) return s;
  std::vector<double> errors;
  for (const double r : ratios) {
    errors.push_back(std::abs(r - 1));
    s.worst = std::max({s.worst, r, 1 / r});
    s.within_30 += errors.back() <= 0.3 ? 1 : 0;
  }
  std::sort(errors.begin(), errors.end());
  s.median = errors[errors.size() / 2];
  s.p90 = errors[std::min(errors.size() - 1, errors.size() * 9 / 10)];
  s.within_30 /= static_cast<double>(ratios.size());
  return s;
}

namespace {

class Fitting {
 public:
  Fitting(const GpuModel& model, const std::vector<const StoredRow*>& rows) : model_(model), rows_(rows) {
    std::map<std::string, double> of_topic;
    for (const StoredRow* row : rows) of_topic[row->topic] += 1;
    for (const StoredRow* row : rows) weights_.push_back(1 / std::sqrt(of_topic[row->topic]));
  }

  double loss(const Fitted& fitted) const {
    double sum = 0, weights = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double e = std::abs(std::log(predict(model_, *rows_[i], fitted).ns / rows_[i]->measured_ns));
      constexpr double kFar = 0.7;  // beyond a factor of 2 the excess counts half
      sum += weights_[i] * (e < kFar ? e : kFar + 0.5 * (e - kFar));
      weights += weights_[i];
    }
    return sum / weights;
  }

  // Multiplies the parameter by `factor` repeatedly, as long as the loss decreases.
  void walk(const FittedMember& member, double factor, Fitted& best, double& best_loss) const {
    for (;;) {
      Fitted next = best;
      const double from = best.*member.value;
      next.*member.value = std::clamp(from != 0 ? from * factor : (factor > 1 ? 0.1 : 0), member.low, member.high);
      if (next.*member.value == from) return;
      const double l = loss(next);
      if (l >= best_loss - 1e-7) return;
      best = next;
      best_loss = l;
    }
  }

 private:
  const GpuModel& model_;
  const std::vector<const StoredRow*>& rows_;
  std::vector<double> weights_;
};

}  // namespace

Fitted fit(const GpuModel& model, const std::vector<const StoredRow*>& rows, const Fitted& from, unsigned sweeps) {
  const Fitting fitting(model, rows);
  Fitted best = from;
  double best_loss = fitting.loss(best), step = 0.25;
  for (unsigned sweep = 0; sweep < sweeps; ++sweep, step *= 0.6)
    for (const FittedMember& member : kFittedMembers)
      for (const double factor : {1 + step, 1 / (1 + step)}) fitting.walk(member, factor, best, best_loss);
  return best;
}

std::vector<Prediction> leave_topics_out(const GpuModel& model, const std::vector<StoredRow>& rows) {
  std::set<std::string> topics;
  for (const StoredRow& row : rows) topics.insert(row.topic);
  std::vector<Prediction> out(rows.size());
  for (const std::string& topic : topics) {
    std::vector<const StoredRow*> others;
    for (const StoredRow& row : rows)
      if (row.topic != topic) others.push_back(&row);
    const Fitted fitted = fit(model, others, {}, kSweeps);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].topic == topic) out[i] = predict(model, rows[i], fitted);
  }
  return out;
}

Ranking ranking(const std::vector<StoredRow>& rows, const std::vector<Prediction>& predictions) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].role == "rung") groups[{rows[i].topic, rows[i].size, rows[i].type}].push_back(i);
  Ranking r;
  for (const auto& [key, group] : groups) {
    const auto measured = [&](std::size_t i) { return rows[i].measured_ns; };
    for (const std::size_t a : group)
      for (const std::size_t b : group) {
        if (a >= b || std::abs(std::log(measured(a) / measured(b))) < 0.05) continue;
        ++r.pairs;
        if ((measured(a) > measured(b)) == (predictions[a].ns > predictions[b].ns)) ++r.right;
      }
    if (group.size() < 3) continue;
    const auto by_prediction = [&](std::size_t a, std::size_t b) { return predictions[a].ns < predictions[b].ns; };
    const auto by_measurement = [&](std::size_t a, std::size_t b) { return measured(a) < measured(b); };
    const double called = measured(*std::min_element(group.begin(), group.end(), by_prediction));
    ++r.ladders;
    if (called <= 1.1 * measured(*std::min_element(group.begin(), group.end(), by_measurement))) ++r.fastest;
  }
  return r;
}

}  // namespace warpgrind::timing
