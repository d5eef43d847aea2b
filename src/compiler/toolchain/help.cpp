// Output of --help, --version, --list-gpu-code and --list-gpu-arch.
#include "toolchain/help.h"

#include <fmt/format.h>

#include <cstdio>

#include "toolchain/architecture.h"
#include "toolchain/toolkit.h"

namespace warpgrind::toolchain {

namespace {

// CMake and scripts look for "NVIDIA (R) Cuda compiler driver", "release 13.0" and "V13.0.88".
void show_version() {
  std::fputs(fmt::format("warpgrind nvcc, in place of nvcc: NVIDIA (R) Cuda compiler driver\n"
                         "It is not NVIDIA's: clang-19 compiles, with warpgrind's own headers and libraries\n"
                         "Interface of the Cuda compilation tools, release {0}.{1}, V{0}.{1}.{2}\n",
                         kReleaseMajor, kReleaseMinor, kReleaseBuild)
                 .c_str(),
             stdout);
}

const char* value_of(Takes takes) {
  switch (takes) {
    case Takes::nothing:
      return "";
    case Takes::value:
      return " VALUE";
    case Takes::number:
      return " NUMBER";
    case Takes::boolean:
      return " true|false";
    case Takes::list:
      return " VALUE,...";
  }
  return "";
}

void show_help() {
  std::string out =
      "warpgrind nvcc [OPTIONS] FILE...\n\n"
      "Compiles CUDA with clang-19 and warpgrind's headers. Accepts nvcc's options.\n"
      "FILE: .cu .cpp .cc .cxx .c .ptx .o .a .so\n";
  const auto section = [&out](const char* title, auto&& wanted) {
    out += fmt::format("\n{}:\n", title);
    for (const Option& o : options()) {
      if (!wanted(o.meaning)) continue;
      const std::string name = o.long_name == o.short_name ? fmt::format("--{}", o.long_name)
                                                           : fmt::format("--{} (-{})", o.long_name, o.short_name);
      out += fmt::format("  {}{}\n", name, value_of(o.takes));
      if (o.meaning == Meaning::refused) out += fmt::format("      {}\n", o.text);
    }
  };
  section("Options", [](Meaning m) { return m != Meaning::silent && m != Meaning::refused; });
  section("Accepted without effect", [](Meaning m) { return m == Meaning::silent; });
  section("Not supported", [](Meaning m) { return m == Meaning::refused; });
  out += "\nThe environment variables NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS add options, as for nvcc.\n";
  std::fputs(out.c_str(), stdout);
}

void show_architectures(const char* prefix) {
  constexpr int kFirstOfRelease = 75;
  for (const int number : known_architectures())
    if (number >= kFirstOfRelease) std::fputs(fmt::format("{}{}\n", prefix, number).c_str(), stdout);
}

}  // namespace

bool show_information(const CommandLine& line) {
  if (line.has(OptionId::help)) return show_help(), true;
  if (line.has(OptionId::version)) return show_version(), true;
  if (line.has(OptionId::list_gpu_code)) return show_architectures("sm_"), true;
  if (line.has(OptionId::list_gpu_arch)) return show_architectures("compute_"), true;
  return false;
}

}  // namespace warpgrind::toolchain
