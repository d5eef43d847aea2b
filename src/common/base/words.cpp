#include "base/words.h"

#include <fmt/format.h>

#include <cmath>

namespace warpgrind {

std::string grouped(double count) {
  std::string out = fmt::format("{:.0f}", std::fabs(count));
  for (std::size_t at = out.size(); at > 3; at -= 3) out.insert(at - 3, ",");
  return count < 0 ? "-" + out : out;
}

}  // namespace warpgrind
