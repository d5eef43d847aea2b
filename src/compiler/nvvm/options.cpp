// Parser of libNVVM's options, and their translation to clang's.
#include "nvvm/options.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <string_view>

#include "toolchain/architecture.h"

namespace warpgrind::nvvm {

namespace {

Error wrong(const std::string& word) {
  return Error{ErrorKind::bad_input, fmt::format("libnvvm : error: {} is an unsupported option\n", word), ""};
}

// Parses "=0" or "=1" behind the name.
bool read_switch(const std::string& word, std::string_view name, bool& into) {
  if (word.size() != name.size() + 2 || !word.starts_with(name) || word[name.size()] != '=') return false;
  const char digit = word.back();
  if (digit != '0' && digit != '1') return false;
  into = digit == '1';
  return true;
}

bool read_architecture(const std::string& word, Options& out) {
  constexpr std::string_view kName = "-arch=compute_";
  if (!word.starts_with(kName)) return false;
  std::size_t at = kName.size();
  out.architecture = 0;
  while (at < word.size() && std::isdigit(static_cast<unsigned char>(word[at])) && out.architecture < 1000)
    out.architecture = out.architecture * 10 + (word[at++] - '0');
  out.suffix = word.substr(at);
  return out.architecture > 0 && (out.suffix.empty() || out.suffix == "a" || out.suffix == "f");
}

}  // namespace

Result<Options> read_options(const std::vector<std::string>& words) {
  Options out;
  for (const std::string& word : words) {
    if (word == "-g") {
      out.debug = true;
    } else if (word == "-generate-line-info") {
      out.line_info = true;
    } else if (word == "-gen-lto") {
      out.lto = true;
    } else if (word == "-opt=0" || word == "-opt=3") {
      out.optimise = word.back() == '3';
    } else if (!read_switch(word, "-ftz", out.flush_to_zero) && !read_switch(word, "-prec-sqrt", out.exact_sqrt) &&
               !read_switch(word, "-prec-div", out.exact_division) && !read_switch(word, "-fma", out.fused) &&
               !read_architecture(word, out)) {
      return wrong(word);
    }
  }
  return out;
}

std::vector<std::string> clang_words(const Options& options) {
  // As with NVRTC, an architecture newer than clang's newest is compiled for that one.
  const bool newer = options.architecture > toolchain::kDefaultArchitecture;
  const std::string cpu = newer ? fmt::format("sm_{}", toolchain::kDefaultArchitecture)
                                : fmt::format("sm_{}{}", options.architecture, options.suffix);
  std::vector<std::string> out = {options.optimise ? "-O3" : "-O0", "-Xclang", "-target-cpu", "-Xclang", cpu};
  // For the device library; other functions have an attribute for it.
  if (options.flush_to_zero) out.insert(out.end(), {"-Xclang", "-fdenormal-fp-math-f32=preserve-sign"});
  // 2: IEEE; 0: div.approx, as --use_fast_math has it.
  const auto backend = [&out](const char* name, int value) {
    out.insert(out.end(), {"-mllvm", fmt::format("{}={}", name, value)});
  };
  backend("-nvptx-prec-divf32", options.exact_division ? 2 : 0);
  backend("-nvptx-prec-sqrtf32", options.exact_sqrt ? 1 : 0);
  const bool fused = options.fused && options.optimise;
  backend("-nvptx-fma-level", fused ? 2 : 0);
  out.push_back(fused ? "-ffp-contract=fast" : "-ffp-contract=off");
  return out;
}

}  // namespace warpgrind::nvvm
