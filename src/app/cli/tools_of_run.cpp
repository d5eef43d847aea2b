// NVIDIA's compilers, called by a program of a run: changed arguments, and the start of the tool.
#include "cli/tools_of_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "base/argument_pointers.h"
#include "base/run_variables.h"
#include "cli/commands.h"

namespace warpgrind::cli {

namespace {

constexpr std::string_view kMachineCode = "sm_", kPtx = "compute_";

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), word) != names.end();
}

std::vector<std::string> codes_in(const std::string& list) {
  const bool in_brackets = list.size() >= 2 && list.front() == '[' && list.back() == ']';
  std::istringstream words(in_brackets ? list.substr(1, list.size() - 2) : list);
  std::vector<std::string> out;
  for (std::string code; std::getline(words, code, ',');) out.push_back(code);
  return out;
}

// "sm_80", "[sm_70,sm_80]": the list without brackets, and with `ptx` (a compute_) added if it has machine code.
std::string with_code(const std::string& list, const std::string& ptx) {
  std::vector<std::string> codes = codes_in(list);
  const bool machine =
      std::any_of(codes.begin(), codes.end(), [](const std::string& code) { return code.starts_with(kMachineCode); });
  if (machine && ptx.starts_with(kPtx) && std::find(codes.begin(), codes.end(), ptx) == codes.end())
    codes.push_back(ptx);
  return fmt::format("{}", fmt::join(codes, ","));
}

// The value of -gencode: "arch=compute_80,code=sm_86". The PTX is that of arch.
std::string with_arch_as_code(const std::string& value) {
  constexpr std::string_view kArch = "arch=", kCode = ",code=";
  const auto code = value.find(kCode);
  if (!value.starts_with(kArch) || code == std::string::npos) return value;
  const std::string arch = value.substr(kArch.size(), code - kArch.size());
  return fmt::format("{}{}[{}]", value.substr(0, code), kCode, with_code(value.substr(code + kCode.size()), arch));
}

int exec_tool(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  execv(program.c_str(), argument_pointers(arguments).data());
  std::fprintf(stderr, "warpgrind: error: cannot start %s: %s\n", program.c_str(), std::strerror(errno));
  return 127;
}

}  // namespace

std::vector<std::string> with_ptx(const std::vector<std::string>& arguments) {
  std::vector<std::string> out = arguments;
  // Calls `see` with each value of the options of these names.
  const auto each_value = [&](std::initializer_list<std::string_view> names, const auto& see) {
    for (std::size_t i = 0; i < out.size(); i++) {
      const auto equals = out[i].find('=');
      const std::string name = out[i].substr(0, equals);
      if (!is_one_of(name, names)) continue;
      if (equals != std::string::npos)
        out[i] = name + "=" + see(out[i].substr(equals + 1));
      else if (++i < out.size())
        out[i] = see(out[i]);
    }
  };
  std::string arch;
  each_value({"-arch", "--gpu-architecture"}, [&](const std::string& value) { return arch = value; });
  each_value({"-gencode", "--generate-code"}, with_arch_as_code);
  each_value({"-code", "--gpu-code"}, [&](const std::string& value) { return with_code(value, arch); });
  return out;
}

int tool_of_run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return std::fputs("warpgrind: error: tool-of-run is only for internal use\n", stderr), 2;
  const std::string &tool = arguments[0], &file = arguments[1];
  std::vector<std::string> rest(arguments.begin() + 2, arguments.end());
  if (tool == "ptxas") return ptxas(rest);
  // A cubin is written by ptxas, which is ours. Programs and fatbins get the machine code of NVIDIA's ptxas, because
  // other tools read it.
  if (std::any_of(rest.begin(), rest.end(), [](const auto& word) { return is_one_of(word, {"-cubin", "--cubin"}); }))
    return exec_tool(file, std::move(rest));
  setenv(run_variables::kNvidiaPtxas, "1", 1);
  return exec_tool(file, with_ptx(rest));
}

}  // namespace warpgrind::cli
