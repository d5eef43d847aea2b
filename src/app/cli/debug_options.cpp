// Options of the debugger's commands.
#include "cli/debug_options.h"

#include "cli/run_options.h"

namespace warpgrind::cli {

namespace {

void add_host(CLI::App* app, bool& host) {
  app->add_flag("--host", host, "Debugs host code, too; needs gdb. The program starts about a second later");
}

// Options of the virtual GPU for commands of the debugger.
void add_debugging(CLI::App* app, RunCommand& command) {
  app->add_option("--gpu", command.options.gpu,
                  "GPU model by name, or a model in a file FILE.json; see `warpgrind gpus`")
      ->type_name("MODEL")
      ->capture_default_str();
  app->add_option("--devices", command.options.devices, "Number of virtual GPUs (default: 1)")
      ->check(CLI::Range(1, 64));
  app->add_option("--cache", command.options.cache_directory, "Folder for compiled kernels")
      ->type_name("FOLDER")
      ->default_str(session::default_cache_directory());
  app->add_flag("--no-cache", command.no_cache, "Compiles every kernel again, without the folder of compiled kernels");
  app->add_option(
         "--history", command.options.debug_history,
         "Most memory for what ended launches have changed, so that the debugger can go back into them; 0: none")
      ->type_name("MIB")
      ->check(CLI::Range(0, 65536))
      ->capture_default_str();
  add_schedule(app, command.options.schedule);
  add_fill(app, command.options.fill);
  add_compilation(app, command);
}

}  // namespace

CLI::App* add_debug(CLI::App& app, DebugCommand& command) {
  CLI::App* debug = app.add_subcommand(
      "debug",
      "Debug kernels of a CUDA program (or a .cu file) with gdb's commands, forwards and backwards; `help` lists them");
  debug->add_option("-x,--command", command.files, "Runs the debugger's commands in FILE; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  debug
      ->add_option("--ex,--eval-command", command.commands,
                   "Runs one command of the debugger, after those of files; may be repeated; also -ex")
      ->type_name("COMMAND")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  debug->add_flag("--check", command.check,
                  "Checks the program as `warpgrind check` does, and stops at each finding (memory, races, "
                  "uninitialised values, barriers)");
  debug
      ->add_option("--only", command.only,
                   "Checks only these groups, separated by commas: memory, races, init, barriers, leaks, api")
      ->type_name("GROUPS")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  debug->add_flag("--batch", command.batch, "Leaves after these commands; exit code 1 if one failed");
  debug->add_flag("--args", command.args, "Accepted for users of gdb: arguments of the program need no option");
  debug
      ->add_option(
          "--core", command.core,
          "Opens a core file that `warpgrind run --core FILE` wrote, stopped at the fault; no program is given")
      ->type_name("FILE");
  add_host(debug, command.host);
  add_debugging(debug, command.run);
  debug->footer(
      "  warpgrind debug [OPTIONS] PROGRAM [ARGUMENTS...]\n  warpgrind debug [OPTIONS] FILE.cu [ARGUMENTS...]\n  "
      "warpgrind debug "
      "[OPTIONS] --core FILE");
  return debug;
}

void double_dashes(const CLI::App& debug, std::vector<std::string>& arguments) {
  for (std::size_t i = 1; i < arguments.size() && arguments[i].starts_with("-") && arguments[i] != "--"; ++i) {
    for (const char* word : {"-ex", "-eval-command", "-batch", "-args", "-command"})
      if (arguments[i] == word) arguments[i].insert(0, 1, '-');
    const CLI::Option* option = debug.get_option_no_throw(arguments[i]);
    if (option && option->get_items_expected_max() > 0) ++i;  // its value
  }
}

CLI::App* add_dap(CLI::App& app, DapCommand& command) {
  CLI::App* dap = app.add_subcommand(
      "dap", "Debug kernels from an editor: a debug adapter (DAP) on the standard streams; see docs/editors.md");
  dap->add_option("--port", command.port,
                  "Serves one client after another on this port of 127.0.0.1; 0 selects any free port. Every user of "
                  "this machine can connect, and start programs as you")
      ->check(CLI::Range(0, 65535));
  dap->add_option("--vscode", command.extension,
                  "Writes an extension for VS Code to this file and leaves; then: code --install-extension FILE.vsix")
      ->option_text("FILE.vsix");
  add_host(dap, command.host);
  add_debugging(dap, command.run);
  return dap;
}

}  // namespace warpgrind::cli
