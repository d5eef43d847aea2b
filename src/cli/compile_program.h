// A .cu file to a program: with nvcc, or with clang-19 where the toolkit is not installed.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::cli {

std::string find_in_path(const std::string& name);  // empty: not on the PATH

// The path of the program, in `folder`. flags: of the user, each may hold several words.
Result<std::string> compile_program(const std::string& source, const std::string& gpu,
                                    const std::vector<std::string>& flags, const std::string& folder,
                                    const std::string& library);

}  // namespace warpgrind::cli
