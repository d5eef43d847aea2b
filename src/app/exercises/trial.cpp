// Trial of a hand-in: its files, its compilation and its runs.
#include "exercises/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "base/installation.h"
#include "gpu/gpu_model.h"
#include "results/json.h"

namespace warpgrind::exercises {

namespace {

namespace fs = std::filesystem;

constexpr const char* kProfile = "judge.json";
constexpr const char* kResults = "judge.results";

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// Reads lines of the form NAME <tab> right|wrong <tab> SEEN, and the last line "end".
void read_cases(const std::string& path, Ran& out) {
  std::stringstream lines(read_whole(path).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line == "end") out.finished = true;
    const std::size_t first = line.find('\t');
    const std::size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
    if (second == std::string::npos) continue;
    out.cases.push_back(
        {line.substr(0, first), line.substr(second + 1), line.compare(first + 1, second - first - 1, "right") == 0});
  }
}

// Folders of the build or the installation, as far as they exist. In a build the headers are a link to the sources.
std::vector<std::string> own_folders(const std::string& executable) {
  const fs::path root = fs::path(executable).parent_path().parent_path();
  std::vector<std::string> out;
  for (const char* part : {"bin", "lib", "toolkit"}) out.push_back((root / part).string());
  std::error_code none;
  const fs::path headers = fs::canonical(fs::path(toolkit_folder()) / "include", none);
  if (!none) out.push_back(headers.string());
  return out;
}

}  // namespace

std::vector<std::string> test_headers(const std::string& include) {
  std::vector<std::string> out{include + "/judge.h"};
  std::error_code problem;
  for (fs::directory_iterator at(include, problem), end; !problem && at != end; at.increment(problem))
    if (at->path().extension() == ".h" && at->path().filename() != "judge.h") out.push_back(at->path().string());
  std::sort(out.begin() + 1, out.end());
  return out;
}

// Not the temporary folder itself: it holds a lock, which a box would copy back as another file.
std::string Trial::work() const {
  return folder_.path + "/work";
}

ChildJob Trial::job(std::vector<std::string> command) const {
  ChildJob out;
  out.command = std::move(command);
  out.command.insert(out.command.begin(), settings_.warpgrind);
  out.work = work();
  out.readable = own_folders(settings_.warpgrind);
  out.seconds = exercise_.seconds;
  out.boxed = settings_.boxed;
  return out;
}

std::string Trial::without_folder(const std::string& text) const {
  std::string out = text;
  replace_all(out, folder_inside(job({})) + "/", "");
  std::vector<std::string> files{exercise_.hand_in(), "driver.cu"};
  for (const std::string& header : test_headers(settings_.include)) files.push_back(fs::path(header).filename());
  for (const std::string& file : files) replace_all(out, "./" + file, file);
  return out;
}

Status Trial::prepare(const std::string& hand_in) {
  if (folder_.path.empty()) return Error{ErrorKind::environment, folder_.problem, "set TMPDIR to another folder"};
  std::error_code problem;
  fs::create_directory(work(), problem);
  if (problem) return Error{ErrorKind::environment, fmt::format("cannot make {}: {}", work(), problem.message()), ""};
  const auto source = read_whole(hand_in);
  if (!source) return Error{ErrorKind::bad_input, fmt::format("cannot read {}", hand_in), ""};
  std::vector<std::pair<std::string, std::string>> files{{exercise_.hand_in(), *source}};
  std::vector<std::string> own = test_headers(settings_.include);
  own.push_back(exercise_.file("driver.cu"));
  for (const std::string& path : own) {
    const auto text = read_whole(path);
    if (!text)
      return Error{ErrorKind::environment, fmt::format("cannot read {}", path), "build or install warpgrind again"};
    files.emplace_back(fs::path(path).filename().string(), *text);
  }
  files.emplace_back(
      "judged.cu", fmt::format("#include \"judge.h\"\n#include \"{}\"\n#include \"driver.cu\"\n", exercise_.hand_in()));
  for (const auto& [name, text] : files)
    if (Status s = write_whole(work() + "/" + name, text); !s) return s;
  return Ok{};
}

Result<ChildEnd> Trial::compile() {
  auto model = find_gpu_model(settings_.gpu.empty() ? exercise_.gpu : settings_.gpu);
  if (!model) return model.error();
  auto end = run_child(
      job({"nvcc", "-std=c++17", "-O3", "-Xcompiler", "-O0", "-g", "-lineinfo",
           fmt::format("-arch=sm_{}{}", (*model)->cc_major, (*model)->cc_minor), "judged.cu", "-o", "judged"}));
  // Exit code of `warpgrind nvcc` (toolchain/driver.h). No hand-in can cause it.
  constexpr int kNotPossible = 2;
  if (end && end->stopped.empty() && end->exit_code == kNotPossible)
    return Error{ErrorKind::environment, "nothing can be compiled on this machine, so nothing is judged", end->output};
  // An error of our own driver, before it starts a compiler.
  if (end && end->exit_code != 0 && end->output.find("warpgrind nvcc: ") != std::string::npos &&
      end->output.find("error:") == std::string::npos)
    return Error{ErrorKind::environment, "it cannot be compiled on this machine", end->output};
  return end;
}

Result<Ran> Trial::run(std::vector<std::string> options, const std::string& argument) {
  std::error_code none;
  for (const char* name : {kProfile, kResults}) fs::remove(fs::path(work()) / name, none);
  options.insert(options.end(), {"--gpu", settings_.gpu.empty() ? exercise_.gpu : settings_.gpu, "--devices",
                                 std::to_string(exercise_.devices), "--json", kProfile});
  if (settings_.boxed) options.emplace_back("--no-cache");
  // The run's own limit ends first: its message names the kernels that were still running.
  options.insert(options.end(), {"--timeout", fmt::format("{}", exercise_.seconds * 0.9), "./judged", argument});
  auto end = run_child(job(std::move(options)));
  if (!end) return end.error();
  Ran out;
  out.end = end.take();
  out.end.output = without_folder(out.end.output);
  read_cases(work() + "/" + kResults, out);
  const std::string path = work() + "/" + kProfile;
  if (!fs::exists(path, none)) return out;
  auto profile = results::from_json(without_folder(read_whole(path).value_or("")), kProfile);
  if (profile) out.profiles.push_back(profile.take());
  return out;
}

Result<Ran> Trial::run_checked() {
  return run({"check", "--error-exitcode", "0", "--print-level", "fatal"}, "checked");
}

Result<Ran> Trial::run_counted() {
  return run({"run", "--quiet", "--detail"}, "counted");
}

}  // namespace warpgrind::exercises
