// Spellings that nvcc accepts and clang 19 accepts only in another form. Where clang complains, the driver gives it a
// copy of the source with clang's spelling (-remap-file). Line numbers stay.
//   `__shared__ alignas(16) float tile[64];`, `__device__ [[nodiscard]] int size() const;`: clang wants C++ attributes
//     before CUDA's keywords. Behind them it accepts C's `_Alignas` and GNU attributes.
//   `asm("mov.u32 %0, %laneid;" : "=r"(lane))`: in an asm text with operands, clang wants `%%` for each '%' that names
//     no operand.
//   `__shared__ cuda::barrier<cuda::thread_scope_block> bar;`: clang refuses a shared variable whose constructor is not
//     empty. nvcc does not run that constructor. A union with an empty constructor, and a reference to its member, do
//     the same.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warpgrind::toolchain {

struct Place {
  std::size_t line = 0, column = 0;  // from 1; the column counts bytes
  enum class Of { attribute, percent, shared_variable } what = Of::attribute;
  auto operator<=>(const Place&) const = default;
};

// By file, as clang names it: the places that clang's messages complain about, including places inside macros.
std::map<std::string, std::vector<Place>> refused_spellings(std::string_view messages);

// `source` with clang's spelling at these places. A place without such a spelling stays unchanged.
std::string respelt(std::string source, std::vector<Place> places);

}  // namespace warpgrind::toolchain
