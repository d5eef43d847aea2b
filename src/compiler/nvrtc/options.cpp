// Parser of NVRTC's options, with the option table of options.inc.
#include "nvrtc/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "nvrtc/release.h"

namespace warpgrind::nvrtc {

namespace {

constexpr int kFloat128From = 100;  // NVRTC: "not supported on architectures earlier than sm_100"
constexpr int kLargestDensity = 101;
constexpr int kSuffixesFrom = 90;  // sm_90a

Error bad(std::string line) {
  return {ErrorKind::bad_input, "nvrtc: error: " + std::move(line), ""};
}

std::string trimmed(std::string_view word) {
  constexpr std::string_view kBlanks = " \t\n\r";
  const auto begin = word.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return "";
  return std::string(word.substr(begin, word.find_last_not_of(kBlanks) - begin + 1));
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_one_of(std::string_view value, std::string_view words) {
  for (const std::string& word : toolchain::split_words(words))
    if (word == value) return true;
  return false;
}

std::string both_names(const Option& option) {
  return fmt::format("--{} (-{})", option.long_name, option.short_name);
}

struct Architecture {
  int number = 0;
  bool machine_code = false, specific = false, wrong_suffix = false;
};
std::optional<Architecture> read_architecture(std::string_view text) {
  Architecture out;
  out.machine_code = text.starts_with("sm_");
  if (!out.machine_code && !text.starts_with("compute_")) return std::nullopt;
  text.remove_prefix(text.find('_') + 1);
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) {
    out.specific = text.back() == 'a';
    text.remove_suffix(1);
  }
  const auto value = number(text);
  const std::span<const int> known = release().architectures;
  if (!value || std::find(known.begin(), known.end(), *value) == known.end()) return std::nullopt;
  out.number = *value;
  out.wrong_suffix = out.specific && out.number < kSuffixesFrom;
  if (out.wrong_suffix) out.specific = false;
  return out;
}

struct Given {
  const Option* option;
  std::string value;
};

// Valid texts of -D are NAME, NAME=TEXT and NAME(x)=TEXT; of -U, NAME.
bool is_macro(std::string_view text, bool defined) {
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; };
  const auto end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), in_name) - text.begin());
  if (end == 0 || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  return end == text.size() || (defined && (text[end] == '=' || text[end] == '('));
}

Status check(const Given& given) {
  const Option& option = *given.option;
  const std::string& value = given.value;
  switch (option.takes) {
    case Takes::boolean:
      if (value != "true" && value != "false") return bad(both_names(option) + " expects true or false\n");
      return Ok{};
    case Takes::number:
      if (!value.empty() && !number(value)) return bad(both_names(option) + " expects an integer value\n");
      return Ok{};
    case Takes::choice:
      if (!value.empty() && !is_one_of(value, option.text))
        return bad(fmt::format("invalid argument for option {}: {}\n", both_names(option), value));
      return Ok{};
    case Takes::standard:
      if (!is_one_of(value, option.text)) return bad("invalid value for --std(-std)\n");
      return Ok{};
    case Takes::messages:
      for (const std::string& one : toolchain::split_list(value))
        if (number(one).value_or(0) <= 0)
          return bad(fmt::format("--{} expects a non-zero positive integer value\n", option.long_name));
      return Ok{};
    case Takes::architecture:
      if (!read_architecture(value)) return bad("invalid value for --gpu-architecture (-arch)\n");
      return Ok{};
    default:
      return Ok{};
  }
}

class Reader {
 public:
  Result<Options> read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); i++) {
      const std::string word = trimmed(words[i]);
      Found found = look_up(word);
      const Option* option = found.option;
      const bool lacks_value = option && option->takes != Takes::nothing && !found.has_value;
      if (!option || (lacks_value && !option->apart)) return bad(fmt::format("unrecognized option {} found\n", word));
      if (option->takes == Takes::nothing && found.has_value)
        return bad(both_names(*option) + " does not accept any argument\n");
      if (lacks_value && i + 1 < words.size()) found.value = words[++i];
      Given given{option, std::move(found.value)};
      if (Status s = check(given); !s) return s.error();
      if (Status s = check_range(given); !s) return s.error();
      warn_of_another(given);
      given_.push_back(std::move(given));
    }
    if (Status s = check_together(); !s) return s.error();
    return made();
  }

 private:
  struct Found {
    const Option* option = nullptr;
    bool has_value = false;
    std::string value;
  };

  static const Option* find(bool is_long, std::string_view name) {
    for (const Option& o : options())
      if ((is_long ? o.long_name : o.short_name) == name) return &o;
    return nullptr;
  }

  static Found look_up(const std::string& word) {
    if (word.size() < 2 || word[0] != '-') return {};
    const bool is_long = word[1] == '-';
    const std::string name = word.substr(is_long ? 2 : 1);
    const auto equals = name.find('=');
    if (const Option* option = find(is_long, name.substr(0, equals)); option)
      return {option, equals != std::string::npos, equals == std::string::npos ? "" : name.substr(equals + 1)};
    if (is_long || name.empty()) return {};
    // -DX, -D X, -D=X: one letter needs no '='.
    const Option* option = find(false, name.substr(0, 1));
    if (!option || option->takes == Takes::nothing) return {};
    return {option, true, trimmed(name.substr(1))};
  }

  static Status check_range(const Given& given) {
    const int value = number(given.value).value_or(0);
    if (given.option->id == OptionId::jump_table_density && (value < 0 || value > kLargestDensity))
      return bad("Argument for --jump-table-density must be between [0-101]\n");
    if (given.option->id == OptionId::split_compile && value < 0)
      return bad("Argument for -split-compile must be non-negative\n");
    if (given.option->id == OptionId::optimization_info && given.value != "inline")
      return bad(fmt::format("invalid optimization tag for option {}: {}\n", both_names(*given.option), given.value));
    return Ok{};
  }

  void warn_of_another(const Given& given) {
    const Option& option = *given.option;
    const auto before =
        std::find_if(given_.rbegin(), given_.rend(), [&](const Given& g) { return g.option == &option; });
    if (before == given_.rend() || before->value == given.value) return;
    const char* const blank = option.takes == Takes::standard ? " " : "";
    const std::string name = fmt::format("--{}{}(-{})", option.long_name, blank, option.short_name);
    const auto shown = [&option](const std::string& value) {
      const auto arch = option.takes == Takes::architecture ? read_architecture(value) : std::nullopt;
      return arch ? std::to_string(arch->number) : value;
    };
    if (option.takes == Takes::number)
      warnings_ += fmt::format(
          "nvrtc: warning: incompatible redefinition for option '--{}', the last value of this option was used\n",
          option.long_name);
    else if (option.takes == Takes::boolean || option.takes == Takes::architecture || option.takes == Takes::standard)
      warnings_ += fmt::format("nvrtc: warning: \"{0}={1}\" followed by \"{0}={2}\"\n", name, shown(before->value),
                               shown(given.value));
  }

  bool has(OptionId id) const {
    return std::any_of(given_.begin(), given_.end(), [id](const Given& g) { return g.option->id == id; });
  }
  std::string last(OptionId id, std::string otherwise = "") const {
    const auto found =
        std::find_if(given_.rbegin(), given_.rend(), [id](const Given& g) { return g.option->id == id; });
    return found == given_.rend() ? otherwise : found->value;
  }
  bool is(OptionId id, bool otherwise) const { return last(id, otherwise ? "true" : "false") == "true"; }

  Status check_together() const {
    const bool device_c = has(OptionId::device_c), device_w = has(OptionId::device_w);
    const std::string rdc = last(OptionId::relocatable);
    if (device_c && device_w) return bad("Both --device-c (-dc) and --device-w (-dw) specified\n");
    if (device_c && rdc == "false")
      return bad("--device-c (-dc) is not compatible with --relocatable-device-code=false (-rdc=false)\n");
    if (device_w && rdc == "true")
      return bad("--device-w (-dw) is not compatible with --relocatable-device-code=true (-rdc=true)\n");
    constexpr const char* kExtensible = "--extensible-whole-program (-ewp) is not compatible with ";
    if (has(OptionId::extensible) && rdc == "true")
      return bad(kExtensible + std::string("--relocatable-device-code=true (-rdc=true)\n"));
    if (has(OptionId::extensible) && device_c) return bad(kExtensible + std::string("--device-c (-dc)\n"));
    if (has(OptionId::link_time_optimisation) && rdc == "false")
      return bad("-dlto is not compatible with -rdc=false\n");
    if (has(OptionId::link_time_optimisation) && has(OptionId::optix_ir))
      return bad("-dlto is not compatible with -optix-ir\n");
    const auto exclude = [&](OptionId one, const char* name, OptionId other, const char* other_name) -> Status {
      if (!has(one) || !has(other)) return Ok{};
      return bad(fmt::format("{} and {} cannot be specified at the same time", name, other_name));
    };
    Status s = exclude(OptionId::pch, "-pch", OptionId::create_pch, "-create-pch");
    if (s) s = exclude(OptionId::pch, "-pch", OptionId::use_pch, "-use-pch");
    if (s) s = exclude(OptionId::create_pch, "-create-pch", OptionId::use_pch, "-use-pch");
    if (!s) return s;
    return check_possible();
  }

  // Refuses options for features that NVIDIA's compiler has and clang lacks.
  Status check_possible() const {
    if (has(OptionId::float128)) {
      const auto arch = read_architecture(last(OptionId::gpu_architecture));
      if (!arch || arch->number < kFloat128From)
        return bad("option --device-float128 is not supportedon architectures earlier than sm_100");
      return bad("--device-float128: clang has no such type for GPUs (warpgrind)\n");
    }
    if (has(OptionId::optix_ir)) return bad("--optix-ir: OptiX's format is NVIDIA's own; warpgrind makes PTX alone\n");
    return Ok{};
  }

  Result<Options> made() const {
    Options out;
    out.warnings = warnings_;
    toolchain::Request& request = out.request;
    request.phase = toolchain::Phase::ptx;
    const Architecture arch =
        read_architecture(last(OptionId::gpu_architecture)).value_or(Architecture{release().default_architecture});
    out.architecture = arch.number;
    out.machine_code = arch.machine_code;
    auto chosen = toolchain::choose_architecture(fmt::format("sm_{}{}", arch.number, arch.specific ? "a" : ""), {}, {});
    if (!chosen) return chosen.error();
    request.architecture = *chosen;
    out.link_time_optimisation = has(OptionId::link_time_optimisation);
    out.syntax_only = has(OptionId::syntax_only);
    request.relocatable = is(OptionId::relocatable, false) || has(OptionId::device_c) || out.link_time_optimisation;
    const bool debug = has(OptionId::device_debug), optimised = has(OptionId::dopt);
    request.device_debug = debug && !optimised;
    request.line_info = has(OptionId::line_info) || (debug && optimised);
    const bool fast = has(OptionId::use_fast_math);
    request.fast_functions = fast;
    request.flush_to_zero = is(OptionId::ftz, fast);
    request.exact_division = is(OptionId::prec_div, !fast);
    request.exact_sqrt = is(OptionId::prec_sqrt, !fast);
    request.fused = is(OptionId::fmad, true);
    // The headers of the language need C++11.
    const std::string standard = last(OptionId::std, "c++17");
    request.standard = standard == "c++03" ? "c++11" : standard;
    add_words(request.both);
    out.command_error = command_error(arch);
    if (!is(OptionId::move_forward, true)) request.both.push_back("-DWARPGRIND_NO_MOVE_FORWARD");
    if (!is(OptionId::initializer_list, true)) request.both.push_back("-DWARPGRIND_NO_INITIALIZER_LIST");
    out.default_device = has(OptionId::default_device);
    out.source_folder = !has(OptionId::no_source_include);
    out.include_path = has(OptionId::include_path);
    out.brief = is(OptionId::brief_diagnostics, false);
    const std::string folder = last(OptionId::pch_dir);
    const auto in_folder = [&folder](const std::string& name) {
      return name.empty() || name[0] == '/' || folder.empty() ? name : folder + "/" + name;
    };
    out.create_pch = in_folder(last(OptionId::create_pch));
    out.use_pch = in_folder(last(OptionId::use_pch));
    out.pch_messages = is(OptionId::pch_messages, true);
    out.time_file = last(OptionId::time);
    out.time_trace = last(OptionId::time_trace);
    return out;
  }

  static std::string command_error(const Given& given) {
    if (given.option->id == OptionId::define_macro && !is_macro(given.value, true))
      return "invalid macro definition: " + given.value;
    if (given.option->id == OptionId::undefine_macro && !is_macro(given.value, false))
      return "invalid macro undefinition: " + given.value;
    if (given.option->id == OptionId::pre_include && given.value.empty())
      return "cannot open source file \"\": invalid file name";
    return "";
  }
  std::string command_error(const Architecture& arch) const {
    if (arch.wrong_suffix) return "invalid or no value specified with --nv_arch flag";
    for (const Given& given : given_)
      if (std::string error = command_error(given); !error.empty()) return error;
    return "";
  }

  void add_words(std::vector<std::string>& to) const {
    for (const Given& given : given_) {
      const Option& option = *given.option;
      if (option.takes != Takes::nothing && option.takes != Takes::text) continue;
      if (option.id == OptionId::include_path && given.value.empty()) continue;
      for (const std::string& word : toolchain::split_words(option.text)) {
        const auto at = word.find('%');
        to.push_back(at == std::string::npos ? word : word.substr(0, at) + given.value + word.substr(at + 1));
      }
    }
  }

  std::vector<Given> given_;
  std::string warnings_;
};

}  // namespace

std::span<const Option> options() {
  static constexpr Option kTable[] = {
#define NVRTC_OPTION(id, long_name, short_name, takes, apart, text) \
  {OptionId::id, long_name, short_name, Takes::takes, apart, text},
#include "nvrtc/options.inc"
#undef NVRTC_OPTION
  };
  return kTable;
}

Result<Options> read_options(const std::vector<std::string>& words) {
  return Reader().read(words);
}

}  // namespace warpgrind::nvrtc
