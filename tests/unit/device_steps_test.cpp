// Accesses with a constant step between lanes, forwards and backwards: elements of structures, every second word, rows
// of a block. Machine code serves them in place. Compared with the plain path for each access that an observer sees,
// with and without AVX-512.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plain_counts.h"
#include "ptx_kernel.h"
#include "sanitized.h"

namespace warpgrind::device {
namespace {

struct Element {
  const char* type;
  unsigned bytes, count;
};

constexpr unsigned kThreads = 64, kArea = 4096, kMostBytes = 40;

std::string values(const Element& e) {
  const std::string prefix = e.bytes == 8 ? "%rd1" : "%r1";  // %rd10, %r10 and on
  if (e.count == 1) return prefix + "0";
  std::string all = "{";
  for (unsigned k = 0; k < e.count; ++k) all += (k ? ", " : "") + prefix + std::to_string(k);
  return all + "}";
}

// Reads the elements, changes them by thread and step, and writes them back.
std::string one_step(const Element& e, const std::string& space, unsigned step, bool backwards, unsigned row) {
  const unsigned gap = 3 * e.bytes * e.count;  // between rows
  const std::string bytes = std::to_string(step);
  const unsigned rows = kThreads / row, last = (rows - 1) * (row * step + gap) + (row - 1) * step;
  std::string out =
      "mul.lo.u32 %r4, %r2, " + bytes + "; mad.lo.u32 %r4, %r3, " + std::to_string(row * step + gap) + ", %r4;\n";
  if (backwards) out += "not.b32 %r4, %r4; add.s32 %r4, %r4, " + std::to_string(last + 1) + ";\n";
  out += "cvt.u64.u32 %rd5, %r4; add.u64 %rd5, %rd5, %rd4;\n";
  const std::string vector = e.count == 1 ? "." : ".v" + std::to_string(e.count) + ".";
  out += "ld." + space + vector + e.type + " " + values(e) + ", [%rd5];\n";
  for (unsigned k = 0; k < e.count; ++k) {
    const std::string n = std::to_string(10 + k);
    out += e.bytes == 8 ? "mad.lo.u64 %rd" + n + ", %rd" + n + ", 6364136223846793005, %rd3;\n"
                        : "mad.lo.u32 %r" + n + ", %r" + n + ", 747796405, %r1;\n";
  }
  return out + "st." + space + vector + e.type + " [%rd5], " + values(e) + ";\nbar.sync 0;\n";
}

std::string body_of(const Element& e, bool shared, unsigned row) {
  const std::string space = shared ? "shared" : "global";
  std::string out = "mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mad.lo.u32 %r1, %r3, " + std::to_string(row) +
                    ", %r2; cvt.u64.u32 %rd3, %r1;\n";
  // Copies between global and shared memory, word by word.
  const auto copied = [&](const std::string& from, const std::string& to, const std::string& label) {
    return "mul.wide.u32 %rd5, %r1, 4; mov.u32 %r5, 0;\n" + label +
           ": add.u64 %rd6, %rd5, %rd1; add.u64 %rd7, %rd5, %rd4;\nld." + from + ".u32 %r6, [" +
           (shared && from == "shared" ? "%rd7" : "%rd6") + "]; st." + to + ".u32 [" +
           (shared && to == "shared" ? "%rd7" : "%rd6") + "], %r6;\nadd.u64 %rd5, %rd5, " +
           std::to_string(4 * kThreads) + "; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, " +
           std::to_string(kArea / 4 / kThreads) + "; @%p1 bra " + label + ";\nbar.sync 0;\n";
  };
  out += shared ? "mov.u64 %rd4, memory;\n" + copied("global", "shared", "IN") : "mov.u64 %rd4, %rd1;\n";
  for (const unsigned step : {1u, 2u, 3u, 4u, 5u, 8u, 9u})
    for (const bool backwards : {false, true})
      if (const unsigned bytes = step * e.bytes * e.count; bytes <= kMostBytes)
        out += one_step(e, space, bytes, backwards, row);
  return out + (shared ? copied("shared", "global", "OUT") : "");
}

struct StepsOutcome {
  std::vector<events::SiteCounts> sites;
  std::vector<std::uint32_t> memory;
};

StepsOutcome run_body(const std::string& body, unsigned row, const std::string& cpu, PlainCounts* observer) {
  Kernel kernel(body, 1, observer, "", cpu);
  for (std::uint32_t w = 0; w < kArea / 4; ++w) kernel.data[w] = w * 2654435761u;
  LaunchConfig config;
  config.grid = {3, 1, 1};  // later blocks go through the inline cache
  config.block = {row, kThreads / row, 1};
  const LaunchResult result = kernel.run(config);
  return {result.counts.sites, {kernel.data, kernel.data + kArea / 4}};
}

void expect_alike(const Element& e, bool shared, unsigned row) {
  const std::string body = body_of(e, shared, row);
  PlainCounts plain;
  const StepsOutcome watched = run_body(body, row, "", &plain);
  for (const char* cpu : {"", "x86-64-v3"}) {
    if (kSanitized && *cpu) continue;  // no sanitizer sees the machine code, which alone differs
    const std::string name = std::string(e.type) + " x" + std::to_string(e.count) + (shared ? " shared" : "") +
                             ", rows of " + std::to_string(row) + " " + cpu;
    const StepsOutcome alone = run_body(body, row, cpu, nullptr);
    EXPECT_EQ(alone.memory, watched.memory) << name;
    for (const auto& [site, counts] : plain.sites)
      expect_same(alone.sites.at(site), counts, name + ", site " + std::to_string(site));
  }
}

TEST(Steps, OfElementsOfEverySize) {
  for (const Element& e :
       {Element{"u8", 1, 1}, Element{"u16", 2, 1}, Element{"u32", 4, 1}, Element{"u64", 8, 1}, Element{"u8", 1, 4},
        Element{"u16", 2, 2}, Element{"u32", 4, 2}, Element{"u32", 4, 4}, Element{"u64", 8, 2}})
    for (const bool shared : {false, true}) expect_alike(e, shared, kThreads);
}

TEST(Steps, OfRowsOfABlock) {
  for (const unsigned row : {16u, 8u, 4u})
    for (const Element& e : {Element{"u8", 1, 1}, Element{"u32", 4, 1}, Element{"u64", 8, 2}})
      expect_alike(e, row == 8, row);
}

// Two lanes are 2^64 bytes apart, so every second lane has the first lane's address.
TEST(Steps, OfHalfTheAddressSpace) {
  const std::string body =
      "mov.u32 %r1, %tid.x; cvt.u64.u32 %rd4, %r1; shl.b64 %rd4, %rd4, 63; add.u64 %rd4, %rd4, %rd1;\n"
      "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;\n"
      "mov.u32 %r3, 0; @%p1 ld.global.u32 %r3, [%rd4];\n"
      "mul.wide.u32 %rd5, %r1, 4; add.u64 %rd5, %rd5, %rd1; st.global.u32 [%rd5+128], %r3;\n";
  const StepsOutcome outcome = run_body(body, kThreads, "", nullptr);
  for (unsigned t = 0; t < kThreads; ++t) EXPECT_EQ(outcome.memory[32 + t], t % 2 == 0 ? outcome.memory[0] : 0);
}

}  // namespace
}  // namespace warpgrind::device
