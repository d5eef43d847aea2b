// Command of a tool call in its sandbox.
#include "mcp/boxed_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "base/words.h"
#include "sandbox/own_files.h"

namespace warpgrind::mcp {

namespace {

namespace fs = std::filesystem;

constexpr const char* kInput = "standard-input";

// `sh` opens the input and changes the folder; nothing of the command's words is a shell's text.
std::vector<std::string> whole_command(const BoxedCommand& command, const std::string& work,
                                       const std::string& folder) {
  std::vector<std::string> out = {"/bin/sh",
                                  "-c",
                                  "cd \"$1\" && input=$2 && shift 2 && exec \"$@\" <\"$input\"",
                                  "sh",
                                  command.in_folder ? folder : work,
                                  work + "/" + kInput};
  for (const std::string& word : command.words)
    out.push_back(word.starts_with(kWork) ? work + "/" + word.substr(std::string_view(kWork).size()) : word);
  return out;
}

Error no_box(const std::string& why) {
  return {ErrorKind::environment, "nothing was run: programs cannot be put into a sandbox on this machine: " + why,
          "the user of this machine can mend that, or start the server as `warpgrind mcp --no-sandbox`: programs then "
          "run with all permissions of that user"};
}

}  // namespace

std::string without_folders(std::string text, const Settings& settings) {
  replace_all(text, std::string(sandbox::kWorkFolder) + "/", "");
  if (!settings.folder.empty()) replace_all(text, settings.folder + "/", "");
  return text;
}

Result<BoxedEnd> run_boxed(const BoxedCommand& command, const CallContext& context) {
  const Settings& settings = context.settings;
  if (settings.boxed && !sandbox::why_none().empty()) return no_box(sandbox::why_none());
  const TemporaryFolder temporary;
  if (!temporary.problem.empty()) return Error{ErrorKind::environment, "nothing was run: " + temporary.problem, ""};
  // Not the temporary folder itself: it holds a lock.
  const fs::path work = fs::path(temporary.path) / "work";
  std::error_code problem;
  fs::create_directory(work, problem);
  for (const auto& [name, content] : command.files)
    if (Status s = write_whole((work / name).string(), content); !s) return s.error();
  if (Status s = write_whole((work / kInput).string(), command.input); !s) return s.error();
  sandbox::Job job;
  job.command = whole_command(command, settings.boxed ? sandbox::kWorkFolder : work.string(), settings.folder);
  job.work = work;
  job.taken = command.taken;
  job.readable = sandbox::own_files();
  if (!settings.folder.empty()) job.readable.emplace_back(settings.folder);
  job.limits = settings.limits;
  job.limits.file_bytes = kLargestLeft;
  auto end = settings.boxed ? sandbox::run(job, context.stop) : sandbox::run_without_box(job, context.stop);
  if (!end) return Error{ErrorKind::environment, "nothing was run: " + end.error().message, end.error().detail};
  BoxedEnd out;
  out.text = sandbox::text_of(*end, settings.limits);
  out.output = std::move(end->output);
  replace_all(out.output, work.string() + "/", "");
  out.output = without_folders(std::move(out.output), settings);
  for (const std::string& name : command.taken) {
    const fs::path path = work / name;
    if (fs::symlink_status(path, problem).type() != fs::file_type::regular ||
        fs::file_size(path, problem) > kLargestLeft)
      continue;
    std::string text = read_whole(path.string()).value_or("");
    if (!settings.boxed) replace_all(text, work.string() + "/", "");
    out.files.emplace(name, without_folders(std::move(text), settings));
  }
  out.end = std::move(*end);
  return out;
}

}  // namespace warpgrind::mcp
