#include "serve/step_mode.h"

#include <cstddef>

namespace warpgrind::serve {

namespace {

constexpr char kSteps[] = "steps";
constexpr std::size_t kMostDigits = 9;

// Digits from `at` on; moves behind them. False: none, or too many.
bool skip_number(const std::string& text, std::size_t& at) {
  const std::size_t begin = at;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at > begin && at - begin <= kMostDigits;
}

}  // namespace

bool records_steps(const std::string& mode) {
  if (mode == kSteps) return true;
  std::size_t at = sizeof kSteps;  // with the space behind it
  if (mode.size() <= at || !mode.starts_with(std::string(kSteps) + " ")) return false;
  for (int number = 0; number < 3; ++number) {
    if (number > 0 && (at >= mode.size() || mode[at++] != ',')) return false;
    if (!skip_number(mode, at)) return false;
  }
  return at == mode.size();
}

std::string recorded_block(const std::string& mode) {
  return mode == kSteps ? "0,0,0" : mode.substr(sizeof kSteps);
}

}  // namespace warpgrind::serve
