// Rules for make, as compilers write them (-MD): read, merged over the two passes of a source, written.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::toolchain {

// The prerequisites of the rule in a file, in order, as file names.
Result<std::vector<std::string>> read_dependencies(const std::string& path);

// target: written as it is (it may be several). phony: a rule without prerequisites for each but the first.
std::string dependency_rule(const std::string& target, const std::vector<std::string>& files, bool phony);
std::string escaped_for_make(const std::string& path);

// All of `first`, then what only `second` has.
std::vector<std::string> merged(std::vector<std::string> first, const std::vector<std::string>& second);

}  // namespace warpgrind::toolchain
