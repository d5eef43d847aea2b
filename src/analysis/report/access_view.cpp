// Choice of kernel and line for `warpgrind explain`, and output of the access patterns there.
#include "report/access_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/words.h"
#include "report/access_grid.h"
#include "report/advice_text.h"
#include "report/format.h"
#include "report/kernel_names.h"
#include "report/source_lines.h"
#include "report/tensor_view.h"
#include "report/tile_view.h"

namespace warpgrind::report {
namespace {

using results::AccessPattern;
using results::KernelProfile;
using results::SiteProfile;

const GpuModel* model_of(const results::Profile& profile) {
  for (const GpuModel& m : gpu_models())
    if (m.name == profile.gpu || m.id == profile.gpu) return &m;
  return nullptr;
}

bool accesses_memory(const SiteProfile& s) {
  return s.kind != "branch" && s.kind != "barrier" && s.kind != "call";
}

bool is_wanted_file(const std::string& path, const std::string& wanted) {
  return wanted.empty() || path == wanted ||
         (path.size() > wanted.size() && path.ends_with(wanted) && path[path.size() - wanted.size() - 1] == '/');
}

Result<const KernelProfile*> find_kernel(const results::Profile& profile, const std::string& pattern) {
  std::vector<const KernelProfile*> all, found;
  for (const KernelProfile& k : profile.kernels) {
    all.push_back(&k);
    if (pattern.empty() || matches(pattern, k)) found.push_back(&k);
  }
  if (all.empty()) return Error{ErrorKind::bad_input, "no kernel ran", ""};
  // The beginning of a kernel name is enough, e.g. without its number or template arguments.
  if (found.empty())
    for (const KernelProfile* k : all)
      if (matches(pattern + "*", *k)) found.push_back(k);
  if (found.size() == 1) return found[0];
  if (pattern.empty())
    return Error{ErrorKind::bad_input, "which kernel? Say --kernel NAME", "there are " + kernel_list(all, 40)};
  if (found.empty())
    return Error{ErrorKind::bad_input, fmt::format("no kernel is called \"{}\"", pattern),
                 "there are " + kernel_list(all, 40)};
  return Error{ErrorKind::bad_input, fmt::format("\"{}\" means several kernels", pattern), kernel_list(found, 40)};
}

// "transpose.cu: 24, 34; PTX: 120"
std::string lines_with_accesses(const KernelProfile& kernel) {
  std::map<std::string, std::set<std::uint32_t>> lines;
  for (const SiteProfile& s : kernel.sites)
    if (accesses_memory(s)) {
      if (s.line != 0)
        lines[base_name(s.file)].insert(s.line);
      else
        lines["--ptx-line"].insert(s.ptx_line);
    }
  std::vector<std::string> parts;
  for (const auto& [file, numbers] : lines) parts.push_back(fmt::format("{}: {}", file, fmt::join(numbers, ", ")));
  if (parts.empty()) return "the kernel accesses no memory";
  return fmt::format("{}{}", fmt::join(parts, "; "),
                     lines.contains("--ptx-line") ? " (compile with -lineinfo for lines of the source)" : "");
}

// Sites on the line itself, and those of functions inlined there (such as atomicAdd, from a header).
std::vector<const SiteProfile*> find_sites(const KernelProfile& kernel, const AccessQuery& q) {
  std::vector<const SiteProfile*> out;
  for (const SiteProfile& s : kernel.sites) {
    if (!accesses_memory(s)) continue;
    const bool here = q.ptx_line != 0 ? s.ptx_line == q.ptx_line : s.line == q.line && is_wanted_file(s.file, q.file);
    if (here) out.push_back(&s);
  }
  if (q.line == 0) return out;
  std::set<std::uint32_t> inlined;
  for (const results::CodeRow& c : kernel.code)
    for (const results::InlinedAt& at : c.inlined_at)
      if (at.line == q.line && is_wanted_file(at.file, q.file)) inlined.insert(c.ptx_line);
  for (const SiteProfile& s : kernel.sites)
    if (accesses_memory(s) && inlined.contains(s.ptx_line) && std::find(out.begin(), out.end(), &s) == out.end())
      out.push_back(&s);
  return out;
}

bool same_look(const AccessPattern& a, const AccessPattern& b) {
  if (a.mask != b.mask || a.lane_bytes != b.lane_bytes || a.space != b.space || a.lines_128 != b.lines_128 ||
      a.sectors != b.sectors || a.wavefronts != b.wavefronts)
    return false;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    if ((a.mask >> lane & 1) != 0 && a.addresses[lane] != b.addresses[lane]) return false;
  return true;
}

// Instructions with the same patterns, usually of an unrolled loop.
struct Group {
  std::vector<const SiteProfile*> sites;
  std::vector<AccessPattern> patterns;  // the most frequent first
  std::size_t worst = 0, best = 0;
  std::uint64_t other = 0, requests = 0;
};

bool joins(const Group& g, const SiteProfile& s) {
  const SiteProfile& first = *g.sites[0];
  if (first.kind != s.kind || first.space != s.space || first.line != s.line || first.file != s.file) return false;
  if (!first.copies.empty() && !s.copies.empty()) return first.copies[0].operation == s.copies[0].operation;
  if (!first.copies.empty() || !s.copies.empty()) return false;
  if (!first.operands.empty() || !s.operands.empty()) return !first.operands.empty() && !s.operands.empty();
  if (first.patterns.size() != s.patterns.size()) return false;
  return std::all_of(s.patterns.begin(), s.patterns.end(), [&](const AccessPattern& p) {
    return std::any_of(g.patterns.begin(), g.patterns.end(), [&](const AccessPattern& q) { return same_look(p, q); });
  });
}

std::vector<Group> grouped_sites(const std::vector<const SiteProfile*>& sites) {
  std::vector<Group> out;
  for (const SiteProfile* s : sites) {
    auto g = std::find_if(out.begin(), out.end(), [&](const Group& group) { return joins(group, *s); });
    if (g == out.end()) {
      g = out.insert(out.end(), Group{});
      g->worst = s->worst;
      g->best = s->best;
      g->patterns = s->patterns;
      for (AccessPattern& p : g->patterns) p.count = 0;
    }
    g->sites.push_back(s);
    g->other += s->patterns_other;
    g->requests += s->patterns_other;
    for (const AccessPattern& p : s->patterns) {
      g->requests += p.count;
      for (AccessPattern& q : g->patterns)
        if (same_look(p, q)) {
          q.count += p.count;
          break;
        }
    }
  }
  return out;
}

class AccessView {
 public:
  AccessView(const results::Profile& profile, const GpuModel& model, const TextOptions& options)
      : profile_(profile), model_(model), options_(options) {}

  std::string run(const KernelProfile& kernel, const std::vector<const SiteProfile*>& sites) {
    kernel_ = &kernel;
    out_ = bold(shortened(short_name(kernel.name), kTerminalWidth)) + "\n";
    std::string file;
    std::uint32_t line = 0;
    for (const Group& g : grouped_sites(sites)) {
      const SiteProfile& s = *g.sites[0];
      if (s.line != 0 && (s.file != file || s.line != line)) {
        out_ += fmt::format("{}:{}\n", shortened_path(s.file, kTerminalWidth - 8), s.line);
        std::string text = line_text(profile_, s.file, s.line);
        text = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
        if (!text.empty()) out_ += "  " + shortened(text, kTerminalWidth - 2) + "\n";
      }
      file = s.file;
      line = s.line;
      if (!s.copies.empty())
        out_ += tensor_copies_view(g.sites, model_, options_);
      else if (!s.operands.empty())
        out_ += operands_view(g.sites, kernel, model_, options_);
      else
        group(g);
    }
    if (std::any_of(sites.begin(), sites.end(), [](const SiteProfile* s) { return !s->patterns.empty(); }))
      out_ += "\n0 to 9, a to v: the lane. #: several lanes. .: moved, but not asked for.\n";
    return std::move(out_);
  }

 private:
  std::string bold(const std::string& t) const { return options_.colour ? "\033[1m" + t + "\033[0m" : t; }
  static std::string shortened(const std::string& text, std::size_t width) {
    return text.size() <= width ? text : text.substr(0, width - 3) + "...";
  }

  void group(const Group& g) {
    const SiteProfile& s = *g.sites[0];
    const std::uint32_t bytes = g.patterns.empty() ? 0 : g.patterns[0].lane_bytes;
    const char* preposition = s.kind == "load" ? "from" : s.kind == "store" ? "to" : "on";
    out_ += "\n" +
            bold(fmt::format("{} {} {} memory{}", s.kind, preposition, s.space,
                             bytes != 0 ? fmt::format(", {} byte{} a lane", bytes, plural(bytes)) : "")) +
            "   " + shortened(s.ptx, 36) + "\n";
    std::vector<std::uint32_t> ptx_lines;
    for (const SiteProfile* site : g.sites) ptx_lines.push_back(site->ptx_line);
    out_ +=
        wrapped(fmt::format("  {} requests by {} (PTX line{} {}), exact", grouped(static_cast<double>(g.requests)),
                            g.sites.size() == 1 ? "one instruction" : fmt::format("{} instructions", g.sites.size()),
                            plural(g.sites.size()), fmt::join(ptx_lines, ", ")),
                kTerminalWidth, "  ");
    table(g);
    // The typical pattern is the most frequent one. Each pattern is drawn once.
    std::map<std::size_t, std::vector<const char*>> drawn;
    drawn[0].push_back("typical");
    drawn[g.worst].push_back("worst");
    drawn[g.best].push_back("best");
    if (g.patterns.size() == 1) drawn[0] = {"every request"};
    for (const auto& [index, words] : drawn) draw(g, index, fmt::format("{}", fmt::join(words, ", ")));
  }

  void table(const Group& g) {
    if (g.patterns.size() + (g.other != 0) < 2) return;
    for (std::size_t i = 0; i < g.patterns.size(); ++i) {
      const AccessPattern& p = g.patterns[i];
      out_ += shortened(fmt::format("  {} {} {}  {}", right(grouped(static_cast<double>(p.count)), 12),
                                    right(percent(share(g, p.count)), 7), cost_word(p), shape_of(p) + shift(p)),
                        kTerminalWidth) +
              "\n";
    }
    if (g.other != 0)
      out_ += fmt::format("  {} {} other patterns\n", right(grouped(static_cast<double>(g.other)), 12),
                          right(percent(share(g, g.other)), 7));
  }

  static double share(const Group& g, std::uint64_t count) {
    return g.requests == 0 ? 0 : 100 * static_cast<double>(count) / static_cast<double>(g.requests);
  }
  // Only for lanes side by side does the position of the lowest address in its sector matter.
  static bool in_a_row(const AccessPattern& p) { return shape_of(p).ends_with("side by side"); }
  static std::string shift(const AccessPattern& p) {
    constexpr std::uint32_t kSector = 32;
    return p.space == "shared" || p.alignment % kSector == 0 || !in_a_row(p)
               ? ""
               : fmt::format(", {} bytes off", p.alignment % kSector);
  }
  static std::string cost_word(const AccessPattern& p) {
    return p.space == "shared" ? right(fmt::format("{} wavefront{}", p.wavefronts, p.wavefronts == 1 ? " " : "s"), 13)
                               : right(fmt::format("{} sector{} in {:2} line{}", p.sectors, p.sectors == 1 ? " " : "s",
                                                   p.lines_128, p.lines_128 == 1 ? " " : "s"),
                                       22);
  }

  void draw(const Group& g, std::size_t index, const std::string& which) {
    if (index >= g.patterns.size()) return;
    const AccessPattern& p = g.patterns[index];
    out_ += "\n" + wrapped(fmt::format("  {}: {} request{} ({}), e.g. block ({}, {}, {}), warp {}", which,
                                       grouped(static_cast<double>(p.count)), plural(p.count),
                                       percent(share(g, p.count)), p.block.x, p.block.y, p.block.z, p.warp),
                           kTerminalWidth, "    ");
    out_ += wrapped("    " + shape_of(p), kTerminalWidth, "    ");
    if (p.space == "shared") {
      out_ += fmt::format("    {} pass{} through the banks (wavefronts), ideal {}\n", p.wavefronts,
                          p.wavefronts == 1 ? "" : "es", p.ideal_wavefronts);
      out_ += bank_grid(p, model_, options_);
      if (p.tile) out_ += tile_view(p, g.sites[0]->kind, *kernel_, model_);
      return;
    }
    if (p.space == "local") {
      out_ += wrapped(fmt::format("    {} sectors. The hardware interleaves the 32-bit words of the lanes in local "
                                  "memory, so lanes that want the same index lie side by side.",
                                  p.sectors),
                      kTerminalWidth, "    ");
      return;
    }
    cost(p);
    out_ += memory_grid(p, model_, options_);
  }

  void cost(const AccessPattern& p) {
    const double asked = static_cast<double>(std::popcount(p.mask)) * p.lane_bytes;
    double moved = static_cast<double>(p.sectors) * 32;
    std::string what = fmt::format("{} sector{} (ideal {}) in {} line{}", p.sectors, plural(p.sectors), p.ideal_sectors,
                                   p.lines_128, plural(p.lines_128));
    if (model_.rules.coalescing != CoalescingRule::sectors_32 && !p.transactions.empty()) {
      moved = 0;
      for (const results::Transaction& t : p.transactions) moved += t.bytes;
      what = fmt::format("{} transaction{} by the rule of compute capability {}.{}", p.transactions.size(),
                         plural(p.transactions.size()), model_.cc_major, model_.cc_minor);
    }
    out_ += wrapped(fmt::format("    {}: {} bytes moved, {} asked for ({})", what, grouped(moved), grouped(asked),
                                percent(moved > 0 ? 100 * asked / moved : 0)),
                    kTerminalWidth, "    ");
    constexpr std::uint32_t kSector = 32;
    if (p.alignment % kSector != 0 && in_a_row(p))
      out_ +=
          fmt::format("    starts {} bytes into a sector, {} into a line\n", p.alignment % kSector, p.alignment % 128);
  }

  const results::Profile& profile_;
  const GpuModel& model_;
  const TextOptions& options_;
  const KernelProfile* kernel_ = nullptr;
  std::string out_;
};

}  // namespace

Result<std::string> access_view(const results::Profile& profile, const AccessQuery& query, const TextOptions& options) {
  auto kernel = find_kernel(profile, query.kernel);
  if (!kernel) return kernel.error();
  const std::string name = short_name((*kernel)->name);
  const std::string lines = lines_with_accesses(**kernel);
  if (query.line == 0 && query.ptx_line == 0)
    return Error{ErrorKind::bad_input, fmt::format("which line of {}? Say --line N", name),
                 "lines with accesses: " + lines};
  const std::vector<const SiteProfile*> sites = find_sites(**kernel, query);
  if (sites.empty())
    return Error{
        ErrorKind::bad_input,
        fmt::format("{} accesses no memory at {} {}{}", name, query.ptx_line != 0 ? "PTX line" : "line",
                    query.ptx_line != 0 ? query.ptx_line : query.line, query.file.empty() ? "" : " of " + query.file),
        "lines with accesses: " + lines};
  const bool known = std::any_of(sites.begin(), sites.end(), [](const SiteProfile* s) {
    return !s->patterns.empty() || !s->copies.empty() || !s->operands.empty();
  });
  if (!known)
    return Error{ErrorKind::bad_input,
                 fmt::format("the profile does not hold what the requests of {} looked like", name),
                 profile.detail ? "instructions of this kind are not recorded"
                                : "write it with `warpgrind run --detail --json FILE`, or explain the program itself"};
  const GpuModel* model = model_of(profile);
  if (model == nullptr)
    return Error{ErrorKind::bad_input, fmt::format("the profile's GPU \"{}\" is not known here", profile.gpu),
                 "`warpgrind gpus` lists those that are"};
  return AccessView(profile, *model, options).run(**kernel, sites);
}

}  // namespace warpgrind::report
