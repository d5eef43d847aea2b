// Options of nvrtcCompileProgram: parsed, and as a request to the toolchain.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "toolchain/request.h"

namespace warpgrind::nvrtc {

enum class OptionId : std::uint8_t {
#define NVRTC_OPTION(id, ...) id,
#include "nvrtc/options.inc"
#undef NVRTC_OPTION
};

enum class Takes : std::uint8_t { nothing, boolean, number, text, choice, standard, messages, architecture };

struct Option {
  OptionId id;
  std::string_view long_name, short_name;  // without dashes
  Takes takes;
  bool apart;
  std::string_view text;
};
std::span<const Option> options();

struct Options {
  toolchain::Request request;
  int architecture = 0;       // as given: 120, where clang compiles for 90
  bool machine_code = false;  // sm_NN: the program wants a cubin
  bool link_time_optimisation = false, optix = false, syntax_only = false;
  bool default_device = false, source_folder = true, include_path = false, brief = false;
  bool pch_messages = true;
  std::string create_pch, use_pch;  // with the folder of -pch-dir
  std::string time_file, time_trace;
  std::string warnings;       // lines for the log
  std::string command_error;  // an error that NVRTC reports only when it compiles
};

// An error's message is the line that NVRTC writes into the log.
Result<Options> read_options(const std::vector<std::string>& words);

}  // namespace warpgrind::nvrtc
