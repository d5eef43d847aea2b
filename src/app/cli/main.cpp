// Command line of warpgrind: its subcommands, their options, and the call of each.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/run_variables.h"
#include "cli/check_command.h"
#include "cli/child.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/exercise_command.h"
#include "cli/lab_command.h"
#include "cli/tools_of_run.h"
#include "gpu/gpu_model.h"
#include "report/gpus.h"
#include "toolchain/messages.h"

namespace warpgrind::cli {

int gpus(const std::string& name) {
  if (name.empty()) {
    std::fputs(report::gpus_text().c_str(), stdout);
    return 0;
  }
  auto model = find_gpu_model(name);
  if (!model) {
    complain(model.error());
    return kUsageError;
  }
  std::fputs(report::gpu_text(**model).c_str(), stdout);
  return 0;
}

namespace {

// Options for reports on a profile, from a run or a file.
void add_reports(CLI::App* app, ReportOptions& reports) {
  app->add_option("--expect", reports.expectations,
                  "what must hold: '[KERNELS:] METRIC <= NUMBER', several times; exit code 1 if it does not")
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--junit", reports.junit_path, "write expectations and findings as JUnit XML");
  app->add_option("--sarif", reports.sarif_path, "write findings, expectations and advice as SARIF 2.1.0");
  app->add_option("--report", reports.html_path, "write one HTML file that shows all of it, for any browser, offline");
  app->add_option("--baseline", reports.baseline_path,
                  "with --report: a profile of an earlier run (--detail --json): the page shows what changed");
  app->add_flag("--source", reports.source, "show the kernels' source with the counters of each line");
}

// Options of the virtual GPU, for every command that starts one.
void add_execution(CLI::App* app, unsigned& threads, double& timeout, std::string& cache, bool& no_cache) {
  app->add_option("--threads", threads, "worker threads of the virtual GPU (0: all cores)")->check(CLI::Range(0, 4096));
  app->add_option("--timeout", timeout, "stop the run when it, compiling included, takes longer than this many seconds")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--cache", cache, "folder of compiled kernels")->default_str(session::default_cache_directory());
  app->add_flag("--no-cache", no_cache, "compile every kernel anew");
}

void add_fill(CLI::App* app, int& fill) {
  app->add_option("--fill", fill, "the byte that memory holds which the program has not written, as 0xAA")
      ->type_name("BYTE")
      ->check(CLI::Range(0, 255));
}

void add_schedule(CLI::App* app, device::Schedule& schedule) {
  app->add_option_function<std::string>(
         "--schedule",
         [&schedule](const std::string& text) { schedule = device::read_schedule(text).value_or(schedule); },
         "order of blocks and warps: forward, reverse, interleaved, random:SEED; all but forward use one worker")
      ->check([](const std::string& text) {
        return device::read_schedule(text) ? std::string() : "there are forward, reverse, interleaved and random:SEED";
      })
      ->type_name("ORDER");
}

// Options with ncu's names.
void add_launch_filter(CLI::App* app, session::LaunchFilter& filter) {
  app->add_option("-k,--kernel-name", filter.kernel_name,
                  "count only kernels of this name, or regex:EXPRESSION; the others run at full speed")
      ->type_name("NAME");
  app->add_option("--kernel-name-base", filter.name_base,
                  "what names are held against: without namespaces, templates and parameters, or whole, or as in PTX")
      ->check(CLI::IsMember({"function", "demangled", "mangled"}))
      ->capture_default_str();
  app->add_option("-s,--launch-skip", filter.skip, "launches to leave out first, of those that the name chooses");
  app->add_option("-c,--launch-count", filter.count, "launches to count then (0: all)");
}

// Options for the compilation of .cu files.
void add_compilation(CLI::App* app, RunCommand& command) {
  app->add_option("--compiler", command.compiler,
                  "for .cu files: nvcc (default where it is installed) or clang, which needs nothing of NVIDIA's")
      ->check(CLI::IsMember({"nvcc", "clang"}));
  app->add_option("--nvrtc", command.nvrtc,
                  "which libnvrtc compiles at run time: NVIDIA's or ours (with clang); auto: NVIDIA's where it is "
                  "installed, as it needs no GPU")
      ->check(CLI::IsMember({"auto", "nvidia", "ours"}))
      ->capture_default_str();
  app->add_option("--nvcc-flags", command.nvcc_flags, "flags for compiling .cu files, in one argument")
      ->type_name("FLAGS")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::App* add_run(CLI::App& app, RunCommand& command) {
  CLI::App* run = app.add_subcommand(
      "run", "Run a CUDA program (or a .cu file) on the virtual GPU; everything after the program goes to it");
  run->add_option("--gpu", command.options.gpu, "GPU model, see `warpgrind gpus`")->capture_default_str();
  run->add_option("--devices", command.options.devices, "how many virtual GPUs")->check(CLI::Range(1, 64));
  run->add_option("--json", command.options.json_path, "write the profile as JSON");
  run->add_option("--csv", command.options.csv_path,
                  "write the metrics of each launch as CSV, in the columns of `ncu --csv`");
  run->add_option("--work", command.options.work_path,
                  "write what each launch asks of the GPU as CSV: the input of the time model (docs/accuracy.md)")
      ->type_name("FILE");
  add_reports(run, command.reports);
  run->add_flag("--detail", command.options.detail,
                "also record how requests looked, and the sources, for --json (slower)");
  run->add_option("--block", command.trace_block, "with --detail: the block whose accesses are kept in order")
      ->type_name("X,Y,Z")
      ->capture_default_str();
  run->add_flag("--launches", command.options.each_launch, "show each launch, not only the sum of each kernel");
  run->add_flag("--quiet", command.options.quiet, "only the program's own output");
  add_execution(run, command.options.threads, command.options.timeout_seconds, command.options.cache_directory,
                command.no_cache);
  add_schedule(run, command.options.schedule);
  add_launch_filter(run, command.options.launches);
  run->add_option("--blocks", command.options.blocks,
                  "of each launch run about N blocks and scale the counts to all (docs/accuracy-blocks.md); results "
                  "are not valid")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{3}, std::uint64_t{1} << 40))
      ->excludes("--schedule");
  run->add_flag("!--no-counters", command.options.counters, "bounds checks only, nothing counted");
  run->add_flag("!--no-caches", command.options.caches, "no modelled caches: hit rates, L2 and DRAM traffic");
  run->add_flag("!--no-bounds-stop", command.options.bounds_stop,
                "an access outside an allocation is said and counted, and goes on where a GPU has memory mapped");
  add_fill(run, command.options.fill);
  add_compilation(run, command);
  // For tests, which must not depend on a machine's compile speed.
  run->add_option("--slow-compilation", command.options.slow_seconds)->group("");
  run->add_flag("--hold-compilation", command.options.hold_compilation)->group("");
  run->footer(
      "  warpgrind run [OPTIONS] PROGRAM [ARGUMENTS...]\n"
      "  warpgrind run [OPTIONS] FILE.cu [SOURCE|OBJECT|ARCHIVE...] [-- ARGUMENTS...]");
  return run;
}

constexpr const char* kSanitizerGroup = "compute-sanitizer's options";

CLI::Option* add_several(CLI::App* app, const char* name, std::vector<std::string>& to, const char* what) {
  return app->add_option(name, to, what)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(kSanitizerGroup);
}

// Options with compute-sanitizer's names; those without a meaning here are accepted but not listed.
void add_sanitizer(CLI::App* check, CheckCommand& command) {
  SanitizerOptions& o = command.sanitizer;
  const auto choice = [&](const char* name, std::string& to, const std::vector<std::string>& words, const char* what) {
    check->add_option(name, to, what)->check(CLI::IsMember(words))->group(kSanitizerGroup);
  };
  add_several(check, "--tool,-t", o.tools, "a group by compute-sanitizer's name; the report has its form, on stdout")
      ->check(CLI::IsMember({"memcheck", "racecheck", "initcheck", "synccheck"}));
  choice("--leak-check", o.leak_check, {"full", "no"}, "full: leaks too, whatever --only and --tool say; no: none");
  choice("--report-api-errors", o.report_api_errors, {"all", "extended", "explicit", "yes", "no"},
         "no: errors of calls are not told");
  choice("--track-stream-ordered-races", o.stream_ordered_races, {"all", "use-before-alloc", "use-after-free", "no"},
         "with --tool memcheck: memory of cudaMallocAsync used too early or too late");
  choice("--racecheck-report", o.race_report, {"analysis", "hazard", "all"}, "pairs of lines, examples, or both");
  choice("--racecheck-detect-level", command.print_level, {"info", "warn", "error"}, "as --print-level");
  choice("--show-backtrace", o.backtrace, {"yes", "no", "host", "device"}, "of calls in the host, in kernels, both");
  check->add_option("--save", o.save, "also write the report to this file")->group(kSanitizerGroup);
  check->add_flag("--xml", o.xml, "as XML: to the file of --save, else instead of the text")->group(kSanitizerGroup);
  check->add_option("--prefix", o.prefix, "what its lines begin with")->group(kSanitizerGroup);
  check->add_flag("--strip-paths", o.strip_paths, "no: whole paths of sources")->group(kSanitizerGroup);
  check->add_flag("--require-cuda-init", o.require_cuda, "no: a program that uses no CUDA is right")
      ->group(kSanitizerGroup);
  add_several(check, "--kernel-name", o.kernels, "only findings of these: kns=PART, kne=NAME, regex=EXPRESSION");
  add_several(check, "--kernel-regex", o.kernel_expressions, "likewise, a regular expression");
  add_several(check, "--kernel-name-exclude", o.other_kernels, "only findings of others");
  add_several(check, "--kernel-regex-exclude", o.other_kernel_expressions, "likewise, a regular expression");
  for (const SanitizerOption& option : options_without_meaning()) {
    const std::string name = first_name(option);
    const auto given = [&o, name](const std::string&) { o.given.push_back(name); };
    if (check->get_option_no_throw(name)) continue;
    if (option.takes_value)
      check->add_option_function<std::string>(option.names, given, option.why)->group("");
    else
      check
          ->add_flag_function(
              option.names, [given](std::int64_t) { given(""); }, option.why)
          ->group("");
  }
}

CLI::App* add_check(CLI::App& app, CheckCommand& command) {
  CLI::App* check = app.add_subcommand(
      "check",
      "Run a CUDA program (or a .cu file) and find its bugs: memory, races, uninitialised values, barriers, "
      "leaks, API errors; exit code 1 if there are any");
  RunCommand& run = command.run;
  check->add_option("--only", command.only, "groups: memory races init barriers leaks api, separated by commas")
      ->type_name("GROUPS")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  check->add_option("--json", run.options.json_path, "write what was found as JSON");
  check->add_option("--sarif", run.reports.sarif_path, "write it as SARIF 2.1.0");
  check->add_option("--junit", run.reports.junit_path, "write it as JUnit XML");
  check->add_option("--report", run.reports.html_path, "write one HTML file that shows all of it");
  check
      ->add_option("--error-exitcode", command.error_exitcode,
                   "exit code when something was found; 0: the program's own")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  check->add_option("--suppress,--suppressions", command.suppressions, "file of findings not to be told");
  check->add_option("--gen-suppressions", command.gen_suppressions, "write a file that suppresses all that was found");
  check->add_option("--print-level", command.print_level, "what is printed: info, warn or error and what is worse")
      ->check(CLI::IsMember({"info", "warn", "error", "fatal"}))
      ->capture_default_str();
  check->add_option("--print-limit", command.print_limit, "how many findings are printed")->capture_default_str();
  check->add_option("--log-file", command.log_path, "print to this file (%p: the process's number) instead of stderr");
  check->add_option("--gpu", run.options.gpu, "GPU model, see `warpgrind gpus`")->capture_default_str();
  check->add_option("--devices", run.options.devices, "how many virtual GPUs")->check(CLI::Range(1, 64));
  add_execution(check, run.options.threads, run.options.timeout_seconds, run.options.cache_directory, run.no_cache);
  add_fill(check, run.options.fill);
  check->add_flag("--track-unused-memory", run.options.track_unused_memory,
                  "with init: also tell allocations of which a part is never written");
  add_schedule(check, run.options.schedule);
  check
      ->add_option("--schedules", run.options.schedules,
                   "run each launch whose threads wait for each other in this many orders, from the same memory")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  add_compilation(check, run);
  add_sanitizer(check, command);  // last, because it leaves out options that already exist
  check->footer(
      "  warpgrind check [OPTIONS] PROGRAM [ARGUMENTS...]\n"
      "  warpgrind check [OPTIONS] FILE.cu [SOURCE|OBJECT|ARCHIVE...] [-- ARGUMENTS...]");
  return check;
}

CLI::App* add_explain(CLI::App& app, ExplainCommand& command) {
  CLI::App* explain = app.add_subcommand(
      "explain", "How the requests of a memory access looked: the 32 lanes, drawn in sectors and lines, or in banks");
  explain->add_option("target", command.target, "program, .cu file, or a profile written with --detail --json")
      ->required();
  explain->add_option("arguments", command.arguments, "of the program, after --");
  explain->add_option("--kernel", command.query.kernel, "name or pattern with * and ?; not needed for a single kernel");
  explain->add_option("--line", command.query.line, "source line");
  explain->add_option("--file", command.query.file, "source file, when several have that line");
  explain->add_option("--ptx-line", command.query.ptx_line, "line of the PTX instead");
  explain->add_option("--gpu", command.run.options.gpu, "GPU model, see `warpgrind gpus`")->capture_default_str();
  add_execution(explain, command.run.options.threads, command.run.options.timeout_seconds,
                command.run.options.cache_directory, command.run.no_cache);
  add_compilation(explain, command.run);
  explain->footer("  warpgrind explain PROGRAM|PROFILE.json --kernel NAME --line N [-- ARGUMENTS...]");
  return explain;
}

CLI::App* add_compile_times(CLI::App& app, CompileTimesCommand& command) {
  CLI::App* times = app.add_subcommand(
      "compile-times", "Compile every kernel of programs, without running them: CPU time, memory, tier");
  times->add_option("files", command.files, "executables, shared objects, fatbins or .ptx files")->required();
  times->add_option("--kernel", command.kernel, "only kernels whose name contains this");
  times->add_option("--tier", command.tier, "how much work every kernel gets, whatever its size")
      ->check(CLI::IsMember({"full", "lean", "quick"}));
  times->add_flag("--summary", command.summary, "one row a file, as a Markdown table");
  times->add_option("--cpu", command.cpu, "LLVM's name of the CPU to make code for; x86-64-v3: AVX2 only");
  times->add_option("--dump-ir", command.dump_ir, "write the unoptimised LLVM IR of the (last) kernel");
  times->add_option("--dump-object", command.dump_object, "write the object code of the (last) kernel");
  return times;
}

CLI::App* add_show(CLI::App& app, ShowCommand& command) {
  CLI::App* show = app.add_subcommand("show", "Print a profile (--json) again, or hold it against expectations");
  show->add_option("profile", command.profile, "profile file")->required();
  add_reports(show, command.reports);
  show->add_flag("--launches", command.each_launch, "show each launch, when the profile holds them");
  show->add_flag("--quiet", command.quiet, "only what the other options ask for");
  return show;
}

CLI::App* add_diff(CLI::App& app, DiffCommand& command) {
  CLI::App* diff = app.add_subcommand(
      "diff",
      "What changed from one profile (--json) to another, per kernel and line; exit code 1 if something is worse");
  diff->add_option("before", command.before, "profile of the earlier run")->required();
  diff->add_option("after", command.after, "profile of the later run")->required();
  diff->add_option(
          "--fail-if", command.rules,
          "what counts as worse: '[KERNELS:] METRIC > 5 %', several times (default: time by more than 5 %, and any "
          "rise of excessive sectors, bank conflicts, divergent branches or local memory)")
      ->type_name("RULE")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  diff->add_option("--pair", command.pairs, "compare kernels of different names")
      ->type_name("BEFORE=AFTER")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return diff;
}

CLI::App* add_lab(CLI::App& app, LabCommand& command) {
  CLI::App* lab = app.add_subcommand("lab", "The lab: kernels from naive to fast, verified, counted and timed");
  lab->add_option("topic", command.topics, "topics, or `all`; none lists what there is");
  lab->add_flag("--list", command.list, "what each rung of the topics shows");
  lab->add_option("--on", command.on, "where: the virtual GPU, or the real one of this machine")
      ->check(CLI::IsMember({"virtual", "gpu"}))
      ->capture_default_str();
  lab->add_option("--gpu", command.gpu, "GPU model of the virtual GPU, see `warpgrind gpus`")->capture_default_str();
  lab->add_flag("--full", command.full, "the full sizes, not the quick ones");
  lab->add_option("--sizes", command.sizes, "16,32 or 16:4096:x2 or 16:64:+16 or 512x300");
  lab->add_option("--type", command.type, "element type, or several separated by commas");
  lab->add_option("--rung", command.rungs, "only rungs whose name contains this (or matches with *), several times")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_execution(lab, command.threads, command.timeout_seconds, command.cache, command.no_cache);
  lab->add_option("--json", command.json_path, "write the results as JSON");
  lab->add_option("--csv", command.csv_path, "write the results as CSV, one line a row");
  lab->add_option("--report", command.report_path, "write the results as one HTML page");
  lab->add_option(
      "--compare", command.compare_path,
      "JSON of a run with --on gpu: its times beside the predicted ones (default: what is kept of that GPU)");
  CLI::Option* brief =
      lab->add_flag("--brief", command.brief,
                    "each topic on one screen: the ladder of its largest problem (default of several topics)");
  lab->add_flag("--table", command.table, "of each topic all rows, and why each rung is faster (default of one topic)")
      ->excludes(brief);
  lab->add_flag("--fresh", command.fresh, "do not go on where an interrupted run of several topics ended");
  lab->add_flag("--no-large", command.no_large,
                "not the large size at which a ladder's lesson holds, estimated from some blocks");
  lab->add_flag("--no-models", command.no_models, "only --gpu, not the other models a topic compares");
  lab->add_option("--programs", command.programs, "folder of the lab's programs");
  lab->footer("Any other --NAME VALUE goes to the topics that know it; `warpgrind lab TOPIC --list` names them.");
  return lab;
}

CLI::App* add_exercise(CLI::App& app, ExerciseCommand& command) {
  using Action = ExerciseCommand::Action;
  CLI::App* exercise = app.add_subcommand("exercise", "The exercises of the course, and the judge of their answers");
  exercise->require_subcommand(1);
  exercise->fallthrough();
  exercise->add_option("--exercises", command.folder, "folder of the exercises (docs/exercise-format.md)");
  const auto action = [&](const char* name, const char* what, Action chosen) {
    CLI::App* one = exercise->add_subcommand(name, what);
    one->callback([&command, chosen] { command.action = chosen; });
    return one;
  };
  const auto judging = [&](CLI::App* one) {
    one->add_option("--gpu", command.gpu, "GPU model instead of the exercise's, see `warpgrind gpus`");
    one->add_option("--cache", command.cache, "folder of what the solutions took");
    one->add_flag("--no-cache", command.no_cache, "run the solutions anew");
  };
  action("list", "All exercises, in the order of the documents", Action::list);
  CLI::App* start = action("start", "Begin one: its text and a skeleton, in a folder of its own", Action::start);
  start->add_option("name", command.name, "the exercise")->required();
  start->add_option("folder", command.target, "where (default: a folder of its name)");
  CLI::App* check = action("check", "Judge an answer; exit code 1: it is not right yet", Action::check);
  check->add_option("file", command.target, "the answer, or its folder (default: this folder); with --all: of a class");
  check->add_option("--exercise", command.name, "which exercise it answers, when the file's name does not say it");
  check->add_flag("--all", command.all, "judge FOLDER/STUDENT/NAME.cu, each in a sandbox");
  check->add_flag("--no-sandbox", command.no_sandbox, "with --all: run them as you, with all that you may do");
  check->add_option("--json", command.json_path, "write the verdicts as JSON");
  check->add_option("--junit", command.junit_path, "write the verdicts as JUnit XML");
  judging(check);
  const std::pair<const char*, Action> shown[] = {
      {"text", Action::text}, {"hint", Action::hint}, {"solution", Action::solution}};
  for (const auto& [name, chosen] : shown) {
    CLI::App* one = action(name,
                           chosen == Action::text   ? "Print what is to be done"
                           : chosen == Action::hint ? "The next hint, or that of --step"
                                                    : "Print the solution",
                           chosen);
    one->add_option("name", command.name, "the exercise (default: that of this folder)");
    if (chosen == Action::hint) one->add_option("--step", command.step, "which one")->check(CLI::Range(1, 99));
  }
  CLI::App* test =
      action("test", "For authors: the skeleton fails, the solution passes, wrong answers are told why", Action::test);
  test->add_option("name", command.name, "the exercise")->required();
  judging(test);
  return exercise;
}

CLI::App* add_correlate(CLI::App& app, CorrelateCommand& command) {
  CLI::App* correlate = app.add_subcommand(
      "correlate",
      "What Nsight Compute counts of a program on a real GPU beside what is counted here: equal, different, and why");
  correlate
      ->add_option("--ncu", command.ncu_path,
                   "CSV that `ncu --csv --page raw` (or details) wrote of the same program; without it ncu runs here")
      ->type_name("FILE.csv");
  correlate->add_option("--keep", command.keep_path, "keep the CSV of the ncu that ran here")->type_name("FILE.csv");
  correlate->add_flag("--all", command.all, "list values that are equal too");
  correlate->add_option("--json", command.json_path, "write the comparison as JSON");
  RunCommand& run = command.run;
  correlate->add_option("--gpu", run.options.gpu, "GPU model, see `warpgrind gpus`")->capture_default_str();
  add_execution(correlate, run.options.threads, run.options.timeout_seconds, run.options.cache_directory, run.no_cache);
  correlate->footer("  warpgrind correlate [OPTIONS] PROGRAM [ARGUMENTS...]");
  return correlate;
}

CLI::App* add_calibrate(CLI::App& app, CalibrateCommand& command) {
  CLI::App* calibrate = app.add_subcommand(
      "calibrate", "Measure the constants of the time estimate on the real GPU of this machine, for a GPU model");
  calibrate
      ->add_option("--output", command.output_path,
                   "write a GPU model with the measured figures, for --gpu FILE.json; one that is there keeps the "
                   "others")
      ->type_name("FILE.json");
  calibrate->add_option("--model", command.model, "the model whose other figures are taken (default: the GPU's own)");
  calibrate->add_option("--from", command.from_path, "what `calibrate --json FILE` left on another machine")
      ->type_name("FILE");
  calibrate->add_option("--csv", command.csv_path, "write every single measurement");
  calibrate->add_option("--programs", command.programs, "folder of the program `calibrate`");
  return calibrate;
}

CLI::App* add_serve(CLI::App& app, ServeCommand& command) {
  CLI::App* serve = app.add_subcommand(
      "serve", "The playground: a page with an editor, whose programs run on this machine, each in a sandbox");
  serve->add_option("--listen", command.listen, "where: ADDRESS:PORT or a port; port 0 is any that is free")
      ->capture_default_str();
  serve->add_flag("--public", command.is_public, "may listen beyond this machine: read docs/playground.md first");
  serve->add_option("--name", command.names, "what users call this server (behind a reverse proxy), several times")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  serve->add_option("--data", command.data, "file that keeps programs, sessions and runs")->type_name("FILE");
  serve->add_option("--jobs", command.jobs, "runs at a time (0: half of the cores)")->check(CLI::Range(0, 1024));
  serve
      ->add_option("--cpu-seconds", command.cpu_seconds,
                   "CPU time of a run, compiling included; three times as long by the clock")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  serve->add_option("--memory", command.memory_mib, "MiB of memory of a run")
      ->check(CLI::Range(128, 1 << 20))
      ->capture_default_str();
  serve->add_flag("--no-sandbox", command.no_sandbox,
                  "run programs as you, with all that you may do: on loopback alone");
  serve->add_option("--broker", command.broker, "Redis server through which workers on other machines take the runs")
      ->type_name("HOST:PORT");
  serve->add_option("--broker-password", command.broker_password, "file with its password")->type_name("FILE");
  serve->add_flag("--worker", command.worker, "no page: carry out runs of --broker, one at a time");
  serve->add_option("--lost-after", command.lost_after, "seconds until a worker that is not heard of is taken for lost")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  return serve;
}

// Removes options that `warpgrind lab` does not know, with their values: they belong to the topics.
std::vector<std::string> cut_topic_options(const CLI::App& lab, std::vector<std::string>& arguments) {
  std::vector<std::string> kept = {arguments[0]}, topics;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string name = arguments[i].substr(0, arguments[i].find('='));
    if (!name.starts_with("--") || lab.get_option_no_throw(name)) {
      kept.push_back(arguments[i]);
      continue;
    }
    topics.push_back(arguments[i]);
    if (name.size() == arguments[i].size() && i + 1 < arguments.size()) topics.push_back(arguments[++i]);
  }
  arguments = std::move(kept);
  return topics;
}

// True for compute-sanitizer's "--xml yes". Elsewhere such a word does not belong to the flag before it.
bool is_yes_or_no(const CLI::Option& option, const std::string& word) {
  const std::string& group = option.get_group();
  return (group.empty() || group == kSanitizerGroup) && (word == "yes" || word == "no");
}
void join(std::vector<std::string>& arguments, std::size_t at) {
  arguments[at - 1] += "=" + arguments[at];
  arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(at));
}

// Cuts the command line at the program before it is parsed: everything from there on belongs to the program, whatever
// it looks like. A first "--" before or behind the program is ours.
std::vector<std::string> cut_program(const CLI::App& run, std::vector<std::string>& arguments) {
  std::size_t at = 1;  // arguments[0] is "run"
  while (at < arguments.size() && arguments[at].starts_with("-") && arguments[at] != "--") {
    const std::string& name = arguments[at++];
    const CLI::Option* option = run.get_option_no_throw(name);
    if (option && option->get_items_expected_max() > 0)
      at++;  // its value, as a separate word
    else if (option && at < arguments.size() && is_yes_or_no(*option, arguments[at]))
      join(arguments, at);
  }
  at = std::min(at, arguments.size());
  std::vector<std::string> program(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  arguments.resize(at);
  if (!program.empty() && program[0] == "--") program.erase(program.begin());
  return program;
}

// Cuts "app.cu util.cu math.o -- 1024". Words behind a .cu file that name a source or an object are compiled and linked
// with it, up to "--" or the first other word. `misplaced`: an option that links a library and would become the
// program's argument; empty: none.
std::vector<std::string> cut_sources(std::vector<std::string>& program, std::string& misplaced) {
  std::vector<std::string> out;
  const bool compiled = !program.empty() && program[0].ends_with(".cu");
  const auto is_source = [](const std::string& word) {
    for (const char* suffix : {".cu", ".cpp", ".cc", ".cxx", ".c", ".o", ".a", ".so"})
      if (word.size() > std::string_view(suffix).size() && word.ends_with(suffix) && access(word.c_str(), F_OK) == 0)
        return true;
    return false;
  };
  while (compiled && program.size() > 1 && program[1] != "--" && is_source(program[1])) {
    out.push_back(program[1]);
    program.erase(program.begin() + 1);
  }
  for (std::size_t i = 1; compiled && i < program.size() && program[i] != "--"; i++)
    if (misplaced.empty() && toolchain::links_known_library(program[i])) misplaced = program[i];
  if (program.size() > 1 && program[1] == "--") program.erase(program.begin() + 1);
  return out;
}

}  // namespace

}  // namespace warpgrind::cli

int main(int argc, char** argv) {
  using namespace warpgrind;
  CLI::App app{"warpgrind: a virtual NVIDIA GPU with a memory microscope"};
  app.set_version_flag("--version", std::string("warpgrind " WARPGRIND_VERSION));
  app.require_subcommand(1);
  cli::RunCommand command;
  command.options.cache_directory = session::default_cache_directory();
  const CLI::App* run = cli::add_run(app, command);
  cli::CheckCommand checked;
  checked.run.options.cache_directory = session::default_cache_directory();
  const CLI::App* check = cli::add_check(app, checked);
  std::string scanned, gpu;
  CLI::App* scan = app.add_subcommand(
      "scan", "What is inside a program: kernels, PTX versions, opcodes, and what is not supported yet");
  scan->add_option("program", scanned, "executable, shared object, fatbin or .ptx file")->required();
  cli::CompileTimesCommand timed;
  const CLI::App* compile_times = cli::add_compile_times(app, timed);
  CLI::App* gpus =
      app.add_subcommand("gpus", "The GPU models: figures, and the theoretical bandwidth and how it is computed");
  gpus->add_option("name", gpu, "one model");
  cli::ShowCommand shown;
  const CLI::App* show = cli::add_show(app, shown);
  cli::DiffCommand difference;
  const CLI::App* diff = cli::add_diff(app, difference);
  cli::LabCommand laboratory;
  const CLI::App* lab = cli::add_lab(app, laboratory);
  cli::ServeCommand served;
  const CLI::App* serve = cli::add_serve(app, served);
  cli::ExerciseCommand exercises;
  exercises.cache = session::default_cache_directory();
  const CLI::App* exercise = cli::add_exercise(app, exercises);
  cli::CorrelateCommand correlation;
  correlation.run.options.cache_directory = session::default_cache_directory();
  const CLI::App* correlate = cli::add_correlate(app, correlation);
  cli::CalibrateCommand calibration;
  const CLI::App* calibrate = cli::add_calibrate(app, calibration);
  cli::ExplainCommand explanation;
  explanation.run.options.cache_directory = session::default_cache_directory();
  const CLI::App* explain = cli::add_explain(app, explanation);
  // nvcc parses its whole command line itself.
  app.add_subcommand("nvcc", "Compile CUDA with clang-19 and nvcc's options: `warpgrind nvcc --help`");
  app.add_subcommand("ptxas", "Check PTX and pack it, for clients that call ptxas: `warpgrind ptxas --help`");
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const std::string_view called = argc > 0 ? argv[0] : "";
  const std::string_view name = called.substr(called.rfind('/') + 1);
  if (name == "nvcc" || name == "ptxas") arguments.insert(arguments.begin(), std::string(name));
  if (name == "compute-sanitizer") {
    arguments.insert(arguments.begin(), "check");
    checked.as_sanitizer = true;
    checked.error_exitcode = 0;
  }
  if (!arguments.empty() && arguments[0] == cli::kCommandLine) {
    std::fputs(cli::command_line_json(app).c_str(), stdout);
    return 0;
  }
  if (!arguments.empty() && arguments[0] == run_variables::kToolOfRun)
    return cli::end(cli::tool_of_run({arguments.begin() + 1, arguments.end()}));
  if (!arguments.empty() && arguments[0] == "nvcc")
    return cli::end(cli::nvcc({arguments.begin() + 1, arguments.end()}));
  if (!arguments.empty() && arguments[0] == "ptxas") return cli::ptxas({arguments.begin() + 1, arguments.end()});
  std::string misplaced;
  if (!arguments.empty() && arguments[0] == "run") {
    command.program = cli::cut_program(*run, arguments);
    command.sources = cli::cut_sources(command.program, misplaced);
  }
  if (!arguments.empty() && arguments[0] == "check") {
    checked.run.program = cli::cut_program(*check, arguments);
    checked.run.sources = cli::cut_sources(checked.run.program, misplaced);
  }
  if (!misplaced.empty()) {
    cli::complain(misplaced + " would be an argument of the program: what a .cu file is compiled with stands before it",
                  "--nvcc-flags '" + misplaced + "' FILE.cu; if it is meant for the program: FILE.cu -- " + misplaced);
    return cli::kUsageError;
  }
  if (!arguments.empty() && arguments[0] == "correlate")
    correlation.run.program = cli::cut_program(*correlate, arguments);
  if (!arguments.empty() && arguments[0] == "lab") laboratory.topic_options = cli::cut_topic_options(*lab, arguments);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : cli::kUsageError;
  }
  if (*check) return cli::end(cli::check(checked));
  if (*scan) return cli::scan(scanned);
  if (*compile_times) return cli::compile_times(timed);
  if (*gpus) return cli::gpus(gpu);
  if (*explain) return cli::end(cli::explain(explanation));
  if (*show) return cli::show(shown);
  if (*diff) return cli::diff(difference);
  if (*lab) return cli::lab(laboratory);
  if (*exercise) return cli::exercise(exercises);
  if (*correlate) return cli::end(cli::correlate(correlation));
  if (*serve) return cli::serve(served);
  if (*calibrate) return cli::calibrate(calibration);
  return cli::end(cli::run(command));
}
