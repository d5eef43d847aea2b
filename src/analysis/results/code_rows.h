// The instructions of a kernel by their place in the PTX, which its sites name.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "results/detail.h"

namespace warpgrind::results {

// Valid as long as the rows are.
inline std::map<std::uint32_t, const CodeRow*> by_ptx_line(const std::vector<CodeRow>& code) {
  std::map<std::uint32_t, const CodeRow*> rows;
  for (const CodeRow& c : code) rows[c.ptx_line] = &c;
  return rows;
}

}  // namespace warpgrind::results
