// Files of the server's folder.
#include "mcp/folder_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"

namespace warpgrind::mcp {

namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& folder, const fs::path& path) {
  auto at = path.begin();
  for (const fs::path& part : folder)
    if (at == path.end() || *at++ != part) return false;
  return at != path.end();
}

// The sandbox makes these anew for each program.
bool is_taken(const fs::path& folder) {
  return folder == "/" || folder == "/tmp" || folder == "/proc" || folder == "/dev" ||
         folder.string().starts_with(sandbox::kWorkFolder);
}

// A box that root makes belongs to another user.
bool is_closed(const fs::path& folder, bool boxed) {
  constexpr fs::perms kNeeded = fs::perms::others_read | fs::perms::others_exec;
  std::error_code problem;
  return boxed && geteuid() == 0 && (fs::status(folder, problem).permissions() & kNeeded) != kNeeded;
}

constexpr const char* kClosed = "root's sandbox runs programs as another user, which may not read it (chmod o+rx)";

}  // namespace

Result<std::string> file_in_folder(const Settings& settings, const std::string& path) {
  if (settings.folder.empty())
    return Error{ErrorKind::bad_input, "this server reads no files: " + settings.no_folder,
                 "send the program as `source`, or start the server as `warpgrind mcp --folder DIR`"};
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorKind::bad_input, fmt::format("{}: {}", path.substr(0, 200), why),
                 "paths are those of regular files inside " + settings.folder};
  };
  if (path.empty() || path.find('\0') != std::string::npos) return refuse("no path");
  std::error_code problem;
  const fs::path real = fs::canonical(fs::path(settings.folder) / path, problem);
  // Outside, no answer depends on which files there are.
  const fs::path plain = (fs::path(settings.folder) / path).lexically_normal();
  if (!is_inside(settings.folder, problem ? plain : real)) return refuse("it is not inside the folder of this server");
  if (problem) return refuse(problem.message());
  if (fs::status(real, problem).type() != fs::file_type::regular) return refuse("it is not a regular file");
  return real.string();
}

Result<std::string> text_in_folder(const Settings& settings, const std::string& path) {
  const auto real = file_in_folder(settings, path);
  if (!real) return real.error();
  auto text = read_whole(*real, kLargestSource);
  if (!text)
    return Error{ErrorKind::bad_input,
                 fmt::format("{} cannot be read, or has more than {} KiB", path.substr(0, 200), kLargestSource >> 10),
                 ""};
  return std::move(*text);
}

Status choose_folder(const std::string& name, const std::string& home, Settings& settings) {
  std::error_code problem;
  const fs::path folder = fs::canonical(name.empty() ? "." : name, problem);
  if (name.empty()) {
    if (problem)
      settings.no_folder = "the current folder does not exist";
    else if (is_taken(folder) || folder == fs::weakly_canonical(home, problem))
      settings.no_folder = fmt::format("it was started in {} without --folder", folder.string());
    else if (is_closed(folder, settings.boxed))
      settings.no_folder = fmt::format("it was started in {}: {}", folder.string(), kClosed);
    else
      settings.folder = folder.string();
    return Ok{};
  }
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorKind::bad_input, fmt::format("--folder {}: {}", name, why), "name the folder of a project"};
  };
  if (problem) return refuse(problem.message());
  if (!fs::is_directory(folder, problem)) return refuse("it is not a folder");
  if (is_taken(folder)) return refuse("the sandbox has a folder of its own there");
  if (is_closed(folder, settings.boxed)) return refuse(kClosed);
  settings.folder = folder.string();
  return Ok{};
}

}  // namespace warpgrind::mcp
