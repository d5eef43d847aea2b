// references_hold() sees each kind of index that names nothing.
#include <gtest/gtest.h>

#include "ptx/parser.h"
#include "ptx/references.h"

namespace warpgrind::ptx {
namespace {

constexpr const char* kText = R"(.version 8.0
.target sm_80
.address_size 64
.global .u32 x;
.global .u64 table[1] = {x};
.visible .entry k(.param .u64 out)
{
  .reg .pred %p;
  .reg .b64 %rd<3>;
  .reg .b32 %r;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, x;
L:
  @%p bra L;
  mov.b64 %rd1, {%r, %r};
  ret;
}
)";

using Change = void (*)(Module&);

TEST(References, HoldAfterParsing) {
  EXPECT_TRUE(references_hold(**parse(kText, "test")));
}

TEST(References, EachBrokenOneIsSeen) {
  const Change changes[] = {
      [](Module& m) { m.functions[0].body[0].operands[0].index = 99; },              // a register
      [](Module& m) { m.functions[0].body[0].operands[1].index = 1; },               // the base of an address
      [](Module& m) { m.functions[0].body[1].operands[1].index = 2; },               // a variable of the module
      [](Module& m) { m.functions[0].body[2].guard.reg = 99; },                      // a guard
      [](Module& m) { m.functions[0].body[2].operands[0].index = 1; },               // a label
      [](Module& m) { m.functions[0].body[3].operands[1].elements[1].index = 99; },  // in a vector
      [](Module& m) { m.functions[0].body[4].location = 0; },                        // a line
      [](Module& m) { m.functions[0].labels[0].instruction = 6; },
      [](Module& m) { m.functions[0].parameter_count = 2; },
      [](Module& m) { m.variables[1].relocations[0].target = 2; },
  };
  for (std::size_t k = 0; k < std::size(changes); ++k) {
    auto module = *parse(kText, "test");
    changes[k](*module);
    EXPECT_FALSE(references_hold(*module)) << k;
  }
}

}  // namespace
}  // namespace warpgrind::ptx
