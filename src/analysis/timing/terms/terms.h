// The terms of a kernel's time, one file each; all in ns. Sources of the formulas: measurements on an H200 (the
// `timing` part of its model) unless a file says otherwise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gpu/gpu_model.h"
#include "timing/fitted.h"
#include "timing/launch_work.h"

namespace warpgrind::timing {

// What can bind a kernel.
enum class Limit : std::uint8_t {
#define WG_TERM(id, text) id,
#include "timing/terms/terms.inc"
#undef WG_TERM
};
inline constexpr std::size_t kLimits = 0
#define WG_TERM(id, text) +1
#include "timing/terms/terms.inc"
#undef WG_TERM
    ;
const char* name(Limit limit);  // "DRAM bandwidth", ...

class Terms {
 public:
  double& operator[](Limit limit) { return ns_[static_cast<std::size_t>(limit)]; }
  double operator[](Limit limit) const { return ns_[static_cast<std::size_t>(limit)]; }

 private:
  std::array<double, kLimits> ns_{};
};

// How the blocks of a grid lie on the SMs. At least 1 each.
struct Placement {
  double per_sm = 1;        // blocks of the grid an SM, at least 1
  double resident = 1;      // blocks that are on an SM at once
  double waves = 1;         // rounds of them
  double busy_sms = 1;      // with any block
  double share = 1;         // of one SM in the launch: the part of all its work
  double warps = 1;         // of the launch
  double warps_per_sm = 1;  // all that an SM runs
  double warps_per_scheduler = 1;
  double resident_warps = 1;  // a scheduler's at once, 1 to 16
};
Placement place(const GpuModel& model, const LaunchWork& work);

// What L2 holds when the launch begins.
struct L2State {
  double dirty_bytes = 0;  // lines that must be written back before others may take their place
  double resident = 0;     // 0 to 1: the part of what the launch reads that is there
  double code = 0;         // likewise, of the kernel's machine code
  bool operator==(const L2State&) const = default;
};

// The part of some memory that is still in L2 when so many bytes have been touched since it was gone through, its own
// too: all of it after 20 MB, nothing after 60 MB of an L2 of 60 MB (an H200's Jacobi sweeps, by size).
double still_there(const GpuModel& model, double bytes);

struct Setting {
  const GpuModel& model;
  const LaunchWork& work;
  const Fitted& fitted;
  Placement placed;
  L2State l2;
  double cycle_ns = 1;
  double cycles(double n) const { return n * cycle_ns; }
};

void add_sm_terms(Terms& terms, const Setting& s);    // issue, pipes
void add_mio_terms(Terms& terms, const Setting& s);   // shared memory, L1, textures, constants, barriers
void add_l2_terms(Terms& terms, const Setting& s);    // and partial writes
void add_link_terms(Terms& terms, const Setting& s);  // the host's memory, other GPUs', managed memory that moves
double link_latency_cycles(const Setting& s);         // of a load; to another GPU it is taken to be that to the host
// Bytes that cross to DRAM count by what they cost there (pieces, lonely lines, parts of sectors).
struct DramTraffic {
  double read = 0, written = 0, evicted = 0;  // bytes
  double allocated = 0;                       // bytes of L2 lines that the launch takes
};
DramTraffic dram_traffic(const Setting& s);
void add_dram_term(Terms& terms, const Setting& s);
void add_atomics_term(Terms& terms, const Setting& s);
void add_latency_term(Terms& terms, const Setting& s);
void add_launch_terms(Terms& terms, const Setting& s);  // blocks, instruction fetch, the launch itself
// The kernel's time from its terms.
double combine(const Terms& terms, const Setting& s);

}  // namespace warpgrind::timing
