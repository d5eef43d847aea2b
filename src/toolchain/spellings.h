// What nvcc takes and clang 19 takes only in another spelling. The driver gives clang a copy of the source with that
// (-remap-file) where it complained; lines stay where they are.
//   `__shared__ alignas(16) float tile[64];`, `__device__ [[nodiscard]] int size() const;`: clang wants attributes of
//   C++
//     before CUDA's own words; behind them it takes C's `_Alignas` and GNU's.
//   `asm("mov.u32 %0, %laneid;" : "=r"(lane))`: for clang every '%' of a text with operands that names none is `%%`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrind::toolchain {

struct Place {
  std::size_t line = 0, column = 0;  // from 1; a column is a byte
  enum class Of { attribute, percent } what = Of::attribute;
  auto operator<=>(const Place&) const = default;
};

// By file, as clang names it: where it complains of one of these, and where a macro has it.
std::map<std::string, std::vector<Place>> refused_spellings(std::string_view messages);

// `source` with these places in the other spelling. Where there is nothing of the kind, nothing is changed.
std::string respelt(std::string source, std::vector<Place> places);

}  // namespace warpgrind::toolchain
