// Extraction of functions from a source text: definitions with their heads and comments.
#include <gtest/gtest.h>

#include <string>

#include "lab/function_text.h"

namespace warpgrind::lab {
namespace {

constexpr const char* kSource = R"cu(// The file's own comment.
#include <cstdio>
#define TWO_LINES { \
  {

constexpr int kTile = 32;  // not of what follows

// Claim: rows in,
// columns out.
template <class T>
__global__ void naive(const T* in, T* out, int n) {
  const char* text = "}}";  // a brace: }
  const char c = '{';
  if (n) { out[0] = in[0]; /* } */ }
}

namespace deeper {
namespace {
/* Of two
   lines. */
__device__ int half(int x) { return x / 1'000; }

struct Add {
  __device__ int operator()(int a, int b) const { return a + b; }
};
}  // namespace
}

extern "C" {
__global__ void plain() {}
}
int table[] = {1, 2};
)cu";

TEST(FunctionText, DefinitionsWithHeadsAndComments) {
  const std::vector<LineSpan> spans = definitions(kSource);
  ASSERT_EQ(spans.size(), 5u);
  const auto is = [&](std::size_t i, std::uint32_t first, std::uint32_t last) {
    EXPECT_EQ(spans[i].first, first) << i;
    EXPECT_EQ(spans[i].last, last) << i;
  };
  is(0, 8, 15);
  is(1, 19, 21);
  is(2, 23, 25);
  is(3, 30, 30);
  is(4, 32, 32);
}

TEST(FunctionText, BracesThatDoNotMatchEndSomewhere) {
  EXPECT_TRUE(definitions("}}}").empty());
  EXPECT_TRUE(definitions("void f() {{").empty());
  EXPECT_EQ(definitions("}\nvoid f() {}\n").size(), 1u);
  EXPECT_TRUE(definitions("R\"x(").empty());
  EXPECT_TRUE(definitions("\"\\").empty());
}

}  // namespace
}  // namespace warpgrind::lab
