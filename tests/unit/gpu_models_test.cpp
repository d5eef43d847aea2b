// The GPU models in src/common/gpu/models: every file parses, and figures are plausible and have a source. The rules
// for constants that a file does not give.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "gpu/gpu_model.h"
#include "gpu/timing_rules.h"

namespace warpgrind {
namespace {

const GpuModel& model(const char* name) {
  return **find_gpu_model(name);
}

// A file defines one GPU and has the model's name. SMs that request L2 data together are known for Hopper
// (src/common/gpu/models/h200.json), and for no other GPU.
TEST(GpuModels, SmsThatAskTogether) {
  for (const GpuModel& m : gpu_models()) {
    EXPECT_EQ(m.sm_parts, m.cc_major == 9 ? 8u : 1u) << m.id;
    EXPECT_EQ(m.sms_sharing_requests, m.cc_major == 9 ? 4u : 1u) << m.id;
  }
}

TEST(GpuModels, EveryFileIsAModel) {
  std::set<std::string> wanted, found;
  for (const auto& file : std::filesystem::directory_iterator(WARPGRIND_TESTS "/../src/common/gpu/models"))
    if (file.path().extension() == ".json") wanted.insert(file.path().stem().string());
  EXPECT_GE(wanted.size(), 28u);
  for (const GpuModel& m : gpu_models()) found.insert(m.id);
  EXPECT_EQ(found, wanted);
}

TEST(GpuModels, EveryFigureIsPlausibleAndHasASource) {
  for (const GpuModel& m : gpu_models()) {
    EXPECT_GE(m.sources.size(), 3u) << m.id;
    EXPECT_EQ(m.max_warps_per_sm * 32, m.max_threads_per_sm) << m.id;
    EXPECT_GE(m.shared_per_sm, m.shared_per_block) << m.id;
    EXPECT_GE(m.shared_per_sm, m.shared_per_block_optin + m.shared_reserved_per_block) << m.id;
    EXPECT_GT(m.theoretical_bandwidth(), 50e9) << m.id;
    EXPECT_LT(m.theoretical_bandwidth(), 9e12) << m.id;
    EXPECT_FALSE(m.link_name.empty()) << m.id;
    EXPECT_GT(m.achievable_bandwidth_fraction, 0.5) << m.id;
    EXPECT_LE(m.achievable_bandwidth_fraction, 1.0) << m.id;
    EXPECT_EQ(m.rules.banks.banks, m.cc_major < 2 ? 16 : 32) << m.id;
    EXPECT_EQ(m.shared_reserved_per_block, m.cc_major >= 8 ? 1024u : 0u) << m.id;
    EXPECT_EQ(m.rules.coalescing, m.cc_major >= 3   ? CoalescingRule::sectors_32
                                  : m.cc_major == 2 ? CoalescingRule::lines_128
                                  : m.cc_minor < 2  ? CoalescingRule::half_warp_strict
                                                    : CoalescingRule::half_warp_segments)
        << m.id;
  }
}

// Limits by compute capability: NVIDIA's CCCL, libcudacxx/include/cuda/__device/arch_traits.h, commit 004ad198.
TEST(GpuModels, LimitsOfTheirComputeCapability) {
  const struct {
    int cc;
    std::uint32_t blocks, threads, shared_kib, optin_kib;
  } limits[] = {{60, 32, 2048, 64, 48},    {61, 32, 2048, 96, 48},    {70, 32, 2048, 96, 96},
                {75, 16, 1024, 64, 64},    {80, 32, 2048, 164, 163},  {86, 16, 1536, 100, 99},
                {87, 16, 1536, 164, 163},  {89, 24, 1536, 100, 99},   {90, 32, 2048, 228, 227},
                {100, 32, 2048, 228, 227}, {103, 32, 2048, 228, 227}, {120, 24, 1536, 100, 99},
                {121, 24, 1536, 100, 99}};
  std::set<int> seen;
  for (const GpuModel& m : gpu_models())
    for (const auto& limit : limits) {
      if (limit.cc != 10 * m.cc_major + m.cc_minor) continue;
      seen.insert(limit.cc);
      EXPECT_EQ(m.max_blocks_per_sm, limit.blocks) << m.id;
      EXPECT_EQ(m.max_threads_per_sm, limit.threads) << m.id;
      EXPECT_EQ(m.shared_per_sm, limit.shared_kib * 1024) << m.id;
      EXPECT_EQ(m.shared_per_block_optin, limit.optin_kib * 1024) << m.id;
      EXPECT_EQ(m.shared_per_block, 49152u) << m.id;
      EXPECT_EQ(m.registers_per_sm, 65536u) << m.id;
      EXPECT_EQ(m.registers_per_block, 65536u) << m.id;
      EXPECT_EQ(m.max_registers_per_thread, 255u) << m.id;
      EXPECT_EQ(m.max_threads_per_block, 1024u) << m.id;
    }
  EXPECT_EQ(seen.size(), std::size(limits));
}

// What GPUs of compute capability 9.0 and later may lack: tensor cores for double precision, and a second GPU.
bool may_lack(const GpuModel& m, const TimingFigure& f) {
  const std::string name = f.name;
  const bool of_tensor_fp64 = name.starts_with("tensor_fp64"), of_peer = name.starts_with("peer_copy");
  return (of_tensor_fp64 && m.cores_fp64_per_sm < 16) || (of_peer && !m.link_name.starts_with("PCIe "));
}

// A figure without unit, origin or source text does not parse, and a rule writes its source. Zero is only allowed for a
// feature that the GPU lacks.
TEST(GpuModels, EveryTimingFigureIsPositiveAndHasAnOrigin) {
  for (const GpuModel& m : gpu_models()) {
    ASSERT_EQ(m.timing_sources.size(), timing_figures().size()) << m.id;
    bool measured = false;
    for (std::size_t i = 0; i < timing_figures().size(); ++i) {
      const TimingFigure& f = timing_figures()[i];
      const TimingSource& source = m.timing_sources[i];
      EXPECT_TRUE(m.timing.*f.value > 0 || (f.may_be_zero && m.timing.*f.value == 0)) << m.id << " " << f.name;
      measured |= source.origin == TimingOrigin::measured;
      EXPECT_TRUE(source.origin == TimingOrigin::measured || !source.from.empty()) << m.id << " " << f.name;
      EXPECT_TRUE(m.timing.*f.value > 0 || m.cc_major < 9 || may_lack(m, f)) << m.id << " " << f.name;
    }
    EXPECT_EQ(measured, !m.timing_measured_on.empty()) << m.id;
  }
}

// Relations that hold for every GPU, for figures of any origin.
void expect_order(const GpuModel& m) {
  const TimingConstants& t = m.timing;
  EXPECT_LE(t.event_pair_ns, t.launch_event_ns) << m.id;
  EXPECT_LE(t.l1_latency_cycles, t.l2_latency_cycles) << m.id;
  EXPECT_LE(t.l2_latency_cycles, t.dram_latency_cycles) << m.id;
  EXPECT_LE(t.block_ns, t.block_ns_1024) << m.id;
  const double theory = m.theoretical_bandwidth() * 1e-9;
  for (const double gbps : {t.dram_read_gbps, t.dram_write_gbps, t.dram_copy_gbps}) {
    EXPECT_LT(gbps, theory) << m.id;
    EXPECT_GT(gbps, 0.5 * theory) << m.id;
  }
  EXPECT_LE(t.pageable_to_device_gbps, t.pinned_to_device_gbps) << m.id;
  EXPECT_LE(t.pageable_to_host_gbps, t.pinned_to_host_gbps) << m.id;
  EXPECT_LE(t.next_copy_ns, t.pinned_to_device_latency_ns) << m.id;
  EXPECT_LE(t.dram_piece_bytes_128, t.dram_piece_bytes_512) << m.id;
  EXPECT_EQ(t.fp64_lanes > 0, t.fp64_latency_cycles > 0) << m.id;
  EXPECT_EQ(t.tensor_cycles > 0, m.cc_major >= 7) << m.id;
}

TEST(GpuModels, TimingFiguresAreInOrder) {
  for (const GpuModel& m : gpu_models()) expect_order(m);
  EXPECT_NEAR(model("h200").timing.block_ns, 0.60, 0.01);
}

// Every rule gives a value for every GPU, and the relations hold, where no constant is given.
TEST(GpuModels, RulesAloneGiveAllConstants) {
  for (const GpuModel& m : gpu_models()) {
    GpuModel derived = m;
    derive_timing(derived, std::vector<bool>(timing_figures().size()), model("h200"));
    for (const TimingFigure& f : timing_figures()) {
      const double value = derived.timing.*f.value;
      EXPECT_TRUE(std::isfinite(value) && (value > 0 || (f.may_be_zero && value == 0))) << m.id << " " << f.name;
    }
    for (const TimingSource& source : derived.timing_sources) {
      EXPECT_EQ(source.origin, TimingOrigin::assumed);
      EXPECT_FALSE(source.from.empty()) << m.id;
    }
    expect_order(derived);
  }
}

// The rules, from an H200's constants, against what an H100 measured. Half of the constants are within 1.3 %, three
// quarters within 13 %. Those of the host, of launches and of copies through pageable memory are further off.
TEST(GpuModels, RulesPredictAnH100) {
  const GpuModel& h100 = model("h100");
  GpuModel derived = h100;
  derive_timing(derived, std::vector<bool>(timing_figures().size()), model("h200"));
  std::vector<double> errors;
  for (std::size_t i = 0; i < timing_figures().size(); ++i) {
    const TimingFigure& f = timing_figures()[i];
    if (h100.timing_sources[i].origin == TimingOrigin::measured)
      errors.push_back(std::abs(derived.timing.*f.value / (h100.timing.*f.value) - 1));
  }
  std::sort(errors.begin(), errors.end());
  ASSERT_GT(errors.size(), 80u);
  EXPECT_LT(errors[errors.size() / 2], 0.02);
  EXPECT_LT(errors[errors.size() * 3 / 4], 0.15);
}

// A given constant stays, and others follow it.
TEST(GpuModels, RulesKeepWhatIsGiven) {
  GpuModel m = model("rtx3090");
  std::vector<bool> given(timing_figures().size());
  for (std::size_t i = 0; i < given.size(); ++i)
    given[i] = timing_figures()[i].value == &TimingConstants::pinned_to_device_gbps;
  m.timing.pinned_to_device_gbps = 13;
  derive_timing(m, given, model("h200"));
  EXPECT_EQ(m.timing.pinned_to_device_gbps, 13);
  EXPECT_EQ(m.timing.pinned_to_host_gbps, 13);
  EXPECT_NEAR(m.timing.prefetch_gbps, 13 * 44.41 / 55.52, 1e-9);
}

// Figures from the course documents and from device queries.
TEST(GpuModels, KnownBandwidths) {
  EXPECT_NEAR(model("g80").theoretical_bandwidth() * 1e-9, 86.4, 0.01);
  EXPECT_NEAR(model("gtx280").theoretical_bandwidth() / (1024.0 * 1024 * 1024), 131.9, 0.1);
  EXPECT_NEAR(model("gtx280").theoretical_bandwidth() * 1e-9, 141.7, 0.1);
  EXPECT_NEAR(model("fx5600").theoretical_bandwidth() * 1e-9, 77, 0.3);
  EXPECT_NEAR(model("m2090").theoretical_bandwidth() * 1e-9, 177.6, 0.3);
  EXPECT_NEAR(model("h200").theoretical_bandwidth() * 1e-9, 4814, 1);
  EXPECT_NEAR(model("v100").theoretical_bandwidth() * 1e-9, 898, 1);
  EXPECT_NEAR(model("a100").theoretical_bandwidth() * 1e-9, 1555, 1);
}

// Rates of NVIDIA's datasheets and whitepapers: GB/s, TFLOPS of single precision, and of dense half-precision products
// with single-precision sums (0: not known, or the GPU has no tensor cores).
TEST(GpuModels, DatasheetRates) {
  const struct {
    const char* id;
    double bandwidth, fp32, tensor;
  } rates[] = {{"rtx5090", 1792, 104.8, 209.5}, {"rtxpro6000", 1792, 125, 503.8}, {"gb10", 273, 29.7, 62.5},
               {"l4", 300, 30.3, 121},          {"l40s", 864, 91.6, 362},         {"rtx4060laptop", 256, 14.6, 0},
               {"a10", 600, 31.2, 125},         {"rtx3060", 360, 12.7, 25.5},     {"rtx2080ti", 616, 13.4, 53.8},
               {"gtx1080ti", 484, 11.3, 0},     {"orin", 204.8, 5.3, 42.5}};
  for (const auto& rate : rates) {
    const GpuModel& m = model(rate.id);
    EXPECT_NEAR(m.theoretical_bandwidth() * 1e-9, rate.bandwidth, 0.005 * rate.bandwidth) << m.id;
    EXPECT_NEAR(m.peak_flops(32) * 1e-12, rate.fp32, 0.02 * rate.fp32) << m.id;
    if (rate.tensor == 0) continue;
    constexpr double kOperationsOfMma = 2 * 16 * 8 * 16;
    const double tensor = kOperationsOfMma / m.timing.tensor_cycles * m.sm_count * m.sm_clock_mhz * 1e-6;
    EXPECT_NEAR(tensor, rate.tensor, rate.tensor * (rate.id == std::string("gb10") ? 0.1 : 0.02)) << m.id;
  }
}

// Systems on a chip, whose GPU shares the host's memory, have no PCIe link.
TEST(GpuModels, Links) {
  for (const GpuModel& m : gpu_models())
    EXPECT_EQ(m.link_name.starts_with("PCIe gen "), m.id != "gb10" && m.id != "orin") << m.id;
}

TEST(GpuModels, K40) {
  const GpuModel& k40 = model("Tesla K40c");
  EXPECT_EQ(k40.sm_count, 15u);
  EXPECT_EQ(k40.sm_count * k40.cores_fp32_per_sm, 2880u);
  EXPECT_EQ(k40.sm_clock_mhz, 745);
  EXPECT_EQ(k40.memory_clock_mhz, 3004);
  EXPECT_EQ(k40.memory_bus_bits, 384u);
  EXPECT_EQ(k40.memory_bytes, 11995054080u);
  EXPECT_EQ(k40.l2_bytes, 1572864u);
  EXPECT_NEAR(model("k40m").peak_flops(32) * 1e-12, 4.29, 0.01);
  EXPECT_NEAR(model("k40m").peak_flops(64) * 1e-12, 1.43, 0.01);
}

TEST(GpuModels, PeakOfTheH200) {
  EXPECT_NEAR(model("h200").peak_flops(32) * 1e-12, 66.9, 0.1);
  EXPECT_NEAR(model("h200").peak_flops(64) * 1e-12, 33.5, 0.1);
}

TEST(GpuModels, NamesInAnySpelling) {
  EXPECT_EQ(model("H200").id, "h200");
  EXPECT_EQ(model("NVIDIA H200").id, "h200");
  EXPECT_EQ(model("G80").id, "8800gtx");
  EXPECT_EQ(model("GeForce GTX 280").id, "gtx280");
  const Result<const GpuModel*> none = find_gpu_model("h20O");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::bad_input);
  EXPECT_NE(none.error().message.find("h200"), std::string::npos);
}

}  // namespace
}  // namespace warpgrind
