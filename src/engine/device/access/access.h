// Access path: the only way to memory. Each read or write of machine code is an Access to one space. It is checked,
// counted, published and moved once, in that order:
//   check.cpp         bounds, alignment, permission; a fault does not return
//   invalid.cpp       handling of invalid accesses when an observer wants them
//   count.cpp         requests, sectors and wavefronts of the site
//   access.cpp        order of the steps; observers
//   move.cpp          bytes, interleaving of local memory
//   inline_cache.cpp  fast path: affine accesses that machine code's own cache may serve from then on
//   lane_requests.cpp fast path: accesses whose lanes have arbitrary addresses
// Only a Place gives a host pointer, and only pass() and its variants give a Place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "device/access/lane_vectors.h"
#include "device/memory/texture.h"
#include "device/state.h"
#include "gpu/addresses.h"
#include "gpu/neighbours.h"

namespace warpgrind::device {

struct TexelPlane;

struct Access {
  jit::WarpContext* context = nullptr;
  std::uint32_t site = 0;
  AccessForm form;  // space: resolved by at(); before that, as in the instruction
  unsigned element = 4, vector = 1;
  unsigned group = kWarpSize;  // textures: number of neighbouring lanes in one request
  events::AccessPath path = events::AccessPath::instruction;
  events::MemoryOrder order = events::MemoryOrder::weak;
  events::MemoryScope scope = events::MemoryScope::none;
  bool counted = true, published = true;
  bool continues = false;                  // events::Access::continues
  std::optional<TensorSwizzle> swizzle{};  // events::Access::swizzle
  std::uint8_t swizzle_base = 0;
  LaneMask mask = 0;
  LaneMask behind = 0;                       // lanes at the same address, served by a lane of `mask`
  const std::uint64_t* addresses = nullptr;  // 32 entries, in addresses of the space
  // 32 entries: bytes of each lane if they differ (cp.async that fills up with zeroes, bulk copies, calls); else null,
  // and form.bytes holds for all lanes.
  const std::uint32_t* sizes = nullptr;
  const void* values = nullptr;  // data of ld and st in the layout of move(); for observers

  bool writes() const { return form.type != AccessType::load; }
  unsigned bytes() const { return form.bytes; }
  std::uint32_t bytes_of(unsigned lane) const { return sizes ? sizes[lane] : form.bytes; }

  // Returns a copy of the access, by the lanes `lanes` at these addresses. Its space follows from the type of the
  // addresses; with global addresses, constant memory stays constant.
  Access at(Lanes<GlobalAddress> global, LaneMask lanes) const {
    return at(form.space == StateSpace::constant ? StateSpace::constant : StateSpace::global, global.data(), lanes);
  }
  Access at(Lanes<SharedOffset> shared, LaneMask lanes) const { return at(StateSpace::shared, shared.data(), lanes); }
  Access at(Lanes<LocalOffset> local, LaneMask lanes) const { return at(StateSpace::local, local.data(), lanes); }
  Access at(Lanes<ParameterOffset> parameters, LaneMask lanes) const {
    return at(StateSpace::param, parameters.data(), lanes);
  }
  // Same, in place and faster. A copy would read fields just written in smaller pieces, and the processor waits for
  // such stores.
  void go_to(Lanes<GlobalAddress> global, LaneMask lanes) {
    if (form.space != StateSpace::constant) form.space = StateSpace::global;
    addresses = global.data();
    mask = lanes;
  }
  void go_to(Lanes<SharedOffset> shared, LaneMask lanes) {
    form.space = StateSpace::shared;
    addresses = shared.data();
    mask = lanes;
  }
  // Surfaces and textures: host addresses from the texture unit.
  Access at_texels(const std::uint64_t* of_lanes, LaneMask lanes) const {
    return at(StateSpace::texture, of_lanes, lanes);
  }

 private:
  Access at(StateSpace space, const std::uint64_t* of_lanes, LaneMask lanes) const {
    Access a = *this;
    a.form.space = space;
    a.addresses = of_lanes;
    a.mask = lanes;
    return a;
  }
};

// Returns an access with the static facts of a site, without lanes.
inline Access access_of(jit::WarpContext& context, std::uint32_t site) {
  const SiteFacts& f = launch_of(context).kernel->sites[site];
  Access a;
  a.context = &context;
  a.site = site;
  a.form = f.form;
  a.element = f.element;
  a.vector = f.vector;
  a.order = f.order;
  a.scope = f.scope;
  a.counted = f.form.space != StateSpace::param;  // parameters cause no memory traffic
  return a;
}

inline events::WarpEvent warp_event(const jit::WarpContext& c, std::uint32_t site, LaneMask mask) {
  return {&fiber_of(c).worker->launch->info, site, Dim3{c.ctaid[0], c.ctaid[1], c.ctaid[2]}, c.warp, mask};
}

// Host location of the bytes of a passed access. Local memory is not contiguous there; move() handles it.
class Place {
 public:
  std::uint8_t* of(unsigned lane) const { return reinterpret_cast<std::uint8_t*>(origin_ + addresses_[lane]); }

 private:
  Place(std::uint64_t origin, const std::uint64_t* addresses) : origin_(origin), addresses_(addresses) {}
  std::uint64_t origin_;
  const std::uint64_t* addresses_;
  friend Place pass(Access&);
  friend std::optional<Place> try_pass(Access&);
  friend std::optional<Place> pass_lanes(const Access&);
  friend Place pass_checked(const Access&);
  friend void move(const Access&, const Place&, void*);
};

// A fetch of `bytes` per texel; `group` neighbouring lanes make one request.
inline Access texel_access(jit::WarpContext& context, std::uint32_t site, unsigned bytes, unsigned group) {
  Access a = access_of(context, site);
  a.form = {StateSpace::texture, AccessType::load, static_cast<std::uint8_t>(bytes)};
  a.path = events::AccessPath::texture;
  a.group = group;
  return a;
}

// Texels that the texture unit reads for the lanes of a warp: up to eight per lane.
struct Texels {
  unsigned most = 0;  // largest number of texels of a lane
  LaneMask on[TexelList::kMost] = {};
  std::uint64_t addresses[TexelList::kMost][kWarpSize];
  std::uint64_t layout[TexelList::kMost][kWarpSize];
  std::uint8_t read[kWarpSize] = {};                       // number of texels by lane
  void add(unsigned lane, const TexelList::Entry& texel);  // at most kMost per lane
};

// Number of planes that one request can read: two levels of a mipmapped array.
inline constexpr unsigned kMostPlanes = 2;
// Texels of one plane, read by all lanes with the same corners: of one texel, or of the 2, 4 or 8 texels around a
// point. A lane may skip some corners.
struct LaneTexels {
  static constexpr unsigned kMost = 8;
  const TexelPlane* plane = nullptr;
  const SectorGrid* grid = nullptr;  // null: no grid fits for counting
  unsigned axes = 1, corners = 0;
  unsigned group = 4;          // number of neighbouring lanes in one request
  const std::uint8_t* corner;  // in the order of reading; bit d: the upper neighbour along axis d
  LaneMask on[kMost];          // lanes that read the corner
  // Texel indexes along the axes, lower and upper; the last one is the slice. Unread entries are meaningless.
  alignas(64) std::int32_t index[3][2][kWarpSize];
  struct At {
    std::uint64_t x, y, slice;
  };
  unsigned bytes() const;                  // of a texel
  At at(unsigned k, unsigned lane) const;  // the k-th texel
  void add_to(Texels& texels) const;       // appends after the existing ones, per lane in the order of the corners
};

// Whether all lanes are in pieces of the device heap that are in use. Call only if all lanes are in the heap.
bool in_pieces(const Access& access);
// Checks, counts and publishes. The mask must not be empty. Lanes with invalid accesses leave the mask if an observer
// wants them; the mask may then be empty afterwards.
Place pass(Access& a);
// Same, for callers that return error codes: nullopt where pass() would raise a fault or change the mask.
std::optional<Place> try_pass(Access& a);
// Same, without a check: for memory of other GPUs that a checked multimem address stands for.
Place pass_checked(const Access& a);
// Same for textures, after the texture unit has checked and moved the data: counted together, published texel by texel.
void pass_texels(const Access& a, LaneMask mask, const Texels& texels);
void pass_texels(jit::WarpContext& context, std::uint32_t site, LaneMask mask, std::span<const LaneTexels> texels);
// Moves the data of a passed access: a load to values[e*32 + l], a store from there.
void move(const Access& a, const Place& place, void* values);
// All steps for ld and st; fast if the lanes repeat their last pattern. Takes addresses as the instruction writes them,
// and resolves the space of `a`.
void load_or_store(Access& a, Lanes<GenericAddress> addresses, LaneMask mask, void* values);

// Lanes of an access by space. each_space() calls f(Access) for each, in the order global, shared, local.
struct SpaceMasks {
  LaneMask global = 0, shared = 0, local = 0;
};
SpaceMasks split_spaces(StateSpace written, Lanes<GenericAddress> addresses, LaneMask mask);
void local_offsets(Lanes<GenericAddress> addresses, std::uint64_t* offsets);
// Offsets from the block's own shared memory. The memory of other blocks of the cluster and of the driver lies below
// and above it (Block::shared), so that a host pointer needs one addition.
SharedOffset shared_offset(const jit::WarpContext& context, GenericAddress address);
void shared_offsets(const jit::WarpContext& context, Lanes<GenericAddress> addresses, std::uint64_t* offsets);
// Same, of addresses as machine code passes them for instructions that name the space: it has subtracted own_start().
void own_offsets(const jit::WarpContext& context, const std::uint64_t* written, std::uint64_t* offsets);
inline std::uint64_t own_start(const jit::WarpContext& c) {
  return std::uint64_t{c.cluster_rank} << kClusterShift;
}
template <class F>
void each_space(const Access& a, Lanes<GenericAddress> addresses, LaneMask mask, F&& f) {
  const SpaceMasks s = split_spaces(a.form.space, addresses, mask);
  if (s.global) f(a.at(Lanes<GlobalAddress>(addresses.data()), s.global));
  if (!s.shared && !s.local) return;
  alignas(64) std::uint64_t offsets[kWarpSize];
  if (s.shared) {
    if (a.form.space == StateSpace::shared)
      own_offsets(*a.context, addresses.data(), offsets);
    else
      shared_offsets(*a.context, addresses, offsets);
    f(a.at(Lanes<SharedOffset>(offsets), s.shared));
  }
  if (s.local) {
    local_offsets(addresses, offsets);
    f(a.at(Lanes<LocalOffset>(offsets), s.local));
  }
}

// A contiguous range of one lane, for functions that kernels call (printf, malloc's results, strings). Not counted.
// Returns false if part of it is not accessible.
bool read_stretch(jit::WarpContext& context, std::uint32_t site, unsigned lane, GenericAddress from, void* out,
                  std::uint64_t bytes);
bool write_stretch(jit::WarpContext& context, std::uint32_t site, unsigned lane, GenericAddress to, const void* in,
                   std::uint64_t bytes);
// Same, for work that continues after the block has ended: global memory only. nullopt: shared or local memory, or part
// of the range is not accessible.
std::optional<GlobalAddress> global_stretch(const Launch& launch, GenericAddress address, std::uint64_t bytes,
                                            bool write);

// ---- The steps (check.cpp, count.h, move.cpp)

Extent check(Access& a);  // a fault does not return
bool allowed(Access& a);
void move_local(const Access& a, void* values);
void move_stretch(const Access& a, const Place& place, unsigned lane, std::uint8_t* outside, std::uint64_t bytes);
// Returns true if the lanes repeated their site's last pattern; the access is then complete.
bool move_repeated(const Access& a, void* values);
bool find_allocation(const Launch& launch, std::uint64_t address, Range* range);
// Same, clipped to the bounds of the site.
bool find_bounded(const Launch& launch, std::uint32_t site, std::uint64_t address, Range* range);
const char* verb_of(const Access& a);

}  // namespace warpgrind::device
