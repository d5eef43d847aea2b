// Cost of accesses by the rules of each GPU generation: measured patterns, known answers, and random ones.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "gpu/access_rules.h"
#include "gpu/gpu_model.h"
#include "gpu/local_kinds.h"
#include "h200_data.h"

namespace warpgrind {
namespace {

using test::Lanes;

const AccessRules& rules(const char* gpu) {
  return (*find_gpu_model(gpu))->rules;
}

Lanes lanes(const std::function<std::int64_t(int)>& byte_offset, LaneMask mask = kFullMask) {
  Lanes out;
  out.mask = mask;
  for (int l = 0; l < 32; ++l) out.offsets[static_cast<unsigned>(l)] = byte_offset(l);
  return out;
}
AccessCost global(const char* gpu, const Lanes& l, unsigned bytes, AccessType type = AccessType::load) {
  return global_cost(rules(gpu), type, l.offsets.data(), l.mask, bytes);
}
AccessCost shared(const char* gpu, const Lanes& l, unsigned bytes, AccessType type = AccessType::load) {
  return shared_cost(rules(gpu), type, l.offsets.data(), l.mask, bytes);
}

// ---- Every lane pattern measured on an H200.

TEST(AccessRules, GlobalPatternsOfTheHardware) {
  const auto patterns = test::lane_patterns();
  int rows = 0;
  for (const test::CsvRow& row : test::read_h200("global_patterns.csv")) {
    const unsigned bytes = static_cast<unsigned>(std::stoul(row.at("bytes")));
    const Lanes l = test::lanes_of(patterns.at(row.at("pattern")), bytes);
    const AccessType type = row.at("op") == "ld" ? AccessType::load : AccessType::store;
    const AccessCost cost = global("h200", l, bytes, type);
    EXPECT_EQ(cost.sectors, std::stoull(row.at("sectors"))) << row.at("op") << bytes << " " << row.at("pattern");
    EXPECT_EQ(cost.lines, std::stoull(row.at("lines"))) << row.at("op") << bytes << " " << row.at("pattern");
    EXPECT_EQ(cost.transactions, cost.sectors);
    ++rows;
  }
  EXPECT_EQ(rows, 616);
}

TEST(AccessRules, SharedPatternsOfTheHardware) {
  const auto patterns = test::lane_patterns();
  int rows = 0;
  for (const test::CsvRow& row : test::read_h200("shared_patterns.csv")) {
    const unsigned bytes = static_cast<unsigned>(std::stoul(row.at("bytes")));
    const Lanes l = test::lanes_of(patterns.at(row.at("pattern")), bytes);
    const AccessType type = row.at("op") == "ld" ? AccessType::load : AccessType::store;
    const AccessCost cost = shared("h200", l, bytes, type);
    EXPECT_EQ(cost.wavefronts, std::stoull(row.at("wavefronts"))) << row.at("op") << bytes << " " << row.at("pattern");
    EXPECT_EQ(cost.bank_conflicts, std::stoull(row.at("bank_conflicts")))
        << row.at("op") << bytes << " " << row.at("pattern");
    ++rows;
  }
  EXPECT_EQ(rows, 594);
}

TEST(AccessRules, AtomicPatternsOfTheHardware) {
  const auto patterns = test::lane_patterns();
  int rows = 0;
  for (const test::CsvRow& row : test::read_h200("atomic_patterns.csv")) {
    const Lanes l = test::lanes_of(patterns.at(row.at("pattern")), 4);
    const AccessType type = row.at("op") == "red" ? AccessType::reduction : AccessType::atomic;
    const AccessForm adds_one{StateSpace::shared, type, 4, SharedAtomic::count};
    const std::uint64_t counted = row.at("space") == "global"
                                      ? global("h200", l, 4, type).sectors
                                      : access_cost(rules("h200"), adds_one, l.offsets.data(), l.mask).wavefronts;
    EXPECT_EQ(counted, std::stoull(row.at("count"))) << row.at("op") << " " << row.at("pattern");
    ++rows;
  }
  EXPECT_EQ(rows, 123);
}

// tests/data/h200/shared_atomics.csv: one warp, by type, operation, use of the result, and address pattern.
TEST(AccessRules, SharedAtomicsOfTheHardware) {
  const std::map<std::string, std::function<int(int)>> patterns = {
      {"side by side", [](int l) { return l; }},
      {"all on one word", [](int) { return 0; }},
      {"pairs", [](int l) { return l / 2; }},
      {"4 words x 8 lanes", [](int l) { return l % 4; }},
      {"stride 2", [](int l) { return 2 * l; }},
      {"one bank (stride 32)", [](int l) { return 32 * l; }},
      {"5 lanes on one word", [](int l) { return l < 5 ? 0 : l; }},
      {"stride 8", [](int l) { return 8 * l; }},
      {"7 lanes on one word", [](int) { return 0; }}};
  int rows = 0;
  for (const test::CsvRow& row : test::read_h200("shared_atomics.csv")) {
    const std::string type = row.at("type"), op = row.at("op"), pattern = row.at("pattern");
    const int bytes = type == "double" || type == "unsigned long long" ? 8 : 4;
    // The number of loop turns depends on the data if a loop ends early because the value does not change. Here min
    // never stores, and `and` stores zeros over zeros, which another lane's cas does not notice.
    const bool early =
        bytes == 8 &&
        (op == "min" || (op == "and" && (pattern == "all on one word" || pattern == "4 words x 8 lanes")));
    if (early) continue;
    AccessForm form{StateSpace::shared, AccessType::atomic, static_cast<std::uint8_t>(bytes), SharedAtomic::native};
    if (op == "cas")
      form.shared_atomic = SharedAtomic::swap;
    else if (op != "exch" && (bytes == 8 || type == "float"))
      form.shared_atomic = SharedAtomic::loop;
    else if (op == "add1" && row.at("result used") == "none")
      form.shared_atomic = SharedAtomic::count;
    const Lanes l = lanes([&](int lane) { return std::int64_t{bytes} * patterns.at(pattern)(lane); },
                          pattern == "7 lanes on one word" ? 0x7fu : kFullMask);
    const AccessCost cost = access_cost(rules("h200"), form, l.offsets.data(), l.mask);
    const std::string what = type + " " + op + " " + row.at("result used") + " " + pattern;
    EXPECT_EQ(cost.wavefronts, std::stoull(row.at("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum")))
        << what;
    EXPECT_EQ(cost.bank_conflicts, std::stoull(row.at("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum")))
        << what;
    ++rows;
  }
  EXPECT_EQ(rows, 464);
}

TEST(AccessRules, Stretches) {
  const AccessCost read = stretch_cost(rules("h200"), StateSpace::global, AccessType::load, 48, 160);
  EXPECT_EQ(read.sectors, 6u);  // bytes 48 to 207: sectors 1 to 6
  EXPECT_EQ(read.lines, 2u);
  EXPECT_EQ(read.ideal_sectors, 5u);
  EXPECT_EQ(read.bytes_moved, 192u);
  EXPECT_EQ(read.bytes_asked, 160u);
  EXPECT_EQ(stretch_cost(rules("h200"), StateSpace::shared, AccessType::store, 112, 32).wavefronts, 2u);
  EXPECT_EQ(stretch_cost(rules("h200"), StateSpace::global, AccessType::load, 48, 0).sectors, 0u);
}

// ---- Known answers

// ---- Against counting with sets: random addresses and masks, close together and far apart.

using Numbers = std::set<std::int64_t>;

Numbers units_of(const Lanes& l, LaneMask mask, std::int64_t unit) {
  Numbers out;
  for (unsigned i = 0; i < 32; ++i)
    if (mask >> i & 1) out.insert(l.offsets[i] / unit);
  return out;
}

// Wavefronts of each group of `group` lanes: the rows of the fullest bank (of `unit` bytes, in rows of 128).
std::uint64_t wavefronts_by_sets(const Lanes& l, unsigned unit, unsigned group) {
  std::uint64_t sum = 0;
  for (unsigned first = 0; first < 32; first += group) {
    std::map<std::int64_t, Numbers> rows;
    for (unsigned i = first; i < first + group; ++i)
      if (l.mask >> i & 1) rows[l.offsets[i] % 128 / unit].insert(l.offsets[i] / 128);
    std::size_t most = 0;
    for (const auto& [bank, of_bank] : rows) most = std::max(most, of_bank.size());
    sum += most;
  }
  return sum;
}

template <class Check>
void for_random_lanes(std::int64_t span, unsigned bytes, Check&& check) {
  std::mt19937_64 random(static_cast<std::uint64_t>(span) * 31 + bytes);
  for (int turn = 0; turn < 300; ++turn) {
    LaneMask mask = turn % 3 == 0 ? kFullMask : static_cast<LaneMask>(random());
    if (turn % 5 == 0) mask &= static_cast<LaneMask>(random());
    const auto places = static_cast<std::uint64_t>(span / bytes);
    check(lanes([&](int) { return static_cast<std::int64_t>(random() % places * bytes); }, mask | 1u << turn % 32));
  }
}

TEST(AccessRules, RandomGlobalAddresses) {
  for (const std::int64_t span : {1ll << 9, 1ll << 13, 1ll << 22, 1ll << 36, 1ll << 38, 1ll << 46})
    for_random_lanes(span, 4, [&](const Lanes& l) {
      const AccessCost cost = global("h200", l, 4);
      EXPECT_EQ(cost.distinct_sectors, units_of(l, l.mask, 32).size()) << span << " " << l.mask;
      EXPECT_EQ(cost.distinct_lines, units_of(l, l.mask, 128).size()) << span << " " << l.mask;
    });
}

TEST(AccessRules, RandomSharedAddresses) {
  for (const std::int64_t span : {512, 8192, 200 * 1024})
    for (const unsigned bytes : {4u, 8u, 16u})
      for_random_lanes(span, bytes, [&](const Lanes& l) {
        // Stores only, since loads may merge neighbouring groups.
        EXPECT_EQ(shared("h200", l, bytes, AccessType::store).wavefronts, wavefronts_by_sets(l, bytes, 128 / bytes))
            << span << " " << bytes << " " << l.mask;
      });
}

TEST(AccessRules, RandomLocalAddresses) {
  for (const std::int64_t span : {128, 4096, 400 * 1024})
    for_random_lanes(span, 4, [&](const Lanes& l) {
      const AccessCost cost = local_cost(rules("h200"), AccessType::load, l.offsets.data(), l.mask, 4);
      EXPECT_EQ(cost.distinct_lines, units_of(l, l.mask, 4).size());
      std::size_t sectors = 0;
      for (unsigned first = 0; first < 32; first += 8) sectors += units_of(l, l.mask & 0xffu << first, 4).size();
      EXPECT_EQ(cost.distinct_sectors, sectors) << span << " " << l.mask;
    });
}

TEST(AccessRules, StridedCopyCostsFourSectorsAStride) {
  for (const int stride : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 100}) {
    const AccessCost cost = global("h200", lanes([&](int l) { return std::int64_t{l} * stride * 4; }), 4);
    EXPECT_EQ(cost.sectors, static_cast<unsigned>(std::min(32, 4 * stride))) << stride;
  }
}

TEST(AccessRules, OffsetThatIsNoMultipleOfEightFloatsCostsFiveSectors) {
  for (int offset = 0; offset < 33; ++offset) {
    const AccessCost cost = global("h200", lanes([&](int l) { return std::int64_t{l + offset} * 4; }), 4);
    EXPECT_EQ(cost.sectors, offset % 8 == 0 ? 4u : 5u) << offset;
    EXPECT_EQ(cost.ideal_sectors, 4u);
  }
}

TEST(AccessRules, BroadcastIsOneSectorAndNoConflict) {
  const Lanes one = lanes([](int) { return 20; });
  EXPECT_EQ(global("h200", one, 4).sectors, 1u);
  EXPECT_EQ(global("h200", one, 4).bytes_asked, 128u);
  EXPECT_EQ(shared("h200", one, 4).wavefronts, 1u);
  EXPECT_EQ(shared("h200", one, 4).bank_conflicts, 0u);
}

TEST(AccessRules, NothingOnCostsNothing) {
  const Lanes none = lanes([](int l) { return l * 4; }, 0);
  EXPECT_EQ(global("h200", none, 4).sectors, 0u);
  EXPECT_EQ(shared("h200", none, 4).wavefronts, 0u);
}

TEST(AccessRules, ColumnOfATile) {
  const auto column = [](int pitch) { return lanes([pitch](int l) { return std::int64_t{l} * pitch * 4; }); };
  EXPECT_EQ(shared("h200", column(32), 4).wavefronts, 32u);
  EXPECT_EQ(shared("h200", column(32), 4).bank_conflicts, 31u);
  EXPECT_EQ(shared("h200", column(33), 4).wavefronts, 1u);
  EXPECT_EQ(shared("h200", column(33), 4).bank_conflicts, 0u);
  EXPECT_EQ(global("h200", column(1024), 4).sectors, 32u);  // the strided side of the naive transpose
}

// ---- 1.0/1.1

TEST(AccessRules, StrictHalfWarps) {
  const AccessCost aligned = global("g80", lanes([](int l) { return l * 4; }), 4);
  EXPECT_EQ(aligned.transactions, 2u);
  EXPECT_EQ(aligned.bytes_moved, 128u);
  const LaneMask half = 0xffff;
  EXPECT_EQ(global("g80", lanes([](int l) { return (l + 1) * 4; }, half), 4).transactions, 16u);
  EXPECT_EQ(global("g80", lanes([](int l) { return (l + 1) * 4; }, half), 4).bytes_moved, 16u * 32);
  EXPECT_EQ(global("g80", lanes([](int l) { return (l ^ 1) * 4; }, half), 4).transactions, 16u);  // out of order
  EXPECT_EQ(global("g80", lanes([](int l) { return l * 8; }, half), 4).transactions, 16u);        // stride 2
  // Lanes may be inactive.
  EXPECT_EQ(global("g80", lanes([](int l) { return l * 4; }, 0x5555), 4).transactions, 1u);
  EXPECT_EQ(global("g80", lanes([](int l) { return l * 8; }, half), 8).bytes_moved, 128u);
  // 128-bit words: two 128-byte segments.
  EXPECT_EQ(global("g80", lanes([](int l) { return l * 16; }, half), 16).transactions, 2u);
  EXPECT_EQ(global("g80", lanes([](int l) { return l * 16; }, half), 16).bytes_moved, 256u);
  // Words of less than 32 bits never coalesce.
  EXPECT_EQ(global("fx5600", lanes([](int l) { return l; }, half), 1).transactions, 16u);
}

// ---- 1.2/1.3

TEST(AccessRules, SegmentsOfHalfWarps) {
  const LaneMask half = 0xffff;
  const auto offset = [&](int words) {
    return global("gtx280", lanes([words](int l) { return std::int64_t{l + words} * 4; }, half), 4);
  };
  EXPECT_EQ(offset(0).transactions, 1u);  // one 64-byte segment
  EXPECT_EQ(offset(0).bytes_moved, 64u);
  EXPECT_EQ(offset(1).transactions, 1u);  // within 128 bytes: one 128-byte segment
  EXPECT_EQ(offset(1).bytes_moved, 128u);
  EXPECT_EQ(offset(24).transactions, 2u);  // across two segments: 32 + 32 bytes
  EXPECT_EQ(offset(24).bytes_moved, 64u);
  EXPECT_EQ(offset(20).transactions, 2u);  // 64 + 32 bytes
  EXPECT_EQ(offset(20).bytes_moved, 96u);
  for (int words = 0; words < 64; ++words) EXPECT_LE(offset(words).transactions, 2u) << words;
  // Order does not matter.
  EXPECT_EQ(global("gtx280", lanes([](int l) { return (l ^ 5) * 4; }, half), 4).transactions, 1u);
  // Stride 2: one 128-byte segment; stride 16 and more: one 32-byte segment a lane.
  EXPECT_EQ(global("gtx280", lanes([](int l) { return l * 8; }, half), 4).bytes_moved, 128u);
  EXPECT_EQ(global("gtx280", lanes([](int l) { return l * 128; }, half), 4).transactions, 16u);
  EXPECT_EQ(global("gtx280", lanes([](int l) { return l * 128; }, half), 4).bytes_moved, 512u);
  // 8- and 16-bit words: segments of 32 and 64 bytes.
  EXPECT_EQ(global("c1060", lanes([](int l) { return l; }, half), 1).bytes_moved, 32u);
  EXPECT_EQ(global("c1060", lanes([](int l) { return l * 2; }, half), 2).bytes_moved, 32u);
  EXPECT_EQ(global("c1060", lanes([](int l) { return l * 4; }, half), 2).bytes_moved, 64u);
  EXPECT_EQ(global("c1060", lanes([](int l) { return l * 16; }, half), 16).transactions, 2u);
}

// ---- 2.x

TEST(AccessRules, LinesOfFermi) {
  EXPECT_EQ(global("m2090", lanes([](int l) { return l * 4; }), 4).transactions, 1u);
  EXPECT_EQ(global("m2090", lanes([](int l) { return l * 4; }), 4).bytes_moved, 128u);
  EXPECT_EQ(global("m2090", lanes([](int l) { return (l + 1) * 4; }), 4).transactions, 2u);
  EXPECT_EQ(global("m2090", lanes([](int l) { return l * 4; }), 4, AccessType::store).transactions, 4u);
  EXPECT_EQ(global("m2090", lanes([](int l) { return l * 128; }), 4, AccessType::store).bytes_moved, 1024u);
  EXPECT_EQ(global("m2090", lanes([](int l) { return l * 128; }), 4).bytes_moved, 4096u);
  EXPECT_EQ(global("m2090", lanes([](int) { return 0; }), 8).transactions, 2u);  // two half-warps
}

// ---- Banks

TEST(AccessRules, SixteenBanks) {
  // 16 x 16 tile: a column is in one bank, 16-way for each half-warp; padded: no conflict.
  const auto column = [](int pitch) { return lanes([pitch](int l) { return std::int64_t{l} * pitch * 4; }); };
  EXPECT_EQ(shared("g80", column(16), 4).wavefronts, 32u);
  EXPECT_EQ(shared("g80", column(16), 4).bank_conflicts, 30u);
  EXPECT_EQ(shared("g80", lanes([](int l) { return (l % 16) * 16 * 4; }, 0xffff), 4).wavefronts, 16u);
  EXPECT_EQ(shared("gtx280", column(17), 4).wavefronts, 2u);
  EXPECT_EQ(shared("gtx280", column(17), 4).bank_conflicts, 0u);
  EXPECT_EQ(shared("gtx280", column(1), 4).bank_conflicts, 0u);
  EXPECT_EQ(shared("gtx280", column(2), 4).wavefronts, 4u);                      // 2-way
  EXPECT_EQ(shared("gtx280", column(8), 4, AccessType::store).wavefronts, 16u);  // 8-way
  // One word for a half-warp: broadcast.
  EXPECT_EQ(shared("g80", lanes([](int) { return 4; }), 4).bank_conflicts, 0u);
  // Several words of one bank, each read by several lanes: a step broadcasts one word, and serves one lane for each
  // other bank.
  EXPECT_EQ(shared("g80", lanes([](int l) { return (l % 2) * 64; }, 0xf), 4).wavefronts, 2u);
  // Bytes side by side share banks: 4-way.
  EXPECT_EQ(shared("g80", lanes([](int l) { return l; }, 0xffff), 1).wavefronts, 4u);
  // Doubles are two requests with stride 2.
  EXPECT_EQ(shared("gtx280", lanes([](int l) { return l * 8; }, 0xffff), 8).wavefronts, 4u);
}

TEST(AccessRules, EightByteBanksOfKepler) {
  // Default (4-byte) mode: words i and i + 32 of a 64-word segment do not conflict.
  EXPECT_EQ(shared("k40c", lanes([](int l) { return l * 8; }), 4).wavefronts, 1u);
  EXPECT_EQ(shared("k40c", lanes([](int l) { return l * 8; }), 8).wavefronts, 1u);
  EXPECT_EQ(shared("k40c", lanes([](int l) { return l * 128; }), 4).wavefronts, 16u);
  AccessRules eight = rules("k40c");
  eight.banks.bank_bytes = 8;
  eight.banks.paired_words = false;
  const auto cost = [&](int stride, unsigned bytes) {
    const Lanes l = lanes([stride](int lane) { return std::int64_t{lane} * stride; });
    return shared_cost(eight, AccessType::load, l.offsets.data(), l.mask, bytes).wavefronts;
  };
  EXPECT_EQ(cost(8, 8), 1u);
  EXPECT_EQ(cost(4, 4), 1u);
  EXPECT_EQ(cost(8, 4), 1u);
  EXPECT_EQ(cost(16, 4), 2u);
  EXPECT_EQ(cost(256, 8), 32u);
  EXPECT_EQ(shared("h200", lanes([](int l) { return l * 8; }), 8).wavefronts, 2u);  // two half-warps
}

// ---- Local memory: the words of the lanes are interleaved.

// One offset for all lanes: the lane groups and the number of active lanes decide, by the rules of every GPU.
TEST(AccessRules, KindsOfLanesAtOneLocalOffset) {
  for (unsigned kind = 1; kind < kLocalKinds; ++kind) EXPECT_EQ(local_kind(lanes_of_local_kind(kind)), kind);
  EXPECT_EQ(local_kind(0), 0u);
  EXPECT_EQ(kLocalKinds, 240u);
  std::mt19937_64 random(5);
  for (const GpuModel& gpu : gpu_models()) {
    for (unsigned n = 0; n < 4000; ++n) {
      const auto few = static_cast<LaneMask>(random() & random()), many = static_cast<LaneMask>(random());
      const LaneMask mask =
          std::max(LaneMask{1}, n % 2 ? few & static_cast<LaneMask>(random()) : many << random() % 32);
      const unsigned bytes = 1u << random() % 5;
      const AccessType type = random() % 2 ? AccessType::load : AccessType::store;
      const Lanes at = lanes([offset = std::int64_t(random() % 64 * 16)](int) { return offset; });
      const Lanes origin = lanes([](int) { return 0; });
      const AccessCost real = local_cost(gpu.rules, type, at.offsets.data(), mask, bytes);
      const AccessCost stands =
          local_cost(gpu.rules, type, origin.offsets.data(), lanes_of_local_kind(local_kind(mask)), bytes);
      ASSERT_EQ(std::memcmp(&real, &stands, sizeof real), 0) << gpu.id << ", mask " << mask << ", bytes " << bytes;
    }
  }
}

TEST(AccessRules, LocalMemory) {
  const AccessCost same =
      local_cost(rules("h200"), AccessType::load, lanes([](int) { return 16; }).offsets.data(), kFullMask, 4);
  EXPECT_EQ(same.sectors, 4u);
  EXPECT_EQ(same.lines, 1u);
  const AccessCost wide =
      local_cost(rules("h200"), AccessType::load, lanes([](int) { return 16; }).offsets.data(), kFullMask, 16);
  EXPECT_EQ(wide.sectors, 16u);
  const AccessCost different =
      local_cost(rules("h200"), AccessType::store, lanes([](int l) { return l * 4; }).offsets.data(), kFullMask, 4);
  EXPECT_EQ(different.sectors, 32u);
}

}  // namespace
}  // namespace warpgrind
