// Launches of a debugger: how warps follow each other, and what a handler sees of one that began in place of another.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/state.h"
#include "device/stop_handler.h"
#include "ptx/parser.h"

namespace warpgrind::device {
namespace {

constexpr std::uint32_t kThreadsOfBlock = 128, kBlocksOfStops = 2, kWarpsOfBlock = kThreadsOfBlock / kWarpSize;

// Stops at one place.
class OnePlaceHandler final : public StopHandler {
 public:
  struct Seen {
    std::uint64_t block = 0;
    std::uint32_t warp = 0, begun = 0, ended = 0;  // begun, ended: warps of its block
    std::uint64_t steps = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  explicit OnePlaceHandler(std::optional<std::uint32_t> place) {
    if (place) flags_[*place] = 1;
  }
  jit::StopAt stops_at() const override { return jit::StopAt::instructions; }
  void begins(Launch& launch) override { launch.stop_flags = flags_.data(); }
  void stopped(jit::WarpContext& c, LaneMask, std::uint32_t) override {
    const Block& block = *fiber_of(c).block;
    seen.push_back({block.linear, c.warp, block.started, block.ended, c.steps});
  }
  void touched(jit::WarpContext&, const Touch&) override {}
  void faulted(Launch&, const Fault&, jit::WarpContext*) override {}
  std::uint64_t most_kept_bytes() const override { return 1 << 20; }
  bool runs_again(Launch& launch) override {
    turns = launch.turns;
    return false;
  }
  bool wants(Report::Kind) override { return false; }
  void reported(const Report&) override {}
  void expect(const Fault&) override {}

  std::vector<Seen> seen;
  Turns turns = Turns::none;

 private:
  std::vector<std::uint8_t> flags_ = std::vector<std::uint8_t>(64, 0);
};

// Each thread counts in its own word.
void run_with_stops(OnePlaceHandler& handler, const std::string& body) {
  Options options;
  options.caches = false;
  options.stops = &handler;
  Device device(0, **find_gpu_model("h200"), options);
  auto parsed = ptx::parse(
      ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 data)\n{\n"
      ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n" +
          body + "\nret;\n}\n",
      "test.ptx");
  ASSERT_TRUE(parsed.ok());
  auto loaded = device.load(*parsed);
  ASSERT_TRUE(loaded.ok());
  auto* data = reinterpret_cast<std::uint32_t*>(*device.allocate(kThreadsOfBlock * kBlocksOfStops * 4));
  LaunchConfig config;
  config.grid = {kBlocksOfStops, 1, 1};
  config.block = {kThreadsOfBlock, 1, 1};
  void* arguments[] = {&data};
  auto result = device.launch(*loaded, 0, config, arguments);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->fault);
  for (std::uint32_t t = 0; t < kThreadsOfBlock * kBlocksOfStops; ++t) ASSERT_EQ(data[t], t % kThreadsOfBlock) << t;
}

const std::string kStoreThread =
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; ld.param.u64 %rd1, [data]; mad.lo.u32 %r3, %r2, 128, %r1;"
    "mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;";
constexpr std::uint32_t kStorePlace = 6, kLatePlace = 9;  // instructions before them
// The last warp of a block alone passes kLatePlace.
const std::string kLastWarpGoesOn = kStoreThread + "setp.lt.u32 %p1, %r1, 96; @%p1 ret; mov.u32 %r4, 1;";

TEST(Stops, WarpsRunInPlaceWhileNoneStops) {
  OnePlaceHandler handler({});
  run_with_stops(handler, kStoreThread);
  EXPECT_EQ(handler.turns, Turns::in_place);
  EXPECT_TRUE(handler.seen.empty());
}

TEST(Stops, EachWarpStopsInOrder) {
  OnePlaceHandler handler(kStorePlace);
  run_with_stops(handler, kStoreThread);
  std::vector<OnePlaceHandler::Seen> expected;
  for (std::uint32_t b = 0; b < kBlocksOfStops; ++b)
    for (std::uint32_t w = 0; w < kWarpsOfBlock; ++w) expected.push_back({b, w, w + 1, w, kStorePlace + 1});
  EXPECT_EQ(handler.seen, expected);
}

// The first three warps ended in machine code. Their steps are not those of the last.
TEST(Stops, AWarpInPlaceCountsItsOwnSteps) {
  OnePlaceHandler handler(kLatePlace);
  run_with_stops(handler, kLastWarpGoesOn);
  EXPECT_EQ(handler.turns, Turns::in_place);
  std::vector<OnePlaceHandler::Seen> expected;
  for (std::uint32_t b = 0; b < kBlocksOfStops; ++b)
    expected.push_back({b, kWarpsOfBlock - 1, kWarpsOfBlock, kWarpsOfBlock - 1, kLatePlace + 1});
  EXPECT_EQ(handler.seen, expected);
}

}  // namespace
}  // namespace warpgrind::device
