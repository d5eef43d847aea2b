// Compilation of an NVRTC program by clang: command, retries with other spellings, log, and output formats.
#include "nvrtc/compile.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/assert.h"
#include "base/file.h"
#include "base/installation.h"
#include "base/temporary_folder.h"
#include "fatbin/write.h"
#include "nvrtc/debugged.h"
#include "nvrtc/inputs.h"
#include "nvrtc/messages.h"
#include "nvrtc/name_map.h"
#include "nvrtc/options.h"
#include "nvrtc/release.h"
#include "toolchain/clang_run.h"
#include "toolchain/cluster_dimensions.h"
#include "toolchain/inlined_places.h"
#include "toolchain/plan.h"
#include "toolchain/spellings.h"
#include "toolchain/static_variables.h"
#include "toolchain/toolkit.h"

namespace warpgrind::nvrtc {

namespace {

namespace fs = std::filesystem;

Compiled failed(nvrtcResult result, std::string log) {
  Compiled out;
  out.result = result;
  out.log = std::move(log);
  return out;
}

// A part is missing on this machine: reported as NVIDIA's library reports missing builtins.
Compiled failed(const Error& error) {
  return failed(NVRTC_ERROR_BUILTIN_OPERATION_FAILURE,
                fmt::format("nvrtc: error: {} (warpgrind)\n  {}\n", error.message, error.detail));
}

class Compilation {
 public:
  Compilation(const Source& source, Options options, const toolchain::Toolkit& toolkit, const std::string& folder)
      : source_(source), options_(std::move(options)), toolkit_(toolkit), folder_(folder) {}

  Compiled run(const std::function<bool()>& cancelled) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::string> words;
    toolchain::ClangEnd ended = toolchain::ClangEnd::failed;
    // Each round leaves fewer places that clang refuses and NVRTC accepts.
    do {
      auto inputs = write_inputs(source_, options_, folder_);
      if (!inputs) return failed(inputs.error());
      inputs_ = inputs.take();
      if (words.empty()) words = command();
      const auto end = toolchain::run_clang(words, folder_ + "/messages", cancelled);
      if (!end) return failed(end.error());
      ended = *end;
    } while (ended == toolchain::ClangEnd::failed && respell());
    if (ended == toolchain::ClangEnd::cancelled) return failed(NVRTC_ERROR_CANCELLED, "");
    Compiled out = finished(ended == toolchain::ClangEnd::good);
    const auto took = std::chrono::steady_clock::now() - begin;
    write_times(std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), out);
    return out;
  }

 private:
  // Changes refused spellings in the program and its headers (toolchain/spellings.h). True: something has changed.
  bool respell() {
    bool changed = false;
    const auto respell_one = [&changed](std::string& text, const std::vector<toolchain::Place>& places) {
      std::string after = toolchain::respelt(text, places);
      changed |= after != text;
      text = std::move(after);
    };
    const std::string said = read_whole(folder_ + "/messages").value_or("");
    for (const auto& [file, places] : toolchain::refused_spellings(said)) {
      if (file == source_.name) respell_one(source_.text, places);
      for (auto& [name, text] : source_.headers)
        if (file == name || file == inputs_.header_folder + name) respell_one(text, places);
    }
    return changed;
  }

  // Command of the device pass of `warpgrind nvcc -ptx`, without the host's headers.
  std::vector<std::string> command() {
    toolchain::Request& request = options_.request;
    request.wrapper = toolkit_.headers + "/warpgrind/nvrtc/wrapper.h";
    request.inputs = {{inputs_.source, toolchain::Language::cuda}};
    std::vector<std::string> words = {"-nostdlibinc",
                                      fmt::format("-D__CUDACC_VER_MAJOR__={}", release().major),
                                      fmt::format("-D__CUDACC_VER_MINOR__={}", release().minor),
                                      fmt::format("-D__CUDACC_VER_BUILD__={}", release().build),
                                      fmt::format("-D__CUDA_FTZ={:d}", request.flush_to_zero),
                                      fmt::format("-D__CUDA_PREC_DIV={:d}", request.exact_division),
                                      fmt::format("-D__CUDA_PREC_SQRT={:d}", request.exact_sqrt),
                                      "-fno-color-diagnostics",
                                      "-fno-diagnostics-show-line-numbers",
                                      "-fno-diagnostics-fixit-info",
                                      "-fno-diagnostics-show-option"};
    if (!inputs_.overlay.empty())
      words.insert(words.end(), {"-ivfsoverlay", inputs_.overlay, "-iquote", inputs_.header_folder});
    if (options_.source_folder) words.insert(words.end(), {"-iquote", fs::path(source_.name).parent_path() / "."});
    if (!inputs_.overlay.empty()) words.push_back("-I" + inputs_.header_folder);
    if (!options_.time_trace.empty()) words.push_back(fmt::format("-ftime-trace={}.json", options_.time_trace));
    if (options_.syntax_only) words.push_back("-fsyntax-only");
    words.insert(words.end(), request.both.begin(), request.both.end());
    request.both = std::move(words);
    const toolchain::Plan plan = make_plan(request, toolkit_, {}, folder_);
    WG_ASSERT(plan.units.size() == 1 && !plan.units[0].device.empty());
    ptx_file_ = plan.units[0].ptx;
    return plan.units[0].device;
  }

  Compiled finished(bool good) {
    Compiled out;
    const std::string said = read_whole(folder_ + "/messages").value_or("");
    Messages messages = log_of(said, {inputs_.header_folder, source_.expressions,
                                      options_.include_path || !source_.headers.empty(), options_.brief});
    if (!good && messages.errors == 0) {
      messages.errors = 1;
      messages.log += "nvrtc: error: clang failed, and did not say why\n" + said;
    }
    std::string ptx = good ? read_whole(ptx_file_).value_or("") : "";
    if (good && options_.syntax_only) ptx = empty_ptx();
    NameMap names;
    if (good && !options_.syntax_only) {
      names = take_names(source_.expressions, ptx);
      messages.log += names.errors;
      messages.errors += names.error_count;
    }
    out.log = options_.warnings + messages.log + summary(messages, source_.name);
    WG_ASSERT(good || messages.errors > 0);
    if (messages.errors > 0 || ptx.empty()) {
      out.result = NVRTC_ERROR_COMPILATION;
      return out;
    }
    out.lowered = std::move(names.lowered);
    ptx = toolchain::with_inlined_places(toolchain::with_cluster_dimensions(ptx));
    if (options_.request.relocatable) ptx = toolchain::with_static_variables_joined(ptx);
    if (!debug_folder().empty()) ptx = with_stored_sources(ptx, source_, debug_folder());
    pack(std::move(ptx), out);
    return out;
  }

  std::string empty_ptx() const {
    return fmt::format(".version 8.5\n.target {}\n.address_size 64\n", options_.request.architecture.sm());
  }

  void pack(std::string ptx, Compiled& out) const {
    const toolchain::Request& request = options_.request;
    fatbin::PtxCode code;
    code.arch = static_cast<std::uint32_t>(request.architecture.number);
    code.debug = request.device_debug;
    code.line_info = request.line_info;
    if (code.debug || code.line_info) code.source = source_.name;
    const auto container = [&](const char* asked_for) {
      code.text =
          fmt::format("// PTX in place of {} for sm_{}: warpgrind runs PTX.\n", asked_for, options_.architecture) + ptx;
      return fatbin::make_fatbin({code});
    };
    if (options_.link_time_optimisation) {
      out.lto_ir = container("LTO IR");
      return;
    }
    if (options_.machine_code) out.cubin = container("machine code");
    out.ptx = std::move(ptx);
  }

  // Output of --time: one phase, because clang is called once.
  void write_times(long long milliseconds, Compiled& out) const {
    if (options_.time_file.empty() || out.result != NVRTC_SUCCESS) return;
    constexpr const char* kHeadings = "File name, phase name, metric, unit\n";
    const std::string row = fmt::format("{}, clang, {}, ms\n", source_.name, milliseconds);
    if (options_.time_file == "-") {
      out.log += std::string("\n") + kHeadings + row;
      return;
    }
    std::error_code none;
    const bool fresh = !fs::exists(options_.time_file, none);
    std::ofstream file(options_.time_file, std::ios::app);
    file << (fresh ? kHeadings : "") << row;
    file.close();
    if (file) return;
    out.log += fmt::format("nvrtc: error: failed to open file {} for writing!", options_.time_file);
    out.result = NVRTC_ERROR_TIME_FILE_WRITE_FAILED;
  }

  Source source_;
  Options options_;
  const toolchain::Toolkit& toolkit_;
  std::string folder_;
  Inputs inputs_;
  std::string ptx_file_;
};

// Precompiled headers only save time in NVIDIA's library. Here the file just says that it holds none.
constexpr const char* kPchText = "warpgrind: headers are read again at each compilation\n";

Compiled command_problem(const Source& source, const std::string& line) {
  return failed(NVRTC_ERROR_COMPILATION, fmt::format("{}\n\n1 catastrophic error detected in the compilation of "
                                                     "\"{}\".\nCompilation terminated.\n",
                                                     line, source.name));
}

// Empty, or the error.
std::string use_pch(const Options& options) {
  constexpr const char* kWrong = "Catastrophic error: cannot open precompiled header file \"{}\"";
  std::error_code none;
  if (!options.use_pch.empty() && !fs::exists(options.use_pch, none)) return fmt::format(kWrong, options.use_pch);
  if (!options.create_pch.empty() && !write_whole(options.create_pch, kPchText))
    return fmt::format(kWrong, options.create_pch);
  return "";
}

std::string pch_messages(const Source& source, const Options& options) {
  const std::string& file = options.create_pch.empty() ? options.use_pch : options.create_pch;
  if (file.empty() || !options.pch_messages) return "";
  return fmt::format("\"{}\": {} precompiled header file \"{}\"\n", source.name,
                     options.create_pch.empty() ? "using" : "creating", file);
}

}  // namespace

Compiled compile(const Source& source, const std::vector<std::string>& words, const Surroundings& surroundings,
                 const std::function<bool()>& cancelled) {
  auto options = read_options(words);
  if (!options) return failed(NVRTC_ERROR_INVALID_OPTION, options.error().message);
  if (cancelled && cancelled()) return failed(NVRTC_ERROR_CANCELLED, "");
  const auto toolkit = toolchain::find_toolkit_of(surroundings.libraries, surroundings.path);
  if (!toolkit) return failed(toolkit.error());
  if (const Status whole = check_parts(toolkit->parts, {NeededBy::every_compilation}); !whole)
    return failed(whole.error());
  const TemporaryFolder folder;
  if (folder.path.empty())
    return failed(Error{ErrorKind::environment, folder.problem, "set TMPDIR to a folder that can be written"});
  if (!options->command_error.empty()) return command_problem(source, "Command-line error: " + options->command_error);
  if (const std::string wrong = use_pch(*options); !wrong.empty()) return command_problem(source, wrong);
  options->warnings += pch_messages(source, *options);
  const bool created = !options->create_pch.empty();
  Compiled out = Compilation(source, options.take(), *toolkit, folder.path).run(cancelled);
  WG_ASSERT(out.result != NVRTC_SUCCESS || !out.ptx.empty() || !out.lto_ir.empty());
  if (created) out.pch = NVRTC_SUCCESS;
  return out;
}

}  // namespace warpgrind::nvrtc
