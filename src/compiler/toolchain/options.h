// nvcc's command line, parsed word by word into options with values, and input files.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpgrind::toolchain {

enum class OptionId : std::uint8_t {
#define NVCC_OPTION(id, ...) id,
#include "toolchain/options.inc"
#undef NVCC_OPTION
};

enum class Takes : std::uint8_t { nothing, value, number, boolean, list };
enum class Meaning : std::uint8_t {
  setting,  // read by request.cpp
  both,     // for host and device code alike
  host,     // for host code
  link,     // for the linker of the host program
  silent,   // accepted, without effect here
  refused,  // known, but not supported: an error
};

struct Option {
  OptionId id;
  std::string_view long_name, short_name;  // without dashes
  Takes takes;
  bool joined;
  Meaning meaning;
  std::string_view text;
};
std::span<const Option> options();

struct Given {
  const Option* option;
  std::string value;  // one element of a list
};
struct CommandLine {
  std::vector<Given> given;          // in order; options files are read in
  std::vector<std::string> inputs;   // in order
  std::vector<std::string> unknown;  // only with an option that forwards them
  bool has(OptionId id) const;
  std::string last(OptionId id) const;  // "": not given
  std::vector<std::string> all(OptionId id) const;
};

// Splits a list at commas, except after a backslash and inside quotes.
std::vector<std::string> split_list(std::string_view text);
// Splits an options file or an environment variable into words as a shell does: quotes, backslashes, blanks.
std::vector<std::string> split_words(std::string_view text);

Error bad_option(std::string message, std::string detail = "");
Result<CommandLine> parse_command_line(const std::vector<std::string>& words);

}  // namespace warpgrind::toolchain
