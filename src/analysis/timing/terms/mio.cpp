// MIO terms: work of the memory input/output unit of an SM. It handles wavefronts of shared memory, passes through the
// banks of L1, requests to the texture unit and the constant cache, and barriers.
#include <algorithm>

#include "timing/terms/terms.h"

namespace warpgrind::timing {
namespace {

// A request to constant memory with one address for all lanes overlaps with others: it counts as a quarter of a
// wavefront (fitted to the lab's rows of an H200).
constexpr double kUniformConstant = 0.25;
// Tables up to 2 KiB stay in an SM's constant cache; for larger ones every request counts as a miss.
constexpr double kConstantPart = 2048;

}  // namespace

void add_mio_terms(Terms& t, const Setting& s) {
  const LaunchWork& w = s.work;
  const TimingConstants& c = s.model.timing;
  const Placement& p = s.placed;
  // Wavefronts of bulk and tensor copies are part of the copies' term.
  constexpr double kWavefrontBytes = 128;
  const double copied = (w.copy_load_bytes + w.copy_store_bytes) / kWavefrontBytes;
  t[Limit::shared_throughput] =
      s.cycles(std::max(0.0, w.shared_wavefronts - copied) * p.share * c.shared_wavefront_cycles +
               w.shuffles * p.warps_per_sm * c.shuffle_cycles);
  t[Limit::l1_throughput] = s.cycles((w.l1_load_passes + w.l1_store_passes) * c.l1_pass_cycles * p.share);
  t[Limit::barriers] = s.cycles(w.barriers * c.barrier_sm_cycles_per_warp * p.warps_per_sm);
  t[Limit::texture] = s.cycles(w.textures * c.texture_cycles * p.warps_per_sm);
  const bool scattered = w.constant_wavefronts > 1.5 * w.constant_requests;
  const double addresses = w.constant_wavefronts * c.constant_cycles * (scattered ? 1 : kUniformConstant);
  const double misses = w.constant_span > kConstantPart ? w.constant_requests * c.constant_miss_cycles : 0;
  t[Limit::constant_throughput] = s.cycles(std::max(addresses, misses) * p.share);
}

}  // namespace warpgrind::timing
