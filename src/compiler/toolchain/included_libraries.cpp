#include "toolchain/included_libraries.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "base/file.h"
#include "base/process.h"
#include "toolchain/messages.h"
#include "toolchain/options.h"
#include "toolchain/toolkit.h"

namespace warpgrind::toolchain {

namespace {

struct Header {
  const char *name, *option;
};
constexpr Header kHeaders[] = {
#define WG_MISSING(pattern, advice)
#define WG_FUNCTION(pattern, flag, library)
#define WG_HEADER(name, option) {name, option},
#include "toolchain/hints.inc"
#undef WG_HEADER
#undef WG_FUNCTION
#undef WG_MISSING
};

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// The header in this line: <NAME> or "NAME" after #include. Empty: there is none.
std::string_view included_header(std::string_view line) {
  constexpr std::string_view kInclude = "include";
  line = without_blanks(line);
  if (!line.starts_with('#')) return {};
  line = without_blanks(line.substr(1));
  if (!line.starts_with(kInclude)) return {};
  line = without_blanks(line.substr(kInclude.size()));
  if (!line.starts_with('<') && !line.starts_with('"')) return {};
  const std::size_t end = line.find(line[0] == '<' ? '>' : '"', 1);
  return end == std::string_view::npos ? std::string_view() : line.substr(1, end - 1);
}

bool in_word(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// Whether there is a call of a function cuXxx.
bool calls_driver_api(std::string_view text) {
  for (std::size_t at = text.find("cu"); at != std::string_view::npos; at = text.find("cu", at + 1)) {
    if (at > 0 && in_word(text[at - 1])) continue;
    std::size_t end = at + 2;
    if (end == text.size() || std::isupper(static_cast<unsigned char>(text[end])) == 0) continue;
    while (end < text.size() && in_word(text[end])) ++end;
    if (without_blanks(text.substr(end)).starts_with('(')) return true;
  }
  return false;
}

bool links_mpi(const std::string& option) {
  return option.starts_with("-lmpi") || option.find("libmpi") != std::string::npos;
}

// Open MPI's bindings for C++ are left out: its header declares them, and newer versions have no library of them.
std::vector<std::string> mpi_options(const std::string& path) {
  const std::string compiler = find_program("mpicxx", path);
  if (compiler.empty()) return {};
  constexpr double kSeconds = 10;
  const auto run = run_captured({.words = {compiler, "-show"}}, {.seconds = kSeconds});
  if (!run || !run->end.good()) return {};
  std::vector<std::string> out = {"-DOMPI_SKIP_MPICXX"};
  for (std::string& word : split_words(run->output)) {
    const bool wanted = word.starts_with("-I") || word.starts_with("-L") || word.starts_with("-l");
    if (wanted && word != "-lmpi_cxx") out.push_back(std::move(word));
  }
  return out;
}

}  // namespace

std::vector<std::string> options_for_includes(const std::vector<std::string>& sources,
                                              const std::vector<std::string>& given, const std::string& path) {
  std::set<std::string> headers;
  bool driver_api = false;
  for (const std::string& source : sources) {
    const std::string text = read_whole(source).value_or("");
    for (const std::string_view line : lines_of(text))
      if (const std::string_view header = included_header(line); !header.empty()) headers.emplace(header);
    driver_api = driver_api || calls_driver_api(text);
  }
  std::vector<std::string> out;
  const auto add = [&](const std::string& option) {
    const auto is_it = [&](const std::string& other) { return other == option; };
    if (std::ranges::none_of(given, is_it) && std::ranges::none_of(out, is_it)) out.push_back(option);
  };
  for (const Header& header : kHeaders)
    if (headers.contains(header.name) && (std::string_view(header.option) != "-lcuda" || driver_api))
      add(header.option);
  if (headers.contains("mpi.h") && std::ranges::none_of(given, links_mpi))
    for (const std::string& option : mpi_options(path)) add(option);
  return out;
}

}  // namespace warpgrind::toolchain
