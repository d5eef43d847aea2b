// Explanation of a rung's speed, from the changes in counts since the rung before.
#include "lab/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace warpgrind::lab {

namespace {

std::string count(double n) {
  if (n >= 1e9) return fmt::format("{:.3g} G", n / 1e9);
  if (n >= 1e6) return fmt::format("{:.3g} M", n / 1e6);
  if (n >= 1e4) return fmt::format("{:.3g} k", n / 1e3);
  return fmt::format("{:.0f}", n);
}
std::string figure(double x) {
  if (std::fabs(x - std::round(x)) < 0.005) return fmt::format("{:.0f}", x);
  return x >= 10 ? fmt::format("{:.1f}", x) : fmt::format("{:.2f}", x);
}

// "1 load request", "12 load requests", "2 branches".
std::string counted(double n, const std::string& noun) {
  const bool one = count(n) == "1", hisses = noun.ends_with("ch");
  return fmt::format("{} {}{}", count(n), noun, one ? "" : hisses ? "es" : "s");
}

// Phrases for counts that decreased (better) and increased (worse), the most informative first. A change below 5 % is
// ignored.
struct Changes {
  std::vector<std::string> better, worse;
  void compare(double before, double after, std::string phrase) {
    if (before > 1.05 * after) {
      better.push_back(std::move(phrase));
    } else if (after > 1.05 * before) {
      worse.push_back(std::move(phrase));
    }
  }
};

// A kind of global access and its counters.
struct Access {
  const char* word;
  MetricId sectors, requests, efficiency;
};
constexpr Access kLoads{"load", MetricId::global_ld_sectors, MetricId::global_ld_requests,
                        MetricId::global_ld_efficiency};
constexpr Access kStores{"store", MetricId::global_st_sectors, MetricId::global_st_requests,
                         MetricId::global_st_efficiency};

bool differs(double a, double b) {
  return a > 0 && std::fabs(b / a - 1) > 0.05;
}

// "54 % of their bytes". Above 100 %, lanes share words and use some of them more than once.
std::string used(double percent, const char* whose) {
  return percent > 100.5 ? fmt::format("each of {} bytes {} times", whose, figure(percent / 100))
                         : fmt::format("{:.0f} % of {} bytes", percent, whose);
}
std::string used_instead(double before, double after, const char* whose) {
  return fmt::format("uses {} instead of {}", used(after, whose),
                     before > 100.5 ? used(before, whose) : fmt::format("{:.0f} %", before));
}

void global_memory(Changes& changes, const Row& a, const Row& b, const Access& access) {
  const char* word = access.word;
  const double sectors_a = a.metric(access.sectors), sectors_b = b.metric(access.sectors);
  const double requests_a = a.metric(access.requests), requests_b = b.metric(access.requests);
  if (sectors_a <= 0 || sectors_b <= 0) return;
  const double each_a = sectors_a / requests_a, each_b = sectors_b / requests_b;
  const double used_a = a.metric(access.efficiency), used_b = b.metric(access.efficiency);
  const std::string in_all = fmt::format("{} sectors, not {}", count(sectors_b), count(sectors_a));
  const bool other_shape = differs(each_a, each_b), other_use = differs(used_a, used_b);
  if (other_shape) {
    const std::string use = other_use ? " and " + used_instead(used_a, used_b, "their") : "";
    changes.compare(sectors_a, sectors_b,
                    fmt::format("a {} request touches {} sectors instead of {}{}: {}", word, figure(each_b),
                                figure(each_a), use, in_all));
  } else if (other_use) {
    changes.compare(sectors_a, sectors_b,
                    fmt::format("a {} request {}: {}", word, used_instead(used_a, used_b, "its sectors'"), in_all));
  } else {
    changes.compare(sectors_a, sectors_b,
                    fmt::format("{} for {}s instead of {}", counted(sectors_b, "sector"), word, count(sectors_a)));
  }
  // The ratio explains fewer requests. It does not explain more of them.
  const double ratio_a = a.derived.cgma, ratio_b = b.derived.cgma;
  if (access.requests == kLoads.requests && ratio_a > 0 && ratio_b > 1.05 * ratio_a && requests_a > 1.05 * requests_b) {
    changes.better.push_back(fmt::format("{} instead of {}, since each loaded value is used for {} operation{}, not {}",
                                         counted(requests_b, "global load request"), count(requests_a), figure(ratio_b),
                                         figure(ratio_b) == "1" ? "" : "s", figure(ratio_a)));
  } else {
    changes.compare(
        requests_a, requests_b,
        fmt::format("{} instead of {}", counted(requests_b, fmt::format("{} request", word)), count(requests_a)));
  }
}

Changes changes_between(const Row& a, const Row& b) {
  Changes changes;
  const double warps_a = a.metric(MetricId::warps_launched), warps_b = b.metric(MetricId::warps_launched);
  if (warps_b > 4 * warps_a)
    changes.better.push_back(fmt::format("{} warps work instead of {}", count(warps_b), count(warps_a)));
  global_memory(changes, a, b, kLoads);
  global_memory(changes, a, b, kStores);
  const Derived &da = a.derived, &db = b.derived;
  if (da.bank_conflicts > 0 || db.bank_conflicts > 0) {
    const std::string now = db.bank_conflicts > 0
                                ? fmt::format("{} bank conflict{} a shared request", figure(db.conflicts_per_request),
                                              figure(db.conflicts_per_request) == "1" ? "" : "s")
                                : "no bank conflicts";
    const std::string before =
        da.bank_conflicts > 0
            ? fmt::format("{} a shared request ({} in all)", figure(da.conflicts_per_request), count(da.bank_conflicts))
            : "none";
    changes.compare(da.bank_conflicts, db.bank_conflicts, fmt::format("{}, before {}", now, before));
  }
  const double shared_a = a.metric(MetricId::shared_wavefronts), shared_b = b.metric(MetricId::shared_wavefronts);
  if (shared_a > 0 && shared_b > 0 && da.bank_conflicts == 0 && db.bank_conflicts == 0)
    changes.compare(shared_a, shared_b,
                    fmt::format("{} instead of {}", counted(shared_b, "shared memory wavefront"), count(shared_a)));
  // Divergence at the edge of the data is not mentioned: at most 1 % of the warps.
  if (std::max(da.divergent_branches, db.divergent_branches) > 0.01 * std::max(warps_a, warps_b))
    changes.compare(da.divergent_branches, db.divergent_branches,
                    fmt::format("{} instead of {}", counted(db.divergent_branches, "divergent branch"),
                                count(da.divergent_branches)));
  const auto plain = [&](MetricId metric, const char* what) {
    const double x = a.metric(metric), y = b.metric(metric);
    changes.compare(x, y, fmt::format("{} instead of {}", counted(y, what), count(x)));
  };
  plain(MetricId::launches, "launch");
  plain(MetricId::inst_barrier, "barrier instruction");
  plain(MetricId::inst, "instruction");
  return changes;
}

std::string list(const std::vector<std::string>& phrases, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < phrases.size() && i < most; ++i) out += (i ? "; " : "") + phrases[i];
  return out;
}

// Lower and upper bound (us) of a row's estimated time; both are the same for a measured row.
std::pair<double, double> interval(const Row& row) {
  const double time = row.metric(MetricId::time), low = row.metric(MetricId::time_low),
               high = row.metric(MetricId::time_high);
  const double t = row.derived.time_us;
  if (row.origin == "measured" || time <= 0 || low <= 0 || high <= 0) return {t, t};
  return {t * low / time, t * high / time};
}

// Whether two estimates are too close to rank: their intervals share more than half of the shorter one.
bool uncertain_order(const Row& a, const Row& b) {
  const auto [a_low, a_high] = interval(a);
  const auto [b_low, b_high] = interval(b);
  const double shorter = std::min(a_high - a_low, b_high - b_low);
  return shorter > 0 && std::min(a_high, b_high) - std::max(a_low, b_low) > 0.5 * shorter;
}

enum class Order { faster, same, slower };
// By the times that the table prints.
Order order_of(const Row& before, const Row& after) {
  constexpr double kSame = 1.02;
  const double t0 = before.derived.time_us, t1 = after.derived.time_us;
  return t0 > kSame * t1 ? Order::faster : t1 > kSame * t0 ? Order::slower : Order::same;
}

// "12.4 us instead of 20 us (estimated; bound by latency)". If the estimates are too close to rank, their intervals
// stand there as well.
std::string time_text(const Row& before, const Row& after) {
  const double t0 = before.derived.time_us, t1 = after.derived.time_us;
  if (t0 <= 0 || t1 <= 0) return "";
  std::string text = order_of(before, after) == Order::same
                         ? fmt::format(". Time stays {:.4g} us", t1)
                         : fmt::format(". Time {:.4g} us instead of {:.4g} us", t1, t0);
  if (order_of(before, after) != Order::same && uncertain_order(before, after)) {
    const auto [low, high] = interval(after);
    const auto [before_low, before_high] = interval(before);
    text += fmt::format(", too close to rank for an estimate ({:.3g} to {:.3g} us and {:.3g} to {:.3g} us)", low, high,
                        before_low, before_high);
  }
  return text +
         fmt::format(" ({}{})", after.origin, after.derived.limit.empty() ? "" : "; bound by " + after.derived.limit);
}

// How the explanation begins. It ranks the rungs only where the estimates can be ranked.
std::string verdict(const Row& before, const Row& after, const Changes& changes) {
  const std::string name = before.label();
  const Order order = uncertain_order(before, after) ? Order::same : order_of(before, after);
  if (changes.better.empty() && changes.worse.empty()) return "the same counts as " + name;
  if (changes.better.empty())
    return order == Order::faster ? fmt::format("faster than {} by the estimate, although it does more: ", name)
                                  : fmt::format("does more than {}: ", name);
  if (order == Order::slower) return fmt::format("slower than {} by the estimate, although: ", name);
  return order == Order::faster ? fmt::format("better than {}: ", name) : fmt::format("against {}: ", name);
}

}  // namespace

std::string explain(const Row& before, const Row& after) {
  if (before.metrics.empty() || after.metrics.empty()) return "";
  const Changes changes = changes_between(before, after);
  std::string text = verdict(before, after, changes);
  if (changes.better.empty()) {
    text += list(changes.worse, 2);
  } else {
    text += list(changes.better, 3);
    if (!changes.worse.empty()) text += ". The price: " + list(changes.worse, 2);
  }
  return text + time_text(before, after) + ".";
}

}  // namespace warpgrind::lab
