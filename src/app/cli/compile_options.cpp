// Options of commands that only compile.
#include "cli/compile_options.h"

#include "cli/run_options.h"

namespace warpgrind::cli {

CLI::App* add_scan(CLI::App& app, ScanCommand& command) {
  CLI::App* scan = app.add_subcommand(
      "scan", "Show the contents of a program: kernels, PTX versions, opcodes, and what is not supported yet");
  scan->add_option("program", command.program, "Executable, shared object, fatbin, .ptx or .cu file")
      ->type_name("FILE")
      ->required();
  scan->add_option("--json", command.json_path, "Writes the contents as JSON to FILE")->type_name("FILE");
  scan->add_option("--gpu", command.run.options.gpu, "GPU model for which a .cu file is compiled")
      ->type_name("MODEL")
      ->capture_default_str();
  add_compilation(scan, command.run);
  return scan;
}

CLI::App* add_prepare(CLI::App& app, PrepareCommand& command) {
  CLI::App* prepare = app.add_subcommand(
      "prepare", "Precompile the headers of CUDA programs, so that the first `run FILE.cu` by clang is short");
  prepare
      ->add_option(
          "program", command.programs,
          "Programs or .cu files to run once: their kernels, which other programs may share, are kept compiled")
      ->type_name("FILE");
  prepare->add_option("--gpu", command.gpu, "GPU model that programs are compiled for; see `warpgrind gpus`")
      ->type_name("MODEL")
      ->capture_default_str();
  prepare->add_flag("--installation", command.installation,
                    "For all users of this installation, not only for you; packages call this when they are installed");
  prepare
      ->add_option(
          "--kernels", command.kernels,
          "For those who make packages: only compiles the kernels of the programs (or PTX), for all CPUs, into "
          "this folder")
      ->type_name("FOLDER");
  prepare->add_option("--leave-out", command.leave_out, "With --kernels: not those whose names contain this")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  return prepare;
}

}  // namespace warpgrind::cli
