// The one door to memory. Whatever machine code reads or writes is an Access to one space, and is checked, counted,
// published and moved, in that order, once:
//   check.cpp         bounds, alignment, permission; a fault does not return
//   invalid.cpp       what happens to accesses that are not allowed where somebody observes them
//   count.cpp         the requests, sectors and wavefronts of its site
//   access.cpp        the order of it all; observers
//   move.cpp          bytes, local memory's interleaving
//   inline_cache.cpp  in front: affine accesses that the machine code's own cache may take from then on
//   lane_requests.cpp likewise those whose lanes have addresses of their own
// A host pointer comes out of a Place only, and a Place out of pass() only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "device/access/lane_vectors.h"
#include "device/execution/state.h"
#include "device/memory/texture.h"
#include "gpu/addresses.h"
#include "gpu/neighbours.h"

namespace warpgrind::device {

struct TexelPlane;

struct Access {
  jit::WarpContext* context = nullptr;
  std::uint32_t site = 0;
  AccessForm form;  // space: resolved by at(); before that as the instruction says
  unsigned element = 4, vector = 1;
  unsigned group = kWarpSize;  // textures: neighbours that make one request
  events::AccessPath path = events::AccessPath::instruction;
  events::MemoryOrder order = events::MemoryOrder::weak;
  events::MemoryScope scope = events::MemoryScope::none;
  bool counted = true, published = true;
  LaneMask mask = 0;
  LaneMask behind = 0;                       // lanes at the same address, for which one of the mask acts
  const std::uint64_t* addresses = nullptr;  // 32, of the space
  // 32: bytes of each lane where they differ (cp.async that fills up with zeroes, bulk copies, calls); else form.bytes.
  const std::uint32_t* sizes = nullptr;
  const void* values = nullptr;  // what ld and st move, as move() wants it; for observers

  bool writes() const { return form.type != AccessType::load; }
  unsigned bytes() const { return form.bytes; }
  std::uint32_t bytes_of(unsigned lane) const { return sizes ? sizes[lane] : form.bytes; }

  // The same by the lanes of `lanes` at these addresses. Addresses of a space make it an access to that space; global
  // ones leave constant memory constant.
  Access at(Lanes<GlobalAddress> global, LaneMask lanes) const {
    return at(form.space == StateSpace::constant ? StateSpace::constant : StateSpace::global, global.data(), lanes);
  }
  Access at(Lanes<SharedOffset> shared, LaneMask lanes) const { return at(StateSpace::shared, shared.data(), lanes); }
  Access at(Lanes<LocalOffset> local, LaneMask lanes) const { return at(StateSpace::local, local.data(), lanes); }
  Access at(Lanes<ParameterOffset> parameters, LaneMask lanes) const {
    return at(StateSpace::param, parameters.data(), lanes);
  }
  // The same without a copy, where speed matters: a copy reads what has just been written in smaller pieces, for which
  // a processor waits.
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
  // Surfaces and textures: addresses on the host that the texture unit has made itself.
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

// What the site of an instruction says; no lanes yet.
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
  a.counted = f.form.space != StateSpace::param;  // parameters are no traffic
  return a;
}

inline events::WarpEvent warp_event(const jit::WarpContext& c, std::uint32_t site, LaneMask mask) {
  return {&fiber_of(c).worker->launch->info, site, Dim3{c.ctaid[0], c.ctaid[1], c.ctaid[2]}, c.warp, mask};
}

// Where the bytes of a passed access are on the host. Local memory is not contiguous there: move() knows.
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
  friend void move(const Access&, const Place&, void*);
};

// A fetch of `bytes` a texel, of which `group` neighbours make one request.
inline Access texel_access(jit::WarpContext& context, std::uint32_t site, unsigned bytes, unsigned group) {
  Access a = access_of(context, site);
  a.form = {StateSpace::texture, AccessType::load, static_cast<std::uint8_t>(bytes)};
  a.path = events::AccessPath::texture;
  a.group = group;
  return a;
}

// What the texture unit reads for the lanes of a warp: up to eight texels a lane.
struct Texels {
  unsigned most = 0;  // texels of any lane
  LaneMask on[TexelList::kMost] = {};
  std::uint64_t addresses[TexelList::kMost][kWarpSize];
  std::uint64_t layout[TexelList::kMost][kWarpSize];
  std::uint8_t read[kWarpSize] = {};                       // by each lane
  void add(unsigned lane, const TexelList::Entry& texel);  // at most kMost of a lane
};

// Planes that a request can read from: two levels of a mipmapped array.
inline constexpr unsigned kMostPlanes = 2;
// The same of all lanes at once and of one plane, where each reads some of the same few corners: of one texel, or of
// the 2, 4 or 8 around a point.
struct LaneTexels {
  static constexpr unsigned kMost = 8;
  const TexelPlane* plane = nullptr;
  const SectorGrid* grid = nullptr;  // null: none by which they can be counted
  unsigned axes = 1, corners = 0;
  unsigned group = 4;          // neighbours that make one request
  const std::uint8_t* corner;  // in the order of reading; bit d: the upper neighbour along axis d
  LaneMask on[kMost];          // which lanes read it
  // Texels along the axes, the lower and the upper ones; the last is the slice. What is not read means nothing.
  alignas(64) std::int32_t index[3][2][kWarpSize];
  struct At {
    std::uint64_t x, y, slice;
  };
  unsigned bytes() const;                  // of a texel
  At at(unsigned k, unsigned lane) const;  // the k-th texel
  void add_to(Texels& texels) const;       // behind those there, each lane's in the order of the corners
};

// All lanes lie in the heap of kernels: in pieces that are in use?
bool in_pieces(const Access& access);
// Checks, counts, publishes. The mask is not empty, and becomes that of the lanes that may go on: all of them, unless
// somebody observes invalid accesses; then it may be empty afterwards.
Place pass(Access& a);
// The same for what answers with an error code: nullopt where pass() would be a fault, or change the mask.
std::optional<Place> try_pass(Access& a);
// The same for textures, whose unit has checked and moved: counted together, published texel by texel.
void pass_texels(const Access& a, LaneMask mask, const Texels& texels);
void pass_texels(jit::WarpContext& context, std::uint32_t site, LaneMask mask, std::span<const LaneTexels> texels);
// Moves what an access has passed: a load to values[e*32 + l], a store from there.
void move(const Access& a, const Place& place, void* values);
// All of it, for ld and st; quick where the lanes repeat their last pattern. Addresses as the instruction writes them;
// `a` becomes the access to its space.
void load_or_store(Access& a, Lanes<GenericAddress> addresses, LaneMask mask, void* values);

// The parts of an access by space, in the order global, shared, local; f(Access).
struct SpaceMasks {
  LaneMask global = 0, shared = 0, local = 0;
};
SpaceMasks split_spaces(StateSpace written, Lanes<GenericAddress> addresses, LaneMask mask);
void local_offsets(Lanes<GenericAddress> addresses, std::uint64_t* offsets);
// Offsets from the block's own memory: that of another block of the cluster, and the driver's, lie below and above it
// (Block::shared), so that host pointers are one addition.
SharedOffset shared_offset(const jit::WarpContext& context, GenericAddress address);
void shared_offsets(const jit::WarpContext& context, Lanes<GenericAddress> addresses, std::uint64_t* offsets);
template <class F>
void each_space(const Access& a, Lanes<GenericAddress> addresses, LaneMask mask, F&& f) {
  const SpaceMasks s = split_spaces(a.form.space, addresses, mask);
  if (s.global) f(a.at(Lanes<GlobalAddress>(addresses.data()), s.global));
  if (!s.shared && !s.local) return;
  alignas(64) std::uint64_t offsets[kWarpSize];
  if (s.shared) {
    shared_offsets(*a.context, addresses, offsets);
    f(a.at(Lanes<SharedOffset>(offsets), s.shared));
  }
  if (s.local) {
    local_offsets(addresses, offsets);
    f(a.at(Lanes<LocalOffset>(offsets), s.local));
  }
}

// One lane's stretch of memory, for functions that kernels call (printf, malloc's results, strings). Not counted.
// False: not all of it may be touched.
bool read_stretch(jit::WarpContext& context, std::uint32_t site, unsigned lane, GenericAddress from, void* out,
                  std::uint64_t bytes);
bool write_stretch(jit::WarpContext& context, std::uint32_t site, unsigned lane, GenericAddress to, const void* in,
                   std::uint64_t bytes);
// For work that goes on after the block has ended: global memory only. nullopt: shared or local memory, or not all of
// it may be touched.
std::optional<GlobalAddress> global_stretch(const Launch& launch, GenericAddress address, std::uint64_t bytes,
                                            bool write);

// ---- The steps (check.cpp, count.h, move.cpp)

Extent check(Access& a);  // a fault does not return
bool allowed(Access& a);
void move_local(const Access& a, void* values);
void move_stretch(const Access& a, const Place& place, unsigned lane, std::uint8_t* outside, std::uint64_t bytes);
// True: the lanes repeated their site's last pattern, and all is done.
bool move_repeated(const Access& a, void* values);
bool find_allocation(const Launch& launch, std::uint64_t address, Range* range);
// The same, cut to what the site should stay in.
bool find_bounded(const Launch& launch, std::uint32_t site, std::uint64_t address, Range* range);
const char* verb_of(const Access& a);

}  // namespace warpgrind::device
