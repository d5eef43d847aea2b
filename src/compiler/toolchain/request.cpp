// Conversion of nvcc's parsed options into a request.
#include "toolchain/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace warpgrind::toolchain {

namespace {

namespace fs = std::filesystem;

std::optional<Language> language_of(const std::string& path) {
  static constexpr std::pair<std::string_view, Language> kBySuffix[] = {
      {".cu", Language::cuda},     {".cup", Language::cuda},     {".c", Language::c},
      {".cc", Language::cpp},      {".cxx", Language::cpp},      {".cpp", Language::cpp},
      {".c++", Language::cpp},     {".C", Language::cpp},        {".ptx", Language::ptx},
      {".o", Language::linkable},  {".obj", Language::linkable}, {".a", Language::linkable},
      {".so", Language::linkable}, {".res", Language::linkable}};
  const std::string name = fs::path(path).filename().string();
  if (name.find(".so.") != std::string::npos) return Language::linkable;
  const std::string extension = fs::path(path).extension().string();
  for (const auto& [suffix, language] : kBySuffix)
    if (extension == suffix) return language;
  return std::nullopt;
}

Status read_inputs(const CommandLine& line, Request& out) {
  const std::string chosen = line.last(OptionId::language);
  std::optional<Language> forced;
  if (chosen == "cu") forced = Language::cuda;
  if (chosen == "c++") forced = Language::cpp;
  if (chosen == "c") forced = Language::c;
  if (!chosen.empty() && !forced)
    return bad_option(fmt::format("value '{}' is not defined for option 'x'", chosen), "cu, c++ or c");
  for (const std::string& path : line.inputs) {
    auto language = language_of(path);
    if (forced && language != Language::linkable) language = forced;
    if (!language)
      return bad_option(fmt::format("don't know what to do with '{}'", path),
                        "sources end in .cu, .cpp, .cc, .cxx, .c or .ptx; -x cu takes any name");
    if (language == Language::ptx && out.phase != Phase::fatbin && out.phase != Phase::cubin)
      return bad_option(fmt::format("{}: .ptx input files are only allowed with --fatbin (-fatbin)", path),
                        "include the kernels' source instead, or load the PTX when the program runs");
    WG_ASSERT(language);
    out.inputs.push_back({path, *language});
  }
  if (out.inputs.empty()) return bad_option("no input files specified", "use option --help for more information");
  const auto sources = static_cast<std::size_t>(std::count_if(
      out.inputs.begin(), out.inputs.end(), [](const Input& i) { return i.language != Language::linkable; }));
  const bool one_each = out.phase < Phase::device_link && out.phase != Phase::dependencies;
  if (one_each && sources > 1 && !out.output.empty())
    return bad_option("a single input file is required for a non-link phase when an output file is specified",
                      "leave -o out, or use -odir");
  return Ok{};
}

// The last of these options counts, as with nvcc.
void read_phase(const CommandLine& line, Request& out) {
  static constexpr std::pair<OptionId, Phase> kPhases[] = {{OptionId::preprocess, Phase::preprocess},
                                                           {OptionId::dependencies, Phase::dependencies},
                                                           {OptionId::user_dependencies, Phase::dependencies},
                                                           {OptionId::ptx, Phase::ptx},
                                                           {OptionId::fatbin, Phase::fatbin},
                                                           {OptionId::cubin, Phase::cubin},
                                                           {OptionId::compile, Phase::object},
                                                           {OptionId::device_c, Phase::object},
                                                           {OptionId::device_w, Phase::object},
                                                           {OptionId::device_link, Phase::device_link},
                                                           {OptionId::lib, Phase::archive},
                                                           {OptionId::link, Phase::program},
                                                           {OptionId::run, Phase::program}};
  for (const Given& given : line.given)
    for (const auto& [option, phase] : kPhases)
      if (given.option->id == option) out.phase = phase;
  const std::string rdc = line.last(OptionId::relocatable_device_code);
  out.relocatable = rdc == "true" || line.has(OptionId::device_c) || line.has(OptionId::lto);
  if (line.has(OptionId::device_w)) out.relocatable = false;
  if (line.has(OptionId::with_dependencies) || line.has(OptionId::dependencies))
    out.dependencies = DependencyRules::all;
  if (line.has(OptionId::with_user_dependencies) || line.has(OptionId::user_dependencies))
    out.dependencies = DependencyRules::user;
  out.dependency_output = line.last(OptionId::dependency_output);
  out.dependency_target = line.last(OptionId::dependency_target);
  out.phony_targets = line.has(OptionId::phony_targets);
}

Status read_device(const CommandLine& line, Request& out) {
  auto architecture = choose_architecture(line.last(OptionId::gpu_architecture), line.all(OptionId::gpu_code),
                                          line.all(OptionId::generate_code));
  if (!architecture) return architecture.error();
  out.architecture = *architecture;
  out.line_info = line.has(OptionId::line_info);
  out.device_debug = line.has(OptionId::device_debug);
  const bool fast = line.has(OptionId::use_fast_math);
  const auto boolean = [&line](OptionId id, bool otherwise) {
    const std::string value = line.last(id);
    return value.empty() ? otherwise : value == "true";
  };
  out.fast_functions = fast;
  out.flush_to_zero = boolean(OptionId::ftz, fast);
  out.exact_division = boolean(OptionId::prec_div, !fast);
  out.exact_sqrt = boolean(OptionId::prec_sqrt, !fast);
  out.fused = boolean(OptionId::fmad, true);
  const std::string stream = line.last(OptionId::default_stream);
  if (!stream.empty() && stream != "legacy" && stream != "null" && stream != "per-thread")
    return bad_option(fmt::format("value '{}' is not defined for option 'default-stream'", stream),
                      "legacy, null or per-thread");
  out.per_thread_stream = stream == "per-thread";
  return Ok{};
}

// Adds the words of the option's table text, with the value in place of %.
void pass_on(const Given& given, std::vector<std::string>& to) {
  WG_ASSERT(given.option);
  for (const std::string& word : split_words(given.option->text)) {
    const auto at = word.find('%');
    to.push_back(at == std::string::npos ? word : word.substr(0, at) + given.value + word.substr(at + 1));
  }
}

Status read_host(const CommandLine& line, Request& out) {
  out.standard = line.last(OptionId::std);
  if (!out.standard.empty() && !out.standard.starts_with("c++") && !out.standard.starts_with("gnu++"))
    return bad_option(fmt::format("value '{}' is not defined for option 'std'", out.standard),
                      "c++03, c++11, c++14, c++17, c++20 or c++23");
  if (const std::string level = line.last(OptionId::optimize); !level.empty())
    out.host_optimisation = "-O" + (level.size() > 1 || level[0] > '3' ? std::string("3") : level);
  if (const std::string bits = line.last(OptionId::machine); !bits.empty() && bits != "64")
    return bad_option(fmt::format("value '{}' is not defined for option 'machine'", bits), "only 64");
  const std::string cudart = line.last(OptionId::cudart);
  if (!cudart.empty() && cudart != "none" && cudart != "shared" && cudart != "static")
    return bad_option(fmt::format("value '{}' is not defined for option 'cudart'", cudart), "none, shared or static");
  out.runtime = cudart != "none";
  out.shared = line.has(OptionId::shared);
  out.host_compiler = line.last(OptionId::compiler_bindir);
  out.archiver = line.last(OptionId::archiver_binary);
  for (const std::string& kind : line.all(OptionId::werror)) {
    static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
        {"all-warnings", "-Werror"},
        {"reorder", "-Werror=reorder"},
        {"deprecated-declarations", "-Werror=deprecated-declarations"},
        {"cross-execution-space-call", ""},  // always an error in clang
        {"default-stream-launch", ""},
        {"missing-launch-bounds", ""},
        {"ext-lambda-captures-this", ""}};
    const auto* const found = std::ranges::find(kKinds, kind, &std::pair<std::string_view, std::string_view>::first);
    if (found == std::end(kKinds))
      return bad_option(fmt::format("value '{}' is not defined for option 'Werror'", kind));
    if (!found->second.empty()) out.both.emplace_back(found->second);
  }
  return Ok{};
}

void read_passed_on(const CommandLine& line, Request& out) {
  const auto add_words = [](const std::string& value, std::vector<std::string>& to) {
    for (std::string& word : split_words(value)) to.push_back(std::move(word));
  };
  for (const Given& given : line.given) {
    switch (given.option->meaning) {
      case Meaning::both:
        pass_on(given, out.both);
        break;
      case Meaning::host:
        pass_on(given, out.host);
        break;
      case Meaning::link:
        pass_on(given, out.link);
        break;
      default:
        break;
    }
    if (given.option->id == OptionId::compiler_options) add_words(given.value, out.host);
    if (given.option->id == OptionId::archive_options) add_words(given.value, out.archive);
    if (given.option->id == OptionId::run_args) add_words(given.value, out.run_arguments);
    if (given.option->id != OptionId::linker_options) continue;
    std::vector<std::string> words;
    add_words(given.value, words);
    for (const std::string& word : words) out.link.insert(out.link.end(), {"-Xlinker", word});
  }
  const bool to_compiler = line.has(OptionId::forward_to_host_compiler) || line.has(OptionId::forward_unknown_opts);
  std::vector<std::string>& unknown = to_compiler ? out.host : out.link;
  unknown.insert(unknown.end(), line.unknown.begin(), line.unknown.end());
  out.libraries = line.all(OptionId::library);
  out.library_paths = line.all(OptionId::library_path);
}

Status read_course(const CommandLine& line, Request& out) {
  out.dryrun = line.has(OptionId::dryrun);
  out.verbose = line.has(OptionId::verbose);
  out.keep_directory = line.last(OptionId::keep_dir);
  out.keep = line.has(OptionId::keep) || line.has(OptionId::save_temps);
  out.then_run = line.has(OptionId::run);
  if (const std::string threads = line.last(OptionId::threads); !threads.empty()) {
    constexpr std::size_t kMostDigits = 4;
    if (threads.size() > kMostDigits) return bad_option(fmt::format("-t: '{}': no such number of threads", threads));
    std::from_chars(threads.data(), threads.data() + threads.size(), out.threads);
  }
  return Ok{};
}

}  // namespace

Result<Request> read_request(const CommandLine& line) {
  Request out;
  out.output = line.last(OptionId::output_file);
  out.output_directory = line.last(OptionId::output_directory);
  out.device_linked = !line.has(OptionId::no_device_link);
  read_phase(line, out);
  if (!out.dependency_output.empty() && out.dependencies == DependencyRules::none)
    return bad_option("option '--dependency-output' (-MF) requires one of '-M', '-MM', '-MD' or '-MMD'");
  for (const auto& read : {read_device, read_host, read_course})
    if (Status s = read(line, out); !s) return s.error();
  read_passed_on(line, out);
  if (Status s = read_inputs(line, out); !s) return s.error();
  return out;
}

}  // namespace warpgrind::toolchain
