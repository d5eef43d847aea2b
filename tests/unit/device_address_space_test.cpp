// Memory of allocations: what they begin with, and which pages stay in the host's memory when they are freed.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "device/memory/address_space.h"

namespace warpgrind::device {
namespace {

constexpr std::uint64_t kHostPage = 4096, kMiB = 1 << 20;

std::uint64_t new_allocation(std::uint64_t bytes) {
  auto address = AddressSpace::instance().allocate(bytes, 0, {});
  EXPECT_TRUE(address);
  return address ? *address : 0;
}

std::uint8_t* bytes_at(std::uint64_t address) {
  return reinterpret_cast<std::uint8_t*>(address);
}

bool is_zero(std::uint64_t address, std::uint64_t bytes) {
  const std::uint8_t* const first = bytes_at(address);
  return first[0] == 0 && std::memcmp(first, first + 1, bytes - 1) == 0;
}

// Bytes of [low, high) that are in the host's memory.
std::uint64_t resident_bytes(std::uint64_t low, std::uint64_t high) {
  low = low / kHostPage * kHostPage;
  std::vector<unsigned char> pages((high - low + kHostPage - 1) / kHostPage);
  EXPECT_EQ(mincore(bytes_at(low), high - low, pages.data()), 0);
  return kHostPage * static_cast<std::uint64_t>(std::count_if(pages.begin(), pages.end(), [](int p) { return p & 1; }));
}

// More allocations than the quarantine has room for, so that addresses are used again.
TEST(AddressSpace, EachAllocationBeginsWithZeroes) {
  AddressSpace& space = AddressSpace::instance();
  const std::uint64_t kept = new_allocation(100'000);
  std::memset(bytes_at(kept), 7, 100'000);
  for (std::uint64_t k = 0; k < 2 * AddressSpace::kQuarantined; ++k) {
    const std::uint64_t bytes = k % 512 == 1 ? 5 * kMiB : k % 32 == 2 ? 900'000 : k % 4 == 3 ? 70'000 : 300;
    const std::uint64_t address = new_allocation(bytes);
    ASSERT_TRUE(is_zero(address, bytes)) << "allocation " << k;
    std::memset(bytes_at(address), 0xff, bytes);
    ASSERT_TRUE(space.release(address));
  }
  EXPECT_EQ(bytes_at(kept)[0], 7);
  EXPECT_EQ(bytes_at(kept)[99'999], 7);
  EXPECT_TRUE(space.release(kept));
}

// Freed memory between small allocations that stay goes back to the host, but for a few MiB.
TEST(AddressSpace, FreedPagesAreReturned) {
  AddressSpace& space = AddressSpace::instance();
  constexpr std::uint64_t kLarge = 900'000;
  std::vector<std::uint64_t> small, large;
  for (int k = 0; k < 100; ++k) {
    large.push_back(new_allocation(kLarge));
    std::memset(bytes_at(large.back()), 1, kLarge);
    small.push_back(new_allocation(4096));
    std::memset(bytes_at(small.back()), 2, 4096);
    space.release(large.back());
  }
  std::uint64_t resident = 0;
  for (const std::uint64_t address : large) resident += resident_bytes(address, address + kLarge);
  EXPECT_LE(resident, 16 * kMiB);
  for (const std::uint64_t address : small) {
    EXPECT_EQ(bytes_at(address)[0], 2);
    EXPECT_EQ(bytes_at(address)[4095], 2);
    space.release(address);
  }
}

// The host would split a huge page of which a part is returned.
TEST(AddressSpace, FreedPartsOfAHugePageStay) {
  constexpr std::uint64_t kBytes = 100'000;
  std::vector<std::uint64_t> of;  // one after the other
  for (int k = 0; k < 3; ++k) {
    of.push_back(new_allocation(kBytes));
    std::memset(bytes_at(of.back()), 1, kBytes);
  }
  AddressSpace& space = AddressSpace::instance();
  EXPECT_TRUE(space.release(of[1]));
  EXPECT_GE(resident_bytes(of[1], of[1] + kBytes), kBytes - kHostPage);
  EXPECT_TRUE(is_zero(of[1], kBytes));
  EXPECT_TRUE(space.release(of[0]));
  EXPECT_TRUE(space.release(of[2]));
}

}  // namespace
}  // namespace warpgrind::device
