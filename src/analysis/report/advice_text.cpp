// Text of the advice for a kernel, and line breaking.
#include "report/advice_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/words.h"
#include "report/format.h"

namespace warpgrind::report {
namespace {

std::string places_of(const results::Advice& a) {
  std::string out, file;
  for (const results::Advice::Place& p : a.places) {
    if (p.line == 0) {
      out += fmt::format("{}PTX line {}", out.empty() ? "" : ", ", p.ptx_line);
      continue;
    }
    const std::string name = base_name(p.file);
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", name == file ? "" : name + ":", p.line);
    file = name;
  }
  return out;
}

// " (8.97 us -> 5.32 us, 41 % less, estimated)". Files of earlier versions have no times.
std::string gain_of(const results::Advice& a) {
  if (a.estimated_gain < 0.005) return "";
  if (a.time_ns <= 0) return fmt::format(" (up to {:.0f} % of the time, {})", 100 * a.estimated_gain, name(a.origin));
  return fmt::format(" ({} -> {}, {:.0f} % less, {})", with_time(a.time_ns), with_time(a.without_cause_ns),
                     100 * a.estimated_gain, name(a.origin));
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t width, const std::string& indent) {
  std::istringstream in(text);
  std::string out, line = text.substr(0, std::min(text.find_first_not_of(' '), text.size()));
  bool first = true;
  for (std::string word; in >> word; first = false) {
    if (first) {
      line += word;
    } else if (line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = indent + word;
    } else {
      line += " " + word;
    }
  }
  return out + line + "\n";
}

std::string advice_text(const results::KernelProfile& kernel, const TextOptions& options, std::size_t most) {
  if (kernel.advice.empty()) return "";
  const auto bold = [&](const std::string& t) { return options.colour ? "\033[1m" + t + "\033[0m" : t; };
  std::string out = bold("  what to do") + "\n";
  for (std::size_t i = 0; i < std::min(most, kernel.advice.size()); ++i) {
    const results::Advice& a = kernel.advice[i];
    const std::string title = a.title + gain_of(a);
    // Colour is added after wrapping, as its codes have no width.
    out += wrapped(fmt::format("  {}. {}", i + 1, title), kTerminalWidth, "     ")
               .insert(2, options.colour ? "\033[1m" : "");
    if (options.colour) out.insert(out.size() - 1, "\033[0m");
    if (const std::string places = places_of(a); !places.empty())
      out += wrapped("     at " + places, kTerminalWidth, "        ");
    if (!a.text.empty()) out += wrapped("     " + a.text, kTerminalWidth, "     ");
  }
  return out;
}

}  // namespace warpgrind::report
