// Demangled names of kernels: clang's static kernels, short names, Numba's tags.
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

TEST(BaseDemangle, TagsOfNumba) {
  EXPECT_EQ(demangle("_ZN8__main__6beyondB2v1B41cw51cXTLSUwv1sDUaKthqaNgoKmjgMVuW1AiA8rAEEi"),
            "__main__::beyond[abi:v1](int)");
  EXPECT_EQ(demangle("_Z1fB5cxx11v"), "f[abi:cxx11]()");
}

}  // namespace
}  // namespace warpgrind
