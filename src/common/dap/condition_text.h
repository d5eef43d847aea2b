// Mistakes of a breakpoint's condition that show without the program: its variables are known only at the stop.
#pragma once

#include <string>
#include <string_view>

namespace warpgrind::dap {

// Empty: none. Otherwise what is wrong: an assignment in place of ==, brackets that do not match, a missing operand.
std::string problem_of_condition(std::string_view text);

}  // namespace warpgrind::dap
