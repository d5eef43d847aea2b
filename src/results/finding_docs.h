// What is made of the table in finding_members.h beside the file itself; tests/unit/results_finding_format_test.cpp
// holds the two against what is in the repository.
#pragma once

#include <string>

namespace warpgrind::results {

std::string findings_as_markdown();    // a part of docs/profile-format.md
std::string findings_as_typescript();  // web/src/finding_types.ts

}  // namespace warpgrind::results
