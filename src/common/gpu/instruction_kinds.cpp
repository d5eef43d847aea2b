#include "gpu/instruction_kinds.h"

#include <iterator>

namespace warpgrind {

std::string_view name(InstructionClass c) {
  static constexpr std::string_view kNames[] = {
      "fp16", "fp32",       "fp64",    "integer",      "conversion", "bit",          "control", "compare_select",
      "move", "load_store", "texture", "inter_thread", "barrier",    "uniform_math", "tensor",  "misc"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(InstructionClass::count));
  return kNames[static_cast<unsigned>(c)];
}

}  // namespace warpgrind
