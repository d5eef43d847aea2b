#include "checkers/site_roles.h"

#include <charconv>
#include <string_view>

namespace warpgrind::checkers {

namespace {

struct Spelling {
  std::string_view text;
  SiteRole role;
};
// The first that the instruction begins with.
constexpr Spelling kSpellings[] = {
    {"wgmma.mma_async", SiteRole::product},
    {"wgmma.fence", SiteRole::product_fence},
    {"wgmma.commit_group", SiteRole::product_commit},
    {"wgmma.wait_group", SiteRole::product_wait},
    {"tcgen05.mma", SiteRole::tensor_product},
    {"tcgen05.cp", SiteRole::tensor_product},
    {"tcgen05.commit", SiteRole::tensor_commit},
    {"tcgen05.ld", SiteRole::tensor_load},
    {"tcgen05.st", SiteRole::tensor_store},
    {"tcgen05.wait::ld", SiteRole::tensor_wait_loads},
    {"tcgen05.wait::st", SiteRole::tensor_wait_stores},
    {"st.async", SiteRole::async_store},
    {"red.async", SiteRole::async_store},
    {"fence.proxy.async.shared", SiteRole::fence_async_shared},
    {"fence.proxy.async.global", SiteRole::fence_async_global},
    {"fence.proxy.async", SiteRole::fence_async},
    {"fence.proxy", SiteRole::fence_other_proxy},
    {"fence.mbarrier_init", SiteRole::fence_init},
};

}  // namespace

SiteRole role_of(const events::Site& site) {
  const std::string_view text = site.text;
  for (const Spelling& s : kSpellings)
    if (text.starts_with(s.text)) return s.role;
  return SiteRole::none;
}

std::uint32_t pending_groups(const events::Site& site) {
  const std::string_view text = site.text;
  const std::size_t at = text.find_first_of("0123456789", text.find(' '));
  if (role_of(site) != SiteRole::product_wait || at == std::string_view::npos) return 0;
  std::uint32_t groups = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), groups);
  return groups;
}

}  // namespace warpgrind::checkers
