#include "base/processor.h"

#include <cpuid.h>
#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace warpgrind {

namespace {

struct Leaf {
  unsigned number, part;
  // Registers that describe the CPU. EBX of leaf 1 holds the number of the core that runs CPUID.
  bool eax, ebx, ecx, edx;
};
// Source: Intel's and AMD's manuals, "CPUID". The leaves: vendor; model and features; more features, AVX10 and AMX in
// part 1; XSAVE extensions; AMD's and older features.
constexpr Leaf kLeaves[] = {{0, 0, false, true, true, true},           {1, 0, true, false, true, true},
                            {7, 0, false, true, true, true},           {7, 1, true, true, true, true},
                            {0xd, 1, true, false, false, false},       {0x14, 0, false, true, false, false},
                            {0x19, 0, false, true, false, false},      {0x24, 0, false, true, false, false},
                            {0x80000001, 0, false, false, true, true}, {0x80000008, 0, false, true, false, false}};

// XCR0; 0 if the system does not expose it.
std::uint32_t saved_registers() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kOsXsave = 1u << 27;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & kOsXsave)) return 0;
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

}  // namespace

std::string processor_identity() {
  std::string out;
  for (const Leaf& leaf : kLeaves) {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    __get_cpuid_count(leaf.number, leaf.part, &eax, &ebx, &ecx, &edx);
    if (leaf.eax) fmt::format_to(std::back_inserter(out), "{:x}.", eax);
    if (leaf.ebx) fmt::format_to(std::back_inserter(out), "{:x}.", ebx);
    if (leaf.ecx) fmt::format_to(std::back_inserter(out), "{:x}.", ecx);
    if (leaf.edx) fmt::format_to(std::back_inserter(out), "{:x}.", edx);
  }
  return out + fmt::format("{:x}", saved_registers());
}

std::string_view processor_level() {
  if (__builtin_cpu_supports("x86-64-v4")) return kProcessorLevels[1];
  return __builtin_cpu_supports("x86-64-v3") && !__builtin_cpu_supports("avx512f") ? kProcessorLevels[0] : "";
}

}  // namespace warpgrind
