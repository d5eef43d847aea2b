// Any control-flow graph: random jumps between blocks (irreducible ones too) give each thread the result it would have
// alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "device/device.h"
#include "ptx/parser.h"

namespace {

using namespace warpgrind;

constexpr unsigned kRegisters = 6, kThreads = 96;

// A step of a block: register[d] = register[a] op register[b] (or a constant).
struct Step {
  unsigned op, d, a, b;
  std::uint32_t constant;
  int guard = -1;  // executes only where bit 0 of this register is set
};
struct Block {
  std::vector<Step> steps;
  unsigned test = 0;  // branches on (register[test] >> shift) & 1
  unsigned shift = 0;
  unsigned taken = 0, other = 0;
  bool leaves = false;  // threads with the bit set return here
};

std::vector<Block> random_program(std::mt19937& random) {
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::vector<Block> blocks(3 + pick(9));
  for (Block& b : blocks) {
    for (unsigned k = 1 + pick(4); k-- > 0;)
      b.steps.push_back({pick(4), pick(kRegisters), pick(kRegisters), pick(kRegisters),
                         static_cast<std::uint32_t>(random()), pick(4) == 0 ? static_cast<int>(pick(kRegisters)) : -1});
    b.test = pick(kRegisters);
    b.shift = pick(5);
    b.taken = pick(static_cast<unsigned>(blocks.size()));
    b.other = pick(static_cast<unsigned>(blocks.size()));
    b.leaves = pick(8) == 0;
  }
  return blocks;
}

// Every block visit costs one unit of fuel, so that every thread ends.
std::string to_ptx(const std::vector<Block>& blocks, unsigned fuel) {
  std::string t =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 seed) {\n"
      ".reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd1, [out]; ld.param.u32 %r20, [seed]; mov.u32 %r21, %tid.x;\nmul.wide.u32 %rd2, %r21, 24; "
      "add.s64 %rd3, %rd1, %rd2;\n";
  t += fmt::format("mov.u32 %r22, {};\n", fuel);
  for (unsigned r = 0; r < kRegisters; ++r)
    t += fmt::format("mad.lo.u32 %r{}, %r21, {}, %r20;\n", r, (r % 2 ? 2654435761u : 1u) * (r + 1));
  static constexpr const char* kOps[] = {"add.u32", "xor.b32", "sub.u32", "mul.lo.u32"};
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    const Block& b = blocks[n];
    t += fmt::format("B{}:\nsub.u32 %r22, %r22, 1; setp.eq.u32 %p1, %r22, 0; @%p1 bra END;\n", n);
    for (const Step& s : b.steps) {
      if (s.guard >= 0) t += fmt::format("and.b32 %r23, %r{}, 1; setp.ne.u32 %p2, %r23, 0;\n@%p2 ", s.guard);
      if (s.op == 3)
        t += fmt::format("{} %r{}, %r{}, {};\n", kOps[s.op], s.d, s.a, s.constant | 1);
      else
        t += fmt::format("{} %r{}, %r{}, %r{};\n", kOps[s.op], s.d, s.a, s.b);
    }
    t += fmt::format("shr.u32 %r24, %r{}, {}; and.b32 %r24, %r24, 1; setp.ne.u32 %p3, %r24, 0;\n", b.test, b.shift);
    t += b.leaves ? fmt::format("@%p3 bra END;\nbra B{};\n", b.other)
                  : fmt::format("@%p3 bra B{};\nbra B{};\n", b.taken, b.other);
  }
  t += "END:\n";
  for (unsigned r = 0; r < kRegisters; ++r) t += fmt::format("st.global.u32 [%rd3+{}], %r{};\n", 4 * r, r);
  return t + "ret;\n}\n";
}

void run_alone(const std::vector<Block>& blocks, unsigned fuel, unsigned thread, std::uint32_t seed, std::uint32_t* r) {
  for (unsigned k = 0; k < kRegisters; ++k) r[k] = thread * ((k % 2 ? 2654435761u : 1u) * (k + 1)) + seed;
  unsigned at = 0;
  while (--fuel != 0) {
    const Block& b = blocks[at];
    for (const Step& s : b.steps) {
      if (s.guard >= 0 && !(r[s.guard] & 1)) continue;
      switch (s.op) {
        case 0:
          r[s.d] = r[s.a] + r[s.b];
          break;
        case 1:
          r[s.d] = r[s.a] ^ r[s.b];
          break;
        case 2:
          r[s.d] = r[s.a] - r[s.b];
          break;
        default:
          r[s.d] = r[s.a] * (s.constant | 1);
      }
    }
    const bool set = r[b.test] >> b.shift & 1;
    if (b.leaves && set) return;
    at = set ? b.taken : b.other;
  }
}

class EdgeObserver : public events::Observer {
 public:
  events::Wants wants() const override {
    events::Wants wanted;
    wanted.counts = wanted.edges = true;
    return wanted;
  }
};

// Every lane that goes into a block leaves it, by a way that is counted.
void expect_lanes_flow(const events::KernelFacts& facts, const events::LaunchCounts& counts, unsigned threads) {
  std::vector<std::uint64_t> in(facts.blocks.size()), out(facts.blocks.size()), warps(facts.blocks.size());
  std::vector<bool> several(facts.blocks.size());
  std::uint64_t left = 0;
  in[0] = threads;
  for (const events::EdgeFacts& e : facts.edges) {
    const bool counted = e.counter != events::EdgeFacts::kNotCounted;
    const events::BlockCounts n = counted ? counts.edges.at(e.counter) : counts.blocks[e.from];
    EXPECT_LE(n.warps, counts.blocks[e.from].warps);
    EXPECT_LE(n.lanes, n.warps * kWarpSize);
    EXPECT_GE(n.lanes, n.warps);
    out[e.from] += n.lanes;
    warps[e.from] += n.warps;
    several[e.from] = counted;
    (e.to == events::EdgeFacts::kLeaves ? left : in[e.to]) += n.lanes;
  }
  EXPECT_EQ(left, threads);
  for (std::size_t b = 0; b < facts.blocks.size(); ++b) {
    EXPECT_EQ(in[b], counts.blocks[b].lanes) << "block " << b;
    EXPECT_EQ(out[b], counts.blocks[b].lanes) << "block " << b;
    std::uint64_t splits = 0;
    for (std::size_t k = 0; k < facts.branches.size(); ++k)
      if (facts.branches[k].instruction == facts.blocks[b].first_instruction + facts.blocks[b].instruction_count - 1)
        splits = counts.branches[k].divergent;
    if (several[b]) {
      EXPECT_EQ(warps[b], counts.blocks[b].warps + splits) << "block " << b;
    }
  }
}

TEST(JitControlFlow, RandomGraphsGiveEachThreadItsOwnResult) {
  GpuModel model;
  model.memory_bytes = 1u << 30;
  model.shared_per_sm = 233472;
  device::Options options;
  options.workers = 1;
  device::Device gpu(0, model, options);
  EdgeObserver observer;
  gpu.add_observer(&observer);
  const auto out = gpu.allocate(kThreads * kRegisters * 4);
  ASSERT_TRUE(out.ok());
  std::mt19937 random(12345);
  for (unsigned program = 0; program < 60; ++program) {
    const std::vector<Block> blocks = random_program(random);
    const unsigned fuel = 40 + static_cast<unsigned>(random() % 100);
    std::uint32_t seed = static_cast<std::uint32_t>(random());
    const std::string text = to_ptx(blocks, fuel);
    auto parsed = ptx::parse(text, "random.ptx");
    ASSERT_TRUE(parsed.ok()) << parsed.error().message << parsed.error().detail;
    auto loaded = gpu.load(parsed.take());
    ASSERT_TRUE(loaded.ok());
    std::uint64_t address = *out;
    void* parameters[] = {&address, &seed};
    auto result = gpu.launch(*loaded, 0, {{1, 1, 1}, {kThreads, 1, 1}}, parameters);
    ASSERT_TRUE(result.ok()) << result.error().message;
    ASSERT_FALSE(result->fault) << result->fault->message;
    expect_lanes_flow(result->kernel->facts(), result->counts, kThreads);
    ASSERT_FALSE(HasFailure()) << "program " << program << "\n" << text;
    const auto* got = reinterpret_cast<const std::uint32_t*>(address);
    for (unsigned t = 0; t < kThreads; ++t) {
      std::uint32_t want[kRegisters];
      run_alone(blocks, fuel, t, seed, want);
      for (unsigned r = 0; r < kRegisters; ++r)
        ASSERT_EQ(got[t * kRegisters + r], want[r])
            << "program " << program << " thread " << t << " register " << r << "\n"
            << text;
    }
  }
}

TEST(JitControlFlow, EdgesOfIndexedBranchesAndGuardedExits) {
  GpuModel model;
  model.memory_bytes = 1u << 30;
  device::Options options;
  options.workers = 2;
  device::Device gpu(0, model, options);
  EdgeObserver observer;
  gpu.add_observer(&observer);
  // Lanes 0 to 3 of each warp leave; of the others lane % 4 chooses; 1 and 3 go to the same place.
  auto parsed = ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .pred %p<2>; .reg .b32 %r<4>;\n"
      "mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 4; @%p1 exit;\n"
      "and.b32 %r2, %r1, 3; T: .branchtargets A, B, C, B; brx.idx %r2, T;\n"
      "A: add.u32 %r3, %r1, 1; bra D;\nB: add.u32 %r3, %r1, 2; bra D;\nC: add.u32 %r3, %r1, 3;\nD: ret;\n}\n",
      "indexed.ptx");
  ASSERT_TRUE(parsed.ok()) << parsed.error().detail;
  auto loaded = gpu.load(parsed.take());
  ASSERT_TRUE(loaded.ok());
  auto result = gpu.launch(*loaded, 0, {{3, 1, 1}, {64, 1, 1}}, nullptr);
  ASSERT_TRUE(result.ok()) << result.error().message;
  ASSERT_FALSE(result->fault) << result->fault->message;
  const events::KernelFacts& facts = result->kernel->facts();
  std::vector<std::tuple<bool, std::uint64_t, std::uint64_t>> counted;  // leaves, warps, lanes
  for (const events::EdgeFacts& e : facts.edges)
    if (e.counter != events::EdgeFacts::kNotCounted)
      counted.emplace_back(e.to == events::EdgeFacts::kLeaves, result->counts.edges.at(e.counter).warps,
                           result->counts.edges.at(e.counter).lanes);
  const std::vector<std::tuple<bool, std::uint64_t, std::uint64_t>> want = {
      {true, 6, 24}, {false, 6, 168}, {false, 6, 42}, {false, 6, 84}, {false, 6, 42}};
  EXPECT_EQ(counted, want);
}

// A lock that lanes of one warp take in turn: the holder waits at the loop's end for those that spin.
TEST(JitControlFlow, LanesThatWaitForEachOtherDoNotHang) {
  GpuModel model;
  model.memory_bytes = 1u << 30;
  device::Options options;
  options.workers = 1;
  options.timeout_seconds = 20;
  device::Device gpu(0, model, options);
  const auto memory = gpu.allocate(64);
  ASSERT_TRUE(memory.ok());
  auto parsed = ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .pred %p<4>; .reg .b32 "
      "%r<8>; .reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd1, [p];\n"
      "SPIN: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra SPIN;\n"
      "ld.volatile.global.u32 %r2, [%rd1+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd1+4], %r2;\n"
      "membar.gl; atom.global.exch.b32 %r3, [%rd1], 0; ret;\n}\n",
      "lock.ptx");
  ASSERT_TRUE(parsed.ok()) << parsed.error().detail;
  auto loaded = gpu.load(parsed.take());
  ASSERT_TRUE(loaded.ok());
  std::uint64_t address = *memory;
  auto* words = reinterpret_cast<std::uint32_t*>(address);
  words[0] = words[1] = 0;
  void* parameters[] = {&address};
  auto result = gpu.launch(*loaded, 0, {{2, 1, 1}, {64, 1, 1}}, parameters);
  ASSERT_TRUE(result.ok()) << result.error().message;
  ASSERT_FALSE(result->fault) << result->fault->message;
  EXPECT_EQ(words[1], 128u);
}

}  // namespace
