// Options of the debugger's commands.
#include "cli/debug_options.h"

#include "cli/run_options.h"

namespace warpgrind::cli {

namespace {

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
  add_schedule(app, command.options.schedule);
  add_fill(app, command.options.fill);
  add_compilation(app, command);
}

}  // namespace

CLI::App* add_dap(CLI::App& app, DapCommand& command) {
  CLI::App* dap = app.add_subcommand(
      "dap",
      "Debug kernels from an editor: a debug adapter (DAP) on the standard streams; see docs/debugging-protocol.md");
  dap->add_option("--port", command.port,
                  "Serves one client after another on this port of 127.0.0.1; 0 selects any free port. Every user of "
                  "this machine can connect, and start programs as you")
      ->check(CLI::Range(0, 65535));
  add_debugging(dap, command.run);
  return dap;
}

}  // namespace warpgrind::cli
