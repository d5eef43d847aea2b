#include "base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace warpgrind {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  const char* chosen = std::getenv("TMPDIR");
  const std::string parent = chosen && *chosen ? chosen : "/tmp";
  std::string pattern = parent + "/warpgrind-XXXXXX";
  if (mkdtemp(pattern.data()))
    path = pattern;
  else
    problem = "cannot make a temporary folder in " + parent + ": " + std::strerror(errno);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path.empty()) fs::remove_all(path, ignored);
}

}  // namespace warpgrind
