// Terms of a kernel's time, one file each; all in ns. Sources of the formulas: measurements on an H200 (the `timing`
// part of its model) unless a file says otherwise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gpu/gpu_model.h"
#include "timing/fitted.h"
#include "timing/launch_work.h"

namespace warpgrind::timing {

// Resource that limits a kernel.
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

// Distribution of a grid's blocks over the SMs. All members but `share` are at least 1.
struct Placement {
  double per_sm = 1;        // blocks of the grid per SM
  double resident = 1;      // resident blocks per SM
  double waves = 1;         // rounds of resident blocks
  double busy_sms = 1;      // SMs with at least one block
  double share = 1;         // part of the launch's work that one SM does
  double warps = 1;         // of the launch
  double warps_per_sm = 1;  // over the whole launch
  double warps_per_scheduler = 1;
  double resident_warps = 1;  // per scheduler, 1 to 16
};
Placement place(const GpuModel& model, const LaunchWork& work);

// Contents of L2 at the start of a launch.
struct L2State {
  double dirty_bytes = 0;  // lines that must be written back before they are replaced
  double resident = 0;     // part of the launch's memory that is in L2, 0 to 1
  double code = 0;         // part of the kernel's machine code that is in L2, 0 to 1
  bool operator==(const L2State&) const = default;
};

// Part of some memory that is still in L2 after `bytes` were touched since the start of its last use, its own bytes
// included. For an L2 of 60 MB: all of it up to 20 MB, nothing from 60 MB on (Jacobi sweeps of several sizes on an
// H200).
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

void add_sm_terms(Terms& terms, const Setting& s);     // issue, pipes
void add_mio_terms(Terms& terms, const Setting& s);    // shared memory, L1, textures, constants, barriers
void add_copies_term(Terms& terms, const Setting& s);  // bulk and tensor copies
// A block's time: `path` is a warp's without its waits for copies. fresh: part of what blocks read that is in DRAM.
double copy_wait_cycles(const Setting& s, double path, double fresh);
// Until a block's first copy has arrived and a warp knows of it, from DRAM.
double first_copy_cycles(const Setting& s);
void add_l2_terms(Terms& terms, const Setting& s);    // L2 and partial writes
void add_link_terms(Terms& terms, const Setting& s);  // memory of the host and other GPUs, migration of managed memory
double link_latency_cycles(const Setting& s);         // of a load; assumed equal for the host and other GPUs
// Traffic of DRAM. Bytes are weighted by their cost there (pieces, isolated lines, partial sectors).
struct DramTraffic {
  double read = 0, written = 0, evicted = 0;  // bytes
  double allocated = 0;                       // bytes of L2 lines that the launch allocates
};
DramTraffic dram_traffic(const Setting& s);
void add_dram_term(Terms& terms, const Setting& s);
void add_atomics_term(Terms& terms, const Setting& s);
// The loads on a warp's path.
struct LoadsOfPath {
  double fresh = 0;    // part of what the running blocks read that no earlier block has read: it comes from DRAM
  double latency = 0;  // mean of those that miss L1, cycles
  double rounds = 0;   // how often the path waits for memory
};
LoadsOfPath loads_of_path(const Setting& s);
void add_latency_term(Terms& terms, const Setting& s);
double first_access_ns(const Setting& s);               // what a launch takes longer if it accesses memory
void add_launch_terms(Terms& terms, const Setting& s);  // blocks, instruction fetch, the launch itself
// Clock while the tensor cores of all SMs, and L2, are busy for these shares of the time.
double busy_clock_mhz(const GpuModel& model, double tensor_share, double l2_share);
// The kernel's time from its terms.
double combine(const Terms& terms, const Setting& s);

}  // namespace warpgrind::timing
