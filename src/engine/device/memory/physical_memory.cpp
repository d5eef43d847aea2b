// Physical memory in files: allocation, mapping, and files that other processes can map.
#include "device/memory/physical_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/descriptor.h"
#include "device/memory/written_pages.h"

namespace warpgrind::device {

namespace {

constexpr std::string_view kMark = "warpgrind ";  // prefix of the names of our files

struct File {
  std::mutex mutex;
  int descriptor = -1;
  std::uint64_t bytes = 0;
};
File& file() {
  static auto* one = new File;  // never destroyed, like its mappings
  return *one;
}

Error no_memory(const char* what) {
  return {ErrorKind::environment, fmt::format("{}: {}", what, std::strerror(errno)), ""};
}

}  // namespace

Result<std::uint64_t> take_physical(std::uint64_t bytes) {
  File& f = file();
  const std::lock_guard lock(f.mutex);
  if (f.descriptor < 0) f.descriptor = above_streams(::memfd_create("warpgrind physical memory", MFD_CLOEXEC));
  if (f.descriptor < 0 || ::ftruncate(f.descriptor, static_cast<off_t>(f.bytes + bytes)) != 0)
    return no_memory("the host has no memory for the GPU's");
  const std::uint64_t offset = f.bytes;
  f.bytes += bytes;
  return offset;
}

void give_physical_back(std::uint64_t offset, std::uint64_t bytes) {
  ::fallocate(file().descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(bytes));
}

Status map_physical(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset, int of) {
  WrittenPages::instance().exclude(address, address + bytes);
  void* const at = ::mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                          of < 0 ? file().descriptor : of, static_cast<off_t>(offset));
  if (at == MAP_FAILED) return no_memory("the host cannot map the GPU's memory");
  return Ok{};
}

void unmap_physical(std::uint64_t address, std::uint64_t bytes) {
  ::mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1, 0);
}

Result<int> make_shareable_file(const std::string& name, std::uint64_t bytes) {
  const int made = above_streams(::memfd_create((std::string(kMark) + name).c_str(), MFD_CLOEXEC));
  if (made < 0) return no_memory("the host has no memory for the GPU's");
  if (::ftruncate(made, static_cast<off_t>(bytes)) == 0) return made;
  const Error error = no_memory("the host has no memory for the GPU's");
  ::close(made);
  return error;
}

// The Linux kernel shows such a file as "/memfd:NAME (deleted)".
std::string file_name(int file) {
  char text[256];
  const std::string link = fmt::format("/proc/self/fd/{}", file);
  const ssize_t bytes = ::readlink(link.c_str(), text, sizeof text);
  const std::string_view before = "/memfd:", after = " (deleted)";
  std::string_view name(text, bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  if (!name.starts_with(before) || !name.ends_with(after)) return "";
  name = name.substr(before.size(), name.size() - before.size() - after.size());
  return name.starts_with(kMark) ? std::string(name.substr(kMark.size())) : "";
}

}  // namespace warpgrind::device
