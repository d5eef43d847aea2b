// Known alignment of addresses, on small kernels in PTX text.
#include <gtest/gtest.h>

#include <string>

#include "flow/definitions.h"
#include "ptx/parser.h"
#include "sass/address_sums.h"

namespace warpgrind::sass {
namespace {

// Known trailing zero bits of %r9, the address of the last access, after the body.
unsigned zeros_after(const std::string& body) {
  const auto parsed = ptx::parse(
      ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .b32 %r<10>; .reg .f32 %f<4>;\nmov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 3;\n" +
          body + " ld.shared.u32 %r0, [%r9]; ret;\n}\n",
      "test.ptx");
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
  if (!parsed.ok()) return 99;
  const flow::Definitions definitions = flow::find_definitions((*parsed)->functions[0]);
  AddressSums sums(**parsed, definitions);
  return sums.address(definitions.function.body[definitions.function.body.size() - 2].operands[1]).zeros;
}

TEST(AddressSums, ZeroBits) {
  EXPECT_EQ(zeros_after("mov.u32 %r9, %r2;"), 3u);
  EXPECT_EQ(zeros_after("xor.b32 %r9, %r2, 16;"), 3u);
  EXPECT_EQ(zeros_after("neg.s32 %r9, %r2;"), 3u);
  EXPECT_EQ(zeros_after("mad.lo.s32 %r9, %r1, 4, %r2;"), 2u);
  EXPECT_EQ(zeros_after("not.b32 %r9, %r2;"), 0u);
  EXPECT_EQ(zeros_after("add.sat.s32 %r9, %r2, 8;"), 0u);  // 0x7fffffff is no multiple of 8
  EXPECT_EQ(zeros_after("cvt.sat.s32.u32 %r9, %r2;"), 0u);
}

}  // namespace
}  // namespace warpgrind::sass
