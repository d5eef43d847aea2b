// Generators of documentation and TypeScript types from the member tables (members.h).
// tests/unit/results_format_test.cpp compares their output with the files in the repository.
#pragma once

#include <string>
#include <vector>

namespace warpgrind::results {

struct DocumentedType {
  std::string name;      // as in the page's types: "Kernel"
  std::string markdown;  // a table
};
std::vector<DocumentedType>
profile_as_markdown();                // tables of docs/profile-format.md, which stand there between marks with the name
std::string profile_as_typescript();  // web/src/profile_types.ts

}  // namespace warpgrind::results
