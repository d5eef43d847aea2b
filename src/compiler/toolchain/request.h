// Request to the toolchain: the settings and inputs of an nvcc command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "toolchain/architecture.h"
#include "toolchain/options.h"

namespace warpgrind::toolchain {

// The last step to perform.
enum class Phase : std::uint8_t { preprocess, dependencies, ptx, fatbin, cubin, object, device_link, archive, program };
enum class Language : std::uint8_t { cuda, cpp, c, ptx, linkable };
enum class DependencyRules : std::uint8_t { none, user, all };

struct Input {
  std::string path;
  Language language;
};

struct Request {
  Phase phase = Phase::program;
  std::vector<Input> inputs;
  std::string output;            // empty: nvcc's default
  std::string output_directory;  // empty: the current folder
  DependencyRules dependencies = DependencyRules::none;
  std::string dependency_output, dependency_target;
  bool phony_targets = false;

  Architecture architecture;
  bool relocatable = false;  // -rdc=true
  bool line_info = false, device_debug = false;
  bool flush_to_zero = false, exact_division = true, exact_sqrt = true, fused = true, fast_functions = false;
  bool per_thread_stream = false;

  std::string wrapper = "warpgrind/wrapper.h";  // header included before every CUDA source
  std::string standard;                         // "c++17"; empty: clang's default, which is also nvcc's
  std::string host_optimisation;                // "-O3"; empty: none, as with nvcc
  std::vector<std::string> both;                // options of clang, for host and device code
  std::vector<std::string> host;                // for host code only
  std::vector<std::string> link;                // for the linker, behind the objects
  std::vector<std::string> libraries, library_paths;
  std::vector<std::string> archive;  // for ar
  std::string host_compiler, archiver;
  bool shared = false, runtime = true;  // runtime: false with -cudart none
  bool device_linked = true;            // false with -nodlink
  bool then_run = false;
  std::vector<std::string> run_arguments;

  bool dryrun = false, verbose = false, keep = false;
  std::string keep_directory;
  unsigned threads = 1;  // units compiled at the same time; 0: one per core
};

Result<Request> read_request(const CommandLine& line);

}  // namespace warpgrind::toolchain
