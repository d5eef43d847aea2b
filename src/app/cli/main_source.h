// The source file of a program, where it is known before the program runs: `list` and `break LINE` mean this file then.
#pragma once

#include <string>
#include <vector>

namespace warpgrind::cli {

// A .cu file, the script of an interpreter, or the only CUDA source that an executable names (compiled with -G or
// -lineinfo). An absolute path if the file exists. Empty: unknown, or there are several.
std::string main_source(const std::vector<std::string>& program);

}  // namespace warpgrind::cli
