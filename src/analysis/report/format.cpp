// Formatting of counts, bytes, times and padded columns.
#include "report/format.h"

#include <fmt/format.h>

#include <cmath>

#include "base/words.h"

namespace warpgrind::report {
namespace {

// Length in characters, not bytes, as names may contain UTF-8.
int length(const std::string& text) {
  int n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return n;
}

}  // namespace

std::string grouped(double count) {
  return std::floor(count) == count ? warpgrind::grouped(count) : fixed(count, 2);
}

std::string with_bytes(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  unsigned unit = 0;
  while (bytes >= 1024 && unit < 5) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string with_time(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return fmt::format("{:.2f} us", ns * 1e-3);
  if (ns < 1e9) return fmt::format("{:.2f} ms", ns * 1e-6);
  return fmt::format("{:.2f} s", ns * 1e-9);
}

std::string fixed(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
}

std::string percent(double value) {
  return fmt::format("{:.1f} %", value);
}

std::string compact_dim3(const Dim3& d) {
  return fmt::format("({},{},{})", d.x, d.y, d.z);
}

std::string shortened_path(const std::string& path, std::size_t width) {
  if (path.size() <= width) return path;
  const std::size_t slash = path.find('/', path.size() - width + 3);
  return "..." + path.substr(slash == std::string::npos ? path.size() - width + 3 : slash);
}

std::string left(std::string text, int width) {
  for (int n = length(text); n < width; ++n) text += ' ';
  return text;
}

std::string right(const std::string& text, int width) {
  const int n = length(text);
  return n < width ? std::string(static_cast<std::size_t>(width - n), ' ') + text : text;
}

}  // namespace warpgrind::report
