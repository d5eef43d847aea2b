// Options of the command line that several commands share.
#include "cli/run_options.h"

namespace warpgrind::cli {

void add_stall(CLI::App* app, double& stall) {
  app->add_option("--stall", stall,
                  "Stops a kernel if none of its blocks ends while the program uses this many seconds of CPU time "
                  "(default: 0, no limit)")
      ->check(CLI::NonNegativeNumber);
}

void add_execution(CLI::App* app, unsigned& threads, double& timeout, std::string& cache, bool& no_cache) {
  app->add_option("--threads", threads, "Number of worker threads of the virtual GPU (default: 0, all cores)")
      ->check(CLI::Range(0, 4096));
  app->add_option("--timeout", timeout,
                  "Stops the run after this many seconds, compilation included (default: 0, no limit)")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--cache", cache, "Folder for compiled kernels")
      ->type_name("FOLDER")
      ->default_str(session::default_cache_directory());
  app->add_flag("--no-cache", no_cache, "Compiles every kernel again, without the folder of compiled kernels");
}

void add_fill(CLI::App* app, int& fill) {
  app->add_option("--fill", fill, "Fills memory that the program has not written with this byte, for example 0xAA")
      ->type_name("BYTE")
      ->check(CLI::Range(0, 255));
}

void add_schedule(CLI::App* app, device::Schedule& schedule) {
  app->add_option_function<std::string>(
         "--schedule",
         [&schedule](const std::string& text) { schedule = device::read_schedule(text).value_or(schedule); },
         "Order of blocks and warps: forward (default), reverse, interleaved or random:SEED; all except forward use "
         "one worker thread")
      ->check([](const std::string& text) {
        return device::read_schedule(text) ? std::string()
                                           : "the order must be forward, reverse, interleaved or random:SEED";
      })
      ->type_name("ORDER");
}

void add_some_blocks(CLI::App* app, session::RunOptions& options) {
  const CLI::Range some(std::uint64_t{3}, std::uint64_t{1} << 40);
  CLI::Option* const sampled =
      app->add_option("--sample-blocks", options.blocks,
                      "Runs about N blocks of each launch if its blocks are alike, and scales the counts to all "
                      "(docs/accuracy-blocks.md); results are not computed")
          ->type_name("N")
          ->check(some)
          ->excludes("--schedule");
  app->add_option_function<std::uint64_t>(
         "--blocks",
         [&options](std::uint64_t blocks) {
           options.blocks = blocks;
           options.despite_data = true;
         },
         "The same for kernels whose branches or addresses depend on data, too: their counts are those of wrong data")
      ->type_name("N")
      ->check(some)
      ->excludes("--schedule")
      ->excludes(sampled);
}

void add_launch_filter(CLI::App* app, session::LaunchFilter& filter) {
  app->add_option(
         "-k,--kernel-name", filter.kernel_name,
         "Counts only kernels with this name, or those that match regex:EXPRESSION; other kernels run at full speed")
      ->type_name("NAME");
  app->add_option("--kernel-name-base", filter.name_base,
                  "Form of the name of --kernel-name: without namespaces, templates and parameters (function), whole "
                  "(demangled), or as in PTX (mangled)")
      ->check(CLI::IsMember({"function", "demangled", "mangled"}))
      ->capture_default_str();
  app->add_option("-s,--launch-skip", filter.skip,
                  "Number of launches to skip first, among those that --kernel-name selects (default: 0)");
  app->add_option("-c,--launch-count", filter.count,
                  "Number of launches to count after those that are skipped (default: 0, all)");
}

void add_core(CLI::App* app, CoreOptions& core) {
  app->add_option(
         "--core", core.path,
         "Writes a core file to FILE if a kernel faults, for `warpgrind debug --core FILE`; %h, %p and %t are "
         "host, process and time. One thread runs all blocks, and a .cu file is compiled for debugging. Also by "
         "CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 and CUDA_COREDUMP_FILE")
      ->type_name("FILE");
  app->add_option("--core-limit", core.limit_mib, "Most MiB of memory in a core file; with more, none is written")
      ->type_name("MIB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

void add_compilation(CLI::App* app, RunCommand& command) {
  app->add_option("--compiler", command.compiler,
                  "Compiler for .cu files: nvcc (default if it is installed) or clang, which needs no NVIDIA software")
      ->check(CLI::IsMember({"nvcc", "clang"}));
  app->add_option("--nvrtc", command.nvrtc,
                  "Library (libnvrtc) for compilation at run time: NVIDIA's, which needs no GPU, or ours (with clang); "
                  "auto: NVIDIA's if it is installed")
      ->check(CLI::IsMember({"auto", "nvidia", "ours"}))
      ->capture_default_str();
  app->add_option("--nvcc-flags", command.nvcc_flags, "Compiler flags for .cu files, in one argument; may be repeated")
      ->type_name("FLAGS")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace warpgrind::cli
