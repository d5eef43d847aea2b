// Make rules with the dependencies of a source, as compilers write them (-MD): reading, merging over the two passes of
// a source, and writing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::toolchain {

// The prerequisites of the rule in a file: file names, in the rule's order.
Result<std::vector<std::string>> read_dependencies(const std::string& path);

// `target`: one or more targets, written unchanged. `phony`: adds a rule without prerequisites for each file but the
// first.
std::string dependency_rule(const std::string& target, const std::vector<std::string>& files, bool phony);
std::string escaped_for_make(const std::string& path);

// All of `first`, then the files that only `second` has.
std::vector<std::string> merged(std::vector<std::string> first, const std::vector<std::string>& second);

}  // namespace warpgrind::toolchain
