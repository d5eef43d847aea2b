// Lookup of a kernel's instructions by PTX line, which its sites name.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "results/detail.h"

namespace warpgrind::results {

// The result points into `code`.
inline std::map<std::uint32_t, const CodeRow*> by_ptx_line(const std::vector<CodeRow>& code) {
  std::map<std::uint32_t, const CodeRow*> rows;
  for (const CodeRow& c : code) rows[c.ptx_line] = &c;
  return rows;
}

}  // namespace warpgrind::results
