// Text of a ProfileDiff in 80 columns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/words.h"
#include "report/advice_text.h"
#include "report/diff.h"
#include "report/format.h"
#include "report/kernel_names.h"

namespace warpgrind::report {
namespace {

std::string amount(double v, const std::string& unit) {
  if (unit == "ns") return with_time(v);
  if (unit == "%") return percent(v);
  return grouped(v);
}

std::string relative(const Change& c) {
  const double percent_change = c.relative();
  if (std::isinf(percent_change)) return "new";
  constexpr double kTimes = 1000;
  if (percent_change >= kTimes) return fmt::format("x {:.1f}", c.after / c.before);
  return fmt::format("{:+.1f} %", percent_change);
}

class DiffWriter {
 public:
  explicit DiffWriter(bool colour) : colour_(colour) {}
  std::string take() { return std::move(out_); }

  void line(const std::string& text) { out_ += text + "\n"; }
  std::string paint(const char* code, const std::string& t) const { return colour_ ? code + t + "\033[0m" : t; }
  std::string bold(const std::string& t) const { return paint("\033[1m", t); }

  void change(const Change& c, const std::string& indent) {
    const int label = 25 - static_cast<int>(indent.size());
    const bool worse = c.worse(), better = c.better();
    // A change for the worse within the tolerance of an estimate gives no verdict.
    const bool more = c.rise == Direction::amount && c.after > c.before;
    const std::string verdict = worse ? "worse" : better ? "better" : more ? "more" : "";
    const char* code = worse ? "\033[31m" : better ? "\033[32m" : "";
    line(indent + left(c.label, label) + right(amount(c.before, c.unit), 14) + right(amount(c.after, c.unit), 14) +
         right(relative(c), 10) + " " + (*code ? paint(code, left(verdict, 6)) : left(verdict, 6)) + " " +
         paint("\033[2m", name(c.origin)));
  }

  void kernel(const KernelDiff& d) {
    std::string name = short_name(d.before->name);
    if (const std::string other = short_name(d.after->name); other != name) name += " -> " + other;
    constexpr std::size_t kMostName = 70;
    if (name.size() > kMostName) name = name.substr(0, kMostName - 3) + "...";
    line(bold("-- " + name + " " + std::string(kTerminalWidth - 4 - name.size(), '-')));
    line(std::string(25, ' ') + right("before", 14) + right("after", 14) + right("change", 10));
    for (const Change& c : d.changes) change(c, "  ");
    for (const LineDiff& l : d.lines) source_line(l);
  }

 private:
  void source_line(const LineDiff& l) {
    const std::string name = shortened_path(base_name(l.file), 40);
    std::string place;
    if (l.file.empty())
      place = fmt::format("PTX line {}", l.after != 0 ? l.after : l.before);
    else if (l.after == 0)
      place = fmt::format("{}:{} (gone)", name, l.before);
    else if (l.before == 0)
      place = fmt::format("{}:{} (new)", name, l.after);
    else if (l.before != l.after)
      place = fmt::format("{}:{} -> {}", name, l.before, l.after);
    else
      place = fmt::format("{}:{}", name, l.after);
    std::string text = l.text.substr(std::min(l.text.find_first_not_of(" \t"), l.text.size()));
    const std::size_t room = kTerminalWidth - 4 - place.size();
    if (text.size() > room) text = text.substr(0, room - 3) + "...";
    line("  " + bold(place) + (text.empty() ? "" : "  " + text));
    for (const Change& c : l.changes) change(c, "    ");
  }

  bool colour_;
  std::string out_;
};

std::string names(const ProfileDiff& diff, bool only_before) {
  std::vector<const results::KernelProfile*> kernels;
  for (const KernelDiff& d : diff.kernels)
    if ((only_before ? d.after : d.before) == nullptr) kernels.push_back(only_before ? d.before : d.after);
  return kernels.empty() ? "" : kernel_list(kernels, 1000);
}

}  // namespace

std::string diff_text(const ProfileDiff& diff, const TextOptions& options) {
  DiffWriter w(options.colour);
  for (const std::string& note : diff.notes) w.line("note: " + note);
  std::vector<const results::KernelProfile*> same;
  for (const KernelDiff& d : diff.kernels) {
    if (d.before == nullptr || d.after == nullptr) continue;
    if (d.changes.empty() && d.lines.empty())
      same.push_back(d.after);
    else
      w.kernel(d);
  }
  std::string out = w.take();
  const auto list = [&](const char* title, const std::string& text) {
    if (!text.empty()) out += wrapped(fmt::format("{}: {}", title, text), kTerminalWidth, "  ");
  };
  list("unchanged", same.empty() ? "" : kernel_list(same, 1000));
  list("only before", names(diff, true));
  list("only after", names(diff, false));
  for (const BrokenRule& b : diff.broken) {
    const std::string subject = b.kernel.empty() ? b.rule : fmt::format("{}: {}", short_name(b.kernel), b.rule);
    out += (options.colour ? "\033[1;31mworse\033[0m" : "worse") +
           wrapped(fmt::format("  {}: {}", subject, b.figures), kTerminalWidth - 5, "       ");
  }
  if (diff.broken.empty()) out += "nothing is worse\n";
  return out;
}

std::string change_figures(const Change& c) {
  return fmt::format("{} to {} ({})", amount(c.before, c.unit), amount(c.after, c.unit), relative(c));
}

}  // namespace warpgrind::report
