// Trial of an answer: its files, its compilation and its runs.
#include "exercises/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "base/digest.h"
#include "base/file.h"
#include "base/installation.h"
#include "base/words.h"
#include "exercises/rules.h"
#include "gpu/gpu_model.h"
#include "results/json.h"

namespace warpgrind::exercises {

namespace {

namespace fs = std::filesystem;

constexpr const char* kProfile = "judge.json";
constexpr const char* kResults = "judge.results";
constexpr const char* kAnswer = "answer.cu";
constexpr const char* kObject = "answer.o";
constexpr const char* kIncluded = "answer.d";  // the files that it includes, as a rule of make

// Headers that answers may rely on: they never had to include them.
constexpr const char* kBegin =
    "#include <cuda_runtime.h>\n#include <cmath>\n#include <cstdio>\n#include <cstring>\n#include <algorithm>\n"
    "#include <vector>\n";

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

// False for links: an answer's program could leave one.
bool is_file(const std::string& path) {
  std::error_code none;
  return fs::symlink_status(path, none).type() == fs::file_type::regular;
}

unsigned seed_of(const std::string& text) {
  constexpr std::size_t kDigits = 8;
  const std::string hash = digest(text);
  unsigned out = 0;
  std::from_chars(hash.data(), hash.data() + std::min(kDigits, hash.size()), out, 16);
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

Result<ChildEnd> compile(const Exercise& exercise, const JudgeSettings& settings, const CompileJob& job) {
  auto model = find_gpu_model(settings.gpu.empty() ? exercise.gpu : settings.gpu);
  if (!model) return model.error();
  ChildJob child;
  child.command = {settings.warpgrind,
                   "nvcc",
                   "-std=c++17",
                   "-O3",
                   "-Xcompiler",
                   "-O0",
                   "-g",
                   "-lineinfo",
                   fmt::format("-arch=sm_{}{}", (*model)->cc_major, (*model)->cc_minor)};
  child.command.insert(child.command.end(), job.words.begin(), job.words.end());
  child.work = job.folder;
  child.readable = own_folders(settings.warpgrind);
  // The exercise's limit is for the answer's run. A busy machine may compile for longer.
  constexpr double kCompileSeconds = 60;
  child.seconds = std::max(exercise.seconds, kCompileSeconds);
  child.boxed = job.boxed;
  auto end = run_child(child);
  // Exit code of `warpgrind nvcc` (toolchain/driver.h). No answer can cause it.
  constexpr int kNotPossible = 2;
  if (end && end->stopped.empty() && end->exit_code == kNotPossible)
    return Error{ErrorKind::environment, "nothing can be compiled on this machine, so nothing is judged", end->output};
  // An error of our own driver, before it starts a compiler.
  if (end && end->exit_code != 0 && end->output.find("warpgrind nvcc: ") != std::string::npos &&
      end->output.find("error:") == std::string::npos)
    return Error{ErrorKind::environment, "it cannot be compiled on this machine", end->output};
  return end;
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
  for (const std::string& file : {exercise_.hand_in(), std::string("prototypes.h")})
    replace_all(out, "./" + file, file);
  return out;
}

Status Trial::prepare(const std::string& answer, const TestParts& test) {
  if (folder_.path.empty()) return Error{ErrorKind::environment, folder_.problem, "set TMPDIR to another folder"};
  std::error_code problem;
  fs::create_directory(work(), problem);
  if (problem) return Error{ErrorKind::environment, fmt::format("cannot make {}: {}", work(), problem.message()), ""};
  const auto source = read_whole(answer);
  if (!source) return Error{ErrorKind::bad_input, fmt::format("cannot read {}", answer), ""};
  source_ = *source;
  seed_ = seed_of(exercise_.name + "\n" + source_);
  test_ = test;
  // The prototypes come last: they find a function with another result type, and no macro of the answer reaches the
  // test.
  const std::pair<std::string, std::string> files[] = {
      {exercise_.hand_in(), source_},
      {"prototypes.h", test.prototypes},
      {kAnswer, fmt::format("{}#include \"{}\"\n#include \"prototypes.h\"\n", kBegin, exercise_.hand_in())}};
  for (const auto& [name, text] : files)
    if (Status s = write_whole(work() + "/" + name, text); !s) return s;
  return Ok{};
}

Result<ChildEnd> Trial::compile_answer() {
  return compile(exercise_, settings_,
                 {work(), {"-c", kAnswer, "-o", kObject, "-MD", "-MF", kIncluded}, settings_.boxed});
}

std::optional<Breach> Trial::find_breach() const {
  std::error_code none;
  const std::string exercises = fs::weakly_canonical(fs::path(settings_.include).parent_path(), none).string() + "/";
  std::stringstream words(read_whole(work() + "/" + kIncluded).value_or(""));
  for (std::string word; words >> word;)
    if (word.starts_with("/") && fs::weakly_canonical(word, none).string().starts_with(exercises))
      return Breach{fmt::format("it includes {} of the exercises", fs::path(word).filename().string()),
                    "An answer must not read solutions or tests."};
  const auto answer = read_whole(work() + "/" + kObject), test = read_whole(test_.object);
  if (!answer || !test) return Breach{"the compiler left no object file", ""};
  return exercises::find_breach(*answer, *test, without_comments(source_));
}

Result<ChildEnd> Trial::link() {
  std::error_code problem;
  const std::string copy = work() + "/test.o";
  fs::copy_file(test_.object, copy, fs::copy_options::overwrite_existing, problem);
  if (problem)
    return Error{ErrorKind::environment, fmt::format("cannot copy {}: {}", test_.object, problem.message()), ""};
  auto out = compile(exercise_, settings_, {work(), {"test.o", kObject, "-o", "judged"}, settings_.boxed});
  for (const char* name : {"test.o", kObject, kIncluded}) fs::remove(fs::path(work()) / name, problem);
  return out;
}

Result<Run> Trial::run(std::vector<std::string> options, const std::string& argument, const std::string& name,
                       double most_seconds) {
  std::error_code none;
  for (const char* file : {kProfile, kResults}) fs::remove(fs::path(work()) / file, none);
  options.insert(options.end(), {"--gpu", settings_.gpu.empty() ? exercise_.gpu : settings_.gpu, "--devices",
                                 std::to_string(exercise_.devices), "--json", kProfile});
  if (settings_.boxed) options.emplace_back("--no-cache");
  // The run's own limit ends first: its message names the kernels that were still running.
  options.insert(options.end(),
                 {"--timeout", fmt::format("{}", most_seconds * 0.9), "./judged", argument, std::to_string(seed_)});
  auto end = run_child(job(std::move(options)));
  if (!end) return end.error();
  Run out;
  out.end = end.take();
  out.end.output = without_folder(out.end.output);
  out.records = fmt::format("{}/{}.{}", folder_.path, name, kResults);
  fs::remove(out.records, none);
  if (is_file(work() + "/" + kResults)) fs::rename(work() + "/" + kResults, out.records, none);
  const std::string path = work() + "/" + kProfile;
  if (!is_file(path)) return out;
  auto profile = results::from_json(without_folder(read_whole(path).value_or("")), kProfile);
  if (profile) out.profiles.push_back(profile.take());
  return out;
}

Result<Run> Trial::run_checked() {
  return run({"check", "--error-exitcode", "0", "--print-level", "fatal"}, "checked", "checked", exercise_.seconds);
}

Result<Run> Trial::run_sizes() {
  return run({"run", "--quiet", "--no-counters"}, "checked", "sizes", exercise_.seconds);
}

Result<Run> Trial::run_without_kernels() {
  constexpr double kMostSeconds = 10;  // a host that waits for a kernel's flag waits in vain
  return run({"run", "--quiet", "--no-counters", "--no-kernels"}, "checked", "without",
             std::min(kMostSeconds, exercise_.seconds));
}

Result<Run> Trial::run_counted() {
  return run({"run", "--quiet", "--detail"}, "counted", "counted", exercise_.seconds);
}

}  // namespace warpgrind::exercises
