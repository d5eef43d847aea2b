// Counters that Nsight Compute printed, and their comparison with a profile.
#include "correlate/correlate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace warpgrind::correlate {
namespace {

using results::MetricId;

// A raw page as ncu prints it: after the program's own output, with scaled units and thousands separators.
constexpr const char* kRaw =
    "hello from the program, 3 words\n"
    "==PROF== Connected to process 7\n"
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","gpu__time_duration.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","sm__maximum_warps_per_active_cycle_pct")csv"
    "\n"
    R"csv("","","","","","","","","","","","usecond","sector","%")csv"
    "\n"
    R"csv("0","7","a.out","127.0.0.1","void scale<float>(const float *, float *, int)","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","2.46","1,024","100")csv"
    "\n"
    R"csv("1","7","a.out","127.0.0.1","lib::(anonymous namespace)::other(int)","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","1.90","0","25")csv"
    "\n";

constexpr const char* kDetails =
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value")csv"
    "\n"
    R"csv("0","7","a.out","127.0.0.1","scale","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","GPU Speed Of Light Throughput","Duration","us","2.46")csv"
    "\n"
    R"csv("0","7","a.out","127.0.0.1","scale","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","Command line profiler metrics","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","sector","1,024")csv"
    "\n"
    R"csv("1","7","a.out","127.0.0.1","scale","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","Launch Statistics","Registers Per Thread","register/thread","16")csv"
    "\n";

results::KernelProfile launch(const char* name, unsigned block, unsigned grid, results::Metrics::ByName metrics) {
  results::KernelProfile out;
  out.name = name;
  out.block = {block, 1, 1};
  out.grid = {grid, 1, 1};
  out.metrics.by_name() = std::move(metrics);
  return out;
}

TEST(HardwareFile, RawPage) {
  const auto file = read_hardware_file(kRaw, "raw.csv");
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->size(), 2u);
  const HardwareLaunch& first = file->front();
  EXPECT_EQ(bare_kernel_name(first.kernel), "scale");
  EXPECT_EQ(bare_kernel_name(file->back().kernel), "other");
  EXPECT_EQ(first.compute_capability, "9.0");
  EXPECT_DOUBLE_EQ(first.values.at("gpu__time_duration.sum").value, 2460);
  EXPECT_EQ(first.values.at("gpu__time_duration.sum").unit, "ns");
  EXPECT_EQ(first.values.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum").value, 1024);
}

TEST(HardwareFile, DetailsPage) {
  const auto file = read_hardware_file(kDetails, "details.csv");
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->size(), 2u);
  EXPECT_DOUBLE_EQ(file->front().values.at("gpu__time_duration.sum").value, 2460);
  EXPECT_EQ(file->front().values.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum").value, 1024);
  EXPECT_EQ(file->back().values.at("launch__registers_per_thread").value, 16);
}

std::string whole(const char* name) {
  std::ifstream file(std::string(WARPGRIND_TESTS "/data/ncu/") + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Pages that Nsight Compute 2025.3.1 wrote on an H200, mixed with the programs' own output: transpose and vecadd of the
// lab.
TEST(HardwareFile, RealPages) {
  const auto raw = read_hardware_file(whole("raw_page.csv"), "raw_page.csv");
  ASSERT_TRUE(raw.ok());
  ASSERT_EQ(raw->size(), 9u);
  for (const HardwareLaunch& l : *raw) {
    EXPECT_EQ(l.compute_capability, "9.0");
    EXPECT_GT(l.values.at("gpu__time_duration.sum").value, 1000) << l.kernel;
    EXPECT_EQ(l.values.at("gpu__time_duration.sum").unit, "ns");
    EXPECT_GT(l.values.at("dram__bytes_read.sum").value, 0) << l.kernel;
  }
  const auto details = read_hardware_file(whole("details_page.csv"), "details_page.csv");
  ASSERT_TRUE(details.ok());
  EXPECT_EQ(bare_kernel_name(details->front().kernel), "one_thread");
  EXPECT_EQ(details->front().values.at("dram__bytes_read.sum").value, 528384);
  EXPECT_EQ(details->front().values.at("gpu__time_duration.sum").value, 3749024);
}

TEST(HardwareFile, StoredForm) {
  const auto file = read_hardware_file(
      "# NVIDIA H200\nkernel,block,grid,memory_l1_wavefronts_shared\n"
      "a,\"(32, 1, 1)\",\"(2, 1, 1)\",7\n",
      "stored.csv");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->front().values.at("memory_l1_wavefronts_shared").value, 7);
}

TEST(HardwareFile, AnythingElseSaysWhatIsMissing) {
  const auto text = read_hardware_file("what is this?\n1,2,3\n", "notes.txt");
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("notes.txt"), std::string::npos);
  EXPECT_FALSE(read_hardware_file("", "empty").ok());
  EXPECT_FALSE(read_hardware_file("kernel,block,grid,x\n", "no_launch.csv").ok());
}

TEST(Correlate, CountsEqualValuesAndNamesCauses) {
  results::Profile here;
  here.launches.push_back(launch("scale(float const*, float*, int)", 256, 4,
                                 {{name(MetricId::time), {3075, "ns", Origin::estimated, ""}},
                                  {name(MetricId::time_low), {2400, "ns", Origin::estimated, ""}},
                                  {name(MetricId::time_high), {4000, "ns", Origin::estimated, ""}},
                                  {name(MetricId::global_ld_sectors), {1024, "sector", Origin::exact, ""}},
                                  {name(MetricId::occupancy), {75, "%", Origin::exact, ""}}}));
  here.launches.push_back(launch("mine", 32, 1, {}));
  const Correlation c = correlate(*read_hardware_file(kRaw, "raw.csv"), here);
  EXPECT_EQ(c.values, 2u);  // the time is counted separately
  EXPECT_EQ(c.equal, 1u);
  ASSERT_EQ(c.time_ratios.size(), 1u);
  EXPECT_NEAR(c.time_ratios[0], 1.25, 1e-9);
  EXPECT_EQ(c.times_inside, 1u);
  EXPECT_NE(correlation_text(c, false).find("3075 (2400..4000)"), std::string::npos);
  EXPECT_EQ(c.hardware_only, std::vector<std::string>{"other"});
  EXPECT_EQ(c.here_only, std::vector<std::string>{"mine"});
  const std::string text = correlation_text(c, false);
  EXPECT_TRUE(text.starts_with("1 of 2 values equal (50.0 %) in 1 launches of 1 kernels and shapes\n")) << text;
  EXPECT_NE(text.find("-25.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("follows from what limits the occupancy"), std::string::npos) << text;
  EXPECT_EQ(text.find("l1tex__t_sectors"), std::string::npos) << text;
  EXPECT_NE(correlation_text(c, true).find("l1tex__t_sectors"), std::string::npos);
  EXPECT_NE(correlation_json(c).find("\"warpgrind-correlation 1\""), std::string::npos);
}

// Only digits that the hardware's tool printed can differ.
TEST(Correlate, ComparesAsManyDigitsAsWerePrinted) {
  const auto file =
      read_hardware_file("kernel,block,grid,a__ratio,b__sum\nk,\"(1, 1, 1)\",\"(1, 1, 1)\",1.33,5\n", "x");
  results::Profile here;
  here.launches.push_back(
      launch("k", 1, 1, {{"a__ratio", {4 / 3.0, "", Origin::exact, ""}}, {"b__sum", {6, "", Origin::exact, ""}}}));
  const Correlation c = correlate(*file, here);
  EXPECT_EQ(c.values, 2u);
  EXPECT_EQ(c.equal, 1u);
}

// Launches of one kernel and shape match in order. The worst one is shown.
TEST(Correlate, MatchesInOrder) {
  const auto file = read_hardware_file(
      "kernel,block,grid,n__sum\nk,\"(1, 1, 1)\",\"(1, 1, 1)\",5\nk,\"(1, 1, 1)\",\"(1, 1, 1)\",8\n", "x");
  results::Profile here;
  for (const double n : {5.0, 6.0})
    here.launches.push_back(launch("k", 1, 1, {{"n__sum", {n, "", Origin::exact, ""}}}));
  const Correlation c = correlate(*file, here);
  ASSERT_EQ(c.kernels.size(), 1u);
  EXPECT_EQ(c.kernels[0].launches, 2u);
  EXPECT_EQ(c.kernels[0].metrics[0].equal, 1u);
  EXPECT_EQ(c.kernels[0].metrics[0].hardware, 8);
  EXPECT_NEAR(c.kernels[0].metrics[0].difference(), -0.25, 1e-12);
}

// A counter that gets another name would lose its cause without a word.
TEST(Correlate, EachCauseIsOfACounter) {
  std::set<const Cause*> unused;
  for (const Cause& c : causes()) unused.insert(&c);
  ASSERT_FALSE(unused.empty());
  for (std::size_t i = 0; i < static_cast<std::size_t>(MetricId::count); ++i)
    unused.erase(cause_of(results::name(static_cast<MetricId>(i))));
  for (const Cause* c : unused) ADD_FAILURE() << c->pattern;
  EXPECT_EQ(cause_of("no_such_thing"), nullptr);
}

}  // namespace
}  // namespace warpgrind::correlate
