// Common parts of the tests of unsupported functions.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace warpgrind::test {

struct UnsupportedCall {
  const char* name;
  int (*call)();
};

// Each function returns the library's status for unsupported functions, and is reported once, however often it is
// called.
inline void expect_refused(const std::vector<UnsupportedCall>& calls, int status) {
  testing::internal::CaptureStderr();
  for (int times = 0; times < 2; ++times)
    for (const UnsupportedCall& one : calls) EXPECT_EQ(one.call(), status) << one.name;
  const std::string said = testing::internal::GetCapturedStderr();
  for (const UnsupportedCall& one : calls) {
    const std::string text = std::string(one.name) + " is not supported";
    const std::size_t at = said.find(text);
    EXPECT_NE(at, std::string::npos) << one.name;
    EXPECT_EQ(said.find(text, at + 1), std::string::npos) << one.name;
  }
}

}  // namespace warpgrind::test
