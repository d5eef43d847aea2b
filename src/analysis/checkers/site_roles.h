// Role of a site in the asynchronous machinery: fences between proxies, and the operations around wgmma.
#pragma once

#include <cstdint>

#include "events/site.h"

namespace warpgrind::checkers {

enum class SiteRole : std::uint8_t {
  none,
  product,             // wgmma.mma_async
  product_fence,       // wgmma.fence
  product_commit,      // wgmma.commit_group
  product_wait,        // wgmma.wait_group
  tensor_product,      // tcgen05.mma, tcgen05.cp: read shared memory
  tensor_commit,       // tcgen05.commit
  tensor_load,         // tcgen05.ld
  tensor_store,        // tcgen05.st
  tensor_wait_loads,   // tcgen05.wait::ld
  tensor_wait_stores,  // tcgen05.wait::st
  async_store,         // st.async, red.async: complete bytes at an mbarrier
  fence_async,         // fence.proxy.async, for all memory
  fence_async_shared,
  fence_async_global,
  fence_other_proxy,  // fence.proxy.alias, fence.proxy.tensormap
  fence_init          // fence.mbarrier_init
};

SiteRole role_of(const events::Site& site);
// Groups that may stay pending; 0 if the site is no wgmma.wait_group.
std::uint32_t pending_groups(const events::Site& site);

}  // namespace warpgrind::checkers
