#include "fatbin/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace warpgrind::fatbin {

Result<std::shared_ptr<const MappedFile>> map_file(const std::string& path) {
  const auto failed = [&path](const char* what) {
    return Error{ErrorKind::bad_input, fmt::format("{}: {}", path, what), ""};
  };
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed(std::strerror(errno));
  struct stat st {};
  const bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
  if (!regular || st.st_size == 0) {
    close(fd);
    return failed(regular ? "the file is empty" : "not a regular file");
  }
  auto mapping = std::make_shared<MappedFile>();
  mapping->size = static_cast<std::size_t>(st.st_size);
  mapping->data = mmap(nullptr, mapping->size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (mapping->data == MAP_FAILED) return failed(std::strerror(errno));
  return std::shared_ptr<const MappedFile>(mapping);
}

}  // namespace warpgrind::fatbin
