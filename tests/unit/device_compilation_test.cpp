// Code that the compiler must accept in any kernel (tests/data/device/compilation.ptx).
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/processor.h"
#include "device_fixture.h"
#include "jit/compile/kernel_archive.h"
#include "jit/compile/kernel_cache.h"

namespace warpgrind::device {
namespace {

TEST(Compilation, SaturationOfACanonicalValue) {
  Gpu gpu(1, 0, "compilation.ptx");
  auto* in = gpu.array<float>(32);
  auto* out = gpu.array<std::uint32_t>(32);
  for (int i = 0; i < 32; ++i) in[i] = -1.5f + 0.0625f * static_cast<float>(i);
  in[31] = std::nanf("");
  const LaunchResult r = gpu.run("saturate", shape({1, 1, 1}, {32, 1, 1}), out, in);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (int i = 0; i < 31; ++i) {
    const float clamped = std::fmin(std::fmax(in[i] + 1.f, 0.f), 1.f);
    EXPECT_EQ(out[i], static_cast<std::uint32_t>(255.f * clamped)) << i;
  }
  EXPECT_EQ(out[31], 0u);
}

// Recursive calls with frames larger than the guard below a warp's host stack. The warp has room for as many calls as
// the thread's stack, which is full first.
TEST(Compilation, LargeFramesOfRecursiveCallsFit) {
  Gpu gpu(1, 0, "compilation.ptx");
  auto* out = gpu.array<double>(1024);
  for (const std::uint64_t bytes : {1024, 16384}) {
    gpu.device->set_stack_size(bytes);
    const LaunchResult r = gpu.run("deep", shape({1, 1, 1}, {64, 1, 1}), out);
    ASSERT_TRUE(r.fault);
    EXPECT_EQ(r.fault->kind, FaultKind::stack_overflow);
    EXPECT_NE(r.fault->message.find(fmt::format("is {} bytes (cudaLimitStackSize)", bytes)), std::string::npos)
        << r.fault->message;
  }
}

constexpr std::uint32_t kLive = 9'000;

// Registers of one block that are all live at once. The quick tier keeps each in the frame (128 bytes a register).
std::string large_frame() {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry large(.param .u64 out)\n{\n"
      "  .reg .b32 %v<" +
      std::to_string(kLive) + ">;\n  .reg .b64 %rd<3>;\n";
  for (std::uint32_t r = 0; r < kLive; ++r) text += fmt::format("  mad.lo.u32 %v{0}, %tid.x, {1}, {0};\n", r, r | 1);
  for (std::uint32_t r = kLive - 1; r > 0; --r) text += fmt::format("  xor.b32 %v0, %v0, %v{};\n", r);
  return text +
         "  ld.param.u64 %rd0, [out];\n  mul.wide.u32 %rd1, %tid.x, 4;\n  add.s64 %rd2, %rd0, %rd1;\n"
         "  st.global.u32 [%rd2], %v0;\n  ret;\n}\n";
}

// A frame larger than a stack's usual megabyte is not reported as deep nesting.
TEST(Compilation, LargeFramesGetLargeStacks) {
  Options options;
  options.workers = 1;
  Device device(0, **find_gpu_model("h200"), options);
  const std::shared_ptr<const ptx::Module> text = *ptx::parse(large_frame(), "large");
  LoadedModule* module = *device.load(text);
  auto* out = reinterpret_cast<std::uint32_t*>(*device.allocate(64 * 4));
  void* arguments[] = {&out, nullptr};
  auto result = device.launch(module, 0, shape({1, 1, 1}, {64, 1, 1}), arguments);
  ASSERT_TRUE(result.ok()) << result.error().message;
  const LaunchResult r = result.take();
  EXPECT_FALSE(r.fault) << r.fault->message;
  EXPECT_GT(r.kernel->frame_bytes, 1u << 20);
  for (std::uint32_t t = 0; t < 64; ++t) {
    std::uint32_t expected = 0;
    for (std::uint32_t v = 0; v < kLive; ++v) expected ^= t * (v | 1) + v;
    ASSERT_EQ(out[t], expected) << t;
  }
}

constexpr unsigned kRegisters = 60, kBranches = 60;

// Many registers live across many divergent branches, so that every value needs PHI nodes.
std::string many_registers() {
  std::string body;
  for (unsigned r = 0; r < kRegisters; ++r) body += fmt::format("  mad.lo.u32 %v{0}, %tid.x, {1}, {0};\n", r, r + 3);
  for (unsigned b = 0; b < kBranches; ++b)
    body += fmt::format(
        "  shr.u32 %t, %tid.x, {};\n  and.b32 %t, %t, 1;\n  setp.ne.u32 %p, %t, 0;\n  @%p bra $L{};\n"
        "  add.u32 %v{}, %v{}, %v{};\n  xor.b32 %v{}, %v{}, {};\n$L{}:\n",
        b % 5, b, b % kRegisters, b % kRegisters, b * 7 % kRegisters, b * 3 % kRegisters, b * 3 % kRegisters, b, b);
  for (unsigned r = 1; r < kRegisters; ++r) body += fmt::format("  xor.b32 %v0, %v0, %v{};\n", r);
  return fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry many(.param .u64 out)\n{{\n"
      "  .reg .b32 %v<{}>;\n  .reg .b32 %t;\n  .reg .pred %p;\n  .reg .b64 %rd<3>;\n{}"
      "  ld.param.u64 %rd0, [out];\n  mul.wide.u32 %rd1, %tid.x, 4;\n  add.s64 %rd2, %rd0, %rd1;\n"
      "  st.global.u32 [%rd2], %v0;\n  ret;\n}}\n",
      kRegisters, body);
}

std::uint32_t many_registers_result(std::uint32_t thread) {
  std::uint32_t v[kRegisters];
  for (unsigned r = 0; r < kRegisters; ++r) v[r] = thread * (r + 3) + r;
  for (unsigned b = 0; b < kBranches; ++b) {
    if (thread >> b % 5 & 1) continue;
    v[b % kRegisters] += v[b * 7 % kRegisters];
    v[b * 3 % kRegisters] ^= b;
  }
  for (unsigned r = 1; r < kRegisters; ++r) v[0] ^= v[r];
  return v[0];
}

struct Many {
  explicit Many(Options options) {
    options.workers = 1;
    device = std::make_unique<Device>(0, **find_gpu_model("h200"), options);
    auto parsed = ptx::parse(many_registers(), "many");
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
    text = *parsed;
    module = *device->load(text);
    out = reinterpret_cast<std::uint32_t*>(*device->allocate(64 * 4));
  }
  LaunchResult run() {
    void* arguments[] = {&out, nullptr};
    auto result = device->launch(module, 0, shape({1, 1, 1}, {64, 1, 1}), arguments);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], many_registers_result(t)) << t;
    return result.take();
  }
  std::unique_ptr<Device> device;
  std::shared_ptr<const ptx::Module> text;
  LoadedModule* module = nullptr;
  std::uint32_t* out = nullptr;
};

// The compiler's effort changes neither results nor counts. A kernel's size limits that effort.
TEST(Compilation, TiersAgree) {
  std::vector<events::BlockCounts> blocks;
  std::vector<events::BranchCounts> branches;
  for (const std::optional<jit::Tier> tier : {std::optional<jit::Tier>(), std::optional(jit::Tier::full),
                                              std::optional(jit::Tier::lean), std::optional(jit::Tier::quick)}) {
    Options options;
    options.tier = tier;
    Many many(options);
    const LaunchResult r = many.run();
    const jit::CompilationSize& size = r.kernel->size;
    EXPECT_EQ(size.ptx_instructions, many.text->functions[0].body.size());
    if (!tier) {
      EXPECT_GT(size.code.phis, 4000u);
      EXPECT_EQ(size.tier, jit::Tier::lean);
    } else {
      EXPECT_EQ(size.tier, *tier);
    }
    EXPECT_LE(size.phis, jit::phi_budget(size.tier));
    EXPECT_EQ(size.in_memory > 0, size.tier != jit::Tier::full);
    if (blocks.empty()) {
      blocks = r.counts.blocks;
      branches = r.counts.branches;
    }
    ASSERT_EQ(r.counts.blocks.size(), blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      EXPECT_EQ(r.counts.blocks[b].warps, blocks[b].warps);
      EXPECT_EQ(r.counts.blocks[b].lanes, blocks[b].lanes);
    }
    ASSERT_EQ(r.counts.branches.size(), branches.size());
    for (std::size_t b = 0; b < branches.size(); ++b) EXPECT_EQ(r.counts.branches[b].divergent, branches[b].divergent);
    EXPECT_EQ(total(r, events::SiteKind::store).global_requests, 2u);
  }
}

constexpr unsigned kWords = 40, kWide = 8, kHalves = 4, kFlags = 6, kStops = 30;

// Lanes of a warp wait for each other in different arms of many branches, with registers of every kind alive.
std::string waiting_lanes() {
  std::string body;
  const auto add = [&](const char* text, auto... arguments) {
    body += fmt::format(fmt::runtime(text), arguments...) + "\n";
  };
  for (unsigned r = 0; r < kWords; ++r) add("mad.lo.u32 %v{}, %tid.x, {}, {};", r, r + 3, r);
  for (unsigned r = 0; r < kWide; ++r) add("mul.wide.u32 %w{}, %v{}, 0x1000001;", r, r);
  for (unsigned r = 0; r < kHalves; ++r) add("cvt.u16.u32 %h{}, %v{};", r, r + 5);
  for (unsigned r = 0; r < kFlags; ++r) add("and.b32 %t, %v{}, 4; setp.ne.u32 %f{}, %t, 0;", r + 9, r);
  add("mov.u32 %u, %ntid.x;");  // the same in all lanes
  for (unsigned k = 0; k < kStops; ++k) {
    add("shr.u32 %t, %tid.x, {}; and.b32 %t, %t, 1; setp.ne.u32 %p, %t, 0;", k % 5);
    add("@%p bra $A{};", k);
    add("add.u32 %v{0}, %v{0}, %v{1};", k % kWords, k * 7 % kWords);
    add("bar.warp.sync 0xffffffff;");
    add("add.u64 %w{0}, %w{0}, {1}; bra $J{1};", k % kWide, k);
    add("$A{}:", k);
    add("add.u16 %h{0}, %h{0}, {1}; not.pred %f{2}, %f{2};", k % kHalves, k, k % kFlags);
    add("bar.warp.sync 0xffffffff;");
    add("xor.b32 %v{0}, %v{0}, {1};", k * 3 % kWords, k);
    add("$J{}: add.u32 %u, %u, {};", k, k);
  }
  for (unsigned r = 1; r < kWords; ++r) add("xor.b32 %v0, %v0, %v{};", r);
  for (unsigned r = 0; r < kWide; ++r) add("shr.u64 %x, %w{0}, {0}; cvt.u32.u64 %t, %x; xor.b32 %v0, %v0, %t;", r);
  for (unsigned r = 0; r < kHalves; ++r) add("cvt.u32.u16 %t, %h{}; xor.b32 %v0, %v0, %t;", r);
  for (unsigned r = 0; r < kFlags; ++r) add("selp.b32 %t, {}, 0, %f{}; xor.b32 %v0, %v0, %t;", 256u << r, r);
  return fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry waits(.param .u64 out)\n{{\n"
      "  .reg .b32 %v<{}>, %t, %u;\n  .reg .b64 %w<{}>, %x;\n  .reg .b16 %h<{}>;\n  .reg .pred %p, %f<{}>;\n"
      "  .reg .b64 %rd<3>;\n{}"
      "  xor.b32 %v0, %v0, %u;\n"
      "  ld.param.u64 %rd0, [out];\n  mul.wide.u32 %rd1, %tid.x, 4;\n  add.s64 %rd2, %rd0, %rd1;\n"
      "  st.global.u32 [%rd2], %v0;\n  ret;\n}}\n",
      kWords, kWide, kHalves, kFlags, body);
}

std::uint32_t waiting_lanes_result(std::uint32_t thread, std::uint32_t threads) {
  std::uint32_t v[kWords], u = threads;
  std::uint64_t w[kWide];
  std::uint16_t h[kHalves];
  bool f[kFlags];
  for (unsigned r = 0; r < kWords; ++r) v[r] = thread * (r + 3) + r;
  for (unsigned r = 0; r < kWide; ++r) w[r] = std::uint64_t{v[r]} * 0x1000001;
  for (unsigned r = 0; r < kHalves; ++r) h[r] = static_cast<std::uint16_t>(v[r + 5]);
  for (unsigned r = 0; r < kFlags; ++r) f[r] = v[r + 9] & 4;
  for (unsigned k = 0; k < kStops; ++k) {
    if (thread >> k % 5 & 1) {
      h[k % kHalves] = static_cast<std::uint16_t>(h[k % kHalves] + k);
      f[k % kFlags] = !f[k % kFlags];
      v[k * 3 % kWords] ^= k;
    } else {
      v[k % kWords] += v[k * 7 % kWords];
      w[k % kWide] += k;
    }
    u += k;
  }
  for (unsigned r = 1; r < kWords; ++r) v[0] ^= v[r];
  for (unsigned r = 0; r < kWide; ++r) v[0] ^= static_cast<std::uint32_t>(w[r] >> r);
  for (unsigned r = 0; r < kHalves; ++r) v[0] ^= h[r];
  for (unsigned r = 0; r < kFlags; ++r) v[0] ^= f[r] ? 256u << r : 0;
  return v[0] ^ u;
}

// Saving and restoring the registers of waiting lanes was most of such a kernel's code. A list of the registers is
// small.
TEST(Compilation, RegistersOfLanesThatWait) {
  const std::shared_ptr<const ptx::Module> text = *ptx::parse(waiting_lanes(), "waits");
  std::vector<events::BlockCounts> blocks;
  for (const std::optional<jit::Tier> tier :
       {std::optional<jit::Tier>(), std::optional(jit::Tier::lean), std::optional(jit::Tier::quick)}) {
    Options options;
    options.workers = 1;
    options.tier = tier;
    Device device(0, **find_gpu_model("h200"), options);
    LoadedModule* module = *device.load(text);
    auto* out = reinterpret_cast<std::uint32_t*>(*device.allocate(64 * 4));
    void* arguments[] = {&out, nullptr};
    auto result = device.launch(module, 0, shape({1, 1, 1}, {64, 1, 1}), arguments);
    ASSERT_TRUE(result.ok()) << result.error().message;
    const LaunchResult r = result.take();
    ASSERT_FALSE(r.fault) << r.fault->message;
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], waiting_lanes_result(t, 64)) << t;
    const jit::CompilationSize& size = r.kernel->size;
    EXPECT_EQ(size.tier, tier.value_or(jit::Tier::quick));
    if (size.tier == jit::Tier::quick)
      EXPECT_LT(size.code.instructions, 20 * size.ptx_instructions);
    else
      EXPECT_GT(size.code.instructions, 30 * size.ptx_instructions);
    if (blocks.empty()) blocks = r.counts.blocks;
    ASSERT_EQ(r.counts.blocks.size(), blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      EXPECT_EQ(r.counts.blocks[b].warps, blocks[b].warps) << b;
      EXPECT_EQ(r.counts.blocks[b].lanes, blocks[b].lanes) << b;
    }
  }
}

// A second process finds the kernel on disk with all its facts. Damaged files, and folders that other users may write
// to, are detected.
TEST(Compilation, KernelsComeFromDisk) {
  std::string folder = testing::TempDir() + "warpgrind-cache-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::string refusal;
  Options options;
  options.cache_directory = folder;
  options.on_cache_refused = [&](const std::string& why) { refusal = why; };
  Many first(options), second(options);
  const LaunchResult made = first.run();
  EXPECT_FALSE(made.kernel->from_cache);
  const LaunchResult found = second.run();
  EXPECT_TRUE(found.kernel->from_cache);
  EXPECT_EQ(found.kernel->size.ptx_instructions, made.kernel->size.ptx_instructions);
  EXPECT_EQ(found.kernel->register_estimate, made.kernel->register_estimate);
  ASSERT_EQ(found.kernel->facts().sites.size(), made.kernel->facts().sites.size());
  for (std::size_t s = 0; s < made.kernel->facts().sites.size(); ++s) {
    EXPECT_EQ(found.kernel->facts().sites[s].text, made.kernel->facts().sites[s].text);
    EXPECT_EQ(found.kernel->facts().sites[s].ptx_line, made.kernel->facts().sites[s].ptx_line);
  }
  EXPECT_EQ(found.counts.blocks.size(), made.counts.blocks.size());

  // Changes a byte in the middle of every kernel file.
  const std::string list = "ls " + folder + "/kernels";
  FILE* names = popen(list.c_str(), "r");
  char name[256];
  unsigned files = 0;
  while (names && std::fscanf(names, "%255s", name) == 1) {
    std::fstream file(folder + "/kernels/" + name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(2000);
    const char byte = static_cast<char>(file.get());
    file.seekp(2000);
    file.put(static_cast<char>(~byte));
    ++files;
  }
  if (names) pclose(names);
  EXPECT_EQ(files, 1u);
  Many damaged(options);
  EXPECT_FALSE(damaged.run().kernel->from_cache);

  EXPECT_TRUE(refusal.empty()) << refusal;
  ASSERT_EQ(chmod((folder + "/kernels").c_str(), 0777), 0);
  Many foreign(options);
  EXPECT_FALSE(foreign.run().kernel->from_cache);
  EXPECT_NE(refusal.find("can be written by others"), std::string::npos) << refusal;
  ASSERT_EQ(std::system(("rm -r " + folder).c_str()), 0);
}

// Quick code that a package has for a level of CPUs is used where there is no other code. Another level is a miss.
TEST(Compilation, KernelsOfALevelComeFromAPackage) {
  if (processor_level().empty()) GTEST_SKIP() << "this CPU has no level";
  std::string package = testing::TempDir() + "warpgrind-package-XXXXXX";
  ASSERT_NE(mkdtemp(package.data()), nullptr);
  const std::shared_ptr<const ptx::Module> text = *ptx::parse(many_registers(), "many");
  const auto fill = [&](std::string_view level) {
    jit::CompileOptions options;
    options.cpu = level;
    options.for_level = options.quick_start = true;
    options.cache_directory = package;
    EXPECT_TRUE(jit::make_compiler()->compile(*text, 0, options).ok());
  };
  Options options;
  options.prepared_directory = package;
  options.quick_start = true;
  std::vector<std::unique_ptr<Many>> devices;  // a result refers to its device's kernel
  const auto run = [&](bool quick_start) {
    options.cache_directory = testing::TempDir() + "warpgrind-empty-XXXXXX";
    EXPECT_NE(mkdtemp(options.cache_directory.data()), nullptr);
    options.quick_start = quick_start;
    return devices.emplace_back(std::make_unique<Many>(options))->run();
  };
  for (const std::string_view level : kProcessorLevels)
    if (level != processor_level()) fill(level);
  const LaunchResult made = run(true);
  EXPECT_FALSE(made.kernel->from_cache);
  fill(processor_level());
  const LaunchResult found = run(true);
  EXPECT_TRUE(found.kernel->from_cache);
  EXPECT_TRUE(found.quick);
  EXPECT_GT(found.kernel->better_seconds, 0);
  EXPECT_EQ(found.kernel->facts().sites.size(), made.kernel->facts().sites.size());
  ASSERT_EQ(found.counts.blocks.size(), made.counts.blocks.size());
  for (std::size_t b = 0; b < found.counts.blocks.size(); ++b)
    EXPECT_EQ(found.counts.blocks[b].warps, made.counts.blocks[b].warps) << b;
  EXPECT_FALSE(run(false).kernel->from_cache);  // better code is made for this CPU
}

// Another compiler, CPU or option gives another name on disk, if the compiled code would differ.
TEST(Compilation, KeysOfTheCache) {
  const auto module = [](const std::string& text) { return *ptx::parse(text, "many"); };
  const std::string text = many_registers();
  const std::shared_ptr<const ptx::Module> many = module(text);
  jit::CompileOptions options, observed;
  observed.every_access = !options.every_access;
  const std::string key = jit::cache_key(*many, 0, options, "a CPU");
  EXPECT_EQ(key, jit::cache_key(*module(text), 0, options, "a CPU"));
  EXPECT_EQ(key, jit::cache_key(*many, 0, options, "a CPU", jit::kCodeDigest));
  EXPECT_NE(key, jit::cache_key(*many, 0, options, "a CPU", "of other sources"));
  EXPECT_NE(key, jit::cache_key(*many, 0, options, "another CPU"));
  EXPECT_NE(key, jit::cache_key(*many, 0, observed, "a CPU"));
  EXPECT_EQ(key, jit::cache_key(*module(text + "\n"), 0, options, "a CPU"));  // places are set anew
  EXPECT_EQ(key, jit::cache_key(*module(text + ".visible .entry other() { ret; }\n"), 0, options, "a CPU"));
  jit::CompileOptions stops = options;
  stops.stops = jit::StopAt::lines;
  EXPECT_NE(jit::cache_key(*many, 0, stops, "a CPU"), jit::cache_key(*module(text + "\n"), 0, stops, "a CPU"));
}

// What a kernel names decides its code; what it does not name does not.
TEST(Compilation, OnlyWhatAKernelNamesIsInItsKey) {
  const auto key = [](const std::string& before, const std::string& body, const std::string& after = "") {
    auto parsed = ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n" + before +
                                 "\n.entry k() {\n.reg .b32 %r<3>;\n.reg .b64 %d<3>;\n" + body + "\nret;\n}\n" + after,
                             "key");
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
    if (!parsed.ok()) return std::string();
    std::uint32_t entry = 0;
    while ((*parsed)->functions[entry].name != "k") ++entry;
    return jit::cache_key(**parsed, entry, {}, "a CPU");
  };
  const std::string g = ".global .u32 g;\n", h = ".global .u32 h;\n", load = "ld.global.u32 %r1, [g];";
  EXPECT_EQ(key(g, load), key(g + h, load));
  EXPECT_NE(key(g, load), key(h + g, load));  // machine code has the variable's number
  EXPECT_NE(key(g, load), key(".const .align 4 .u32 g;\n", "ld.const.u32 %r1, [g];"));
  const std::string s = ".shared .u32 s;\n", store = "st.shared.u32 [s], %r1;";
  EXPECT_EQ(key(s, store), key(h + ".shared .u32 t;\n" + s, store));
  EXPECT_NE(key(s, store), key(".shared .align 16 .u32 s;\n", store));
  const std::string call = "call f, ();", f = ".func f() { ret; }\n";
  EXPECT_EQ(key(f, call), key(".func e() { ret; }\n" + f, call));
  EXPECT_NE(key(f, call), key(".func f() { trap; ret; }\n", call));
  // An address is the function's number.
  EXPECT_NE(key(f, "mov.u64 %d1, f;"), key(".func e() { ret; }\n" + f, "mov.u64 %d1, f;"));
  EXPECT_NE(key("", "add.u32 %r1, %r2, 1;"), key("", "add.u32 %r1, %r2, 2;"));
  EXPECT_NE(key("", "frobnicate.u32 %r1;"), key("", ""));
}

// A kernel made for one program is found by another, with the places that it has there.
TEST(Compilation, KernelsOfOtherModulesComeFromDisk) {
  std::string folder = testing::TempDir() + "warpgrind-cache-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto kernel = [](unsigned file, unsigned line, const char* label) {
    return fmt::format(R"(.func helper() {{
  .reg .b32 %r;
  .loc {0} {2} 1
  ld.shared.u32 %r, [s];
  ret;
}}
.visible .entry k(.param .u64 p) {{
  .reg .b64 %d<3>;
  .reg .b32 %r<3>;
  .reg .pred %q;
  .loc {0} {1} 5
  ld.param.u64 %d1, [p];
  ld.global.u32 %r1, [%d1];
  setp.eq.u32 %q, %r1, %tid.x;
  .loc {0} {2} 5
  @%q bra {3};
  st.shared.u32 [s], %r1;
{3}:
  call helper, ();
  ret;
}}
)",
                       file, line, line + 1, label);
  };
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
  const std::string first = head + ".file 1 \"a.cu\"\n.shared .u32 s;\n" + kernel(1, 7, "$L__BB0_1");
  const std::string second = head + ".file 1 \"first.cu\"\n.file 2 \"b.cu\"\n.shared .u32 t;\n.shared .u32 s;\n" +
                             ".visible .entry other() { st.shared.u32 [t], 1; ret; }\n" + kernel(2, 107, "$L__BB1_1");
  const auto compile = [](const std::string& text, const std::string& cache) {
    const std::shared_ptr<const ptx::Module> module = *ptx::parse(text, "text");
    std::uint32_t entry = 0;
    while (module->functions[entry].name != "k") ++entry;
    jit::CompileOptions options;
    options.cache_directory = cache;
    auto made = jit::make_compiler()->compile(*module, entry, options);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    return made.take();
  };
  EXPECT_FALSE(compile(first, folder)->from_cache);
  const auto found = compile(second, folder), made = compile(second, "");
  EXPECT_TRUE(found->from_cache);
  EXPECT_FALSE(made->from_cache);
  ASSERT_EQ(found->facts().sites.size(), 3u);
  EXPECT_EQ(found->facts().files.at(found->facts().sites.at(0).file), "b.cu");
  EXPECT_EQ(jit::pack(*found, {}, "object"), jit::pack(*made, {}, "object"));
  ASSERT_EQ(std::system(("rm -r " + folder).c_str()), 0);
}

// Kernels of an installation are read, and nothing is written there.
TEST(Compilation, PreparedKernelsAreOnlyRead) {
  std::string folder = testing::TempDir() + "warpgrind-prepared-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_FALSE(jit::KernelCache::prepared(folder).enabled());
  EXPECT_FALSE(jit::KernelCache::prepared("").enabled());
  const jit::KernelCache made(folder);
  made.store("key", "bytes");
  const jit::KernelCache found = jit::KernelCache::prepared(folder);
  ASSERT_TRUE(found.enabled()) << found.refusal();
  EXPECT_EQ(found.find("key"), "bytes");
  EXPECT_FALSE(found.find("another key"));
  const std::string long_text(100'000, 'x');
  ASSERT_TRUE(made.store_packed("packed", long_text));
  EXPECT_EQ(found.find("packed"), long_text);
  EXPECT_LT(std::filesystem::file_size(folder + "/kernels/packed"), 1000u);
  ASSERT_EQ(chmod((folder + "/kernels").c_str(), 0777), 0);
  const jit::KernelCache foreign = jit::KernelCache::prepared(folder);
  EXPECT_FALSE(foreign.enabled());
  EXPECT_NE(foreign.refusal().find("can be written by others"), std::string::npos) << foreign.refusal();
  ASSERT_EQ(std::system(("rm -r " + folder).c_str()), 0);
}

// The least recently used kernels are removed, down to three quarters of the limit.
TEST(Compilation, TheCacheIsBounded) {
  std::string folder = testing::TempDir() + "warpgrind-cache-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const jit::KernelCache cache(folder);
  ASSERT_TRUE(cache.enabled()) << cache.refusal();
  constexpr unsigned kFiles = 8, kBytes = 1000;
  const std::string object(kBytes - 32, 'x');  // plus its digest
  const auto used = [&](unsigned i, std::time_t when) {
    const timespec times[2] = {{when, 0}, {when, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, fmt::format("{}/kernels/k{}", folder, i).c_str(), times, 0), 0);
  };
  for (unsigned i = 0; i < kFiles; ++i) {
    cache.store(fmt::format("k{}", i), object, kFiles * kBytes);
    used(i, 1000 + i);
  }
  for (unsigned i = 0; i < kFiles; ++i) EXPECT_TRUE(cache.find(fmt::format("k{}", i))) << i;  // none was removed
  for (unsigned i = 0; i < kFiles; ++i) used(i, 1000 + i);
  EXPECT_TRUE(cache.find("k1"));  // now the most recently used
  cache.store("more", object, kFiles * kBytes);
  // 9 files where 8 fit: three are removed, the oldest first.
  for (const unsigned gone : {0u, 2u, 3u}) EXPECT_FALSE(cache.find(fmt::format("k{}", gone))) << gone;
  for (const unsigned stays : {1u, 4u, 5u, 6u, 7u}) EXPECT_TRUE(cache.find(fmt::format("k{}", stays))) << stays;
  EXPECT_TRUE(cache.find("more"));
  ASSERT_EQ(std::system(("rm -r " + folder).c_str()), 0);
}

// The folder is looked through once for a sixteenth of the limit, not for each kernel.
TEST(Compilation, TheCacheIsNotMeasuredForEachKernel) {
  std::string folder = testing::TempDir() + "warpgrind-cache-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const jit::KernelCache cache(folder);
  constexpr unsigned kLimit = 32000;
  const std::string object(1000 - 32, 'x');
  cache.store("first", object, kLimit);  // there is room for two more
  for (unsigned i = 0; i < 32; ++i) std::ofstream(fmt::format("{}/kernels/of_another_process_{}", folder, i)) << object;
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder + "/kernels"),
                         std::filesystem::directory_iterator());
  };
  cache.store("second", object, kLimit);
  cache.store("third", object, kLimit);
  EXPECT_EQ(files(), 35);
  cache.store("fourth", object, kLimit);
  EXPECT_LE(files(), 25);
  ASSERT_EQ(std::system(("rm -r " + folder).c_str()), 0);
}

// A kernel counts as slow after no time, so that the test need not wait.
TEST(Compilation, SlowKernelsAreNamed) {
  std::vector<jit::SlowCompilation> said;
  Options options;
  options.slow_seconds = 0;
  options.on_slow_compilation = [&](const jit::SlowCompilation& slow) { said.push_back(slow); };
  Many many(options);
  many.run();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].kernel, "many");
  EXPECT_EQ(said[0].ptx_instructions, many.text->functions[0].body.size());
  options.slow_seconds = 1e9;
  Many quick(options);
  quick.run();
  EXPECT_EQ(said.size(), 1u);
}

}  // namespace
}  // namespace warpgrind::device
