// The report in compute-sanitizer's format, which scripts match. The lines are those of version 2025.3 on a GPU.
#include <gtest/gtest.h>

#include "report/sanitizer_text.h"
#include "report/sanitizer_xml.h"

namespace warpgrind::report {
namespace {

using results::Finding;
using results::FindingAccess;
using results::Severity;

FindingAccess access(const char* what, std::uint32_t line, std::uint32_t lane, std::int64_t offset) {
  FindingAccess a;
  a.access = what;
  a.kernel = "sum(int*)";
  a.file = "/src/sum.cu";
  a.line = line;
  a.ptx_line = 9;
  a.of_thread = true;
  a.thread = {lane, 0, 0};
  a.block = {2, 1, 0};
  a.bytes = 4;
  a.memory = {"global", 1, 1024, offset};
  return a;
}

Finding finding(const char* kind, const char* group, std::vector<FindingAccess> accesses) {
  Finding f;
  f.kind = kind;
  f.group = group;
  f.message = "what happened";
  f.accesses = std::move(accesses);
  return f;
}

TEST(Sanitizer, InvalidAccess) {
  const Finding f = finding("oob-global-write", "memory", {access("write", 12, 3, 1024)});
  EXPECT_EQ(sanitizer_text(f, {}),
            "========= Invalid __global__ write of size 4 bytes\n"
            "=========     at sum(int*)+0x90 in sum.cu:12\n"
            "=========     by thread (3,0,0) in block (2,1,0)\n"
            "=========     Access to 0x7f0100000400 is out of bounds\n"
            "=========     and is 1 bytes after the nearest allocation at 0x7f0100000000 of size 1,024 bytes\n"
            "========= \n");
}

TEST(Sanitizer, WhereTheNearestAllocationIs) {
  const auto text = [](const char* kind, std::int64_t offset) {
    return sanitizer_text(finding(kind, "memory", {access("read", 12, 3, offset)}), {});
  };
  EXPECT_NE(text("oob-global-read", -4).find("and is 4 bytes before the nearest"), std::string::npos);
  EXPECT_NE(text("use-after-free", 8).find("and is inside the nearest allocation"), std::string::npos);
  EXPECT_NE(text("misaligned", 2).find("Access to 0x7f0100000002 is misaligned"), std::string::npos);
  EXPECT_NE(text("oob-shared-read", 2).find("Invalid __shared__ read of size 4 bytes"), std::string::npos);
}

TEST(Sanitizer, Races) {
  Finding f = finding("race-shared", "races", {access("write", 12, 1, 8), access("read", 15, 0, 8)});
  f.accesses[0].memory = f.accesses[1].memory = {"shared", 0, 0, 8};
  f.count = 508;
  EXPECT_EQ(sanitizer_text(f, {}),
            "========= Error: Race reported between Write access at sum(int*)+0x90 in sum.cu:12\n"
            "=========     and Read access at sum(int*)+0x90 in sum.cu:15 [508 hazards]\n"
            "========= \n");
  SanitizerForm form;
  form.hazards = true;
  form.analysis = false;
  EXPECT_EQ(sanitizer_text(f, form),
            "========= Error: Potential RAW hazard detected at __shared__ 0x8 in block (2,1,0) :\n"
            "=========     Write Thread (1,0,0) at sum(int*)+0x90 in sum.cu:12\n"
            "=========     Read Thread (0,0,0) at sum(int*)+0x90 in sum.cu:15\n"
            "========= \n");
  f.kind = "race-warp";
  f.severity = Severity::warning;
  EXPECT_EQ(sanitizer_text(f, form).rfind("========= Warning: (Warp Level Programming) Potential RAW hazard", 0), 0u);
}

TEST(Sanitizer, Headlines) {
  Finding f = finding("barrier-divergent-warp", "barriers", {access("barrier", 7, 0, 0)});
  EXPECT_EQ(sanitizer_headline(f), "Barrier error detected. Divergent thread(s) in warp.");
  f = finding("uninit-shared", "init", {access("read", 7, 0, 0)});
  EXPECT_EQ(sanitizer_headline(f), "Uninitialized __shared__ memory read of size 4 bytes");
  f.accesses[0].bytes = 0;
  EXPECT_EQ(sanitizer_headline(f), "Uninitialized __shared__ memory read of size 4 bytes");
  f.accesses[0].ptx = "setp.gt.f64 %p1, %fd1, %fd2;";
  EXPECT_EQ(sanitizer_headline(f), "Uninitialized __shared__ memory read of size 8 bytes");
  f = finding("oob-shared", "memory", {access("stops here", 7, 0, 0)});
  EXPECT_EQ(sanitizer_headline(f), "What happened");
  f = finding("double-free", "memory", {access("free", 7, 0, 0)});
  EXPECT_EQ(sanitizer_headline(f), "Malloc/Free Error encountered : Device-side double free");
  FindingAccess call;
  call.access = "cudaMalloc";
  f = finding("api-error", "api", {call});
  f.error = "cudaErrorMemoryAllocation";
  EXPECT_EQ(sanitizer_headline(f),
            "Program hit cudaErrorMemoryAllocation (error 2) due to \"out of memory\" on CUDA API call to cudaMalloc.");
  call.memory = {"global", 0, 4096, 0};
  EXPECT_EQ(sanitizer_headline(finding("leak-device", "leaks", {call})), "Leaked 4,096 bytes at 0x0");
}

TEST(Sanitizer, Summaries) {
  SanitizerCounts counts;
  EXPECT_EQ(sanitizer_summary(counts, {}, {}), "========= ERROR SUMMARY: 0 errors\n");
  EXPECT_EQ(sanitizer_summary(counts, {false, true, false}, {}),
            "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n");
  FindingAccess call;
  call.memory = {"global", 0, 4096, 0};
  Finding leak = finding("leak-device", "leaks", {call});
  leak.severity = Severity::warning;
  leak.count = 3;
  counts.add(leak);
  leak.severity = Severity::info;  // cudaDeviceReset has freed it
  leak.count = 2;
  counts.add(leak);
  leak.accesses[0].memory.reset();  // a stream
  counts.add(leak);
  counts.add(finding("race-shared", "races", {call, call}));
  Finding info = finding("race-same-value", "races", {call, call});
  info.severity = Severity::info;
  counts.add(info);
  counts.not_printed = 5;
  EXPECT_EQ(sanitizer_summary(counts, {true, true, true}, {}),
            "========= LEAK SUMMARY: 8192 bytes leaked in 5 allocations\n"
            "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"
            "========= ERROR SUMMARY: 1 error\n"
            "========= ERROR SUMMARY: 5 errors were not printed. Use --print-limit option to adjust the number of "
            "printed errors\n");
}

void expect_parts(const Finding& f, const SanitizerForm& form, std::initializer_list<const char*> parts) {
  std::string xml = sanitizer_xml({&f}, form);
  EXPECT_EQ(xml.rfind("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ComputeSanitizerOutput>\n", 0), 0u) << xml;
  std::size_t from = 0;  // in this order
  for (const char* part : parts) {
    const std::size_t at = xml.find(part, from);
    EXPECT_NE(at, std::string::npos) << part << "\n" << xml;
    if (at != std::string::npos) from = at;
  }
}

// The form that compute-sanitizer 2025.3.1 writes on an H100.
TEST(Sanitizer, XmlOfAccesses) {
  Finding f = finding("oob-global-write", "memory", {access("write", 12, 3, 1024)});
  f.accesses[0].kernel = "void sum<a&b>(int*)";
  expect_parts(
      f, {},
      {"<kind>Precise</kind>", "<level>Error</level>", "<threadIdx>\n        <x>3</x>",
       "<text>Invalid __global__ write of size 4 bytes is out of bounds</text>", "<space>__global__</space>",
       "<size>4</size>", "<direction>write</direction>", "<error>out of bounds</error>", "<address>0x7f0100000400",
       "<func>sum&lt;a&amp;b&gt;</func>", "<path>/src/sum.cu</path>", "<line>12</line>", "<pc>0x90</pc>"});
  f.kind = "misaligned";
  expect_parts(f, {}, {"write of size 4 bytes is misaligned</text>", "<error>misaligned</error>"});
  expect_parts(finding("uninit-branch", "init", {access("read", 7, 0, 0)}), {},
               {"<kind>Initcheck</kind>\n    <who>",
                "<text>Uninitialized __global__ memory read of size 4 bytes</text>", "<address>", "<size>4</size>"});
  expect_parts(finding("barrier-divergent-warp", "barriers", {access("barrier", 7, 0, 0)}), {},
               {"<kind>Synccheck</kind>\n    <who>", "<text>Barrier error</text>",
                "<type>Divergent thread(s) in warp</type>", "<where>"});
}

TEST(Sanitizer, XmlOfRaces) {
  Finding f = finding("race-shared", "races", {access("write", 12, 1, 8), access("read", 15, 0, 8)});
  f.count = 252;
  expect_parts(f, {},
               {"<kind>Analysis</kind>", "<level>Error</level>", "<text>Race condition</text>", "<source>",
                "<direction>Write</direction>", "<line>12</line>", "<destination>", "<direction>Read</direction>",
                "<line>15</line>", "<count>252</count>"});
  SanitizerForm hazards;
  hazards.hazards = true;
  hazards.analysis = false;
  expect_parts(f, hazards,
               {"<kind>Hazard</kind>\n    <what>", "<text>Potential RAW hazard detected</text>", "<type>RAW</type>",
                "<thread0>", "<access>Write</access>", "<thread1>", "<access>Read</access>"});
}

TEST(Sanitizer, XmlOfCalls) {
  FindingAccess call;
  call.access = "cudaMalloc";
  call.file = "/src/sum.cu";
  call.line = 3;
  Finding f = finding("api-error", "api", {call});
  f.error = "cudaErrorMemoryAllocation";
  expect_parts(f, {},
               {"<kind>Api</kind>\n    <what>", "<api>cudaMalloc</api>", "<error>cudaErrorMemoryAllocation</error>",
                "<saveLocation>error</saveLocation>"});
  call.memory = {"global", 0, 4096, 0};
  expect_parts(finding("leak-device", "leaks", {call}), {},
               {"<kind>Leak</kind>", "<text>Leaked 4096 bytes</text>", "<size>4096</size>", "<type>generic</type>",
                "<saveLocation>allocation time</saveLocation>"});
}

}  // namespace
}  // namespace warpgrind::report
