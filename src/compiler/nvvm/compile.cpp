// Compilation of LLVM IR modules: conversion to bitcode, then one call of clang that links and compiles them.
#include "nvvm/compile.h"

#include <fmt/format.h>

#include <sstream>

#include "base/assert.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "fatbin/write.h"
#include "nvvm/dialect.h"
#include "nvvm/old_ir.h"
#include "nvvm/options.h"
#include "toolchain/clang_run.h"
#include "toolchain/toolkit.h"

namespace warpgrind::nvvm {

namespace {

Compiled failed(nvvmResult result, std::string log) {
  Compiled out;
  out.result = result;
  out.log = std::move(log);
  return out;
}

Compiled missing(const Error& error) {
  return failed(NVVM_ERROR_COMPILATION,
                fmt::format("libnvvm : error: {} (warpgrind)\n  {}\n", error.message, error.detail));
}

// LLVM's bitcode, bare or in a wrapper ("LLVM Bitcode File Format").
bool is_bitcode(const std::string& bytes) {
  return bytes.starts_with("BC\xC0\xDE") || bytes.starts_with("\xDE\xC0\x17\x0B");
}

// Programs show the log to their users. Clients' modules have the data layouts of other releases; clang uses its own,
// so these warnings are removed.
std::string without_layouts(const std::string& messages) {
  std::istringstream lines(messages);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("warning: Linking two modules of different ")) out += line + "\n";
  return out.find_first_not_of('\n') == std::string::npos ? "" : out;
}

class Compilation {
 public:
  Compilation(const Options& options, const std::string& clang, const std::string& folder)
      : options_(options), clang_(clang), folder_(folder) {}

  // Writes each module as a bitcode file. Modules that are linked whole come first.
  Compiled read(const std::vector<Module>& modules) {
    for (const bool lazy : {false, true})
      for (const Module& one : modules)
        if (one.lazy == lazy)
          if (Compiled out = read(one); out.result != NVVM_SUCCESS) return out;
    if (whole_.empty()) return failed(NVVM_ERROR_NO_MODULE_IN_PROGRAM, "libnvvm : error: no module in program\n");
    return read({dialect_module(options_), "warpgrind", false});
  }

  Compiled compile() {
    WG_ASSERT(!whole_.empty());  // read() refuses a program without such a module
    const std::string ptx = folder_ + "/out.ptx";
    std::vector<std::string> command = start();
    const std::vector<std::string> more = clang_words(options_);
    command.insert(command.end(), more.begin(), more.end());
    for (std::size_t i = 1; i < whole_.size(); i++) link(command, "-mlink-bitcode-file", whole_[i]);
    for (const std::string& one : parts_) link(command, "-mlink-builtin-bitcode", one);
    command.insert(command.end(), {"-S", "-o", ptx, whole_[0]});
    Compiled out = run(command, NVVM_ERROR_COMPILATION);
    if (out.result == NVVM_SUCCESS) out.ptx = read_whole(ptx).value_or("");
    if (out.result == NVVM_SUCCESS && out.ptx.empty()) out.result = NVVM_ERROR_COMPILATION;
    if (out.result == NVVM_SUCCESS && options_.lto) out.ptx = container(std::move(out.ptx));
    return out;
  }

 private:
  // The container that our nvJitLink reads as LTO IR.
  std::string container(std::string ptx) const {
    fatbin::PtxCode code;
    code.text = "// PTX in place of LTO IR: warpgrind runs PTX.\n" + std::move(ptx);
    code.arch = static_cast<std::uint32_t>(options_.architecture);
    code.line_info = options_.line_info;
    return fatbin::make_fatbin({code});
  }

  static void link(std::vector<std::string>& command, const char* how, const std::string& file) {
    command.insert(command.end(), {"-Xclang", how, "-Xclang", file});
  }

  std::vector<std::string> start() const {
    return {clang_, "-x", "ir", "--target=nvptx64-nvidia-cuda", "-nocudalib", "-fno-color-diagnostics",
            // Modules come with the triple and the data layout of another release.
            "-Wno-override-module", "-Wno-unused-command-line-argument"};
  }

  Compiled run(const std::vector<std::string>& command, nvvmResult otherwise) const {
    const std::string messages = folder_ + "/messages";
    const auto end = toolchain::run_clang(command, messages, {});
    if (!end) return missing(end.error());
    return failed(*end == toolchain::ClangEnd::good ? NVVM_SUCCESS : otherwise,
                  without_layouts(read_whole(messages).value_or("")));
  }

  Compiled read(const Module& module) {
    std::vector<std::string>& into = module.lazy ? parts_ : whole_;
    const std::string file = fmt::format("{}/{}{}.bc", folder_, module.lazy ? "part" : "whole", into.size());
    into.push_back(file);
    if (is_bitcode(module.bytes)) return written(file, module.bytes);
    const std::string text = without_dialect(module.bytes, options_);
    const auto bitcode = bitcode_of_old_text(text, module.name, options_.flush_to_zero);
    if (bitcode) return written(file, *bitcode);
    // Not the text of an old LLVM; it may be that of a new one.
    const std::string source = file + ".ll";
    if (Compiled out = written(source, text); out.result != NVVM_SUCCESS) return out;
    std::vector<std::string> command = start();
    command.insert(command.end(), {"-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-o", file, source});
    Compiled out = run(command, NVVM_ERROR_INVALID_IR);
    if (out.result == NVVM_SUCCESS) return out;
    const Error& error = bitcode.error();
    return error.kind == ErrorKind::environment ? missing(error) : failed(NVVM_ERROR_INVALID_IR, error.message + "\n");
  }

  Compiled written(const std::string& file, const std::string& bytes) const {
    if (Status s = write_whole(file, bytes); !s) return missing(s.error());
    return {};
  }

  const Options& options_;
  const std::string& clang_;
  const std::string& folder_;
  std::vector<std::string> whole_, parts_;  // files
};

Compiled go(const std::vector<Module>& modules, const std::vector<std::string>& words, const Surroundings& surroundings,
            bool to_ptx) {
  if (modules.empty()) return failed(NVVM_ERROR_NO_MODULE_IN_PROGRAM, "libnvvm : error: no module in program\n");
  const auto options = read_options(words);
  if (!options) return failed(NVVM_ERROR_INVALID_OPTION, options.error().message);
  const auto toolkit = toolchain::find_toolkit_of(surroundings.libraries, surroundings.path);
  if (!toolkit) return missing(toolkit.error());
  const TemporaryFolder folder;
  if (folder.path.empty())
    return missing(Error{ErrorKind::environment, folder.problem, "set TMPDIR to a folder that can be written"});
  Compilation compilation(*options, toolkit->clang, folder.path);
  Compiled read = compilation.read(modules);
  if (read.result != NVVM_SUCCESS || !to_ptx) return read;
  return compilation.compile();
}

}  // namespace

Compiled compile(const std::vector<Module>& modules, const std::vector<std::string>& options,
                 const Surroundings& surroundings) {
  return go(modules, options, surroundings, true);
}

Compiled verify(const std::vector<Module>& modules, const std::vector<std::string>& options,
                const Surroundings& surroundings) {
  return go(modules, options, surroundings, false);
}

}  // namespace warpgrind::nvvm
