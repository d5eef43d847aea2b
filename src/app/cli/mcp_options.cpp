// Options of `warpgrind mcp`.
#include "cli/mcp_options.h"

namespace warpgrind::cli {

CLI::App* add_mcp(CLI::App& app, McpCommand& command) {
  CLI::App* mcp = app.add_subcommand("mcp",
                                     "Serve agents: a server of the Model Context Protocol on the standard streams. "
                                     "Each program runs in a sandbox (docs/agents.md)");
  mcp->add_option("--folder", command.folder,
                  "Folder whose files tools may name by path and programs may read (default: the current folder)")
      ->type_name("DIR");
  mcp->add_option("--gpu", command.gpu, "GPU model for calls that name none; see `warpgrind gpus`")
      ->type_name("MODEL")
      ->capture_default_str();
  mcp->add_option("--compiler", command.compiler,
                  "Compiler for .cu files: clang, or nvcc, which takes longer and gives the exact number of registers")
      ->check(CLI::IsMember({"nvcc", "clang"}))
      ->capture_default_str();
  mcp->add_option("--jobs", command.jobs, "Number of calls at the same time (default: 0, half of the cores)")
      ->check(CLI::Range(0, 256));
  mcp->add_option("--seconds", command.seconds,
                  "Limit of elapsed time per call, compilation included; CPU time may be twice as long. Many clients "
                  "give up after 60 s")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  mcp->add_option("--memory", command.memory_mib, "Limit of memory per call in MiB")
      ->check(CLI::Range(128, 1 << 20))
      ->capture_default_str();
  mcp->add_flag("--no-sandbox", command.no_sandbox,
                "Runs programs without a sandbox, with all your permissions: an agent then has these, too");
  return mcp;
}

// `warpgrind mcp` names the kernels that a run did not launch.
void add_content(CLI::App* app, RunCommand& command) {
  app->add_option("--content", command.content_path)->group("");
}

}  // namespace warpgrind::cli
