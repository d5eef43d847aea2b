// Content of a program, found without running it: its binaries, kernels and opcodes, and what is not supported.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "fatbin/fatbin.h"

namespace warpgrind::cli {

struct KernelContent {
  std::string name, mangled_name;
  std::size_t instructions = 0, parameters = 0;
};

struct ModuleContent {
  std::vector<KernelContent> kernels;
  std::map<std::string, std::uint64_t> opcodes;
  std::vector<std::string> refused;  // why launches of its kernels would be refused
};

struct ProgramContent {
  std::string path;
  std::vector<fatbin::FatbinEntry> entries;
  bool compiles_at_run_time = false;  // by NVRTC: kernels that are not seen here
  std::vector<ModuleContent> modules;
  int code = 0;  // exit code of `warpgrind scan`: not 0 if an image has no PTX or something is refused
};

// Reports images without PTX, and leaves them out.
Result<ProgramContent> read_content(const std::string& path);
std::string content_json(const ProgramContent& content);

}  // namespace warpgrind::cli
