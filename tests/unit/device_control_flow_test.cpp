// Any control-flow graph: with random jumps between blocks (irreducible ones too), each thread gets the result it would
// have alone. With `.sync` operations and barriers too, threads get the results of threads that run one by one and wait
// for each other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "ptx_kernel.h"
#include "sanitized.h"

namespace {

using namespace warpgrind;

constexpr unsigned kRegisters = 6, kThreads = 96;

// Operation of a step: arithmetic, or one at which threads wait for each other.
enum Op : unsigned { kAdd, kXor, kSub, kMul, kShuffle, kBallot, kReduce, kMatch, kBarrier };

// A step of a block: register[d] = register[a] op register[b] (or a constant).
struct Step {
  unsigned op, d, a, b;
  std::uint32_t constant;
  int guard = -1;  // executes only if bit 0 of this register is set
};
struct Block {
  std::vector<Step> steps;
  unsigned test = 0;  // branches on (register[test] >> shift) & 1
  unsigned shift = 0;
  unsigned taken = 0, other = 0;
  bool leaves = false;  // threads with the bit set return here
};

// waits: one step in five is drawn from these operations, at which threads wait; empty: none.
std::vector<Block> random_program(std::mt19937& random, const std::vector<Op>& waits = {}) {
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::vector<Block> blocks(3 + pick(9));
  for (Block& b : blocks) {
    for (unsigned k = 1 + pick(4); k-- > 0;)
      b.steps.push_back({pick(4), pick(kRegisters), pick(kRegisters), pick(kRegisters),
                         static_cast<std::uint32_t>(random()), pick(4) == 0 ? static_cast<int>(pick(kRegisters)) : -1});
    for (Step& step : b.steps)
      if (!waits.empty() && pick(5) == 0) step.op = waits[pick(static_cast<unsigned>(waits.size()))];
    b.test = pick(kRegisters);
    b.shift = pick(5);
    b.taken = pick(static_cast<unsigned>(blocks.size()));
    b.other = pick(static_cast<unsigned>(blocks.size()));
    b.leaves = pick(8) == 0;
  }
  return blocks;
}

// Every visit to a block costs one unit of fuel, so that every thread ends.
// %r25 is the member mask: the warp's, or that of the thread's half of it.
std::string to_ptx(const std::vector<Block>& blocks, unsigned fuel, bool halves = false) {
  std::string t =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 seed) {\n"
      ".reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd1, [out]; ld.param.u32 %r20, [seed]; mov.u32 %r21, %tid.x;\nmul.wide.u32 %rd2, %r21, 24; "
      "add.s64 %rd3, %rd1, %rd2;\n";
  t += fmt::format("mov.u32 %r22, {};\n", fuel);
  t += halves ? "mov.u32 %r25, %laneid; and.b32 %r25, %r25, 16; mov.u32 %r26, 65535; shl.b32 %r25, %r26, %r25;\n"
              : "mov.u32 %r25, -1;\n";
  for (unsigned r = 0; r < kRegisters; ++r)
    t += fmt::format("mad.lo.u32 %r{}, %r21, {}, %r20;\n", r, (r % 2 ? 2654435761u : 1u) * (r + 1));
  static constexpr const char* kOps[] = {"add.u32", "xor.b32", "sub.u32", "mul.lo.u32"};
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    const Block& b = blocks[n];
    t += fmt::format("B{}:\nsub.u32 %r22, %r22, 1; setp.eq.u32 %p1, %r22, 0; @%p1 bra END;\n", n);
    for (const Step& s : b.steps) {
      if (s.op == kBallot || s.op == kBarrier)
        t += fmt::format("and.b32 %r23, %r{}, 1; setp.ne.u32 %p0, %r23, 0;\n", s.a);
      if (s.op == kMatch) t += fmt::format("and.b32 %r27, %r{}, 3;\n", s.a);
      if (s.guard >= 0) t += fmt::format("and.b32 %r23, %r{}, 1; setp.ne.u32 %p2, %r23, 0;\n@%p2 ", s.guard);
      if (s.op == kShuffle)
        t += fmt::format("shfl.sync.idx.b32 %r{}, %r{}, %r{}, 31, %r25;\n", s.d, s.a, s.b);
      else if (s.op == kBallot)
        t += fmt::format("vote.sync.ballot.b32 %r{}, %p0, %r25;\n", s.d);
      else if (s.op == kReduce)
        t += fmt::format("redux.sync.add.u32 %r{}, %r{}, %r25;\n", s.d, s.a);
      else if (s.op == kMatch)
        t += fmt::format("match.any.sync.b32 %r{}, %r27, %r25;\n", s.d);
      else if (s.op == kBarrier)
        t += fmt::format("barrier.red.popc.u32 %r{}, 0, %p0;\n", s.d);
      else if (s.op == kMul)
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

// Runs the threads of one block one by one, each until it must wait for others.
class Reference {
 public:
  Reference(const std::vector<Block>& blocks, unsigned fuel, std::uint32_t seed, unsigned threads, bool halves)
      : blocks_(blocks), threads_(threads) {
    for (unsigned t = 0; t < threads; ++t) {
      Thread& thread = threads_[t];
      thread.fuel = fuel;
      thread.members = halves ? 0xffffu << (t & 16) : 0xffffffffu;
      for (unsigned k = 0; k < kRegisters; ++k) thread.r[k] = t * ((k % 2 ? 2654435761u : 1u) * (k + 1)) + seed;
    }
  }
  // Returns false if threads wait for each other for ever.
  bool run() {
    for (bool moved = true; moved;) {
      for (Thread& t : threads_)
        if (!t.waits) advance(t);
      moved = meet_in_warps() || pass_barrier();
    }
    return std::none_of(threads_.begin(), threads_.end(), [](const Thread& t) { return t.waits != nullptr; });
  }
  const std::uint32_t* registers(unsigned thread) const { return threads_[thread].r; }

 private:
  struct Thread {
    std::uint32_t r[kRegisters];
    unsigned fuel = 0, at = 0, step = 0;
    const Step* waits = nullptr;
    bool done = false, entered = false;
    std::uint32_t members = 0;
  };

  void advance(Thread& t) {
    while (!t.done) {
      const Block& b = blocks_[t.at];
      if (!t.entered && --t.fuel == 0) {
        t.done = true;
        return;
      }
      t.entered = true;
      while (t.step < b.steps.size()) {
        const Step& s = b.steps[t.step++];
        if (s.guard >= 0 && !(t.r[s.guard] & 1)) continue;
        if (s.op >= kShuffle) {
          t.waits = &s;
          return;
        }
        t.r[s.d] = s.op == kAdd   ? t.r[s.a] + t.r[s.b]
                   : s.op == kXor ? t.r[s.a] ^ t.r[s.b]
                   : s.op == kSub ? t.r[s.a] - t.r[s.b]
                                  : t.r[s.a] * (s.constant | 1);
      }
      const bool set = t.r[b.test] >> b.shift & 1;
      t.done = b.leaves && set;
      t.at = set ? b.taken : b.other;
      t.step = 0;
      t.entered = false;
    }
  }

  bool meet_in_warps() {
    bool moved = false;
    for (std::size_t first = 0; first < threads_.size(); first += kWarpSize) {
      const std::size_t count = std::min<std::size_t>(kWarpSize, threads_.size() - first);
      std::uint32_t alive = 0;
      for (std::size_t l = 0; l < count; ++l)
        if (!threads_[first + l].done) alive |= 1u << l;
      for (std::size_t l = 0; l < count; ++l) {
        const Thread& leader = threads_[first + l];
        if (!leader.waits || leader.waits->op == kBarrier) continue;
        const std::uint32_t lanes = leader.members & alive;
        bool complete = true;
        for (std::size_t k = 0; k < count; ++k)
          if (lanes >> k & 1) complete &= threads_[first + k].waits && threads_[first + k].waits->op != kBarrier;
        if (!complete) continue;
        give_results(first, lanes);
        moved = true;
      }
    }
    return moved;
  }

  void give_results(std::size_t first, std::uint32_t lanes) {
    std::vector<Thread> before(
        threads_.begin() + static_cast<std::ptrdiff_t>(first),
        threads_.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(first + kWarpSize, threads_.size())));
    for (std::size_t l = 0; l < before.size(); ++l) {
      if (!(lanes >> l & 1)) continue;
      Thread& t = threads_[first + l];
      const Step& s = *t.waits;
      // The value that a lane contributes, by the lane's own operation.
      const auto brought = [&](std::size_t k) {
        const Step& its = *before[k].waits;
        const std::uint32_t a = before[k].r[its.a];
        return its.op == kBallot ? a & 1 : its.op == kMatch ? a & 3 : a;
      };
      std::uint32_t result = 0;
      if (s.op == kShuffle) {
        const std::uint32_t source = before[l].r[s.b] & 31;
        result = lanes >> source & 1 ? brought(source) : 0;
      } else {
        for (std::size_t k = 0; k < before.size(); ++k) {
          if (!(lanes >> k & 1)) continue;
          if (s.op == kReduce)
            result += brought(k);
          else if (s.op == kBallot ? brought(k) & 1 : brought(k) == brought(l))
            result |= 1u << k;
        }
      }
      t.r[s.d] = result;
      t.waits = nullptr;
    }
  }

  bool pass_barrier() {
    std::uint32_t yes = 0, waiting = 0;
    for (const Thread& t : threads_) {
      if (t.done) continue;
      if (!t.waits || t.waits->op != kBarrier) return false;
      yes += t.r[t.waits->a] & 1;
      ++waiting;
    }
    for (Thread& t : threads_)
      if (!t.done) t.r[t.waits->d] = yes, t.waits = nullptr;
    return waiting != 0;
  }

  const std::vector<Block>& blocks_;
  std::vector<Thread> threads_;
};

class EdgeObserver : public events::Observer {
 public:
  events::Wants wants() const override {
    events::Wants wanted;
    wanted.counts = wanted.edges = true;
    return wanted;
  }
};

// Checks that every lane that enters a block leaves it by a counted edge. as_warps: checks the number of warps too. (If
// lanes wait for others, warps split and join within a block.)
void expect_lanes_flow(const events::KernelFacts& facts, const events::LaunchCounts& counts, unsigned threads,
                       bool as_warps) {
  std::vector<std::uint64_t> in(facts.blocks.size()), out(facts.blocks.size()), warps(facts.blocks.size());
  std::vector<bool> several(facts.blocks.size());
  std::uint64_t left = 0;
  in[0] = threads;
  for (const events::EdgeFacts& e : facts.edges) {
    const bool counted = e.counter != events::EdgeFacts::kNotCounted;
    const events::BlockCounts n = counted ? counts.edges.at(e.counter) : counts.blocks[e.from];
    if (as_warps) {
      EXPECT_LE(n.warps, counts.blocks[e.from].warps);
    }
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
    if (several[b] && as_warps) {
      EXPECT_EQ(warps[b], counts.blocks[b].warps + splits) << "block " << b;
    }
  }
}

// Runs `programs` random programs. Returns how many ended both on the device and in the reference.
unsigned run_random_programs(unsigned programs, unsigned first_seed, unsigned threads, const std::vector<Op>& waits,
                             bool halves) {
  GpuModel model;
  model.memory_bytes = 1u << 30;
  model.shared_per_sm = 233472;
  device::Options options;
  options.workers = 1;
  options.timeout_seconds = 600;  // in case a launch hangs
  device::Device gpu(0, model, options);
  EdgeObserver observer;
  gpu.add_observer(&observer);
  const auto out = gpu.allocate(kThreads * kRegisters * 4);
  EXPECT_TRUE(out.ok());
  std::mt19937 random(first_seed);
  unsigned ended = 0;
  for (unsigned program = 0; program < programs && !testing::Test::HasFailure(); ++program) {
    const std::vector<Block> blocks = random_program(random, waits);
    const unsigned fuel = 40 + static_cast<unsigned>(random() % 100);
    std::uint32_t seed = static_cast<std::uint32_t>(random());
    const std::string text = to_ptx(blocks, fuel, halves);
    auto parsed = ptx::parse(text, "random.ptx");
    EXPECT_TRUE(parsed.ok()) << parsed.error().message << parsed.error().detail;
    auto loaded = gpu.load(parsed.take());
    std::uint64_t address = *out;
    void* parameters[] = {&address, &seed};
    auto result = gpu.launch(*loaded, 0, {{1, 1, 1}, {threads, 1, 1}}, parameters);
    EXPECT_TRUE(result.ok()) << result.error().message;
    Reference reference(blocks, fuel, seed, threads, halves);
    if (!reference.run()) {
      EXPECT_TRUE(result->fault) << "program " << program << " ended where threads wait for ever\n" << text;
      continue;
    }
    if (result->fault) {
      ADD_FAILURE() << "program " << program << ": " << result->fault->message << "\n"
                    << fmt::format("{}\n", fmt::join(result->fault->warps, "\n")) << text;
      break;
    }
    ++ended;
    expect_lanes_flow(result->kernel->facts(), result->counts, threads, waits.empty());
    const auto* got = reinterpret_cast<const std::uint32_t*>(address);
    for (unsigned t = 0; t < threads; ++t)
      for (unsigned r = 0; r < kRegisters; ++r)
        EXPECT_EQ(got[t * kRegisters + r], reference.registers(t)[r])
            << "program " << program << " thread " << t << " register " << r;
    if (testing::Test::HasFailure()) ADD_FAILURE() << text;
  }
  return ended;
}

constexpr unsigned kPrograms = kSanitized ? 5 : 25;

TEST(JitControlFlow, RandomGraphsGiveEachThreadItsOwnResult) {
  EXPECT_EQ(run_random_programs(3 * kPrograms, 12345, kThreads, {}, false), 3 * kPrograms);
}

TEST(JitControlFlow, RandomGraphsOfLanesThatMeet) {
  EXPECT_EQ(run_random_programs(kPrograms, 1, 80, {kShuffle, kBallot, kReduce, kMatch}, false), kPrograms);
}

TEST(JitControlFlow, RandomGraphsOfHalvesThatMeet) {
  EXPECT_EQ(run_random_programs(kPrograms, 2, 80, {kShuffle, kBallot, kReduce, kMatch}, true), kPrograms);
}

TEST(JitControlFlow, RandomGraphsOfThreadsAtBarriers) {
  EXPECT_EQ(run_random_programs(kPrograms, 3, 80, {kBarrier}, false), kPrograms);
}

// Lanes may wait for lanes that wait for them at a barrier: some programs deadlock.
TEST(JitControlFlow, RandomGraphsOfLanesAndThreadsThatWait) {
  const unsigned ended = run_random_programs(25, 4, 80, {kShuffle, kBarrier, kReduce}, true);
  EXPECT_GT(ended, 0u);
  EXPECT_LT(ended, 25u);
}

TEST(JitControlFlow, EdgesOfIndexedBranchesAndGuardedExits) {
  GpuModel model;
  model.memory_bytes = 1u << 30;
  device::Options options;
  options.workers = 2;
  device::Device gpu(0, model, options);
  EdgeObserver observer;
  gpu.add_observer(&observer);
  // Lanes 0 to 3 of each warp leave. For the others, lane % 4 selects the target; 1 and 3 have the same.
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

// PTX leaves an index outside the table undefined. It must not become a wild jump. Tested uniform and per lane.
TEST(JitControlFlow, IndexOutsideABranchTableIsAFault) {
  for (const auto& [index, thread] : {std::pair{"mov.u32 %r2, %ctaid.x; add.u32 %r2, %r2, 2", 0u},
                                      std::pair{"mov.u32 %r2, %tid.x; shr.u32 %r2, %r2, 3", 16u},
                                      std::pair{"mov.u32 %r2, %tid.x; sub.u32 %r2, %r2, 1", 0u}}) {
    GpuModel model;
    model.memory_bytes = 1u << 30;
    device::Device gpu(0, model, device::Options{});
    auto parsed = ptx::parse(
        std::string(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<4>;\n") +
            index + ";\nT: .branchtargets A, B; brx.idx %r2, T;\nA: ret;\nB: ret;\n}\n",
        "outside.ptx");
    ASSERT_TRUE(parsed.ok()) << parsed.error().detail;
    auto loaded = gpu.load(parsed.take());
    ASSERT_TRUE(loaded.ok());
    auto result = gpu.launch(*loaded, 0, {{1, 1, 1}, {32, 1, 1}}, nullptr);
    ASSERT_TRUE(result.ok()) << result.error().message;
    ASSERT_TRUE(result->fault) << index;
    EXPECT_NE(result->fault->message.find("brx.idx"), std::string::npos) << result->fault->message;
    EXPECT_EQ(result->fault->thread.x, thread) << index;
  }
}

// Threads do not wait for lanes that leave through a table: if the paths join at a `ret`, and at the end of the body.
TEST(JitControlFlow, LanesLeaveThroughABranchTable) {
  for (const std::string ways :
       {"A, END, A, END; brx.idx %r2, T;\nA: bar.sync 0;\nst.global.u32 [%rd2], 7;\nEND: ret;\n",
        "A, END, B, END; brx.idx %r2, T;\nA: bar.sync 0; bra C;\nB: bar.sync 0;\n"
        "C: st.global.u32 [%rd2], 7; bra END;\nEND:\n"}) {
    SCOPED_TRACE(ways);
    GpuModel model;
    model.memory_bytes = 1u << 30;
    device::Options options;
    options.workers = 1;
    device::Device gpu(0, model, options);
    EdgeObserver observer;
    gpu.add_observer(&observer);
    const auto memory = gpu.allocate(64 * 4);
    ASSERT_TRUE(memory.ok());
    auto parsed = ptx::parse(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 "
        "%rd<4>;\nld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1;\n"
        "and.b32 %r2, %r1, 3;\nT: .branchtargets " +
            ways + "}\n",
        "leave.ptx");
    ASSERT_TRUE(parsed.ok()) << parsed.error().detail;
    auto loaded = gpu.load(parsed.take());
    ASSERT_TRUE(loaded.ok());
    std::uint64_t address = *memory;
    auto* words = reinterpret_cast<std::uint32_t*>(address);
    std::fill(words, words + 64, 0);
    void* parameters[] = {&address};
    auto result = gpu.launch(*loaded, 0, {{1, 1, 1}, {64, 1, 1}}, parameters);
    ASSERT_TRUE(result.ok()) << result.error().message;
    ASSERT_FALSE(result->fault) << result->fault->message;
    for (const auto& warning : result->warnings) ADD_FAILURE() << warning.message;
    for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(words[t], t % 2 ? 0u : 7u) << t;
    ASSERT_FALSE(result->counts.branches.empty());
    EXPECT_EQ(result->counts.branches[0].divergent, 2u);
    EXPECT_EQ(result->counts.branches[0].taken_lanes, 64u);
  }
}

// Different entries of a table may have the same target.
TEST(JitControlFlow, BranchTablesDivergeByTheirTargets) {
  for (const auto& [index, divergent] : {std::pair{"and.b32 %r2, %r1, 1", 0u}, std::pair{"and.b32 %r2, %r1, 2", 2u},
                                         std::pair{"mov.u32 %r2, %ctaid.x", 0u}}) {
    device::Kernel kernel(std::string(index) +
                          ";\nT: .branchtargets A, A, B; brx.idx %r2, T;\nA: bra C;\nB: st.global.u32 [%rd1], 1;\nC:");
    const device::LaunchResult r = kernel.run(64);
    ASSERT_EQ(r.counts.branches.size(), 1u) << index;
    EXPECT_EQ(r.counts.branches[0].executed, 2u) << index;
    EXPECT_EQ(r.counts.branches[0].divergent, divergent) << index;
  }
}

// A lock that lanes of one warp take in turn. The holder waits at the loop's end for the spinning lanes.
TEST(JitControlFlow, LanesThatWaitForEachOtherDoNotHang) {
  GpuModel model;
  model.memory_bytes = 1u << 30;
  device::Options options;
  options.workers = 1;
  options.timeout_seconds = 600;  // in case a launch hangs
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
