#include "base/file.h"

#include <fstream>

namespace warpgrind {

std::optional<std::string> read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string out;
  char part[1 << 16];  // read in parts: files of /proc report size 0
  while (file.read(part, sizeof part), file.gcount() > 0) out.append(part, static_cast<std::size_t>(file.gcount()));
  return out;
}

}  // namespace warpgrind
