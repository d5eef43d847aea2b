// Declarations of what a test calls, taken from the skeleton: the test is compiled without the answer, and both are
// linked.
#pragma once

#include <string>

namespace warpgrind::exercises {

struct Declarations {
  std::string prototypes;  // of kernels and host functions, one a line
  std::string types;       // structures, aliases and constants, which prototypes may need
};

// Reads the outermost level of a source: functions with a body, types, constants. Device functions, static functions,
// templates and variables are left out, because no test can call them.
Declarations declarations_of(const std::string& source);

}  // namespace warpgrind::exercises
