#include "base/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
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

Status write_whole(const std::string& path, std::string_view bytes) {
  const auto failure = [&] {
    return Error{ErrorKind::environment, fmt::format("cannot write {}: {}", path, std::strerror(errno)), {}};
  };
  std::FILE* f = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (f == nullptr) return failure();
  bool good = std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
  good = std::fflush(f) == 0 && good;
  if (f != stdout) good = std::fclose(f) == 0 && good;
  if (!good) return failure();
  return Ok{};
}

}  // namespace warpgrind
