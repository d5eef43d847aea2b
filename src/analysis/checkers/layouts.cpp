// Checker of swizzled tiles in shared memory: wgmma or a tensor store that reads a tile in another layout than the
// tensor copy has written it in. Plain loads (ld.shared, ldmatrix) name no layout, so nothing can be said of them.
// tcgen05.mma publishes no reads of its matrices, so they are not checked. On an H200, of tiles that a tensor copy
// wrote at all multiples of 128 bytes, base offset 0 gave the right product everywhere, and 1 to 7 nowhere (128-byte
// swizzle).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>

#include "checkers/block_states.h"
#include "checkers/checker.h"
#include "checkers/cluster_exits.h"
#include "checkers/first_seen.h"
#include "gpu/shared_layouts.h"

namespace warpgrind::checkers {

namespace {

// The names of a layout. Sources: cuda.h; CUTLASS 3 and 4, cute/atom/mma_traits_sm90_gmma.hpp.
struct LayoutWords {
  TensorSwizzle swizzle;
  const char* text;
  const char* map;      // CU_TENSOR_MAP_SWIZZLE_...
  const char* cutlass;  // GMMA::Layout_K_..._Atom; null: wgmma has no such layout
  unsigned descriptor;  // bits 62-63 of the descriptor of wgmma
};
constexpr LayoutWords kLayouts[] = {
    {TensorSwizzle::none, "no swizzle", "NONE", "INTER", 0},
    {TensorSwizzle::b32, "32-byte swizzle", "32B", "SW32", 3},
    {TensorSwizzle::b64, "64-byte swizzle", "64B", "SW64", 2},
    {TensorSwizzle::b128, "128-byte swizzle", "128B", "SW128", 1},
    {TensorSwizzle::b128_atom_32, "128-byte swizzle of 32-byte atoms", "128B_ATOM_32B", nullptr, 0},
    {TensorSwizzle::b128_atom_32_flip_8, "128-byte swizzle of 32-byte atoms, 8 bytes flipped", "128B_ATOM_32B_FLIP_8B",
     nullptr, 0},
    {TensorSwizzle::b128_atom_64, "128-byte swizzle of 64-byte atoms", "128B_ATOM_64B", nullptr, 0},
};
const LayoutWords& layout_words(TensorSwizzle swizzle) {
  for (const LayoutWords& w : kLayouts)
    if (w.swizzle == swizzle) return w;
  return kLayouts[0];
}

// The repair where wgmma reads a tile that was written in `written`.
std::string matching_words(TensorSwizzle written, TensorSwizzle read) {
  const LayoutWords &w = layout_words(written), &r = layout_words(read);
  const std::string map = fmt::format(
      "for this descriptor, encode the tensor map with CU_TENSOR_MAP_SWIZZLE_{} "
      "(cuda::ptx::tensormap_replace_swizzle_mode)",
      r.map);
  if (!w.cutlass) return map + "; wgmma has no layout for the map's swizzle";
  return fmt::format(
      "use one layout for both: CU_TENSOR_MAP_SWIZZLE_{0} goes with {1} in bits 62-63 of the matrix descriptor, in "
      "CUTLASS GMMA::Layout_K_{2}_Atom or GMMA::Layout_MN_{2}_Atom; or, {3}",
      w.map, w.descriptor, w.cutlass, map);
}

struct BlockLayouts {
  SharedLayouts layouts;
  void clear() { layouts.clear(); }
};

bool uses_layouts(const events::Launch& launch) {
  const auto& sites = launch.facts->sites;
  return std::any_of(sites.begin(), sites.end(), [](const events::Site& s) { return s.kind == SiteKind::bulk_copy; });
}

class Layouts final : public Checker {
 public:
  events::Wants wants() const override {
    events::Wants w;
    w.accesses = w.only_written = w.blocks_ended = true;
    return w;
  }
  events::Wants wants_of(const events::Launch& launch) override {
    return uses_layouts(launch) ? wants() : events::Wants{};
  }
  void on_access(const events::Access& a, unsigned) override;
  bool on_affine_access(const events::AffineAccess& a, unsigned) override;
  void on_block_end(const events::BlockEvent& e, unsigned) override { blocks_.erase(*e.launch, e.block); }
  void report(std::vector<results::Finding>& findings) override { found_.report(findings); }

 private:
  SharedLayouts& layouts_of(const events::Launch& launch, const Dim3& block, std::uint64_t offset) {
    return blocks_.of(launch, events::owner_of_shared(launch, block, offset)).layouts;
  }
  void found(const events::Access& a, unsigned lane, const SharedLayout& read, const SharedLayouts::Written& written);

  BlockStates<BlockLayouts> blocks_;
  FirstSeen found_{*this};
};

void Layouts::on_access(const events::Access& a, unsigned) {
  if (a.space != StateSpace::shared) return;
  const bool reads = a.type == AccessType::load;
  if (reads && !a.swizzle) return;
  std::optional<SharedLayout> layout;
  if (a.swizzle) layout = SharedLayout{*a.swizzle, a.swizzle_base};
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    SharedLayouts& layouts = layouts_of(*a.launch, a.block, a.addresses[lane]);
    const std::uint64_t offset = events::offset_in_owner(a.addresses[lane]);
    if (!reads)
      layouts.write(offset, a.bytes_of(lane), layout, a.site);
    else if (const auto written = layouts.differs(offset, a.bytes_of(lane), *layout))
      return found(a, lane, *layout, *written);
  }
}

bool Layouts::on_affine_access(const events::AffineAccess& a, unsigned) {
  if (a.space != StateSpace::shared || a.type == AccessType::load) return true;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const std::uint64_t offset = a.address(static_cast<unsigned>(std::countr_zero(m)));
    layouts_of(*a.launch, a.block, offset).write(events::offset_in_owner(offset), a.bytes, std::nullopt, a.site);
  }
  return true;
}

void Layouts::found(const events::Access& a, unsigned lane, const SharedLayout& read,
                    const SharedLayouts::Written& written) {
  const bool product = a.path != events::AccessPath::tensor_copy;
  const OrderKey order{a.launch->work, a.launch->id, linear_block(*a.launch, a.block), a.warp, lane};
  found_.add(fmt::format("{} {} {}", a.launch->facts->name, written.copy, a.site), order, [&] {
    results::Finding f;
    f.kind = "shared-layout";
    f.accesses.push_back(access_at(*a.launch, written.copy, a.block, 0, 0, "tensor copy"));
    f.accesses.push_back(access_at(*a.launch, a.site, a.block, a.warp, lane, product ? "wgmma" : "tensor store"));
    f.accesses[0].role = "first";
    f.accesses[0].of_thread = false;  // any thread of the cluster may have issued it
    f.accesses[1].role = "second";
    take_place(f, f.accesses[1]);
    const LayoutWords &w = layout_words(written.layout.swizzle), &r = layout_words(read.swizzle);
    const char* const reader = product ? "wgmma" : "the tensor store";
    if (written.layout.swizzle == read.swizzle) {
      f.message = fmt::format(
          "{} reads a tile with a base offset of {}, but the pattern of a tensor copy begins at multiples of 1024 "
          "bytes",
          reader, read.base);
      f.advice =
          "leave the base offset (bits 49-51 of the matrix descriptor) 0: then a product reads such a tile rightly "
          "wherever it begins; CUTLASS's descriptors always have a base offset of 0";
    } else {
      f.message = fmt::format("{} reads a tile with {}, but the tensor copy wrote it with {}", reader, r.text, w.text);
      f.advice = product
                     ? matching_words(written.layout.swizzle, read.swizzle)
                     : fmt::format("encode both tensor maps with the same swizzle: CU_TENSOR_MAP_SWIZZLE_{} or ..._{}",
                                   w.map, r.map);
    }
    f.notes.push_back(fmt::format("the tensor copy is at {}", place_text(f.accesses[0])));
    f.notes.push_back(
        fmt::format("the first such 16 bytes are at byte {} of shared memory: to the reader they are those of byte {}, "
                    "to the copy those of byte {}",
                    written.offset, read.place(written.offset), written.layout.place(written.offset)));
    // A tensor without swizzle may hold elements that the program has arranged in global memory.
    if (!product || written.layout.swizzle == TensorSwizzle::none) f.severity = results::Severity::warning;
    return f;
  });
}

}  // namespace

std::unique_ptr<Checker> make_layouts(const Known&) {
  return std::make_unique<Layouts>();
}

}  // namespace warpgrind::checkers
