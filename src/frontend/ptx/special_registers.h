// Conversion between special registers and their names: "%tid.x" <-> SpecialRegister::tid_x.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ptx/ast.h"

namespace warpgrind::ptx {

struct SpecialRegisterName {
  SpecialRegister sreg = SpecialRegister::tid_x;  // for a vector: its x component
  bool is_vector = false;                         // %tid, %ntid ...: .x .y .z follow each other in the enum
  std::uint32_t number = kNoId;                   // %envreg3, %pm2
};

// `text` is the name without a component: "%tid", "%laneid", "%envreg12".
std::optional<SpecialRegisterName> special_register_from_text(std::string_view text);
// With the component: "%tid.y", "%envreg12".
std::string special_register_text(SpecialRegister sreg, std::uint32_t number);

}  // namespace warpgrind::ptx
