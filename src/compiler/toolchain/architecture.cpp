// Parser of nvcc's architecture options, and the choice of the highest architecture that clang knows.
#include "toolchain/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "toolchain/options.h"

namespace warpgrind::toolchain {

namespace {

constexpr int kKnown[] = {30, 32, 35, 37, 50, 52, 53,  60,  61,  62,  70,  72, 75,
                          80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};
constexpr int kHighestOfClang = 90;  // clang 19

struct Name {
  int number;
  char suffix;  // 'a', 'f' or 0
};

// "sm_90a", "compute_80", "lto_75"
std::optional<Name> read_name(std::string_view text) {
  const auto line = text.find('_');
  if (line == std::string_view::npos) return std::nullopt;
  const std::string_view kind = text.substr(0, line);
  if (kind != "sm" && kind != "compute" && kind != "lto") return std::nullopt;
  Name name{0, 0};
  const char *begin = text.data() + line + 1, *const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(begin, end, name.number);
  if (problem != std::errc() || end - rest > 1) return std::nullopt;
  if (rest != end) name.suffix = *rest;
  if (name.suffix != 0 && ((name.suffix != 'a' && name.suffix != 'f') || name.number < 90)) return std::nullopt;
  if (std::find(std::begin(kKnown), std::end(kKnown), name.number) == std::end(kKnown)) return std::nullopt;
  return name;
}

Error unsupported(std::string_view text) {
  return {ErrorKind::bad_input, fmt::format("unsupported gpu architecture '{}'", text),
          "sm_NN, compute_NN, native, all or all-major; --list-gpu-arch lists them"};
}

bool for_all(std::string_view text) {
  return text == "native" || text == "all" || text == "all-major";
}

// "arch=compute_80,code=[sm_80,compute_80]": the architecture of the PTX.
Result<std::string> arch_of(const std::string& gencode) {
  std::string arch;
  bool code = false;
  for (const std::string& part : split_list(gencode)) {
    if (part.starts_with("arch=")) arch = part.substr(5);
    if (part.starts_with("code=")) code = true;
  }
  std::erase_if(arch, [](char c) { return c == '"' || c == '\'' || c == ' '; });
  if (arch.empty() || !code)
    return Error{ErrorKind::bad_input,
                 fmt::format("option '--generate-code {}': missing {}", gencode, arch.empty() ? "arch" : "code"),
                 "-gencode arch=compute_90,code=sm_90"};
  return arch;
}

}  // namespace

std::string Architecture::sm() const {
  return fmt::format("sm_{}{}", number, specific ? "a" : "");
}

std::vector<int> known_architectures() {
  return {std::begin(kKnown), std::end(kKnown)};
}

Result<Architecture> choose_architecture(const std::string& arch, const std::vector<std::string>& codes,
                                         const std::vector<std::string>& gencodes) {
  if (arch.empty() && !codes.empty())
    return Error{ErrorKind::bad_input, "-code without -arch", "-arch=compute_90 -code=sm_90"};
  std::vector<std::string> wanted;
  if (!arch.empty()) wanted.push_back(arch);
  for (const std::string& gencode : gencodes) {
    auto one = arch_of(gencode);
    if (!one) return one.error();
    wanted.push_back(one.take());
  }
  for (std::string code : codes) {
    std::erase_if(code, [](char c) { return c == '[' || c == ']' || c == '"'; });
    for (const std::string& one : split_list(code))
      if (!for_all(one) && !read_name(one)) return unsupported(one);
  }
  if (wanted.empty()) return Architecture{};
  std::optional<Architecture> best;
  for (const std::string& text : wanted) {
    Architecture one;
    if (!for_all(text)) {
      const auto name = read_name(text);
      if (!name) return unsupported(text);
      one = {std::min(name->number, kHighestOfClang), name->number == kHighestOfClang && name->suffix == 'a'};
      if (one.number == 88) one.number = 87;  // newer than clang 19
    }
    if (!best || one.number > best->number || (one.number == best->number && one.specific)) best = one;
  }
  return *best;
}

}  // namespace warpgrind::toolchain
