#include "checkers/race_shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace warpgrind::checkers {

Shadow::Slab::Slab(std::size_t n) : count(n) {
  void* const p =
      mmap(nullptr, n * sizeof(ShadowPage), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  WG_ASSERT(p != MAP_FAILED);
  pages = static_cast<ShadowPage*>(p);
}

Shadow::Slab::~Slab() {
  if (pages) munmap(pages, count * sizeof(ShadowPage));
}

ShadowPage& Shadow::new_page() {
  constexpr std::size_t kFirst = 4, kMost = 1024;  // 96 KiB, then ever more, up to 24 MiB
  if (slabs_.empty() || slabs_.back().used == slabs_.back().count)
    slabs_.emplace_back(std::min(kMost, kFirst << std::min<std::size_t>(slabs_.size(), 10)));
  Slab& slab = slabs_.back();
  return slab.pages[slab.used++];
}

void Shadow::forget() {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max() / 2;
  none_ = next() - 1;
  more_.clear();
  records_.clear();
  if (none_ <= kMost) return;
  for (const auto& [number, page] : pages_) *page = {};
  none_ = 0;
}

}  // namespace warpgrind::checkers
