// The files of tests/parse: beside every NAME.ptx is NAME.expected, the printed module (good/) or the diagnostics
// (bad/). WARPGRIND_REBASE=1 rewrites the expected files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ptx/parser.h"
#include "ptx/printer.h"
#include "read_file.h"

namespace warpgrind::ptx {
namespace {

namespace fs = std::filesystem;

void compare(const fs::path& input, const std::string& output) {
  fs::path expected = input;
  expected.replace_extension(".expected");
  if (std::getenv("WARPGRIND_REBASE")) {
    std::ofstream(expected) << output;
    return;
  }
  EXPECT_EQ(read_file(expected), output) << input << "; WARPGRIND_REBASE=1 rewrites the expected file";
}

std::vector<fs::path> inputs(const char* folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(WARPGRIND_TESTS) / "parse" / folder)) {
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  EXPECT_FALSE(paths.empty());
  return paths;
}

TEST(PtxFiles, GoodOnesPrint) {
  for (const fs::path& path : inputs("good")) {
    const auto module = parse(read_file(path), path.filename());
    ASSERT_TRUE(module) << module.error().detail;
    const std::string printed = print(**module);
    compare(path, printed);
    const auto again = parse(printed, path.filename().string() + " (printed)");
    ASSERT_TRUE(again) << again.error().detail;
    EXPECT_EQ(print(**again), printed) << path;
  }
}

TEST(PtxFiles, BadOnesComplain) {
  for (const fs::path& path : inputs("bad")) {
    const auto module = parse(read_file(path), path.filename());
    ASSERT_FALSE(module) << path;
    compare(path, module.error().message + '\n' + module.error().detail);
  }
}

}  // namespace
}  // namespace warpgrind::ptx
