// Files of the status directory: one note per process that uses CUDA.
#include "session/processes.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"

namespace warpgrind::session {

namespace {

std::string note_path(const std::string& folder, unsigned number) {
  return fmt::format("{}/process.{}", folder, number);
}

}  // namespace

std::string labelled(const std::string& path, const std::string& label) {
  if (path.empty() || path == "-") return path;
  const std::filesystem::path name(path);
  return (name.parent_path() / (name.stem().string() + "." + label + name.extension().string())).string();
}

std::string of_process(const std::string& path, unsigned number) {
  return number <= 1 ? path : labelled(path, fmt::format("process{}", number));
}

unsigned claim_process_number(const std::string& folder) {
  if (folder.empty()) return 1;
  for (unsigned number = 1;; ++number) {
    const int fd = ::open(note_path(folder, number).c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return static_cast<unsigned>(::getpid());  // the run has ended, and the directory is gone
    ::close(fd);
    ProcessNote begun;
    begun.number = number;
    leave_note(folder, begun);
    return number;
  }
}

bool any_process(const std::string& folder) {
  return !folder.empty() && ::access(note_path(folder, 1).c_str(), F_OK) == 0;
}

void leave_note(const std::string& folder, const ProcessNote& note) {
  if (folder.empty()) return;
  const nlohmann::json j = {{"pid", ::getpid()}, {"ended", note.ended}, {"command", note.command},
                            {"json", note.json}, {"csv", note.csv},     {"no_kernel", note.no_kernel}};
  const std::string text = j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  (void)write_whole(note_path(folder, note.number), text);  // the note is optional
}

std::vector<ProcessNote> process_notes(const std::string& folder) {
  std::vector<ProcessNote> out;
  for (unsigned number = 1; !folder.empty(); ++number) {
    const std::optional<std::string> text = read_whole(note_path(folder, number));
    if (!text) break;
    ProcessNote note;
    note.number = number;
    const nlohmann::json j = nlohmann::json::parse(*text, nullptr, false);
    if (j.is_object()) {
      json::read(j, "pid", note.pid);
      json::read(j, "ended", note.ended);
      json::read(j, "command", note.command);
      json::read(j, "json", note.json);
      json::read(j, "csv", note.csv);
      json::read(j, "no_kernel", note.no_kernel);
    }
    out.push_back(std::move(note));
  }
  return out;
}

}  // namespace warpgrind::session
