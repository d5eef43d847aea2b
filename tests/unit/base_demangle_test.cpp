#include <gtest/gtest.h>

#include "base/demangle.h"

namespace warpgrind {
namespace {

TEST(BaseDemangle, NamesOfClangsStaticKernelsAreAsInTheSource) {
  EXPECT_EQ(demangle("_ZL6reducePfS_i__intern__56579c87569fa88a"), "reduce(float*, float*, int)");
  EXPECT_EQ(demangle("_ZL5table__static__0ab"), "table");
  EXPECT_EQ(demangle("_Z11f__intern__v"), "f__intern__()");
  EXPECT_EQ(demangle("kernel__intern__"), "kernel__intern__");
  EXPECT_EQ(demangle("plain"), "plain");
}

TEST(BaseDemangle, ShortNamesAreNotTypes) {
  for (const char* name : {"s", "i", "f", "Pi", "St", ""}) EXPECT_EQ(demangle(name), name);
}

}  // namespace
}  // namespace warpgrind
