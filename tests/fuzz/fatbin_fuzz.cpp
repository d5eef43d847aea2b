// Any bytes as a fatbin, and as a file of any kind: entries or an error, never an access outside the bytes.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "fatbin/fatbin.h"

namespace fatbin = warpgrind::fatbin;

namespace {

void use(const std::vector<fatbin::FatbinEntry>& entries) {
  for (const fatbin::FatbinEntry& e : entries) {
    if (e.size > (1u << 22)) continue;
    if (e.kind == fatbin::EntryKind::ptx) (void)fatbin::ptx_text(e);
    if (e.kind == fatbin::EntryKind::cubin) (void)fatbin::machine_code(e);
  }
  for (std::uint32_t image : fatbin::program_images(entries))
    (void)fatbin::choose_ptx(entries, image, 90, fatbin::UnfitPtx::accept);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto entries = fatbin::read_fatbin(bytes)) use(*entries);
  static const int fd = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) return 0;
  if (const auto entries = fatbin::read_file(path)) use(*entries);
  return 0;
}
