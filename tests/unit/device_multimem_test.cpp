// multimem.* on a table of multimem addresses: what each GPU's memory holds afterwards, what is counted, and faults.
// The driver API's objects, and all types, are in tests/driver/multicast_test.cpp.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "device/memory/address_space.h"
#include "device/memory/multicast.h"
#include "device_fixture.h"

namespace warpgrind::device {
namespace {

constexpr std::uint64_t kPage = std::uint64_t{2} << 20;

// k(multimem, plain): a warp, whose lanes have the words at %m and %p.
std::string multimem_kernel(const std::string& body) {
  return ".version 9.1\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 m, .param .u64 p)\n{\n"
         "  .shared .align 16 .b32 words[32];\n"
         "  .reg .b32 %t, %r, %s, %w; .reg .b64 %m, %p, %o; .reg .pred %q;\n"
         "  ld.param.u64 %m, [m]; ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4;\n"
         "  add.u64 %m, %m, %o; add.u64 %p, %p, %o; add.u32 %r, %t, 100; mov.u32 %s, words;\n" +
         body + "  ret;\n}\n";
}

// Two GPUs with 64 words each, 1 to 64 and 1000 to 1063, behind one multimem address; and 32 words of the first GPU.
class Multimem : public testing::Test {
 protected:
  void SetUp() override {
    for (Device* device : {&first, &second}) {
      auto* words = reinterpret_cast<std::uint32_t*>(*device->allocate(256));
      for (std::uint32_t i = 0; i < 64; ++i) words[i] = (memory.empty() ? 1 : 1000) + i;
      memory.push_back(words);
    }
    plain = reinterpret_cast<std::uint32_t*>(*first.allocate(128));
    address = AddressSpace::instance().reserve(kPage, 0, 0);
    Multicast all{address, address + kPage, 3, 3, {}};
    for (int d = 0; d < 2; ++d)
      all.members.push_back(
          {d, {{address, address + 256, reinterpret_cast<std::uint64_t>(memory[static_cast<std::size_t>(d)])}}});
    AddressSpace::instance().set_multicasts({all});
  }
  void TearDown() override {
    AddressSpace::instance().set_multicasts({});
    AddressSpace::instance().unreserve(address, kPage);
  }
  LaunchResult run(const std::string& body, std::uint64_t offset = 0, unsigned threads = 32) {
    auto parsed = ptx::parse(multimem_kernel(body), "multimem");
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
    if (!parsed.ok()) return {};
    auto loaded = first.load(*parsed);
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
    if (!loaded.ok()) return {};
    std::uint64_t at = address + offset;
    void* arguments[] = {&at, &plain};
    auto result = first.launch(*loaded, 0, shape({1, 1, 1}, {threads, 1, 1}), arguments);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? result.take() : LaunchResult{};
  }
  std::string fault(const std::string& body, std::uint64_t offset = 0) {
    const LaunchResult result = run(body, offset);
    return result.fault ? result.fault->message : "";
  }
  static Options one_worker() {
    Options options;
    options.workers = 1;
    return options;
  }

  Device first{0, **find_gpu_model("h200"), one_worker()}, second{1, **find_gpu_model("h200"), one_worker()};
  std::vector<std::uint32_t*> memory;
  std::uint32_t* plain = nullptr;
  std::uint64_t address = 0;
};

TEST_F(Multimem, LoadsAddUpAllGpus) {
  const LaunchResult result = run("  multimem.ld_reduce.global.add.u32 %r, [%m]; st.global.u32 [%p], %r;\n");
  ASSERT_FALSE(result.fault) << result.fault->message;
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(plain[i], 1 + i + 1000 + i);
  // One request of 128 bytes, however many GPUs answer.
  const events::SiteCounts loads = total(result, events::SiteKind::load);
  EXPECT_EQ(loads.global_requests, 1u);
  EXPECT_EQ(loads.global.sectors, 4u);
}

TEST_F(Multimem, StoresAndReductionsReachAllGpus) {
  LaunchResult result = run("  multimem.st.weak.global.u32 [%m], %r; multimem.red.global.add.u32 [%m+128], %r;\n");
  ASSERT_FALSE(result.fault) << result.fault->message;
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(memory[0][i], 100 + i);
    EXPECT_EQ(memory[1][i], 100 + i);
    EXPECT_EQ(memory[0][32 + i], 33 + i + 100 + i);
    EXPECT_EQ(memory[1][32 + i], 1032 + i + 100 + i);
  }
  EXPECT_EQ(total(result, events::SiteKind::store).global_requests, 1u);
  EXPECT_EQ(total(result, events::SiteKind::reduction).global_requests, 1u);
}

TEST_F(Multimem, BulkCopiesReachAllGpus) {
  const LaunchResult result =
      run("  mad.lo.u32 %w, %t, 4, %s; st.shared.u32 [%w], %r; bar.sync 0; fence.proxy.async;\n"
          "  setp.ne.u32 %q, %t, 0; @%q ret;\n"
          "  multimem.cp.async.bulk.global.shared::cta.bulk_group [%m], [%s], 64;\n"
          "  multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%m+128], [%s], 128;\n"
          "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n");
  ASSERT_FALSE(result.fault) << result.fault->message;
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(memory[0][i], i < 16 ? 100 + i : 1 + i);
    EXPECT_EQ(memory[1][i], i < 16 ? 100 + i : 1000 + i);
    EXPECT_EQ(memory[0][32 + i], 100 + i);
    EXPECT_EQ(memory[1][32 + i], 1032 + i);
  }
}

TEST_F(Multimem, AddressesHaveTheirOwnInstructions) {
  EXPECT_NE(fault("  ld.global.u32 %r, [%m]; st.global.u32 [%p], %r;\n").find("a multimem address"), std::string::npos);
  EXPECT_NE(fault("  st.global.u32 [%m], %r;\n").find("a multimem address"), std::string::npos);
  EXPECT_NE(fault("  red.global.add.u32 [%m], %r;\n").find("a multimem address"), std::string::npos);
  EXPECT_NE(fault("  multimem.st.global.u32 [%p], %r;\n").find("no multicast object is mapped there"),
            std::string::npos);
  EXPECT_NE(fault("  multimem.st.global.u32 [%m], %r;\n", 256).find("no memory of GPU 0 is bound there"),
            std::string::npos);
  EXPECT_NE(fault("  multimem.st.global.u32 [%m], %r;\n", kPage).find("no multicast object is mapped there"),
            std::string::npos);
  EXPECT_NE(fault("  multimem.st.global.u32 [%m+2], %r;\n").find("not a multiple of 4"), std::string::npos);
  EXPECT_EQ(memory[1][0], 1000u);
}

}  // namespace
}  // namespace warpgrind::device
