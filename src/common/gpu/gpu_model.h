// GPU model: figures only, read from a data file (gpu/models/NAME.json, embedded at build time). Rules that differ by
// compute capability are selected through `rules`, never by #ifdef.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/access_rules.h"
#include "gpu/timing_constants.h"

namespace warpgrind {

struct GpuModel {
  std::string id;    // "h200"
  std::string name;  // as cudaGetDeviceProperties reports it
  std::vector<std::string> aliases;
  int cc_major = 9, cc_minor = 0;
  std::string architecture;  // "Hopper"
  // Execution
  std::uint32_t sm_count = 0, schedulers_per_sm = 4, cores_fp32_per_sm = 128, cores_fp64_per_sm = 64,
                cores_int_per_sm = 64, sfu_per_sm = 16, ldst_per_sm = 32;
  std::uint32_t max_threads_per_sm = 2048, max_warps_per_sm = 64, max_blocks_per_sm = 32, max_threads_per_block = 1024;
  std::uint32_t registers_per_sm = 65536, registers_per_block = 65536, max_registers_per_thread = 255,
                register_allocation_unit = 256;
  std::uint32_t min_registers_per_thread = 0;  // fewest registers of a launch, whatever ptxas reports: 16 on an H200
  std::uint32_t warp_allocation_granularity = 4;
  std::uint64_t shared_per_sm = 0, shared_per_block = 49152, shared_per_block_optin = 0, shared_reserved_per_block = 0,
                shared_allocation_unit = 128;
  std::vector<std::uint64_t> shared_carveouts;  // bytes; empty: fixed
  std::uint32_t max_block_dim[3] = {1024, 1024, 64};
  std::uint64_t max_grid_dim[3] = {2147483647ull, 65535, 65535};
  // Memory
  std::uint64_t memory_bytes = 0, l2_bytes = 0, l1_bytes = 0, constant_bytes = 65536, constant_cache_bytes = 2048;
  // Caches, beyond their sizes (counters/cache_model.h).
  bool l1_caches_global = true;           // L1 caches loads of global memory; it always caches local ones
  std::uint64_t texture_cache_bytes = 0;  // an SM's own cache for textures and ld.global.nc; 0: they use L1
  std::uint32_t dram_piece_bytes = 32;    // bytes of one DRAM read
  // Consecutive blocks go to the `sm_parts` parts of the GPU in turn (an H200 has one for each GPC). In a part,
  // `sms_sharing_requests` neighbouring SMs share one request to L2 for a line. 1, 1: each SM makes its own requests.
  std::uint32_t sm_parts = 1, sms_sharing_requests = 1;
  std::uint32_t memory_bus_bits = 0;
  double memory_clock_mhz = 0;  // as the device query reports it
  double memory_data_rate = 2;  // transfers per clock: 2 (DDR)
  bool ecc = false;
  double sm_clock_mhz = 0;  // boost clock, as the device query reports it
  double base_clock_mhz = 0;
  std::uint32_t texture_alignment = 512, texture_pitch_alignment = 32;
  std::string link_name;                       // link to the host: "PCIe gen 5 x16"; its speed is in `timing`
  double achievable_bandwidth_fraction = 0.8;  // of the theoretical one, for streaming access
  std::uint32_t copy_engines = 2;
  bool concurrent_kernels = true, managed_memory = true, cooperative_launch = true, unified_addressing = true,
       host_register = true;
  AccessRules rules;
  // Durations for the time estimate: from the file, or by the rules of timing_constants.inc.
  TimingConstants timing;
  std::vector<TimingSource> timing_sources;  // one for each of timing_figures()
  std::string timing_measured_on;            // machine and day of the measured ones; may be empty
  std::vector<std::string> sources;          // sources of the figures
  double theoretical_bandwidth() const;      // bytes/s = clock * data rate * bus / 8
  double peak_flops(int bits) const;         // 32 or 64: 2 * cores * SMs * clock
};

const std::vector<GpuModel>& gpu_models();  // each is parsed once
// Finds a model by id or alias, ignoring case, or reads a file NAME.json of the same form. The error names the nearest
// model, or the file, the key and its allowed range.
Result<const GpuModel*> find_gpu_model(std::string_view name);
std::string_view gpu_model_text(std::string_view id);  // the file of one of gpu_models(); empty: no such model

}  // namespace warpgrind
