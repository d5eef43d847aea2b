// One compilation of NVRTC: a program with its headers and name expressions, under the options of nvrtcCompileProgram.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nvrtc.h"

namespace warpgrind::nvrtc {

inline constexpr const char* kDefaultName = "default_program";  // of a text without a name

struct Source {
  std::string text, name;
  std::vector<std::pair<std::string, std::string>> headers;  // name, content
  std::set<std::string> expressions;
};

// The caller's environment.
struct Surroundings {
  std::string libraries;  // the folder of our libcudart.so.13
  std::string path;       // searched for clang
};

struct Compiled {
  nvrtcResult result = NVRTC_SUCCESS;
  std::string ptx;            // without a NUL
  std::string cubin, lto_ir;  // containers of the PTX (fatbin/write.h)
  std::string log;
  std::map<std::string, std::string> lowered;  // by name expression
  nvrtcResult pch = NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED;
};

// `cancelled`: called before clang runs and while it runs; empty: never.
Compiled compile(const Source& source, const std::vector<std::string>& options, const Surroundings& surroundings,
                 const std::function<bool()>& cancelled);

}  // namespace warpgrind::nvrtc
