// Command line of warpgrind: its subcommands, their options, and the call of each.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/descriptor.h"
#include "base/printable.h"
#include "base/run_variables.h"
#include "cli/check_command.h"
#include "cli/child.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/compile_options.h"
#include "cli/debug_options.h"
#include "cli/exercise_command.h"
#include "cli/lab_command.h"
#include "cli/mcp_options.h"
#include "cli/play_core.h"
#include "cli/run_options.h"
#include "cli/tools_of_run.h"
#include "gpu/gpu_model.h"
#include "report/gpus.h"
#include "toolchain/messages.h"

namespace warpgrind::cli {

int gpus(const std::string& name) {
  if (name.empty()) {
    print_text(stdout, report::gpus_text());
    return 0;
  }
  auto model = find_gpu_model(name);
  if (!model) {
    complain(model.error());
    return kUsageError;
  }
  print_text(stdout, report::gpu_text(**model));
  return 0;
}

namespace {

void add_required_kernels(CLI::App* app, ReportOptions& reports) {
  app->add_option("--require-kernels", reports.required_kernels,
                  "Exit code 1 if no kernel of this name runs, in any process; a pattern with * and ?; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// Options for reports on a profile, from a run or a file.
void add_reports(CLI::App* app, ReportOptions& reports) {
  app->add_option("--expect", reports.expectations,
                  "Checks a condition, '[KERNELS:] METRIC <= NUMBER'; exit code 1 if it does not hold; may be repeated")
      ->type_name("CONDITION")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_required_kernels(app, reports);
  app->add_option("--junit", reports.junit_path, "Writes expectations and findings as JUnit XML to FILE")
      ->type_name("FILE");
  app->add_option("--sarif", reports.sarif_path,
                  "Writes findings, failed expectations and advice as SARIF 2.1.0 to FILE")
      ->type_name("FILE");
  app->add_option("--report", reports.html_path,
                  "Writes one HTML page with all results to FILE; any browser shows it offline")
      ->type_name("FILE");
  app->add_option("--baseline", reports.baseline_path,
                  "Shows the changes since the profile of an earlier run (--detail --json) in the page of --report")
      ->type_name("FILE");
  app->add_flag("--source", reports.source, "Shows the source of the kernels with the counters of each line");
}

CLI::App* add_run(CLI::App& app, RunCommand& command) {
  CLI::App* run = app.add_subcommand(
      "run", "Run a CUDA program (or a .cu file) on the virtual GPU; everything after the program is passed to it");
  run->add_option("--gpu", command.options.gpu,
                  "GPU model by name, or a model in a file FILE.json; see `warpgrind gpus`")
      ->type_name("MODEL")
      ->capture_default_str();
  run->add_option("--devices", command.options.devices, "Number of virtual GPUs (default: 1)")
      ->check(CLI::Range(1, 64));
  run->add_option("--json", command.options.json_path, "Writes the profile as JSON to FILE")->type_name("FILE");
  run->add_option("--csv", command.options.csv_path,
                  "Writes the metrics of each launch as CSV to FILE, with the columns of `ncu --csv`")
      ->type_name("FILE");
  run->add_option("--work", command.options.work_path,
                  "Writes the work of each launch as CSV to FILE: the input of the time model (docs/accuracy.md)")
      ->type_name("FILE");
  add_reports(run, command.reports);
  run->add_flag("--detail", command.options.detail,
                "Also records request patterns, counters of each line and sources, for --json (slower)");
  run->add_flag("--steps", command.options.steps,
                "Records one block of each kernel step by step, for --report or --json; a .cu file is compiled for "
                "debugging");
  CLI::Option* const steps = run->get_option("--steps");
  run->add_flag("--steps-of-ranges", command.options.steps_of_ranges,
                "Records the steps of each kernel in each NVTX range in which it is launched")
      ->needs(steps);
  run->add_option("--steps-limit", command.options.steps_kib, "Most KiB of the recording of one kernel")
      ->type_name("KIB")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str()
      ->needs(steps);
  run->add_option("--block", command.trace_block,
                  "Block whose accesses --detail records in order, and --steps its steps")
      ->type_name("X,Y,Z")
      ->capture_default_str();
  run->add_flag("--launches", command.options.each_launch, "Shows each launch, not only the sum of each kernel");
  run->add_flag("--quiet", command.options.quiet, "Prints only the program's own output");
  run->add_flag("--debug-on-fault", command.debug_on_fault,
                "Opens the debugger's terminal where a kernel faults (docs/debugging.md); such a run counts nothing");
  add_core(run, command.core);
  add_execution(run, command.options.threads, command.options.timeout_seconds, command.options.cache_directory,
                command.no_cache);
  add_stall(run, command.options.stall_seconds);
  add_schedule(run, command.options.schedule);
  add_launch_filter(run, command.options.launches);
  add_some_blocks(run, command.options);
  run->add_flag("!--no-kernels", command.options.kernels,
                "Launches run none of their blocks: results that stay right were not computed on the GPU")
      ->excludes("--blocks")
      ->excludes("--sample-blocks");
  run->add_flag("!--no-counters", command.options.counters, "Counts nothing and only checks the bounds of accesses");
  run->add_flag("!--no-caches", command.options.caches,
                "Leaves out the cache model: no hit rates, no L2 and DRAM traffic");
  run->add_flag(
      "!--no-bounds-stop", command.options.bounds_stop,
      "Reports and counts an access outside an allocation, and continues if a GPU would have memory mapped there");
  add_fill(run, command.options.fill);
  add_compilation(run, command);
  // For tests, which must not depend on a machine's compile speed.
  run->add_option("--slow-compilation", command.options.slow_seconds)->group("");
  add_content(run, command);
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
  add_several(check, "--tool,-t", o.tools,
              "Selects a group of checks by compute-sanitizer's name, and prints the report in its form to stdout; may "
              "be repeated")
      ->check(CLI::IsMember({"memcheck", "racecheck", "initcheck", "synccheck"}));
  choice("--leak-check", o.leak_check, {"full", "no"},
         "Reports leaks whatever --only and --tool select (full), or never (no)");
  choice("--report-api-errors", o.report_api_errors, {"all", "extended", "explicit", "yes", "no"},
         "Reports errors of API calls; `no` together with --tool turns this off");
  choice("--track-stream-ordered-races", o.stream_ordered_races, {"all", "use-before-alloc", "use-after-free", "no"},
         "Reports memory of cudaMallocAsync that is used too early or too late (with --tool memcheck)");
  choice("--racecheck-report", o.race_report, {"analysis", "hazard", "all"},
         "Form of races in the report: pairs of lines (analysis, default), examples (hazard) or both (all)");
  choice("--racecheck-detect-level", command.print_level, {"info", "warn", "error"}, "Same as --print-level");
  choice("--show-backtrace", o.backtrace, {"yes", "no", "host", "device"},
         "Call stacks in the report: of the host (host), of kernels (device), both (yes, default) or none (no)");
  check->add_option("--save", o.save, "Also writes the report to FILE")->type_name("FILE")->group(kSanitizerGroup);
  check
      ->add_flag("--xml", o.xml,
                 "Writes the report as XML: to the file of --save, or instead of the text without --save")
      ->group(kSanitizerGroup);
  check->add_option("--prefix", o.prefix, "Text at the beginning of each line of the report (default: =========)")
      ->group(kSanitizerGroup);
  check
      ->add_flag("--strip-paths", o.strip_paths,
                 "Shortens paths of sources to file names (default); `no` keeps whole paths")
      ->group(kSanitizerGroup);
  check
      ->add_flag("--require-cuda-init", o.require_cuda,
                 "Treats a program that uses no CUDA as an error (default); `no` accepts it")
      ->group(kSanitizerGroup);
  add_several(check, "--kernel-name", o.kernels,
              "Reports only findings in these kernels: kns=PART, kne=NAME or regex=EXPRESSION")
      ->type_name("NAME");
  add_several(check, "--kernel-regex", o.kernel_expressions,
              "Reports only findings in kernels that match this regular expression")
      ->type_name("EXPRESSION");
  add_several(check, "--kernel-name-exclude", o.other_kernels,
              "Leaves out findings in these kernels: kns=PART, kne=NAME or regex=EXPRESSION")
      ->type_name("NAME");
  add_several(check, "--kernel-regex-exclude", o.other_kernel_expressions,
              "Leaves out findings in kernels that match this regular expression")
      ->type_name("EXPRESSION");
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
  CLI::App* check = app.add_subcommand("check",
                                       "Run a CUDA program (or a .cu file) and report its bugs: memory, races, "
                                       "uninitialised values, barriers, leaks, API errors; exit code 1 if any");
  RunCommand& run = command.run;
  check
      ->add_option("--only", command.only,
                   "Runs only these groups of checks, separated by commas: memory, races, init, barriers, leaks, api")
      ->type_name("GROUPS")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_core(check, run.core);
  check->add_flag("--debug-on-fault", run.debug_on_fault,
                  "Opens the debugger's terminal at each finding and fault (docs/debugging.md)");
  check->add_option("--json", run.options.json_path, "Writes the findings as JSON to FILE")->type_name("FILE");
  add_required_kernels(check, run.reports);
  check->add_option("--sarif", run.reports.sarif_path, "Writes the findings as SARIF 2.1.0 to FILE")->type_name("FILE");
  check->add_option("--junit", run.reports.junit_path, "Writes the findings as JUnit XML to FILE")->type_name("FILE");
  check
      ->add_option("--report", run.reports.html_path,
                   "Writes one HTML page with the findings and their sources to FILE")
      ->type_name("FILE");
  check
      ->add_option("--error-exitcode", command.error_exitcode,
                   "Exit code if there are errors or warnings; 0: the program's own exit code")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  check
      ->add_option("--suppress,--suppressions", command.suppressions,
                   "Leaves out the findings that FILE describes; --gen-suppressions writes such a file")
      ->type_name("FILE");
  check
      ->add_option("--gen-suppressions", command.gen_suppressions,
                   "Writes to FILE suppressions of all findings, for --suppress")
      ->type_name("FILE");
  check->add_option("--print-level", command.print_level, "Lowest severity of the findings to print; fatal: none")
      ->check(CLI::IsMember(std::vector<std::string>(cli::kPrintLevels.begin(), cli::kPrintLevels.end())))
      ->capture_default_str();
  check->add_option("--print-limit", command.print_limit, "Largest number of findings to print")->capture_default_str();
  check
      ->add_option("--log-file", command.log_path,
                   "Prints findings to FILE instead of stderr; %p in the name stands for the process number")
      ->type_name("FILE");
  check->add_option("--gpu", run.options.gpu, "GPU model by name, or a model in a file FILE.json; see `warpgrind gpus`")
      ->type_name("MODEL")
      ->capture_default_str();
  check->add_option("--devices", run.options.devices, "Number of virtual GPUs (default: 1)")->check(CLI::Range(1, 64));
  add_execution(check, run.options.threads, run.options.timeout_seconds, run.options.cache_directory, run.no_cache);
  add_stall(check, run.options.stall_seconds);
  add_fill(check, run.options.fill);
  check->add_flag("--track-unused-memory", run.options.track_unused_memory,
                  "Also reports allocations that are never written, or only in part (with the group init)");
  add_schedule(check, run.options.schedule);
  check
      ->add_option(
          "--schedules", run.options.schedules,
          "Runs each launch whose threads can wait for each other in this many orders, each from the same memory")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  add_compilation(check, run);
  add_content(check, run);
  add_sanitizer(check, command);  // last, because it leaves out options that already exist
  check->footer(
      "  warpgrind check [OPTIONS] PROGRAM [ARGUMENTS...]\n"
      "  warpgrind check [OPTIONS] FILE.cu [SOURCE|OBJECT|ARCHIVE...] [-- ARGUMENTS...]");
  return check;
}

CLI::App* add_explain(CLI::App& app, ExplainCommand& command) {
  CLI::App* explain = app.add_subcommand(
      "explain", "Draw the requests of a memory access: its 32 lanes in sectors and lines, or in banks");
  explain->add_option("target", command.target, "Program, .cu file, or profile written with --detail --json")
      ->type_name("FILE")
      ->required();
  explain->add_option("arguments", command.arguments, "Arguments of the program, after --");
  explain
      ->add_option("--kernel", command.query.kernel,
                   "Name of the kernel, or a pattern with * and ?; not needed if there is only one kernel")
      ->type_name("NAME");
  explain->add_option("--line", command.query.line, "Line number of the access in the source");
  explain->add_option("--file", command.query.file, "Source file of the line, if several files have such a line")
      ->type_name("FILE");
  explain->add_option("--ptx-line", command.query.ptx_line, "Line number of the access in the PTX, instead of --line");
  explain
      ->add_option("--gpu", command.run.options.gpu,
                   "GPU model by name, or a model in a file FILE.json; see `warpgrind gpus`")
      ->type_name("MODEL")
      ->capture_default_str();
  add_execution(explain, command.run.options.threads, command.run.options.timeout_seconds,
                command.run.options.cache_directory, command.run.no_cache);
  add_compilation(explain, command.run);
  explain->footer("  warpgrind explain PROGRAM|PROFILE.json --kernel NAME --line N [-- ARGUMENTS...]");
  return explain;
}

CLI::App* add_compile_times(CLI::App& app, CompileTimesCommand& command) {
  CLI::App* times = app.add_subcommand(
      "compile-times", "Compile every kernel of programs, without running them, and print CPU time, memory and tier");
  times->add_option("files", command.files, "Executables, shared objects, fatbins or .ptx files")
      ->type_name("FILE")
      ->required();
  times->add_option("--kernel", command.kernel, "Compiles only kernels whose name contains NAME")->type_name("NAME");
  times
      ->add_option("--tier", command.tier,
                   "Tier of optimisation for every kernel (default: chosen by the kernel's size); new: the quick code "
                   "that a new kernel gets at its first launch")
      ->check(CLI::IsMember({"full", "lean", "quick", "new"}));
  times->add_flag("--summary", command.summary, "Prints one row per file, as a Markdown table");
  times
      ->add_option("--cpu", command.cpu,
                   "LLVM's name of the CPU to generate code for (default: this machine's CPU); x86-64-v3: AVX2 only")
      ->type_name("NAME");
  times->add_option("--dump-ir", command.dump_ir, "Writes the unoptimised LLVM IR of the last kernel to FILE")
      ->type_name("FILE");
  times->add_option("--dump-object", command.dump_object, "Writes the object code of the last kernel to FILE")
      ->type_name("FILE");
  return times;
}

CLI::App* add_show(CLI::App& app, ShowCommand& command) {
  CLI::App* show = app.add_subcommand("show", "Print a profile (--json) again, or check it against expectations");
  show->add_option("profile", command.profile, "Profile that --json wrote")->type_name("FILE")->required();
  add_reports(show, command.reports);
  show->add_flag("--launches", command.each_launch, "Shows each launch, if the profile contains them");
  show->add_flag("--quiet", command.quiet, "Prints only what the other options request");
  return show;
}

CLI::App* add_diff(CLI::App& app, DiffCommand& command) {
  CLI::App* diff = app.add_subcommand(
      "diff",
      "Show what changed from one profile (--json) to another, per kernel and line; exit code 1 if something is worse");
  diff->add_option("before", command.before, "Profile of the earlier run")->type_name("FILE")->required();
  diff->add_option("after", command.after, "Profile of the later run")->type_name("FILE")->required();
  diff->add_option("--fail-if", command.rules,
                   "Counts a change as worse: '[KERNELS:] METRIC > 5 %' (default: time > 5 %; any increase of "
                   "excessive sectors, bank conflicts, divergent branches, local memory; any decrease of lanes or "
                   "occupancy); may be repeated")
      ->type_name("RULE")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  diff->add_option("--pair", command.pairs, "Compares two kernels with different names; may be repeated")
      ->type_name("BEFORE=AFTER")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return diff;
}

CLI::App* add_lab(CLI::App& app, LabCommand& command) {
  CLI::App* lab = app.add_subcommand("lab", "Run the lab: kernels from naive to fast, verified, counted and timed");
  lab->add_option("topic", command.topics, "Topics to run, or `all`; without topics, the command lists them")
      ->type_name("NAME");
  lab->add_flag("--list", command.list, "Lists the rungs of the topics and what each rung shows");
  lab->add_option("--on", command.on,
                  "Runs the topics on the virtual GPU (virtual) or on the real GPU of this machine (gpu)")
      ->check(CLI::IsMember({"virtual", "gpu"}))
      ->capture_default_str();
  lab->add_option("--gpu", command.gpu, "GPU model by name, or a model in a file FILE.json; see `warpgrind gpus`")
      ->type_name("MODEL")
      ->capture_default_str();
  lab->add_flag("--full", command.full, "Runs the full problem sizes, not the quick ones");
  lab->add_option("--sizes", command.sizes,
                  "Problem sizes: 16,32 or 16:4096:x2 (factor 2) or 16:64:+16 (step 16) or 512x300")
      ->type_name("SIZES");
  lab->add_option("--type", command.type, "Element type, or several types separated by commas")->type_name("TYPE");
  lab->add_option("--rung", command.rungs,
                  "Runs only rungs whose name contains NAME (or matches it, with *); may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_execution(lab, command.threads, command.timeout_seconds, command.cache, command.no_cache);
  lab->add_option("--json", command.json_path, "Writes the results as JSON to FILE")->type_name("FILE");
  lab->add_option("--csv", command.csv_path, "Writes the results as CSV to FILE, one line per row")->type_name("FILE");
  lab->add_option("--report", command.report_path, "Writes the results as one HTML page to FILE")->type_name("FILE");
  lab->add_flag("--steps", command.steps,
                "Also records a block of each rung's kernels step by step, at a small size, for the page of --report");
  lab->add_option("--compare", command.compare_path,
                  "Shows measured times beside the predicted ones, from FILE, the JSON of a run with --on gpu "
                  "(default: stored results for that GPU)")
      ->type_name("FILE");
  CLI::Option* brief =
      lab->add_flag("--brief", command.brief,
                    "Shows each topic on one screen: the ladder of its largest problem (default for several topics)");
  lab->add_flag("--table", command.table,
                "Shows all rows of each topic, and why each rung is faster (default for one topic)")
      ->excludes(brief);
  lab->add_flag("--fresh", command.fresh, "Starts again instead of continuing an interrupted run of several topics");
  lab->add_flag("--no-large", command.no_large,
                "Leaves out the large size at which a ladder's lesson holds (estimated from some of its blocks)");
  lab->add_option("--sample-blocks", command.sample_blocks,
                  "Runs about N blocks of each launch, as `warpgrind run --sample-blocks N` does; for large --sizes")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{3}, std::uint64_t{1} << 40))
      ->excludes("--steps");
  lab->add_flag("--no-models", command.no_models,
                "Runs only on the model of --gpu, not on the other models that a topic compares");
  lab->add_option("--programs", command.programs, "Folder with the lab's programs")->type_name("FOLDER");
  lab->footer(
      "Any other option --NAME VALUE is passed to the topics that have it; `warpgrind lab TOPIC --list` lists these "
      "options.");
  return lab;
}

void add_class_reports(CLI::App* check, ExerciseCommand& command) {
  const auto file = [&](const char* name, std::string& path, const char* what, const char* type) {
    check->add_option(name, path, what)->type_name(type)->needs("--all");
  };
  file("--csv", command.csv_path, "Writes a row for each student and a column for each exercise to FILE", "FILE");
  file("--html", command.page_path, "Writes a page of the class to FILE: points, and common mistakes drawn", "FILE");
  file("--gradescope", command.gradescope_folder, "Writes FOLDER/STUDENT/results.json for Gradescope", "FOLDER");
  file("--classroom50", command.classroom50_folder, "Writes FOLDER/STUDENT/result.json for Classroom 50", "FOLDER");
  file("--student", command.student, "All answers are of this student; otherwise folders name students", "NAME");
  check
      ->add_option("--assigned", command.assigned,
                   "Exercises that each student should hand in, separated by commas: a missing one has 0 points")
      ->type_name("NAMES")
      ->delimiter(',')
      ->needs("--all");
}

CLI::App* add_exercise(CLI::App& app, ExerciseCommand& command) {
  using Action = ExerciseCommand::Action;
  CLI::App* exercise = app.add_subcommand("exercise", "List, start and judge the exercises of the course");
  exercise->require_subcommand(1);
  exercise->fallthrough();
  exercise->add_option("--exercises", command.folder, "Folder with the exercises (docs/exercise-format.md)")
      ->type_name("FOLDER");
  const auto action = [&](const char* name, const char* what, Action chosen) {
    CLI::App* one = exercise->add_subcommand(name, what);
    one->callback([&command, chosen] { command.action = chosen; });
    return one;
  };
  const auto judging = [&](CLI::App* one) {
    one->add_option("--gpu", command.gpu, "GPU model to use instead of the exercise's own; see `warpgrind gpus`")
        ->type_name("MODEL");
    one->add_option("--cache", command.cache,
                    "Folder for the results of the solutions' runs, which answers are compared with")
        ->type_name("FOLDER");
    one->add_flag("--no-cache", command.no_cache, "Runs the solutions again, without the folder of their results");
  };
  action("list", "List all exercises, in the order of the documents", Action::list);
  CLI::App* start = action("start", "Start an exercise: create a folder with its text and a skeleton", Action::start);
  start->add_option("name", command.name, "Name of the exercise")->type_name("NAME")->required();
  start->add_option("folder", command.target, "Folder to create (default: a folder with the exercise's name)")
      ->type_name("FOLDER");
  CLI::App* check = action("check", "Judge an answer; exit code 1 if it is not correct yet", Action::check);
  check
      ->add_option("file", command.target,
                   "Answer or its folder (default: this folder); with --all, the folder of a class")
      ->type_name("FILE");
  check->add_option("--exercise", command.name, "Exercise that the answer is for, if the file's name does not say it")
      ->type_name("NAME");
  check->add_flag("--all", command.all, "Judges every FOLDER/STUDENT/NAME.cu, each in a sandbox");
  check->add_flag("--no-sandbox", command.no_sandbox,
                  "Runs the answers of --all without a sandbox, with all your permissions");
  check->add_option("--json", command.json_path, "Writes the verdicts as JSON to FILE")->type_name("FILE");
  check->add_option("--junit", command.junit_path, "Writes the verdicts as JUnit XML to FILE")->type_name("FILE");
  add_class_reports(check, command);
  judging(check);
  const std::pair<const char*, Action> shown[] = {
      {"text", Action::text}, {"hint", Action::hint}, {"solution", Action::solution}};
  for (const auto& [name, chosen] : shown) {
    CLI::App* one = action(name,
                           chosen == Action::text   ? "Print the text of an exercise"
                           : chosen == Action::hint ? "Print the next hint, or the hint of --step"
                                                    : "Print the solution of an exercise",
                           chosen);
    one->add_option("name", command.name, "Name of the exercise (default: the exercise of this folder)")
        ->type_name("NAME");
    if (chosen == Action::hint)
      one->add_option("--step", command.step, "Number of the hint to print")->check(CLI::Range(1, 99));
  }
  CLI::App* test = action(
      "test",
      "Test an exercise, for its authors: the skeleton fails, the solution passes, each wrong answer gets its message",
      Action::test);
  test->add_option("name", command.name, "Name of the exercise")->type_name("NAME")->required();
  judging(test);
  return exercise;
}

CLI::App* add_correlate(CLI::App& app, CorrelateCommand& command) {
  CLI::App* correlate = app.add_subcommand(
      "correlate", "Compare Nsight Compute's counters of a program on a real GPU with ours: equal, different, and why");
  correlate
      ->add_option(
          "--ncu", command.ncu_path,
          "CSV that `ncu --csv --page raw` (or details) wrote for the same program; without this option, ncu runs here")
      ->type_name("FILE.csv");
  correlate->add_option("--keep", command.keep_path, "Keeps the CSV of the ncu that runs here in FILE.csv")
      ->type_name("FILE.csv");
  correlate->add_flag("--all", command.all, "Also lists values that are equal");
  correlate->add_option("--json", command.json_path, "Writes the comparison as JSON to FILE")->type_name("FILE");
  RunCommand& run = command.run;
  correlate
      ->add_option("--gpu", run.options.gpu, "GPU model by name, or a model in a file FILE.json; see `warpgrind gpus`")
      ->type_name("MODEL")
      ->capture_default_str();
  add_execution(correlate, run.options.threads, run.options.timeout_seconds, run.options.cache_directory, run.no_cache);
  correlate->footer("  warpgrind correlate [OPTIONS] PROGRAM [ARGUMENTS...]");
  return correlate;
}

CLI::App* add_calibrate(CLI::App& app, CalibrateCommand& command) {
  CLI::App* calibrate = app.add_subcommand(
      "calibrate", "Measure the constants of the time estimate for a GPU model, on the real GPU of this machine");
  calibrate
      ->add_option(
          "--output", command.output_path,
          "Writes a GPU model with the measured figures, for --gpu FILE.json; an existing file keeps its other figures")
      ->type_name("FILE.json");
  calibrate
      ->add_option("--model", command.model,
                   "GPU model that supplies the other figures (default: the model of the measured GPU)")
      ->type_name("MODEL");
  calibrate
      ->add_option("--from", command.from_path,
                   "Uses the results in FILE that `calibrate --json FILE` wrote on another machine")
      ->type_name("FILE");
  calibrate->add_option("--csv", command.csv_path, "Writes every single measurement as CSV to FILE")->type_name("FILE");
  calibrate->add_option("--programs", command.programs, "Folder with the program `calibrate`")->type_name("FOLDER");
  return calibrate;
}

CLI::App* add_serve(CLI::App& app, ServeCommand& command) {
  CLI::App* serve = app.add_subcommand(
      "serve", "Serve the playground: a web page with an editor. Its programs run on this machine, each in a sandbox");
  serve
      ->add_option("--listen", command.listen,
                   "Address to listen on: ADDRESS:PORT or PORT; port 0 selects any free port")
      ->capture_default_str();
  serve->add_flag("--public", command.is_public,
                  "Allows addresses that other machines can reach; read docs/playground.md first");
  serve
      ->add_option("--name", command.names,
                   "Host name by which users reach this server (behind a reverse proxy); may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  serve
      ->add_option(
          "--data", command.data,
          "Database file for programs, sessions and runs (default: playground.sqlite in the user's data folder)")
      ->type_name("FILE");
  serve
      ->add_option("--data-limit", command.data_mib,
                   "Limit of the database in MiB; the oldest results are deleted to keep it")
      ->check(CLI::Range(64, 1 << 20))
      ->capture_default_str();
  serve->add_option("--jobs", command.jobs, "Number of runs at the same time (default: 0, half of the cores)")
      ->check(CLI::Range(0, 1024));
  serve
      ->add_option(
          "--cpu-seconds", command.cpu_seconds,
          "Limit of CPU time per run in seconds, compilation included; elapsed time may be three times as long")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  serve
      ->add_option(
          "--connections", command.connections,
          "Number of connections that one address may have; 0: as many as there are (default: 64, and no limit "
          "for this machine itself, where a reverse proxy may be)")
      ->check(CLI::Range(0, 512));
  serve->add_option("--memory", command.memory_mib, "Limit of memory per run in MiB")
      ->check(CLI::Range(128, 1 << 20))
      ->capture_default_str();
  serve->add_flag("--no-sandbox", command.no_sandbox,
                  "Runs programs without a sandbox, with all your permissions; only on loopback addresses");
  serve->add_option("--broker", command.broker, "Redis server through which workers on other machines receive the runs")
      ->type_name("HOST:PORT");
  serve->add_option("--broker-password", command.broker_password, "File with the password of the Redis server")
      ->type_name("FILE");
  serve->add_flag("--worker", command.worker, "Executes runs of --broker, one at a time, and serves no page");
  serve
      ->add_option("--lost-after", command.lost_after,
                   "Number of seconds without a report after which a worker counts as lost")
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
//
// CLI11 2.1's prefix_command() does not do this: it accepts unknown options before the program without a message, and
// it refuses "--" there.
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
  open_missing_streams();
  CLI::App app{"warpgrind: a virtual NVIDIA GPU with a memory microscope"};
  app.set_version_flag("--version", std::string("warpgrind " WARPGRIND_VERSION));
  app.require_subcommand(1);
  cli::RunCommand command;
  command.options.cache_directory = session::default_cache_directory();
  const CLI::App* run = cli::add_run(app, command);
  cli::CheckCommand checked;
  checked.run.options.cache_directory = session::default_cache_directory();
  const CLI::App* check = cli::add_check(app, checked);
  std::string gpu;
  cli::ScanCommand scanned;
  const CLI::App* scan = cli::add_scan(app, scanned);
  cli::CompileTimesCommand timed;
  const CLI::App* compile_times = cli::add_compile_times(app, timed);
  CLI::App* gpus = app.add_subcommand(
      "gpus", "Show the GPU models: their figures, the theoretical bandwidth and how it is computed");
  gpus->add_option("name", gpu, "GPU model to show (default: all models)")->type_name("NAME");
  cli::ShowCommand shown;
  const CLI::App* show = cli::add_show(app, shown);
  cli::DiffCommand difference;
  const CLI::App* diff = cli::add_diff(app, difference);
  cli::LabCommand laboratory;
  const CLI::App* lab = cli::add_lab(app, laboratory);
  cli::ServeCommand served;
  const CLI::App* serve = cli::add_serve(app, served);
  cli::McpCommand agents;
  const CLI::App* mcp = cli::add_mcp(app, agents);
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
  cli::DebugCommand debugged;
  debugged.run.options.cache_directory = session::default_cache_directory();
  const CLI::App* debug = cli::add_debug(app, debugged);
  cli::DapCommand adapter;
  adapter.run.options.cache_directory = session::default_cache_directory();
  const CLI::App* dap = cli::add_dap(app, adapter);
  cli::PrepareCommand prepared;
  const CLI::App* prepare = cli::add_prepare(app, prepared);
  // nvcc parses its whole command line itself.
  app.add_subcommand("nvcc", "Compile CUDA with clang-19 and nvcc's options; see `warpgrind nvcc --help`");
  app.add_subcommand("ptxas", "Check PTX and pack it, for programs that call ptxas; see `warpgrind ptxas --help`");
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
    print_text(stdout, cli::command_line_json(app));
    return 0;
  }
  if (!arguments.empty() && arguments[0] == run_variables::kToolOfRun)
    return cli::end(cli::tool_of_run({arguments.begin() + 1, arguments.end()}));
  if (arguments.size() == 2 && arguments[0] == run_variables::kPlayCore)
    return cli::end(cli::play_core(arguments[1], argv));
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
  if (!arguments.empty() && arguments[0] == "debug") {
    cli::double_dashes(*debug, arguments);
    debugged.run.program = cli::cut_program(*debug, arguments);
    debugged.run.sources = cli::cut_sources(debugged.run.program, misplaced);
  }
  if (!misplaced.empty()) {
    cli::complain(misplaced + " would be an argument of the program: put compiler options before the .cu file",
                  "--nvcc-flags '" + misplaced + "' FILE.cu; as an argument of the program: FILE.cu -- " + misplaced);
    return cli::kUsageError;
  }
  if (!arguments.empty() && arguments[0] == "correlate")
    correlation.run.program = cli::cut_program(*correlate, arguments);
  if (!arguments.empty() && arguments[0] == "lab") laboratory.topic_options = cli::cut_topic_options(*lab, arguments);
  if (cli::refuse_unknown_command(app, arguments)) return cli::kUsageError;
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : cli::kUsageError;
  }
  if (*check) return cli::end(cli::check(checked));
  if (*scan) return cli::scan(scanned);
  if (*prepare) return cli::prepare(prepared);
  if (*compile_times) return cli::compile_times(timed);
  if (*gpus) return cli::gpus(gpu);
  if (*explain) return cli::end(cli::explain(explanation));
  if (*show) return cli::show(shown);
  if (*diff) return cli::diff(difference);
  if (*lab) return cli::lab(laboratory);
  if (*exercise) return cli::exercise(exercises);
  if (*correlate) return cli::end(cli::correlate(correlation));
  if (*serve) return cli::serve(served);
  if (*mcp) return cli::mcp(agents);
  if (*calibrate) return cli::calibrate(calibration);
  if (*debug) return cli::end(cli::debug(debugged));
  if (*dap) return cli::end(cli::dap(adapter));
  return cli::end(cli::run(command));
}
