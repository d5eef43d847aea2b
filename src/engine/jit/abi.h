// Interface between machine code made by the JIT and the functions it calls (src/engine/jit/calls,
// src/engine/device/calls). Generated code reads everything here at fixed offsets: keep it plain data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "events/late_loads.h"
#include "flow/forms.h"
#include "gpu/request_counting.h"
#include "gpu/types.h"

namespace warpgrind::jit {

// Inline cache of one memory site, one per worker. It serves a full-warp access if its lane addresses are
//   base + kx*X(lane) + ky*Y(lane)
// and
//   kx == key_x, ky == key_y            (compared only where not compile-time constants)
//   rotr(base - low, log2(alignment)) <= span      bounds and alignment in one comparison
// Machine code then makes the access in place and counts it by histogram[base & 255] += 1; otherwise it calls the
// device. The device sets low/span/keys after a full-warp affine access within bounds. Before it changes them, it adds
// the histogram to SiteCounts: sector and bank counts depend on base & 255 and the keys alone. span == 0 with low == ~0
// means empty.
//
// If some lanes are off and the same condition holds, all 32 addresses are good as well. Machine code makes the access
// in place and counts it by masked[masked_slot(tag)].hits += 1 with tag = mask | (base & place_bits) << 32. If the slot
// holds another tag, it calls wg_count_affine. place_bits is 255, or 0 if the cost is the same at each base: lanes with
// one address touch one sector or bank. So a loop over an array in one thread needs one slot. Local memory is served
// only if all lanes use one offset. Such accesses need no slots, whatever the mask: histogram[local_kind(mask)] += 1
// (gpu/local_kinds.h; kind 0 has no lanes and counts nothing).
//
// A site with followers (events::Site::leader) has a window in which the followers' addresses are good, too. Its
// histogram also counts their accesses, so the device does not add other accesses to it.
struct MaskedCount {
  std::uint64_t tag;  // ~0: empty
  std::uint64_t hits;
};
inline constexpr unsigned kMaskedCounts = 8;
inline constexpr std::uint64_t kMaskedHash = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
inline constexpr unsigned kMaskedShift = 61;
inline constexpr std::uint64_t kPlaceBits = 255;
inline std::uint64_t masked_tag(std::uint64_t base, std::uint64_t place_bits, LaneMask mask) {
  return mask | (base & place_bits) << 32;
}
inline unsigned masked_slot(std::uint64_t tag) {
  return static_cast<unsigned>(tag * kMaskedHash >> kMaskedShift);
}

// Window and counts of one site for accesses with arbitrary lane addresses. An access is good if for each active lane
//   rotr(address - low, log2(alignment)) < places      bounds and alignment in one comparison
// and, if counters are on, address - low of each active lane is below kOffsetLimit, so that the request can be kept.
// wg_count_lanes counts the cost of kKeptRequests requests at a time (gpu/request_costs.h). places == 0: empty.
//
// If all lanes are active and lie steps[lane] bytes after lane 0, machine code counts the request in in_steps instead,
// at index `address of lane 0 & 255`. All steps are multiples of steps[1], which the device chooses from the accesses
// it sees (device/access/count.cpp).
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
  std::uint64_t place_bits;
  std::uint64_t watched;  // machine code must call wg_watch; only in kernels compiled with `watched`
  std::uint64_t histogram[256];
  MaskedCount masked[kMaskedCounts];
  LaneRequests lanes;
};

// X(lane) and Y(lane): the two lane patterns of affine values, fixed by the block shape.
//   linear:  X = lane, Y = 0             1-D blocks, or blockDim.x a multiple of 32
//   half:    X = lane % 16, Y = 0        1-D blocks of at most 16 threads: lanes 16 to 31 are never on
//   rows(r): X = lane % r, Y = lane / r  blockDim.x == r in {1, 2, 4, 8, 16}, blockDim.x*blockDim.y a multiple of 32
//   general: X = lane, Y = 0, tid.x/y/z are read from WarpContext::tid (varying)
enum class LaneShape : std::uint8_t { linear, rows1, rows2, rows4, rows8, rows16, general, half };
LaneShape lane_shape_of(const Dim3& block);
inline unsigned row_length(LaneShape s) {
  if (s == LaneShape::half) return kWarpSize / 2;
  const bool rows = s >= LaneShape::rows1 && s <= LaneShape::rows16;
  return rows ? 1u << (static_cast<unsigned>(s) - 1u) : 32u;
}
inline unsigned lane_x(LaneShape s, unsigned lane) {
  return lane % row_length(s);
}
inline unsigned lane_y(LaneShape s, unsigned lane) {
  return s == LaneShape::half ? 0 : lane / row_length(s);
}

// Path stack of one invocation of a function: the lanes that do not run now, and the point the running lanes head for
// (codegen/kernel/path_stack.h). Machine code keeps the first fields in registers. They are valid only during a call of
// wg_meet, wg_wait_at_barrier, wg_wait_for_cluster, wg_give_way or wg_next_path, which may change them all.
struct PathEntry {
  LaneMask mask;
  // target == kParkedPath | n: lanes with saved registers that wait at place n
  std::uint32_t target, reconverge;
};
inline constexpr std::uint32_t kParkedPath = 0x80000000u;
inline constexpr unsigned kPathEntries = 80;
struct Paths {
  LaneMask mask, live;  // active lanes; lanes that have not returned
  std::uint32_t current, depth;
  std::uint32_t target;  // out: where the lanes of `mask` continue
  LaneMask restore;      // out: lanes whose registers are in `saved`
  std::uint8_t* saved;   // in: registers of the lanes that stop; out: of `restore`
  std::uint32_t scalar_bytes, saved_bytes;
  PathEntry entries[kPathEntries];
};

// Scoreboard layout (std::uint64_t slots, one array per worker), offsets in CompiledKernel:
//   blocks:   2 slots each {warps, lanes}
//   guards:   1 slot each {active lanes}
//   branches: 4 slots each {executions without a taken lane, divergent ones, taken lanes, executions with a taken lane}
//   edges:    2 slots each {warps, lanes}, of blocks with several successors, if an observer wants them
//   slow paths: 7 slots each (events::SlowPathCounts)

// How the slots of a register make the value of a lane, in kernels with stops (codegen/kernel/stops.h). Slot 0 is the
// vector of a varying register, the value of a uniform one, b of an affine or wide one; slots 1 to 3 are base, kx, ky
// (flow/forms.h).
struct RegisterForm {
  flow::FormKind kind = flow::FormKind::undefined;
  bool is_signed = false;  // wide
  bool constant_kx = false, constant_ky = false;
  std::int32_t kx = 0, ky = 0;  // if constant
  std::int64_t scale = 1;       // wide
};
inline constexpr unsigned kRegisterSlots = 4;
inline constexpr std::uint32_t kNoStopPlace = ~0u;

// One invocation of a function, in kernels with stops.
struct alignas(16) StopFrame {
  StopFrame* caller;          // null: the kernel itself
  void* const* slots;         // kRegisterSlots for each register
  const RegisterForm* forms;  // by register
  std::uint64_t local_base;   // start of its variables in the thread's local memory
  std::uint32_t function;     // in the module
  std::uint32_t place;        // the last one passed (jit/stop_places.h), or kNoStopPlace
  LaneMask lanes;             // active there
};

// Lanes of a warp. The same for every block of a launch.
struct alignas(16) WarpShape {
  std::uint32_t tid_base[3];  // tid of lane 0 (linear and rows shapes)
  LaneMask mask;              // lanes that exist
};

// WarpContext::region of a warp that has ended and handed over to its successor.
inline constexpr std::uint32_t kEndedRegion = ~0u;

// The warp that runs; the device reads it here.
struct RunningWarp {
  struct WarpContext* warp;
  std::uint64_t ended;  // warps that ended and handed over to a successor
};

struct WarpContext {
  const std::uint8_t* params;      // kernel parameter buffer, laid out as the .param list
  const std::uint64_t* globals;    // device address of each module variable (index as in ptx::Module::variables)
  const std::uint64_t* functions;  // machine address of each function of the module, for indirect calls (0: none)
  SiteState* sites;
  std::uint64_t* scoreboard;
  std::uint8_t* shared;                     // host address of the block's shared memory
  std::uint64_t shared_size;                // static + dynamic bytes
  events::LateLoads* late_loads;            // of the block; only in kernels compiled with `watched`
  std::uint64_t dynamic_shared_offset;      // of `.extern .shared`
  std::uint8_t* local;                      // host address of the warp's local memory: word w of lane l at (w*32 + l)*4
  std::uint64_t local_size;                 // bytes a thread
  std::uint64_t local_top;                  // stack pointer of .func frames: next free byte a thread
  const volatile std::uint32_t* interrupt;  // non-zero: call wg_interrupt at the next loop back edge
  std::uint32_t nctaid[3], ntid[3];
  alignas(16) std::uint32_t ctaid[3];
  std::uint32_t smid;
  // Per-warp fields, 2 x 16 bytes. Kernels without regions copy the next warp's values here: that warp then continues
  // in place of the one that ends (codegen/kernel/regions.h).
  alignas(16) std::uint32_t tid_base[3];  // as in WarpShape
  LaneMask initial_mask;
  std::uint32_t warp;    // index in the block
  LaneMask exited;       // lanes that executed exit/ret of the kernel
  std::uint32_t region;  // where the warp continues: 0 at the start, n after the n-th barrier that ends a region
  std::uint32_t spin;    // back-edge count of spin loops
  const WarpShape *next_shape, *last_shape;  // warps to run in place of this one when it ends; equal: none
  // The warp's time in SM cycles. In kernels that read a clock, machine code advances it for every instruction
  // (codegen/kernel/clock.cpp). The device advances it at barriers and after a warp has waited for others.
  std::uint64_t cycles;
  std::uint32_t issue_cycles;  // from an instruction to a dependent one
  std::uint32_t sm_clock_khz;
  std::uint32_t cluster_dim[3], cluster_rank;
  std::uint32_t explicit_cluster;          // non-zero: clusters of more than one block
  std::uint32_t total_shared, all_shared;  // bytes: static + dynamic, rounded up; the same plus the driver's own
  std::uint32_t env[4];  // %envreg1, 2: grid barrier workspace of cooperative groups (driver's own protocol)
  std::uint64_t graph;   // %current_graph_exec
  alignas(64) std::uint32_t tid[3][kWarpSize];
  alignas(64) std::uint32_t scratch[512];  // output area of runtime calls, for any size up to 2 KiB
  // Lanes that meet at a `.sync` operation. `brought` holds the value of each; after the meeting, the values of all
  // participants.
  alignas(64) std::uint32_t members[kWarpSize];
  alignas(64) std::uint64_t brought[kWarpSize];
  LaneMask participants;
  std::uint32_t barrier_result;  // result of bar.red, for a warp or lanes that waited
  std::uint8_t* frame;  // the warp's values while it waits at the end of a region (CompiledKernel::region_bytes)
  // Next warp to run when this one ends or reaches __syncthreads() as a whole (device/execution/rounds.h). Null: ask
  // the device.
  WarpContext* successor;
  RunningWarp* running;        // a warp that hands over to its successor writes it
  std::uint32_t barrier_site;  // site of the barrier at which it last handed over
  std::uint32_t alone;         // not 0: the block has no other warp, and nothing observes its barriers
  void* runtime;               // the device's own structures (block, worker, launch)
  // Distance from a byte of memory to its shadow byte, whose set bits mark undefined (never written) bits. One for
  // global memory, one for the block's shared memory, one for the warp's local memory. Only in kernels compiled for
  // definedness.
  std::uint64_t global_shadow, shared_shadow, local_shadow;
  std::uint32_t capability;  // compute capability of the GPU, times 10: decides how tensor cores add
  // Only in kernels with stops. stop_flags: a byte for each place; not 0: call wg_stop. steps: places passed.
  StopFrame* stop_frame;
  const std::uint8_t* stop_flags;
  std::uint64_t steps;
};

static_assert(offsetof(WarpContext, initial_mask) == offsetof(WarpContext, tid_base) + offsetof(WarpShape, mask));
static_assert(offsetof(WarpContext, warp) == offsetof(WarpContext, tid_base) + sizeof(WarpShape));
static_assert(offsetof(WarpContext, spin) == offsetof(WarpContext, warp) + 12);

// Runs a warp to its end, or to a barrier that ends a region. There it continues with the warp's successor or the warp
// that wg_come_to_barrier returns, or it returns. `frame` is the warp's frame.
using WarpFunction = void (*)(WarpContext*, std::uint8_t* frame);

}  // namespace warpgrind::jit

// ---- Functions called by machine code. All are extern "C" and never throw. After a fault they do not return: the
// device leaves the warp's fiber for good. Vectors are arrays of 32 lanes; element e of a vector access of lane l lies
// at [(e*32 + l)]. Sizes and types come from the Site (events/site.h) with that number.
extern "C" {
struct wg_context;  // = warpgrind::jit::WarpContext (C linkage keeps names readable in the IR)

// Memory, in any space the site may access. Generic addresses are resolved. Shared sites pass offsets in shared space,
// local sites offsets in the thread's local memory.
void wg_load(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask, void* out);
void wg_store(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask,
              const void* values);
// Affine: lane address = base + kx*X(lane) + ky*Y(lane). Refills the site's inline cache when mask is full.
void wg_load_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                    std::uint32_t mask, void* out);
void wg_store_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                     std::uint32_t mask, const void* values);
// Counts a partial-warp access that machine code has checked and makes itself.
void wg_count_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                     std::uint32_t mask);
// Counts the site's kept requests and empties the list.
void wg_count_lanes(void* context, std::uint32_t site);
// Shows observers an access that the inline cache would serve at a watched site. Returns 0 if observers want every
// detail: machine code must then call wg_load or wg_store.
std::uint32_t wg_watch(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                       std::uint32_t mask);
// One address for the warp; `out` receives one element (all vector parts).
void wg_load_uniform(void* context, std::uint32_t site, std::uint64_t base, std::uint32_t mask, void* out);
// Shadows of the bytes that ld and st move, with the parameters of wg_load and wg_store. wg_store marks the stored
// bytes as defined; wg_store_shadow corrects that.
void wg_load_shadow(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask, void* out);
void wg_load_shadow_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                           std::uint32_t mask, void* out);
void wg_load_shadow_uniform(void* context, std::uint32_t site, std::uint64_t base, std::uint32_t mask, void* out);
void wg_store_shadow(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask,
                     const void* values);
void wg_store_shadow_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                            std::uint32_t mask, const void* values);
// Records source and destination of undefined bits that machine code itself loaded or stored, to report their origin.
void wg_undefined_moved(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                        std::uint32_t mask);
// A decision depends on undefined bits of these lanes. `use`: Definedness::Use in codegen/kernel/definedness.h.
void wg_undefined_use(void* context, std::uint32_t site, std::uint32_t lanes, std::uint32_t use);
// An atomic operation has written undefined operands of these lanes to memory.
void wg_undefined_update(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t lanes);
// Function parameters on the stack: copy `words` words of each lane between planes and local memory at `offset`.
void wg_put_on_stack(void* context, std::uint32_t site, std::uint32_t mask, std::uint64_t offset, const void* planes,
                     std::uint32_t words);
void wg_take_from_stack(void* context, std::uint32_t site, std::uint32_t mask, std::uint64_t offset, void* planes,
                        std::uint32_t words);
// isspacep: writes 1 or 0 for each lane.
void wg_is_constant(void* context, std::uint8_t* out, const std::uint64_t* addresses);
void wg_is_parameter(void* context, std::uint8_t* out, const std::uint64_t* addresses);

// Control.
void wg_barrier(void* context, std::uint32_t instruction, std::uint32_t id, std::uint32_t threads,
                std::uint32_t mask);  // threads 0 = all
std::uint32_t wg_barrier_reduce(void* context, std::uint32_t instruction, std::uint32_t id, std::uint32_t threads,
                                std::uint32_t mask, std::uint32_t predicate_mask,
                                std::uint32_t op);  // op 0 popc, 1 and, 2 or
// The same for a whole warp at the end of a region. Returns the context to continue with: this warp's, another one's,
// or null, which makes the kernel's function return. The result of a reduction is in WarpContext::barrier_result.
void* wg_come_to_barrier(void* context, std::uint32_t instruction, std::uint32_t id, std::uint32_t threads,
                         std::uint32_t mask);
void* wg_come_to_barrier_reduce(void* context, std::uint32_t instruction, std::uint32_t id, std::uint32_t threads,
                                std::uint32_t mask, std::uint32_t predicate_mask, std::uint32_t op);
void wg_cluster_arrive(void* context, std::uint32_t instruction, std::uint32_t mask);
void wg_cluster_wait(void* context, std::uint32_t instruction, std::uint32_t mask);
void wg_barrier_arrive(void* context, std::uint32_t instruction, std::uint32_t id, std::uint32_t threads,
                       std::uint32_t mask);
// Lanes `mask` are in a spin loop: lets other warps and blocks run. Returns 1 if other lanes of this warp must get a
// turn, because they can continue or because nothing else can.
std::uint32_t wg_yield(void* context, std::uint32_t mask);
// Called before a store that must not overtake other warps' reads after a barrier (flow/wait_points.h).
void wg_let_others_pass(void* context);
// The warp is at a place whose stop flag is set. `lanes`: the active ones.
void wg_stop(void* context, std::uint32_t lanes, std::uint32_t place);
// Divergent lanes that wait for each other (device/execution/paths.cpp). The caller has stored its state in `paths` and
// saved the registers that its lanes need. It continues at paths->target with paths->mask.
void wg_meet(void* context, std::uint32_t site, std::uint32_t place, void* paths);
void wg_wait_at_barrier(void* context, std::uint32_t site, std::uint32_t place, std::uint32_t id, std::uint32_t threads,
                        std::uint32_t predicate_mask, std::uint32_t op, void* paths);  // op as above, 3: none
void wg_wait_for_cluster(void* context, std::uint32_t site, std::uint32_t place, void* paths);
void wg_give_way(void* context, std::uint32_t site, std::uint32_t place, void* paths);  // a spin loop
void wg_next_path(void* context, void* paths);           // the running lanes have arrived at their target, or returned
std::uint32_t wg_join_path(void* context, void* paths);  // 1: more lanes continue here, restore their registers as well
// A `.sync` operation whose members all run together. Called only if an observer wants it, with WarpContext::members
// set.
void wg_warp_sync(void* context, std::uint32_t site, std::uint32_t mask);
void wg_exit(void* context, std::uint32_t site, std::uint32_t mask);  // lanes leave the kernel; called only if observed
// Warnings: a shuffle reads lanes that do not take part (they deliver 0); named members cannot arrive.
void wg_absent_lanes(void* context, std::uint32_t site, std::uint32_t readers);
void wg_missing_members(void* context, std::uint32_t site, std::uint32_t mask, std::uint32_t missing);
void wg_interrupt(void* context, std::uint32_t instruction, std::uint32_t mask);  // back edge while *interrupt != 0
[[noreturn]] void wg_bad_branch_index(void* context, std::uint32_t instruction, std::uint32_t mask);
[[noreturn]] void wg_trap(void* context, std::uint32_t instruction, std::uint32_t mask);
// A call needs `needed` bytes of the thread's stack, more than are left.
[[noreturn]] void wg_stack_overflow(void* context, std::uint32_t instruction, std::uint64_t needed, std::uint32_t mask);
// is_function: `address` is a function, but its signature differs from the call's.
void wg_indirect_call_fault(void* context, std::uint32_t instruction, std::uint64_t address, std::uint32_t is_function);
}
