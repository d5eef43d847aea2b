#include "ptx/suffix_names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

namespace warpgrind::ptx {

namespace {

struct SuffixName {
  std::string_view name, meaning;
};

constexpr SuffixName kNames[] = {
    {"rnd", ".rn, .rz, .rm, .rp"},
    {"BoolOp", ".and, .or, .xor"},
    {"sem", ".relaxed, .acquire, .release, .acq_rel"},
    {"scope", ".cta, .cluster, .gpu, .sys"},
    {"ss", ".global, .shared, .shared::cta, .shared::cluster, .local, .const, .param, .param::entry, .param::func"},
    {"shared_space", ".shared, .shared::cta, .shared::cluster"},
    {"cop", ".ca, .cg, .cs, .lu, .cv, .wb, .wt"},
    {"level1::eviction_priority",
     ".L1::evict_normal, .L1::evict_unchanged, .L1::evict_first, .L1::evict_last, .L1::no_allocate"},
    {"level2::eviction_priority", ".L2::evict_normal, .L2::evict_first, .L2::evict_last"},
    {"level::cache_hint", ".L2::cache_hint"},
    {"level::prefetch_size", ".L2::64B, .L2::128B, .L2::256B"},
    {"dim", ".1d, .2d, .3d, .4d, .5d"},
    {"completion_mechanism", ".mbarrier::complete_tx::bytes, .bulk_group"},
    {"redOp", ".add, .min, .max, .inc, .dec, .and, .or, .xor"},
    {"cta_group", ".cta_group::1, .cta_group::2"},
    {"sync_restrict", ".sync_restrict::shared::cta, .sync_restrict::shared::cluster"},
    {"geom", ".1d, .2d, .3d, .a1d, .a2d, .cube, .acube, .2dms, .a2dms"},
    {"layout", ".row, .col"},
    {"alayout", ".row, .col"},
    {"blayout", ".row, .col"},
};

// ".m64nNk16": the shapes of wgmma of this depth. ".m64nIk32": those of integers, whose N above 32 is a multiple of 16.
std::string shapes_of(std::string_view name) {
  const bool integers = name.starts_with("m64nI");
  std::string shapes;
  for (unsigned n = 8; n <= 256; n += 8) {
    if (integers && n > 32 && n % 16 != 0) continue;
    shapes += (shapes.empty() ? ".m64n" : ", .m64n") + std::to_string(n) + std::string(name.substr(5));
  }
  return shapes;
}

std::string_view wgmma_shapes(std::string_view name) {
  static const auto& table = *new auto([] {
    std::array<std::pair<std::string_view, std::string>, 7> t;
    constexpr std::string_view kShapes[] = {"m64nNk8",  "m64nNk16", "m64nNk32", "m64nNk64",
                                            "m64nIk32", "m64nIk64", "m64nIk256"};
    for (std::size_t k = 0; k < t.size(); ++k) t[k] = {kShapes[k], shapes_of(kShapes[k])};
    return t;
  }());
  for (const auto& [shape, meaning] : table)
    if (shape == name) return meaning;
  return {};
}

}  // namespace

std::string_view suffix_meaning(std::string_view name) {
  if (name.starts_with("m64n")) return wgmma_shapes(name);
  const auto* const found = std::ranges::find(kNames, name, &SuffixName::name);
  return found == std::end(kNames) ? std::string_view() : found->meaning;
}

}  // namespace warpgrind::ptx
