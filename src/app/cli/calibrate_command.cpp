// Subcommand `warpgrind calibrate`: makes the `timing` part of a GPU model from microbenchmarks on this machine's real
// GPU, or from their results on another machine.
#include <fmt/format.h>

#include <ctime>
#include <filesystem>

#include "base/file.h"
#include "base/installation.h"
#include "base/process.h"
#include "base/temporary_folder.h"
#include "cli/commands.h"
#include "gpu/calibration.h"
#include "gpu/gpu_model.h"
#include "lab/run.h"

namespace warpgrind::cli {

namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

// Runs the program natively and reads its results.
Result<Calibration> measure(const CalibrateCommand& command) {
  const std::string folder = command.programs.empty() ? lab_folder() : command.programs;
  const std::string program = folder + "/calibrate";
  std::error_code ignored;
  if (!std::filesystem::exists(program, ignored))
    return Error{ErrorKind::environment, fmt::format("the program {} is missing", program),
                 "build warpgrind on a machine with nvcc, or name the folder with --programs"};
  if (lab::finds_our_runtime(program))
    return Error{
        ErrorKind::environment,
        fmt::format("{} is linked with warpgrind's own CUDA runtime, so it cannot measure a real GPU", program),
        "build the lab with nvcc"};
  const TemporaryFolder temporary;
  if (temporary.path.empty()) return Error{ErrorKind::environment, temporary.problem, ""};
  const std::string json = temporary.path + "/calibration.json";
  std::vector<std::string> line = {program, "--json", json};
  if (!command.csv_path.empty()) line.insert(line.end(), {"--csv", command.csv_path});
  const auto run = run_captured({.words = line, .death_signal = SIGTERM});
  if (!run) return run.error();
  if (!run->end.good())
    return Error{ErrorKind::environment, fmt::format("{}: exit code {}", program, run->end.shell_code()), run->errors};
  return read_calibration(read_whole(json).value_or(""), json);
}

// The model file to be written, and its text so far.
struct Target {
  std::string file, text;
};
Result<Target> target(const CalibrateCommand& command, const Calibration& calibration) {
  std::error_code ignored;
  if (!command.output_path.empty() && std::filesystem::exists(command.output_path, ignored)) {
    auto text = read_whole(command.output_path);
    if (!text) return Error{ErrorKind::bad_input, fmt::format("cannot read {}", command.output_path), ""};
    return Target{command.output_path, std::move(*text)};
  }
  auto model = find_gpu_model(command.model.empty() ? calibration.gpu : command.model);
  if (!model)
    return Error{ErrorKind::bad_input, fmt::format("no GPU model for the {}", calibration.gpu),
                 "choose a model for the other figures with --model NAME, and correct the figures that differ"};
  return Target{(*model)->id, std::string(gpu_model_text((*model)->id))};
}

void print_figures(const Calibration& calibration, const GpuModel* before) {
  for (const TimingFigure& f : timing_figures()) {
    const Calibration::Figure* found = nullptr;
    for (const Calibration::Figure& c : calibration.figures)
      if (c.figure == &f) found = &c;
    const std::string old = before ? fmt::format("{:g}", before->timing.*f.value) : std::string();
    if (found)
      fmt::print("{:<34} {:>10.4g} {:<11} before: {}\n", f.name, found->value, f.unit, old);
    else
      fmt::print("{:<34} {:>10} {:<11} before: {}\n", f.name, "-", f.unit, old);
  }
}

}  // namespace

int calibrate(const CalibrateCommand& command) {
  Result<Calibration> calibration = Error{ErrorKind::bad_input, "", ""};
  if (command.from_path.empty()) {
    calibration = measure(command);
  } else {
    const auto text = read_whole(command.from_path);
    if (!text)
      return complain(Error{ErrorKind::bad_input, fmt::format("cannot read {}", command.from_path), ""}), kUsageError;
    calibration = read_calibration(*text, command.from_path);
  }
  if (!calibration) return complain(calibration.error()), kUsageError;
  if (!calibration->measured)
    return complain("nothing was measured: the program ran on the virtual GPU", "run it on a machine with a real GPU"),
           kUsageError;
  const auto into = target(command, *calibration);
  if (!into) return complain(into.error()), kUsageError;
  const auto model = find_gpu_model(into->file);
  print_figures(*calibration, model ? *model : nullptr);
  const auto text = with_calibration(into->text, into->file, *calibration, today());
  if (!text) return complain(text.error()), kUsageError;
  if (command.output_path.empty()) {
    fmt::print("--output FILE.json writes a GPU model with these figures, for --gpu FILE.json\n");
    return 0;
  }
  if (const Status written = write_whole(command.output_path, *text); !written)
    return complain(written.error()), kUsageError;
  fmt::print("{}: {} of {} figures of {} measured\n", command.output_path, calibration->figures.size(),
             timing_figures().size(), calibration->gpu);
  return 0;
}

}  // namespace warpgrind::cli
