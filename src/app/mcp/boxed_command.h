// Command of a tool call in its sandbox: the files that it gets, and what it leaves.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "mcp/tool.h"

namespace warpgrind::mcp {

struct BoxedCommand {
  std::vector<std::string> words;                          // WORK/NAME stands for a file in the work folder
  std::vector<std::pair<std::string, std::string>> files;  // names and contents, in the work folder
  std::vector<std::string> taken;                          // names of files to read when the command has ended
  std::string input;                                       // standard input
  bool in_folder = false;  // starts in the server's folder, which it can read; else in the work folder
};

struct BoxedEnd {
  sandbox::End end;
  std::string text;                          // "exit code 0"
  std::string output;                        // without the paths of folders
  std::map<std::string, std::string> files;  // of `taken`, those that there are
  bool stopped() const { return end.how != sandbox::Ending::exited && end.how != sandbox::Ending::signalled; }
};

// In words of BoxedCommand: the work folder.
inline constexpr const char* kWork = "WORK/";
inline constexpr std::size_t kLargestLeft = 48 << 20;  // bytes of one file that is read

Result<BoxedEnd> run_boxed(const BoxedCommand& command, const CallContext& context);
// The text without the names of the work folder and the server's folder.
std::string without_folders(std::string text, const Settings& settings);

}  // namespace warpgrind::mcp
