// Text that may be shown on a terminal.
#include <gtest/gtest.h>

#include "base/printable.h"

namespace warpgrind {
namespace {

TEST(Printable, TextAndColoursStay) {
  for (const char* text : {"", "plain\n\tindented\r\n", "\x1b[1mbold\x1b[0m", "\x1b[38;5;9mred\x1b[m",
                           "M\xc3\xbcller \xe2\x86\x92 \xf0\x9f\x98\x80"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, SequencesAreShown) {
  EXPECT_EQ(printable("x\x1b]0;PWNED\x07\x1b[2J\x1b[31mFAKE"), "x\\x1b]0;PWNED\\x07\\x1b[2J\x1b[31mFAKE");
  EXPECT_EQ(printable("\x1b"), "\\x1b");
  EXPECT_EQ(printable("\x1b[31"), "\\x1b[31");
  EXPECT_EQ(printable("over\rwritten\b\x7f"), "over\\x0dwritten\\x08\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, ControlCharactersOfOtherEncodingsAreShown) {
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J")
      << "a C1 character in Latin 1";
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\x9b2J")
      << "and in UTF-8";
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "txt.exe"),
            "\\u202etxt.exe")
      << "text from right to left";
  EXPECT_EQ(printable("\xc0\x9b\xe2\x80"), "\\xc0\\x9b\\xe2\\x80") << "not UTF-8";
}

}  // namespace
}  // namespace warpgrind
