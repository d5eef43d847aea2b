// Shadow memory: bits set by mapping pages of ones, cleared by returning pages to the host.
#include "device/memory/shadow_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/descriptor.h"
#include "device/memory/address_space.h"

namespace warpgrind::device {

namespace {

constexpr std::uint64_t kOnes = std::uint64_t{16} << 20;

// A file of ones. The shadow of a large allocation maps it copy-on-write. -1: unavailable.
int file_of_ones() {
  static const int file = [] {
    const int fd = above_streams(memfd_create("warpgrind undefined", MFD_CLOEXEC));
    if (fd < 0) return -1;
    void* const p =
        ftruncate(fd, kOnes) == 0 ? mmap(nullptr, kOnes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (p == MAP_FAILED) {
      close(fd);
      return -1;
    }
    std::memset(p, 0xff, kOnes);
    munmap(p, kOnes);
    return fd;
  }();
  return file;
}

// Maps ones; untouched pages take no memory, whatever the size. Returns the address where it stopped.
std::uint64_t map_ones(std::uint64_t low, std::uint64_t high) {
  WG_ASSERT(low <= high);
  while (high - low >= kOnes && file_of_ones() >= 0) {
    void* const p = mmap(reinterpret_cast<void*>(low), kOnes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file_of_ones(), 0);
    if (p == MAP_FAILED) break;
    low += kOnes;
  }
  return low;
}

}  // namespace

ShadowMemory* ShadowMemory::open() {
  static ShadowMemory* const shadow = []() -> ShadowMemory* {
    const std::uint64_t base = AddressSpace::instance().reserved_base();
    if (!base) return nullptr;
    void* p = mmap(nullptr, AddressSpace::kReserved, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return nullptr;
    auto* made = new ShadowMemory;  // never destroyed, like the address space
    made->base_ = base;
    made->bytes_ = AddressSpace::kReserved;
    // The same offset in a page, so that alignment is preserved.
    made->distance_ = reinterpret_cast<std::uint64_t>(p) - base;
    return made;
  }();
  return shadow;
}

void ShadowMemory::undefine(std::uint64_t address, std::uint64_t bytes) const {
  if (!covers(address, bytes)) return;
  const std::uint64_t low = address + distance_, high = low + bytes;
  const std::uint64_t first = std::min(high, (low + kHostPage - 1) / kHostPage * kHostPage);
  std::memset(of(address), 0xff, first - low);
  const std::uint64_t rest = map_ones(first, high);
  std::memset(reinterpret_cast<void*>(rest), 0xff, high - rest);
}

// Whole pages are returned to the host: memory that was written once needs no shadow any more.
void ShadowMemory::define(std::uint64_t address, std::uint64_t bytes) const {
  if (!covers(address, bytes)) return;
  constexpr std::uint64_t kWorthACall = 16 * kHostPage;
  const std::uint64_t low = address + distance_, high = low + bytes;
  const std::uint64_t first = (low + kHostPage - 1) / kHostPage * kHostPage, last = high / kHostPage * kHostPage;
  if (first < last && last - first >= kWorthACall) {
    std::memset(reinterpret_cast<void*>(low), 0, first - low);
    void* const fresh = mmap(reinterpret_cast<void*>(first), last - first, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED) std::memset(reinterpret_cast<void*>(first), 0, last - first);
    std::memset(reinterpret_cast<void*>(last), 0, high - last);
    return;
  }
  std::memset(of(address), 0, bytes);
}

void ShadowMemory::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) const {
  if (!covers(to, bytes)) return;
  if (!covers(from, bytes) || !any(from, bytes)) return define(to, bytes);
  std::memmove(of(to), of(from), bytes);
}

std::pair<std::uint64_t, std::uint64_t> ShadowMemory::count_undefined(std::uint64_t address,
                                                                      std::uint64_t bytes) const {
  if (!covers(address, bytes)) return {0, 0};
  const std::uint8_t* const p = of(address);
  std::uint64_t count = 0, first = 0;
  for (std::uint64_t b = 0; b < bytes; ++b) {
    if (p[b] == 0) continue;
    if (count++ == 0) first = b;
  }
  return {count, first};
}

bool ShadowMemory::any(std::uint64_t address, std::uint64_t bytes) const {
  if (!covers(address, bytes)) return false;
  const std::uint8_t* p = of(address);
  std::uint64_t step = 0;
  for (; bytes - step >= 64; step += 64) {
    std::uint64_t words[8], all = 0;
    std::memcpy(words, p + step, sizeof words);
    for (const std::uint64_t w : words) all |= w;
    if (all) return true;
  }
  return std::any_of(p + step, p + bytes, [](std::uint8_t b) { return b != 0; });
}

}  // namespace warpgrind::device
