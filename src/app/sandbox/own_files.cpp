// Files of warpgrind that a job needs.
#include "sandbox/own_files.h"

#include "base/installation.h"

namespace warpgrind::sandbox {

namespace fs = std::filesystem;

std::vector<fs::path> own_files() {
  const fs::path executable = own_executable();
  const fs::path toolkit = toolkit_folder();
  std::vector<fs::path> out = {executable, executable.parent_path().parent_path() / "lib", toolkit};
  std::error_code ignored;
  // In a build these are links into the sources.
  for (const fs::path& folder : {toolkit / "include", fs::path(exercises_folder())}) {
    const fs::path real = fs::canonical(folder, ignored);
    if (!real.empty()) out.push_back(real);
  }
  std::erase_if(out, [](const fs::path& path) { return path.string().starts_with("/usr/"); });
  return out;
}

}  // namespace warpgrind::sandbox
