// st.bulk: zeroes in shared memory, on a GPU of compute capability 10.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "device_fixture.h"

namespace warpgrind::device {
namespace {

// k(out): 64 words of shared memory are all ones; then `body`, in one thread; then they are stored to `out`.
std::string kernel_with(const std::string& body) {
  return ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
         "  .shared .align 16 .b32 words[64]; .reg .b32 %t, %s, %w, %n; .reg .b64 %o, %g, %z; .reg .pred %p;\n"
         "  ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %s, words; mad.lo.u32 %w, %t, 4, %s;\n"
         "  mov.u32 %n, 0xffffffff; st.shared.u32 [%w], %n; st.shared.u32 [%w+128], %n; bar.sync 0;\n"
         "  cvt.u64.u32 %g, %s; cvta.shared.u64 %g, %g; mov.u64 %z, 64;\n"
         "  setp.ne.u32 %p, %t, 0; @%p bra after;\n" +
         body +
         "after:\n  bar.sync 0; mad.wide.u32 %o, %t, 4, %o;\n"
         "  ld.shared.u32 %n, [%w]; st.global.u32 [%o], %n; ld.shared.u32 %n, [%w+128]; st.global.u32 [%o+128], %n;\n"
         "  ret;\n}\n";
}

// The words that are zero afterwards as text, or the kind of fault.
std::string run(const std::string& body) {
  Options options;
  options.workers = 1;
  Device gpu(0, **find_gpu_model("b200"), options);
  auto parsed = ptx::parse(kernel_with(body), "bulk");
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
  if (!parsed.ok()) return "";
  auto loaded = gpu.load(*parsed);
  EXPECT_TRUE(loaded.ok());
  auto* out = reinterpret_cast<std::uint32_t*>(*gpu.allocate(256));
  void* arguments[] = {&out};
  auto result = gpu.launch(*loaded, 0, shape({1, 1, 1}, {32, 1, 1}), arguments);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  if (!result.ok()) return "";
  if (result->fault) {
    const FaultKind kind = result->fault->kind;
    return kind == FaultKind::misaligned_address     ? "misaligned"
           : kind == FaultKind::shared_out_of_bounds ? "outside shared memory"
                                                     : "illegal address";
  }
  std::string zeroes;
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_TRUE(out[i] == 0 || out[i] == ~0u) << i;
    if (out[i] == 0) zeroes += std::to_string(i) + " ";
  }
  return zeroes;
}

TEST(BulkStore, WritesZeroes) {
  EXPECT_EQ(run("  st.bulk.weak.shared::cta [%s], 16, 0;\n"), "0 1 2 3 ");
  EXPECT_EQ(run("  st.bulk.shared::cta [%s+8], 8, 0;\n"), "2 3 ");
  EXPECT_EQ(run("  st.bulk.weak [%g+240], 16, 0;\n"), "60 61 62 63 ");
  EXPECT_EQ(run("  mov.u64 %z, 16; st.bulk.weak [%g], %z, 0;\n"), "0 1 2 3 ");
  EXPECT_EQ(run("  st.bulk.weak [%g], 0, 0;\n"), "");
}

TEST(BulkStore, StaysInSharedMemory) {
  EXPECT_EQ(run("  st.bulk.weak.shared::cta [%s], 264, 0;\n"), "outside shared memory");
  EXPECT_EQ(run("  st.bulk.weak.shared::cta [%s+4], 8, 0;\n"), "misaligned");
  EXPECT_EQ(run("  mov.u64 %z, 12; st.bulk.weak.shared::cta [%s], %z, 0;\n"), "misaligned");
  EXPECT_EQ(run("  st.bulk.weak [%o], 8, 0;\n"), "illegal address");
}

}  // namespace
}  // namespace warpgrind::device
