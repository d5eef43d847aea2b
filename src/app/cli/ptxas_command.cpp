// Subcommand `warpgrind ptxas`, also called by the name ptxas, for clients that assemble PTX themselves. It checks the
// PTX and writes a fatbin with it, which module loading accepts like a cubin.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <iterator>

#include "base/file.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "fatbin/write.h"
#include "ptx/parser.h"
#include "ptx/undefined.h"
#include "toolchain/architecture.h"
#include "toolchain/messages.h"
#include "toolchain/options.h"
#include "toolchain/toolkit.h"

namespace warpgrind::cli {

namespace {

constexpr int kFailed = 255;  // ptxas's exit code on failure
constexpr const char *kDefaultGpu = "sm_75", *kDefaultOutput = "elf.o";
constexpr const char* kAborted = "ptxas fatal   : Ptx assembly aborted due to errors\n";
constexpr int kMostOptionsFiles = 8;

enum class Takes : std::uint8_t { nothing, word, number, boolean, registers };
struct Option {
  std::string_view long_name, short_name;
  Takes takes;
};
constexpr Option kOptions[] = {
#define PTXAS_OPTION(long_name, short_name, takes) {long_name, short_name, Takes::takes},
#include "cli/ptxas_options.inc"
#undef PTXAS_OPTION
};

struct Given {
  const Option* option;
  std::string value;
};
struct Line {
  std::vector<Given> given;
  std::vector<std::string> inputs;
  bool has(std::string_view name) const { return !last(name, "").empty(); }
  std::string last(std::string_view name, const std::string& otherwise) const {
    const auto found =
        std::find_if(given.rbegin(), given.rend(), [&](const Given& g) { return g.option->long_name == name; });
    return found == given.rend() ? otherwise : found->option->takes == Takes::nothing ? "yes" : found->value;
  }
};

Error fatal(const std::string& what) {
  return {ErrorKind::bad_input, fmt::format("ptxas fatal   : {}\n", what), ""};
}

const Option* find(bool is_long, std::string_view name) {
  const auto found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                  [&](const Option& o) { return (is_long ? o.long_name : o.short_name) == name; });
  return found == std::end(kOptions) ? nullptr : found;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Status check(const Given& given) {
  const std::string& value = given.value;
  if (given.option->takes == Takes::boolean && value != "true" && value != "false")
    return fatal(fmt::format("'{}': expected true or false", value));
  const bool named = given.option->takes == Takes::registers && (value == "archmax" || value == "archmin");
  if ((given.option->takes == Takes::number || given.option->takes == Takes::registers) && !named && !is_number(value))
    return fatal(fmt::format("Invalid value '{}' for option '{}'", value, given.option->long_name));
  return Ok{};
}

Status read_words(const std::vector<std::string>& words, int depth, Line& out) {
  for (std::size_t i = 0; i < words.size(); i++) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      out.inputs.push_back(word);
      continue;
    }
    const bool is_long = word[1] == '-';
    const std::string name = word.substr(is_long ? 2 : 1);
    const auto equals = name.find('=');
    Given given{find(is_long, name.substr(0, equals)), equals == std::string::npos ? "" : name.substr(equals + 1)};
    bool has_value = equals != std::string::npos;
    // -O3, -m64: a one-letter option needs no separator.
    if (const Option* joined = find(false, name.substr(0, 1));
        !given.option && !is_long && joined && joined->takes != Takes::nothing) {
      given = {joined, name.substr(1)};
      has_value = true;
    }
    if (!given.option) return fatal(fmt::format("Unknown option '{}'", is_long ? word.substr(1) : word));
    if (given.option->takes == Takes::nothing && has_value)
      return fatal(fmt::format("no argument expected after '{}'", word.substr(0, word.find('='))));
    if (given.option->takes != Takes::nothing && !has_value) {
      if (i + 1 == words.size()) return fatal(fmt::format("argument expected after '{}'", word));
      given.value = words[++i];
    }
    if (Status s = check(given); !s) return s;
    if (given.option->long_name == "options-file") {
      const auto text = read_whole(given.value);
      if (!text || depth == kMostOptionsFiles)
        return fatal(fmt::format("Options file '{}' could not be opened", given.value));
      if (Status s = read_words(toolchain::split_words(*text), depth + 1, out); !s) return s;
      continue;
    }
    out.given.push_back(std::move(given));
  }
  return Ok{};
}

void show_version() {
  using namespace toolchain;
  fmt::print(
      "warpgrind ptxas, in place of ptxas: NVIDIA (R) Ptx optimizing assembler\nThis is not NVIDIA's ptxas: it checks "
      "and packs PTX, and warpgrind runs the PTX\nCuda compilation tools, release {0}.{1}, V{0}.{1}.{2}\n",
      kReleaseMajor, kReleaseMinor, kReleaseBuild);
}

void show_help() {
  fmt::print(
      "\nUsage  : ptxas [options] <ptx file>,...\n\n"
      "Checks PTX and packs it. The output contains PTX and no machine code.\n\n"
      "Options\n=======\n\n");
  for (const Option& o : kOptions) {
    const char* const value = o.takes == Takes::nothing ? "" : o.takes == Takes::boolean ? " <true|false>" : " <value>";
    fmt::print("--{:50} (-{})\n", std::string(o.long_name) + value, o.short_name);
  }
}

// Converts the parser's "x.ptx:6:2: error: TEXT" to ptxas's form.
std::string said(const Error& error, const std::string& name) {
  std::string out;
  for (const std::string& line : toolchain::plain_lines(error.detail)) {
    const std::string mark = ": error: ";
    const auto at = line.find(mark);
    if (!line.starts_with(name + ":") || at == std::string::npos) continue;
    const std::string place = line.substr(name.size() + 1, at - name.size() - 1);
    out += fmt::format("ptxas {}, line {}; error   : {}\n", name, place.substr(0, place.find(':')),
                       line.substr(at + mark.size()));
  }
  if (out.empty()) out = fmt::format("ptxas {}, line 1; fatal   : {}\n", name, error.message);
  return out + kAborted;
}

struct Source {
  std::string name, text;
};
Result<std::vector<Source>> read_sources(const Line& line) {
  std::vector<Source> out;
  for (const Given& given : line.given)
    if (given.option->long_name == "input-as-string") out.push_back({"<string>", given.value});
  for (const std::string& input : line.inputs) {
    if (input == "-") {
      out.push_back({"-", {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()}});
      continue;
    }
    auto text = read_whole(input);
    if (!text) return fatal(fmt::format("Input file '{}' could not be opened", input));
    out.push_back({input, std::move(*text)});
  }
  return out;
}

// "sm_90a": 90, and whether code is wanted ("compute_90": the PTX is only checked).
Result<std::pair<int, bool>> read_gpu(const std::string& name) {
  const auto known = toolchain::choose_architecture(name, {}, {});
  const bool code = name.starts_with("sm_");
  int number = 0;
  if (const auto line = name.find('_'); line != std::string::npos)
    std::from_chars(name.data() + line + 1, name.data() + name.size(), number);
  if (!known || number == 0 || (!code && !name.starts_with("compute_")))
    return fatal(fmt::format("Value '{}' is not defined for option 'gpu-name'", name));
  return std::pair(number, code);
}

int target_of(const std::string& text) {
  int number = 0;
  const auto at = text.find(".target"), name = at == std::string::npos ? at : text.find("sm_", at);
  if (name != std::string::npos) std::from_chars(text.data() + name + 3, text.data() + text.size(), number);
  return number;
}

// Checks a whole program, which no link step follows.
Status check_references(const ptx::Module& module) {
  for (const ptx::Undefined& one : ptx::undefined_references(module)) {
    if (one.is_function && !ptx::is_always_there(one.name))
      return fatal(fmt::format("Unresolved extern function '{}'", one.name));
    if (!one.is_function)
      print_text(stderr,
                 fmt::format("ptxas warning : Unresolved extern variable '{}' in whole program compilation, ignoring "
                             "extern qualifier\n",
                             one.name));
  }
  return Ok{};
}

Status assemble(const Line& line) {
  const std::string gpu_name = line.last("gpu-name", kDefaultGpu);
  const auto gpu = read_gpu(gpu_name);
  if (!gpu) return gpu.error();
  const auto sources = read_sources(line);
  if (!sources) return sources.error();
  std::vector<fatbin::PtxCode> codes;
  for (const Source& source : *sources) {
    if (source.text.find(".version") == std::string::npos)
      return Error{
          ErrorKind::bad_input,
          said({ErrorKind::bad_input, fmt::format("Missing .version directive at start of file '{}'", source.name), ""},
               source.name),
          ""};
    const auto module = ptx::parse(source.text, source.name);
    if (!module) return Error{ErrorKind::bad_input, said(module.error(), source.name), ""};
    std::string unknown;
    for (const ptx::Function& f : (*module)->functions)
      for (const ptx::UnknownInstruction& i : f.unknown)
        unknown += fmt::format("ptxas {}, line {}; error   : {}\n", source.name, i.range.line, i.why);
    if (!unknown.empty()) return Error{ErrorKind::bad_input, unknown + kAborted, ""};
    if (!line.has("compile-only"))
      if (Status s = check_references(**module); !s) return s;
    if (target_of(source.text) > gpu->first)
      return fatal("SM version specified by .target is higher than default SM version assumed");
    for (const ptx::Function& f : (*module)->functions)
      if (line.has("verbose") && f.is_entry && f.has_body)
        print_text(stderr, fmt::format("ptxas info    : Compiling entry function '{}' for '{}'\n", f.name, gpu_name));
    fatbin::PtxCode code;
    code.text = fmt::format("// PTX in place of machine code for {}: warpgrind runs PTX.\n", gpu_name) + source.text;
    code.arch = static_cast<std::uint32_t>(gpu->first);
    code.debug = line.has("device-debug");
    code.line_info = line.has("generate-line-info");
    codes.push_back(std::move(code));
  }
  if (!gpu->second) return Ok{};
  const std::string path = line.last("output-file", kDefaultOutput);
  if (!write_whole(path, fatbin::make_fatbin(codes)))
    return fatal(fmt::format("Output file '{}' could not be opened", path));
  return Ok{};
}

}  // namespace

int ptxas(const std::vector<std::string>& arguments) {
  Line line;
  Status s = read_words(arguments, 0, line);
  if (s && line.has("version")) return show_version(), 0;
  if (s && (line.has("help") || arguments.empty())) return show_help(), 0;
  if (s && line.inputs.empty() && !line.has("input-as-string")) s = fatal("No input files specified");
  if (s) s = assemble(line);
  if (s) return 0;
  print_text(stderr, s.error().message);
  return kFailed;
}

}  // namespace warpgrind::cli
