// The contract between machine code made by the JIT and the functions it calls (src/jit/calls, src/device/calls).
// Everything here is read by generated code at fixed offsets: keep it plain data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "events/late_loads.h"
#include "gpu/request_counting.h"
#include "gpu/types.h"

namespace warpgrind::jit {

// Inline cache of one memory site, one per worker. Machine code counts a full-warp access whose lane addresses are
// base + kx*X(lane) + ky*Y(lane) in place when
//   kx == key_x, ky == key_y            (compared only where not compile-time constants)
//   rotr(base - low, log2(alignment)) <= span      bounds and alignment in one comparison
// by histogram[base & 255] += 1, and calls the device otherwise. The device sets low/span/keys for a full-warp affine
// access that was in bounds, and folds the histogram into SiteCounts before it changes them (sector and bank counts
// depend on base & 255 and the keys alone). span == 0 with low == ~0 means empty.
//
// Where some lanes are off and the same condition holds, all 32 addresses are good too: the access goes on in place,
// counted by masked[masked_slot(tag)].hits += 1 with tag = mask | (base & 255) << 32. Another tag in the slot:
// wg_count_affine. Local memory is served at one offset for all lanes only, and counted without slots, whatever the
// mask: histogram[local_kind(mask)] += 1 (gpu/local_kinds.h; kind 0, of no lanes, counts nothing).
//
// A site that others follow (events::Site::leader) has a window in which they are good, too, and its histogram counts
// them along: the device keeps out of it.
struct MaskedCount {
  std::uint64_t tag;  // ~0: empty
  std::uint64_t hits;
};
inline constexpr unsigned kMaskedCounts = 8;
inline constexpr std::uint64_t kMaskedHash = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
inline constexpr unsigned kMaskedShift = 61;
inline std::uint64_t masked_tag(std::uint64_t base, LaneMask mask) {
  return mask | (base & 255) << 32;
}
inline unsigned masked_slot(std::uint64_t tag) {
  return static_cast<unsigned>(tag * kMaskedHash >> kMaskedShift);
}

// The same for accesses whose lanes have addresses of their own. All are good when for each lane on
//   rotr(address - low, log2(alignment)) < places      bounds and alignment in one comparison
// and where counters are on, the request is kept: address - low of the lanes on is below kOffsetLimit. Costs are
// counted for kKeptRequests together (gpu/request_costs.h), by the device: wg_count_lanes. places == 0: empty.
//
// Where all lanes are on and lie steps[lane] bytes behind lane 0, the request is counted by in_steps[its address & 255]
// instead. All steps are multiples of steps[1], which the device chooses by what comes (device/access/count.cpp).
struct LaneRequests {
  std::uint64_t low;
  std::uint64_t places;
  std::uint64_t kept;
  alignas(64) std::uint64_t steps[kWarpSize];
  KeptRequests requests;
  std::uint64_t in_steps[256];
};

struct SiteState {
  std::uint64_t low;
  std::uint64_t span;  // (highest good base - low) >> log2(alignment)
  std::int64_t key_x, key_y;
  std::uint64_t watched;  // wg_watch is to be asked; of kernels that are compiled so
  std::uint64_t histogram[256];
  MaskedCount masked[kMaskedCounts];
  LaneRequests lanes;
};

// X(lane) and Y(lane): the two lane patterns of affine values, fixed by the block shape.
//   linear:  X = lane, Y = 0             1-D blocks, or blockDim.x a multiple of 32
//   rows(r): X = lane % r, Y = lane / r  blockDim.x == r in {1, 2, 4, 8, 16}, blockDim.x*blockDim.y a multiple of 32
//   general: X = lane, Y = 0, tid.x/y/z are read from WarpContext::tid (varying)
enum class LaneShape : std::uint8_t { linear, rows1, rows2, rows4, rows8, rows16, general };
LaneShape lane_shape_of(const Dim3& block);
inline unsigned row_length(LaneShape s) {
  return s == LaneShape::linear || s == LaneShape::general ? 32u : 1u << (static_cast<unsigned>(s) - 1u);
}
inline unsigned lane_x(LaneShape s, unsigned lane) {
  return lane % row_length(s);
}
inline unsigned lane_y(LaneShape s, unsigned lane) {
  return lane / row_length(s);
}

// The lanes of one invocation of a function that do not run now, and what the running ones head for
// (jit/kernel/path_stack.h). Machine code keeps the first fields in registers: they are true only during a call of
// wg_meet, wg_wait_at_barrier, wg_wait_for_cluster, wg_give_way and wg_next_path, which may change them all.
struct PathEntry {
  LaneMask mask;
  std::uint32_t target, reconverge;  // kParkedPath | n: lanes whose registers lie aside, waiting at place n
};
inline constexpr std::uint32_t kParkedPath = 0x80000000u;
inline constexpr unsigned kPathEntries = 80;
struct Paths {
  LaneMask mask, live;  // active lanes; lanes that have not returned
  std::uint32_t current, depth;
  std::uint32_t target;  // out: where `mask` goes on
  LaneMask restore;      // out: lanes whose registers are in `saved`
  std::uint8_t* saved;   // in: registers of the lanes that stop; out: of `restore`
  std::uint32_t scalar_bytes, saved_bytes;
  PathEntry entries[kPathEntries];
};

// Scoreboard layout (std::uint64_t slots, one array per worker), offsets in CompiledKernel:
//   blocks:   2 slots each {warps, lanes}
//   guards:   1 slot each {lanes on}
//   branches: 4 slots each {taken by nobody, divergent, taken lanes, taken by some}
//   edges:    2 slots each {warps, lanes}, of blocks with several ways out, where an observer wants them
// The lanes of a warp; the same for every block of a launch.
struct alignas(16) WarpShape {
  std::uint32_t tid_base[3];  // tid of lane 0 (linear and rows shapes)
  LaneMask mask;              // lanes that exist
};

// WarpContext::region of a warp that has ended and has handed over to its successor.
inline constexpr std::uint32_t kEndedRegion = ~0u;

// Where the device looks for the warp that runs.
struct RunningWarp {
  struct WarpContext* warp;
  std::uint64_t ended;  // warps that have handed over at their end
};

struct WarpContext {
  const std::uint8_t* params;      // kernel parameter buffer, laid out as the .param list
  const std::uint64_t* globals;    // device address of each module variable (index as in ptx::Module::variables)
  const std::uint64_t* functions;  // machine address of each function of the module, for indirect calls (0: none)
  SiteState* sites;
  std::uint64_t* scoreboard;
  std::uint8_t* shared;                     // host address of the block's shared memory
  std::uint64_t shared_size;                // static + dynamic bytes
  events::LateLoads* late_loads;            // the block's, in kernels that are compiled to be watched
  std::uint64_t dynamic_shared_offset;      // where `.extern .shared` begins
  std::uint8_t* local;                      // host address of the warp's local memory: word w of lane l at (w*32 + l)*4
  std::uint64_t local_size;                 // bytes a thread
  std::uint64_t local_top;                  // stack pointer of .func frames: next free byte a thread
  const volatile std::uint32_t* interrupt;  // non-zero: call wg_interrupt at the next loop back edge
  std::uint32_t nctaid[3], ntid[3];
  alignas(16) std::uint32_t ctaid[3];
  std::uint32_t smid;
  // What each warp of a block has of its own, 16 bytes twice. Kernels without regions write the next warp's there, and
  // it goes on in place of the one that ends (jit/kernel/regions.h).
  alignas(16) std::uint32_t tid_base[3];  // as in WarpShape
  LaneMask initial_mask;
  std::uint32_t warp;    // index in the block
  LaneMask exited;       // lanes that executed exit/ret of the kernel
  std::uint32_t region;  // where the warp goes on: 0, from the start; n, behind the n-th barrier that ends one
  std::uint32_t spin;    // back-edge count of spin loops
  const WarpShape *next_shape, *last_shape;  // of the warps that go on in place of this one; both the same: none do
  // The warp's time in cycles of its SM: moved on by machine code, in kernels that read a clock, for every instruction
  // (jit/kernel/clock.cpp); by the device at barriers and where a warp has waited for others.
  std::uint64_t cycles;
  std::uint32_t issue_cycles;  // from an instruction to one that needs its result
  std::uint32_t sm_clock_khz;
  std::uint32_t cluster_dim[3], cluster_rank;
  std::uint32_t explicit_cluster;          // the launch named a cluster
  std::uint32_t total_shared, all_shared;  // bytes as allocated; with the driver's own
  std::uint32_t env[4];  // %envreg1, 2: cooperative groups' grid barrier workspace (driver's own protocol)
  alignas(64) std::uint32_t tid[3][kWarpSize];
  alignas(64) std::uint32_t scratch[512];  // machine code's out-area for runtime calls of any size up to 2 KiB
  // Lanes that meet at a `.sync` operation: what each brings; afterwards what all brought, and who takes part.
  alignas(64) std::uint32_t members[kWarpSize];
  alignas(64) std::uint64_t brought[kWarpSize];
  LaneMask participants;
  std::uint32_t barrier_result;  // bar.red of a warp, or of lanes, that waited
  std::uint8_t* frame;           // what it keeps while it waits there (CompiledKernel::region_bytes)
  // Who goes on when this warp ends or comes to __syncthreads() as a whole (device/execution/rounds.h); null: the
  // device knows.
  WarpContext* successor;
  RunningWarp* running;        // written by who hands over to a successor
  std::uint32_t barrier_site;  // where it last did
  void* runtime;               // the device's own structures (block, worker, launch)
  // From a byte to its shadow, which says which of its bits nobody has written: of global memory, of the block's shared
  // memory, of the warp's local memory. In kernels compiled for it.
  std::uint64_t global_shadow, shared_shadow, local_shadow;
};

static_assert(offsetof(WarpContext, initial_mask) == offsetof(WarpContext, tid_base) + offsetof(WarpShape, mask));
static_assert(offsetof(WarpContext, warp) == offsetof(WarpContext, tid_base) + sizeof(WarpShape));
static_assert(offsetof(WarpContext, spin) == offsetof(WarpContext, warp) + 12);

// Runs a warp, whose frame is the second argument, to its end or to a barrier that ends a region; there it goes on with
// the warp's successor or the one that wg_come_to_barrier names, or returns.
using WarpFunction = void (*)(WarpContext*, std::uint8_t* frame);

}  // namespace warpgrind::jit

// ---- Functions called by machine code. All are extern "C", never throw. A fault does not return: the device
// leaves the warp's fiber for good. Vectors are arrays of 32 lanes; element e of a vector access of lane l lies at
// [(e*32 + l)]. Sizes and types come from the Site (events/site.h) with that number.
extern "C" {
struct wg_context;  // = warpgrind::jit::WarpContext (C linkage keeps names readable in the IR)

// Memory (any space the site may touch; generic addresses are resolved; shared sites pass offsets in shared space,
// local sites offsets in the thread's local memory).
void wg_load(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask, void* out);
void wg_store(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask,
              const void* values);
// Affine: lane address = base + kx*X(lane) + ky*Y(lane). Refills the site's inline cache when mask is full.
void wg_load_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                    std::uint32_t mask, void* out);
void wg_store_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                     std::uint32_t mask, const void* values);
// Counts an access of some lanes that machine code has checked and makes itself.
void wg_count_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                     std::uint32_t mask);
// The requests that the site has kept are counted; it keeps none afterwards.
void wg_count_lanes(void* context, std::uint32_t site);
// An access that the inline cache would serve, at a site that is watched. 0: observers want to see it all: wg_load or
// wg_store are to do it.
std::uint32_t wg_watch(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                       std::uint32_t mask);
// One address for the warp; `out` receives one element (all vector parts).
void wg_load_uniform(void* context, std::uint32_t site, std::uint64_t base, std::uint32_t mask, void* out);
// The shadows of what ld and st move, in the same shapes. What wg_store stores counts as defined until then.
void wg_load_shadow(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask, void* out);
void wg_load_shadow_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                           std::uint32_t mask, void* out);
void wg_load_shadow_uniform(void* context, std::uint32_t site, std::uint64_t base, std::uint32_t mask, void* out);
void wg_store_shadow(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask,
                     const void* values);
void wg_store_shadow_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                            std::uint32_t mask, const void* values);
// Machine code has itself loaded or stored some undefined bits: where from and where to is kept, for their origin.
void wg_undefined_moved(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                        std::uint32_t mask);
// Undefined bits of these lanes decide something: jit/kernel/definedness.h's Use.
void wg_undefined_use(void* context, std::uint32_t site, std::uint32_t lanes, std::uint32_t use);
// An atomic operation has put undefined operands of these lanes into memory.
void wg_undefined_update(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t lanes);
// Parameters of a function that lie on the stack: `words` of each lane between planes and local memory at `offset`.
void wg_put_on_stack(void* context, std::uint32_t site, std::uint32_t mask, std::uint64_t offset, const void* planes,
                     std::uint32_t words);
void wg_take_from_stack(void* context, std::uint32_t site, std::uint32_t mask, std::uint64_t offset, void* planes,
                        std::uint32_t words);
// isspacep: 1 or 0 a lane.
void wg_is_constant(void* context, std::uint8_t* out, const std::uint64_t* addresses);
void wg_is_parameter(void* context, std::uint8_t* out, const std::uint64_t* addresses);

// Control.
void wg_barrier(void* context, std::uint32_t instruction, std::uint32_t id, std::uint32_t threads,
                std::uint32_t mask);  // threads 0 = all
std::uint32_t wg_barrier_reduce(void* context, std::uint32_t instruction, std::uint32_t id, std::uint32_t threads,
                                std::uint32_t mask, std::uint32_t predicate_mask,
                                std::uint32_t op);  // op 0 popc, 1 and, 2 or
// The same for a whole warp at the end of a region. Who goes on: this warp, another one, or null: the kernel's function
// returns. The result of a reduction is in WarpContext::barrier_result.
void* wg_come_to_barrier(void* context, std::uint32_t instruction, std::uint32_t id, std::uint32_t threads,
                         std::uint32_t mask);
void* wg_come_to_barrier_reduce(void* context, std::uint32_t instruction, std::uint32_t id, std::uint32_t threads,
                                std::uint32_t mask, std::uint32_t predicate_mask, std::uint32_t op);
void wg_cluster_arrive(void* context, std::uint32_t instruction, std::uint32_t mask);
void wg_cluster_wait(void* context, std::uint32_t instruction, std::uint32_t mask);
void wg_barrier_arrive(void* context, std::uint32_t instruction, std::uint32_t id, std::uint32_t threads,
                       std::uint32_t mask);
// A spin loop of the lanes `mask`: let other warps and blocks run. 1: other lanes of this warp must get a turn, because
// they can go on or because nobody else can.
std::uint32_t wg_yield(void* context, std::uint32_t mask);
// A store that must not overtake the reads of other warps after a barrier (flow/wait_points.h).
void wg_let_others_pass(void* context);
// Lanes of a warp that go different ways (device/execution/paths.cpp). The caller has put its state into `paths`, with
// the registers that its lanes need aside, and goes on at paths->target with paths->mask.
void wg_meet(void* context, std::uint32_t site, std::uint32_t place, void* paths);
void wg_wait_at_barrier(void* context, std::uint32_t site, std::uint32_t place, std::uint32_t id, std::uint32_t threads,
                        std::uint32_t predicate_mask, std::uint32_t op, void* paths);  // op as above, 3: none
void wg_wait_for_cluster(void* context, std::uint32_t site, std::uint32_t place, void* paths);
void wg_give_way(void* context, std::uint32_t site, std::uint32_t place, void* paths);  // a spin loop
void wg_next_path(void* context, void* paths);  // the running lanes have arrived where they headed for, or returned
std::uint32_t wg_join_path(void* context, void* paths);  // 1: more lanes go on together: restore theirs too
// Lanes meet, and all that are needed run together. Called where somebody observes it, with WarpContext::members.
void wg_warp_sync(void* context, std::uint32_t site, std::uint32_t mask);
void wg_exit(void* context, std::uint32_t site, std::uint32_t mask);  // lanes leave the kernel: likewise
// A shuffle read lanes that take no part (they deliver 0); members that cannot be met.
void wg_absent_lanes(void* context, std::uint32_t site, std::uint32_t readers);
void wg_missing_members(void* context, std::uint32_t site, std::uint32_t mask, std::uint32_t missing);
void wg_interrupt(void* context, std::uint32_t instruction, std::uint32_t mask);  // back edge while *interrupt != 0
[[noreturn]] void wg_bad_branch_index(void* context, std::uint32_t instruction, std::uint32_t mask);
[[noreturn]] void wg_trap(void* context, std::uint32_t instruction, std::uint32_t mask);
[[noreturn]] void wg_unsupported(void* context, std::uint32_t instruction);  // an opcode without lowering was reached
// A call that the thread's stack has no room for: it needs so many bytes of it.
[[noreturn]] void wg_stack_overflow(void* context, std::uint32_t instruction, std::uint64_t needed, std::uint32_t mask);
// is_function: of another signature than the call's.
void wg_indirect_call_fault(void* context, std::uint32_t instruction, std::uint64_t address, std::uint32_t is_function);
}
