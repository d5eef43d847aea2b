// Annotated source of a kernel: choice of files, lines and columns, and their output.
#include "report/source_view.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "base/library_headers.h"
#include "base/words.h"
#include "report/advice_text.h"
#include "report/format.h"
#include "report/kernel_names.h"
#include "report/line_matching.h"
#include "report/source_lines.h"
#include "results/code_rows.h"

namespace warpgrind::report {
namespace {

using results::KernelProfile;
using results::MetricId;
using results::Metrics;
using results::SiteProfile;

// Figures beside a line. The ratios come from the sites on the line, as other instructions make no requests.
struct Counters {
  double inst = 0, thread_inst = 0, divergent = 0;
  // Values of the worst instruction: the mean of a good load and a bad store would be meaningless.
  double sectors_per_request = 0, ways = 0;
  double excess = 0, wavefronts = 0, ideal_wavefronts = 0;
  double l1_hits = 0, l1_lookups = 0;  // sectors of loads; modelled
  bool inlined = false;                // includes code inlined into the line

  void add_site(const SiteProfile& s) {
    const double executed = s.metrics.value(MetricId::site_inst);
    if (executed <= 0) return;
    sectors_per_request = std::max(sectors_per_request, s.metrics.value(MetricId::site_sectors) / executed);
    excess += s.metrics.value(MetricId::excessive_sectors);
    ways = std::max(ways, s.metrics.value(MetricId::shared_wavefronts) / executed);
    wavefronts += s.metrics.value(MetricId::shared_wavefronts);
    ideal_wavefronts += s.metrics.value(MetricId::shared_ideal);
    l1_hits += s.metrics.value(MetricId::l1_hits);
    l1_lookups += s.metrics.value(MetricId::l1_lookups);
  }
  void add_line(const Metrics& m) {
    inst += m.value(MetricId::site_inst);
    thread_inst += m.value(MetricId::site_thread_inst) != 0 ? m.value(MetricId::site_thread_inst)
                                                            : m.value(MetricId::line_thread_inst);
    divergent += m.value(MetricId::divergent_branches);
  }
  bool bad() const { return excess > 0 || wavefronts > ideal_wavefronts || divergent > 0; }
};

struct SourceColumn {
  const char* title;
  int width;
  std::optional<double> (*value)(const Counters&);
  bool compact;  // true: a count; false: a number with two digits
  bool (*bad)(const Counters&);
};

template <double Counters::*Part, double Counters::*Whole>
std::optional<double> ratio(const Counters& c) {
  return c.*Whole > 0 ? std::optional(c.*Part / (c.*Whole)) : std::nullopt;
}
template <double Counters::*Field>
std::optional<double> count(const Counters& c) {
  return c.*Field > 0 ? std::optional(c.*Field) : std::nullopt;
}
std::optional<double> l1_hit_percent(const Counters& c) {
  return c.l1_lookups > 0 ? std::optional(100 * c.l1_hits / c.l1_lookups) : std::nullopt;
}
bool never(const Counters&) {
  return false;
}

constexpr SourceColumn kColumns[] = {
    {"inst", 7, count<&Counters::inst>, true, never},
    {"lanes", 6, ratio<&Counters::thread_inst, &Counters::inst>, false,
     [](const Counters& c) { return c.inst > 0 && c.thread_inst / c.inst < 24; }},
    {"sect/req", 9, count<&Counters::sectors_per_request>, false, [](const Counters& c) { return c.excess > 0; }},
    {"L1 hit", 8, l1_hit_percent, false, never},
    {"excess", 7, count<&Counters::excess>, true, [](const Counters& c) { return c.excess > 0; }},
    {"ways", 6, count<&Counters::ways>, false, [](const Counters& c) { return c.wavefronts > c.ideal_wavefronts; }},
    {"split", 7, count<&Counters::divergent>, true, [](const Counters& c) { return c.divergent > 0; }}};

std::string compact(double n) {
  const char* const units[] = {"", "k", "M", "G", "T"};
  unsigned unit = 0;
  while (n >= 9999.5 && unit < 4) {
    n /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}", n);
  return n < 100 ? fmt::format("{:.1f}{}", n, units[unit]) : fmt::format("{:.0f}{}", n, units[unit]);
}

class SourceView {
 public:
  SourceView(const results::Profile& profile, const KernelProfile& kernel, const TextOptions& options,
             std::size_t width)
      : profile_(profile), kernel_(kernel), options_(options), width_(width) {}

  std::string run() {
    title();
    gather();
    if (files_.empty())
      ptx();
    else
      for (const auto& [name, lines] : ordered_files()) file(name, *lines);
    if (left_out_ != 0)
      out_ += wrapped(
          fmt::format("  note: {} of the system left out: the calls have their figures", counted(left_out_, "header")),
          kTerminalWidth, "  ");
    return std::move(out_);
  }

 private:
  using Lines = std::map<std::uint32_t, Counters>;

  std::string paint(const char* code, const std::string& t) const { return options_.colour ? code + t + "\033[0m" : t; }
  void title() {
    std::string name = short_name(kernel_.name);
    constexpr std::size_t kMost = 70;
    if (name.size() > kMost) name = name.substr(0, kMost - 3) + "...";
    out_ += paint("\033[1m", "-- " + name + " " + std::string(kTerminalWidth - 4 - name.size(), '-')) + "\n";
  }

  void gather() {
    for (const SourceLine& l : source_lines(kernel_))
      if (!l.file.empty()) files_[l.file][l.line].add_line(l.metrics);
    for (const results::LineProfile& l : kernel_.inlined_lines) {
      Counters& call = files_[l.file][l.line];
      call.add_line(l.metrics);
      call.inlined = true;
    }
    leave_out_headers();
    const auto rows = results::by_ptx_line(kernel_.code);
    for (const SiteProfile& s : kernel_.sites) {
      if (!s.file.empty() && s.line != 0 && !(left_out_ != 0 && is_library_header(s.file)))
        files_[s.file][s.line].add_site(s);
      if (const auto code = rows.find(s.ptx_line); code != rows.end())
        for (const auto& call : code->second->inlined_at) {
          const auto lines = files_.find(call.file);
          if (lines == files_.end()) continue;
          const auto line = lines->second.find(call.line);
          if (line != lines->second.end() && line->second.inlined) line->second.add_site(s);
        }
      Counters& row = by_ptx_line_[s.ptx_line];
      row.add_site(s);
      row.add_line(s.metrics);
    }
  }

  // Leaves out system headers if the lines that call into them include their figures.
  void leave_out_headers() {
    if (kernel_.inlined_lines.empty()) return;
    const std::size_t before = files_.size();
    std::erase_if(files_, [](const auto& f) { return is_library_header(f.first); });
    left_out_ = before - files_.size();
  }

  // The file with the most executed instructions comes first; usually it is the kernel's own.
  std::vector<std::pair<std::string, const Lines*>> ordered_files() const {
    std::vector<std::pair<double, std::pair<std::string, const Lines*>>> order;
    for (const auto& [name, lines] : files_) {
      double inst = 0;
      for (const auto& [number, c] : lines) inst += c.inst;
      order.push_back({inst, {name, &lines}});
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::pair<std::string, const Lines*>> out;
    for (auto& [inst, entry] : order) out.push_back(std::move(entry));
    return out;
  }

  // Keeps only columns that have values.
  void choose_columns(const std::function<void(const std::function<void(const Counters&)>&)>& each) {
    columns_.clear();
    for (const SourceColumn& c : kColumns) {
      bool used = false;
      each([&](const Counters& counters) { used |= c.value(counters).has_value(); });
      if (used) columns_.push_back(&c);
    }
  }

  void head(const char* what) {
    std::string line = right("line", 6);
    for (const SourceColumn* c : columns_) line += right(c->title, c->width);
    if (*what) line += fmt::format("   {}", what);
    out_ += paint("\033[2m", line) + "\n";
  }

  std::string cells(const Counters* counters) const {
    std::string out;
    for (const SourceColumn* c : columns_) {
      const std::optional<double> v = counters ? c->value(*counters) : std::nullopt;
      const std::string text = right(!v ? "" : c->compact ? compact(*v) : fmt::format("{:.1f}", *v), c->width);
      out += v && c->bad(*counters) ? paint("\033[31m", text) : text;
    }
    return out;
  }

  // Position of a line break: between words or after an operator, if there is one near the edge.
  static std::size_t break_at(const std::string& text, std::size_t room) {
    if (text.size() <= room) return text.size();
    const std::size_t at = text.find_last_of(" ,;()[]+*=", room - 1);
    return at == std::string::npos || at + 16 < room ? room : at + 1;
  }

  void row(std::uint32_t number, const Counters* counters, std::string text) {
    std::size_t used = 6 + 3;
    for (const SourceColumn* c : columns_) used += static_cast<std::size_t>(c->width);
    const std::size_t room = width_ == 0 ? std::string::npos : width_ - std::min(width_ - 20, used);
    const bool bad = counters != nullptr && counters->bad();
    // Text that does not fit continues on the next line, indented.
    std::string line = right(std::to_string(number), 6) + cells(counters) +
                       (bad                             ? " > "
                        : counters && counters->inlined ? " + "
                                                        : "   ");
    const std::size_t indent =
        std::min(text.find_first_not_of(' ') == std::string::npos ? 0 : text.find_first_not_of(' '), room / 2);
    do {
      const std::string piece = text.substr(0, break_at(text, room));
      line += bad ? paint("\033[1m", piece) : piece;
      while (line.back() == ' ') line.pop_back();
      out_ += line + "\n";
      line = std::string(used, ' ');
      text = piece.size() < text.size() ? std::string(indent + 4, ' ') + text.substr(piece.size()) : "";
    } while (!text.empty());
  }

  void file(const std::string& name, const Lines& lines) {
    out_ += shortened_path(name, kTerminalWidth) + "\n";
    choose_columns([&](const auto& f) {
      for (const auto& [number, c] : lines) f(c);
    });
    const std::string* text = source_text(profile_, name);
    for (const results::SourceFile& s : profile_.sources)
      if (s.file == name && s.changed)
        out_ += paint("\033[33m", "  note: the file is newer than the program: lines may have moved") + "\n";
    if (text == nullptr) out_ += wrapped("  " + why_missing(name), kTerminalWidth, "  ");
    head(text ? "source" : "");
    if (text == nullptr) {
      for (const auto& [number, c] : lines) row(number, &c, "");
      return;
    }
    const std::vector<std::string_view> source = lines_of(*text);
    // Lines with counters are shown with one line around them. Gaps of up to three lines are shown, too.
    constexpr std::uint32_t kGap = 3;
    std::set<std::uint32_t> shown;
    std::uint32_t last = 0;
    for (const auto& [number, c] : lines) {
      for (std::uint32_t n = number > 1 ? number - 1 : 1; n <= number + 1; ++n) shown.insert(n);
      if (last != 0 && number - last <= kGap + 2)
        for (std::uint32_t n = last; n < number; ++n) shown.insert(n);
      last = number;
    }
    shown.erase(shown.upper_bound(static_cast<std::uint32_t>(source.size())), shown.end());
    const std::size_t indent = common_indent(source, shown);
    std::uint32_t before = 0;
    for (const std::uint32_t n : shown) {
      if (before != 0 && n != before + 1) out_ += right("...", 6) + "\n";
      const auto it = lines.find(n);
      row(n, it == lines.end() ? nullptr : &it->second,
          tidy(source[n - 1]).substr(std::min(indent, tidy(source[n - 1]).size())));
      before = n;
    }
    if (std::any_of(lines.begin(), lines.end(), [](const auto& l) { return l.second.inlined; }))
      out_ +=
          wrapped("  note: calls have the figures of what was inlined there too, which stand at its own lines as well",
                  kTerminalWidth, "  ");
    if (lines.rbegin()->first > source.size())
      out_ += wrapped(fmt::format("  note: the kernel names line {}, but the file has {}: it changed after the program "
                                  "was compiled",
                                  lines.rbegin()->first, source.size()),
                      kTerminalWidth, "  ");
  }

  // Replaces tabs by two blanks, and control characters by dots.
  static std::string tidy(std::string_view line) {
    std::string out;
    for (const char c : line) {
      if (c == '\t')
        out += "  ";
      else
        out += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '.' : c;
    }
    return out;
  }

  static std::size_t common_indent(const std::vector<std::string_view>& source, const std::set<std::uint32_t>& shown) {
    std::size_t indent = kTerminalWidth;
    for (const std::uint32_t n : shown) {
      const std::string line = tidy(source[n - 1]);
      if (const std::size_t first = line.find_first_not_of(' '); first != std::string::npos)
        indent = std::min(indent, first);
    }
    return indent;
  }

  std::string why_missing(const std::string& name) const {
    for (const results::SourceFile& s : profile_.sources)
      if (s.file == name && !s.missing.empty()) return fmt::format("note: the source cannot be shown: {}", s.missing);
    return "note: the profile does not hold the source; run with --detail or --source";
  }

  void ptx() {
    out_ += wrapped(
        "  note: no source lines, so this is the PTX. Compile with -lineinfo (nvcc) or -gline-tables-only "
        "(clang) to see the source.",
        kTerminalWidth, "  ");
    choose_columns([&](const auto& f) {
      for (const auto& [number, c] : by_ptx_line_) f(c);
    });
    head("PTX");
    if (kernel_.code.empty()) {
      for (const SiteProfile& s : kernel_.sites)
        row(s.ptx_line, &by_ptx_line_[s.ptx_line], s.ptx.empty() ? s.kind : s.ptx);
      return;
    }
    std::string function;
    for (const results::CodeRow& c : kernel_.code) {
      if (c.function != function) out_ += "  " + c.function + ":\n";
      function = c.function;
      const auto it = by_ptx_line_.find(c.ptx_line);
      row(c.ptx_line, it == by_ptx_line_.end() ? nullptr : &it->second, tidy(c.text));
    }
  }

  const results::Profile& profile_;
  const KernelProfile& kernel_;
  const TextOptions& options_;
  const std::size_t width_;
  std::map<std::string, Lines> files_;
  std::size_t left_out_ = 0;
  Lines by_ptx_line_;
  std::vector<const SourceColumn*> columns_;
  std::string out_;
};

}  // namespace

std::string source_view(const results::Profile& profile, const KernelProfile& kernel, const TextOptions& options,
                        std::size_t width) {
  return SourceView(profile, kernel, options, width).run();
}

std::size_t terminal_width(std::FILE* stream) {
  winsize size{};
  if (isatty(fileno(stream)) == 0) return 0;
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0) return kTerminalWidth;
  return std::max<std::size_t>(kTerminalWidth, size.ws_col);
}

std::string source_text_view(const results::Profile& profile, const TextOptions& options, std::size_t width) {
  std::string out;
  for (const KernelProfile& k : profile.kernels) out += source_view(profile, k, options, width) + "\n";
  if (out.empty()) return "no kernel ran\n";
  out += wrapped(
      "inst: instructions executed by warps. lanes: threads on, on average. sect/req: sectors of 32 bytes a request, "
      "of the worst instruction of the line. L1 hit: percent of the sectors of loads that L1 had. excess: sectors "
      "beyond "
      "the ideal. ways: passes through the banks a shared request, of the worst. split: branches at which a warp went "
      "both ways. All exact but for L1 hit, which is modelled, as are sect/req and ways of atomics.",
      kTerminalWidth, "");
  return out;
}

}  // namespace warpgrind::report
