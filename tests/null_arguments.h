// Stored results of the functions of an API with all arguments null or zero: one line "NAME RESULT" each.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

namespace warpgrind {

// Compares the results with those of the file. WARPGRIND_REWRITE=1 writes the file instead.
inline void expect_stored(const std::map<std::string, std::string>& seen, const std::string& path) {
  if (std::getenv("WARPGRIND_REWRITE")) {
    std::ofstream out(path);
    for (const auto& [name, result] : seen) out << name << " " << result << "\n";
    return;
  }
  std::map<std::string, std::string> expected;
  std::ifstream in(path);
  for (std::string name, result; in >> name >> result;) expected[name] = result;
  for (const auto& [name, result] : seen) EXPECT_EQ(result, expected[name]) << name;
  EXPECT_EQ(seen.size(), expected.size());
}

}  // namespace warpgrind
