// What is made of the tables of members (members.h) beside the file itself; tests/unit/results_format_test.cpp holds
// the two against what is in the repository.
#pragma once

#include <string>
#include <vector>

namespace warpgrind::results {

struct DocumentedType {
  std::string name;      // as the page's types have it: "Kernel"
  std::string markdown;  // a table
};
std::vector<DocumentedType>
profile_as_markdown();                // the tables of docs/profile-format.md, each between marks of its name
std::string profile_as_typescript();  // web/src/profile_types.ts

}  // namespace warpgrind::results
