// Pairing of kernels and lines of two profiles, their changes, and broken rules.
#include "report/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/words.h"
#include "report/kernel_names.h"
#include "report/line_matching.h"
#include "report/source_lines.h"

namespace warpgrind::report {
namespace {

using results::KernelProfile;
using results::Metric;
using results::MetricId;
using results::Metrics;

struct Figure {
  const char* label;
  MetricId metric;
  Direction rise;
};
constexpr Figure kKernelFigures[] = {{"time", MetricId::time, Direction::worse},
                                     {"launches", MetricId::launches, Direction::neutral},
                                     {"blocks", MetricId::grid_size, Direction::neutral},
                                     {"threads a block", MetricId::block_size, Direction::neutral},
                                     {"registers a thread", MetricId::registers, Direction::neutral},
                                     {"shared bytes a block", MetricId::shared_allocated, Direction::neutral},
                                     {"theoretical occupancy", MetricId::occupancy, Direction::better},
                                     {"global ld requests", MetricId::global_ld_requests, Direction::neutral},
                                     {"global ld sectors", MetricId::global_ld_sectors, Direction::amount},
                                     {"global ld transactions", MetricId::global_ld_transactions, Direction::amount},
                                     {"global st requests", MetricId::global_st_requests, Direction::neutral},
                                     {"global st sectors", MetricId::global_st_sectors, Direction::amount},
                                     {"global st transactions", MetricId::global_st_transactions, Direction::amount},
                                     {"global atom sectors", MetricId::global_atom_sectors, Direction::amount},
                                     {"global red sectors", MetricId::global_red_sectors, Direction::amount},
                                     {"excessive sectors", MetricId::excessive_sectors, Direction::worse},
                                     {"local sectors", MetricId::local_theoretical_sectors, Direction::worse},
                                     {"shared wavefronts", MetricId::shared_wavefronts, Direction::amount},
                                     {"shared bank conflicts", MetricId::shared_conflicts, Direction::worse},
                                     {"PTX instructions", MetricId::inst, Direction::amount},
                                     {"lanes an instruction", MetricId::lanes_per_inst, Direction::better},
                                     {"divergent branches", MetricId::divergent_branches, Direction::worse},
                                     {"floating-point ops", MetricId::flop, Direction::neutral}};
constexpr Figure kLineFigures[] = {{"executed by warps", MetricId::site_inst, Direction::neutral},
                                   {"global sectors", MetricId::theoretical_sectors, Direction::amount},
                                   {"excessive sectors", MetricId::excessive_sectors, Direction::worse},
                                   {"local sectors", MetricId::local_theoretical_sectors, Direction::worse},
                                   {"shared wavefronts", MetricId::shared_wavefronts, Direction::amount},
                                   {"shared bank conflicts", MetricId::shared_conflicts, Direction::worse},
                                   {"divergent branches", MetricId::divergent_branches, Direction::worse}};

Change change_of(const char* label, MetricId metric, const Metrics& a, const Metrics& b, Direction rise) {
  Change c;
  c.label = label;
  c.metric = metric;
  c.rise = rise;
  for (const auto& [metrics, value] : {std::pair(&a, &c.before), std::pair(&b, &c.after)})
    if (const Metric* m = metrics->find(metric)) {
      *value = m->value;
      c.unit = m->unit;
      c.origin = std::max(c.origin, m->origin);
    }
  return c;
}

template <std::size_t N>
std::vector<Change> changes(const Figure (&figures)[N], const Metrics& a, const Metrics& b) {
  std::vector<Change> out;
  for (const Figure& f : figures) {
    Change c = change_of(f.label, f.metric, a, b, f.rise);
    // Transactions are shown only if the GPU does not count in sectors; otherwise they repeat the sectors.
    const bool transactions =
        f.metric == MetricId::global_ld_transactions || f.metric == MetricId::global_st_transactions;
    if (transactions && !out.empty() && out.back().after == c.after && out.back().before == c.before) continue;
    if (c.before != c.after) out.push_back(std::move(c));
  }
  return out;
}

// Map from the lines of `before` to those of `after`.
class LineMap {
 public:
  LineMap(const results::Profile& before, const results::Profile& after) : before_(before), after_(after) {}

  std::uint32_t after(const std::string& file_before, const std::string& file_after, std::uint32_t line) {
    auto [it, fresh] = maps_.try_emplace({file_before, file_after});
    if (fresh) {
      const std::string *a = source_text(before_, file_before), *b = source_text(after_, file_after);
      if (a != nullptr && b != nullptr) it->second = match_lines(*a, *b);
    }
    if (it->second.empty()) return line;
    return line <= it->second.size() ? it->second[line - 1] : 0;
  }

 private:
  const results::Profile &before_, &after_;
  std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> maps_;
};

class Comparer {
 public:
  Comparer(const results::Profile& before, const results::Profile& after, const DiffOptions& options)
      : before_(before), after_(after), options_(options), map_(before, after) {}

  Result<ProfileDiff> run() {
    if (before_.gpu != after_.gpu)
      out_.notes.push_back(fmt::format("the GPU models differ: {} before, {} after", before_.gpu, after_.gpu));
    std::set<const KernelProfile*> used;
    for (const auto& [a, b] : options_.pairs) {
      auto left = only(before_, a, "before"), right = only(after_, b, "after");
      if (!left) return left.error();
      if (!right) return right.error();
      used.insert(*left);
      used.insert(*right);
      add(*left, *right);
    }
    if (options_.pairs.empty()) pair_by_name(used);
    apply_rules();
    return std::move(out_);
  }

 private:
  static Result<const KernelProfile*> only(const results::Profile& p, const std::string& pattern, const char* which) {
    std::vector<const KernelProfile*> found, all;
    for (const KernelProfile& k : p.kernels) {
      all.push_back(&k);
      if (matches(pattern, k)) found.push_back(&k);
    }
    if (found.size() == 1) return found[0];
    if (found.empty())
      return Error{ErrorKind::bad_input, fmt::format("no kernel of the profile {} is called \"{}\"", which, pattern),
                   "there are " + kernel_list(all)};
    return Error{ErrorKind::bad_input, fmt::format("\"{}\" means several kernels of the profile {}", pattern, which),
                 kernel_list(found)};
  }

  static std::vector<const KernelProfile*> rest(const results::Profile& p, const std::set<const KernelProfile*>& used) {
    std::vector<const KernelProfile*> out;
    for (const KernelProfile& k : p.kernels)
      if (!used.contains(&k)) out.push_back(&k);
    return out;
  }

  void pair_by_name(std::set<const KernelProfile*>& used) {
    const auto pair_where = [&](auto same) {
      for (const KernelProfile* a : rest(before_, used))
        for (const KernelProfile* b : rest(after_, used))
          if (same(*a, *b)) {
            used.insert(a);
            used.insert(b);
            add(a, b);
            break;
          }
    };
    pair_where([](const KernelProfile& a, const KernelProfile& b) {
      return a.mangled_name == b.mangled_name && a.device == b.device && a.name == b.name;
    });
    // Then pair by short name, as the parameters may have changed.
    pair_where([](const KernelProfile& a, const KernelProfile& b) {
      return a.device == b.device && short_name(a.name) == short_name(b.name);
    });
    for (const KernelProfile* a : rest(before_, used)) out_.kernels.push_back({a, nullptr, {}, {}});
    for (const KernelProfile* b : rest(after_, used)) out_.kernels.push_back({nullptr, b, {}, {}});
  }

  void add(const KernelProfile* a, const KernelProfile* b) {
    KernelDiff d{a, b, changes(kKernelFigures, a->metrics, b->metrics), {}};
    d.lines = lines(*a, *b);
    out_.kernels.push_back(std::move(d));
  }

  std::vector<LineDiff> lines(const KernelProfile& a, const KernelProfile& b) {
    const std::vector<SourceLine> before = source_lines(a), after = source_lines(b);
    std::map<std::pair<std::string, std::uint32_t>, const SourceLine*> old;  // by file name and line in `after`
    std::vector<const SourceLine*> gone;
    const std::map<std::string, std::string> files = files_after(before, after);
    for (const SourceLine& l : before) {
      const auto file = files.find(l.file);
      const std::string* other = file == files.end() ? nullptr : &file->second;
      const std::uint32_t now = other ? map_.after(l.file, *other, l.line) : 0;
      if (now == 0 || !old.try_emplace({base_name(*other), now}, &l).second) gone.push_back(&l);
    }
    std::vector<LineDiff> out;
    const Metrics nothing;
    for (const SourceLine& l : after) {
      const auto it = old.find({base_name(l.file), l.line});
      const SourceLine* was = it == old.end() ? nullptr : it->second;
      if (it != old.end()) old.erase(it);
      LineDiff d{l.file, line_text(after_, l.file, l.line), was ? was->line : 0, l.line,
                 changes(kLineFigures, was ? was->metrics : nothing, l.metrics)};
      if (!d.changes.empty()) out.push_back(std::move(d));
    }
    for (const auto& [key, l] : old) gone.push_back(l);
    for (const SourceLine* l : gone) {
      LineDiff d{l->file, line_text(before_, l->file, l->line), l->line, 0, changes(kLineFigures, l->metrics, nothing)};
      if (!d.changes.empty()) out.push_back(std::move(d));
    }
    return out;
  }

  // Map from old files to new ones; a removed file is not in it. A file may have moved to another folder. It counts as
  // renamed if it is the only missing file and there is exactly one new file. Lines without a file are PTX lines.
  static std::map<std::string, std::string> files_after(const std::vector<SourceLine>& before,
                                                        const std::vector<SourceLine>& after) {
    const auto by_name = [](const std::vector<SourceLine>& lines) {
      std::map<std::string, std::string> out;
      for (const SourceLine& l : lines) out[base_name(l.file)] = l.file;
      return out;
    };
    const auto was = by_name(before), there = by_name(after);
    auto gone = was, fresh = there;
    std::erase_if(gone, [&](const auto& f) { return there.contains(f.first) || f.first.empty(); });
    std::erase_if(fresh, [&](const auto& f) { return was.contains(f.first) || f.first.empty(); });
    std::map<std::string, std::string> out;
    for (const SourceLine& l : after) out[l.file] = l.file;
    for (const SourceLine& l : before) {
      if (out.contains(l.file)) continue;
      if (const auto same_name = there.find(base_name(l.file)); same_name != there.end())
        out[l.file] = same_name->second;
      else if (!l.file.empty() && gone.size() == 1 && fresh.size() == 1)
        out[l.file] = fresh.begin()->second;
    }
    return out;
  }

  void apply_rules() {
    if (options_.rules.empty()) return default_rule();
    for (const Expectation& rule : options_.rules) {
      std::size_t checked = 0;
      for (const KernelDiff& d : out_.kernels) {
        if (d.before == nullptr || d.after == nullptr) continue;
        if (!matches(rule.kernels, *d.after) && !matches(rule.kernels, *d.before)) continue;
        const MetricId metric = rule.nodes[rule.left].metric;
        if (!d.before->metrics.has(metric) && !d.after->metrics.has(metric)) continue;
        ++checked;
        const Change c = change_of("", metric, d.before->metrics, d.after->metrics, Direction::neutral);
        const double limit = evaluate_constant(rule, rule.right);
        const double value = rule.relative ? c.relative() : c.difference();
        if (compare_numbers(rule.comparison, value, limit))
          out_.broken.push_back({rule.text, d.after->name, change_figures(c)});
      }
      if (checked == 0)
        out_.broken.push_back({rule.text, "", "nothing was checked: no kernel of both profiles has this figure"});
    }
  }

  void default_rule() {
    for (const KernelDiff& d : out_.kernels)
      for (const Change& c : d.changes)
        if (c.worse()) out_.broken.push_back({c.label, d.after->name, change_figures(c)});
  }

  const results::Profile &before_, &after_;
  const DiffOptions& options_;
  LineMap map_;
  ProfileDiff out_;
};

}  // namespace

double Change::relative() const {
  if (before == after) return 0;
  if (before == 0)
    return after > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  return 100 * (after - before) / std::fabs(before);
}

bool Change::worse() const {
  // Modelled figures follow from counts and repeat exactly. Only estimates (and measurements) have a tolerance.
  const double tolerance = origin == Origin::exact || origin == Origin::modelled ? 0 : kTolerance;
  return (rise == Direction::worse && relative() > tolerance) || (rise == Direction::better && relative() < -tolerance);
}

bool Change::better() const {
  return ((rise == Direction::worse || rise == Direction::amount) && after < before) ||
         (rise == Direction::better && after > before);
}

bool ProfileDiff::nothing_in_common() const {
  return std::none_of(kernels.begin(), kernels.end(),
                      [](const KernelDiff& d) { return d.before != nullptr && d.after != nullptr; });
}

Result<ProfileDiff> compare(const results::Profile& before, const results::Profile& after, const DiffOptions& options) {
  return Comparer(before, after, options).run();
}

}  // namespace warpgrind::report
