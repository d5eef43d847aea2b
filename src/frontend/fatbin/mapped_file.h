// Memory-mapped file. Only touched pages are read: programs and libraries may have gigabytes.
#pragma once

#include <sys/mman.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "fatbin/bytes.h"

namespace warpgrind::fatbin {

struct MappedFile {
  void* data = MAP_FAILED;
  std::size_t size = 0;
  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data != MAP_FAILED) munmap(data, size);
  }
  Bytes bytes() const { return {static_cast<const std::byte*>(data), size}; }
};

// Fails for a file that cannot be read, is empty or is not a regular file. The error names the path.
Result<std::shared_ptr<const MappedFile>> map_file(const std::string& path);

}  // namespace warpgrind::fatbin
