// Counters of the predicted machine code: instructions, pipes, and merged accesses.
#include "counters/machine_counters.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "base/as_double.h"

namespace warpgrind::counters {
namespace {

using events::SiteKind;
using sass::Instruction;

struct Pair {
  MetricId machine, ptx;
};
constexpr Pair kSame[] = {
    {MetricId::shared_ld_inst, MetricId::shared_ld_requests},
    {MetricId::machine_shared_ld_wavefronts, MetricId::shared_ld_wavefronts},
    {MetricId::machine_shared_ld_conflicts, MetricId::shared_ld_conflicts},
    {MetricId::machine_shared_ld_ideal, MetricId::shared_ld_ideal},
    {MetricId::shared_st_inst, MetricId::shared_st_requests},
    {MetricId::machine_shared_st_wavefronts, MetricId::shared_st_wavefronts},
    {MetricId::machine_shared_st_conflicts, MetricId::shared_st_conflicts},
    {MetricId::machine_shared_st_ideal, MetricId::shared_st_ideal},
    {MetricId::machine_fadd, MetricId::fadd},
    {MetricId::machine_fmul, MetricId::fmul},
    {MetricId::machine_ffma, MetricId::ffma},
    {MetricId::machine_dadd, MetricId::dadd},
    {MetricId::machine_dmul, MetricId::dmul},
    {MetricId::machine_dfma, MetricId::dfma},
    {MetricId::machine_hadd, MetricId::hadd},
    {MetricId::machine_hmul, MetricId::hmul},
    {MetricId::machine_hfma, MetricId::hfma},
    {MetricId::machine_divergent, MetricId::divergent_branches},
    {MetricId::machine_inst, MetricId::inst},
    {MetricId::machine_thread_inst, MetricId::thread_inst},
    {MetricId::machine_thread_inst_on, MetricId::thread_inst_on},
};

// Active lanes of machine instructions, after the guards of their PTX instructions.
class LanesOn {
 public:
  LanesOn(const events::KernelFacts& facts, const events::LaunchCounts& counts) : counts_(counts) {
    for (std::size_t g = 0; g < facts.guards.size() && g < counts.guard_lanes.size(); ++g)
      guards_[{facts.guards[g].block, facts.guards[g].instruction}] = counts.guard_lanes[g];
  }
  double of(const Instruction& i) const {
    if (i.facts_block >= counts_.blocks.size()) return 0;
    if (!i.guarded) return as_double(counts_.blocks[i.facts_block].lanes);
    const auto it = guards_.find({i.facts_block, i.ptx});
    return as_double(it == guards_.end() ? counts_.blocks[i.facts_block].lanes : it->second);
  }

 private:
  const events::LaunchCounts& counts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> guards_;
};

// Nsight Compute's counters of accesses of 8, 16, 32, 64, 128 bits per lane. They include accesses without an active
// lane. Constants and textures have units of their own.
void add_width(Values& v, const Instruction& i, double warps) {
  const bool counted =
      i.pipe == sass::Pipe::global || i.pipe == sass::Pipe::shared || i.pipe == sass::Pipe::local || i.atomic;
  if (i.bytes == 0 || !counted) return;
  const unsigned parts = std::max(1u, i.bytes / 16u), bytes = i.bytes / parts;
  warps *= i.requests;
  const auto width = static_cast<unsigned>(std::countr_zero(std::bit_ceil(bytes)));
  v.add(static_cast<MetricId>(static_cast<unsigned>(MetricId::memory_8b) + width), warps * parts);
}

// The pipe counters are those of Volta and later; older GPUs had other pipes.
bool has_counted_pipes(const LaunchShape& shape) {
  return shape.model != nullptr && shape.model->cc_major >= 7;
}
MetricId of_pipe(std::size_t pipe) {
  return static_cast<MetricId>(static_cast<std::size_t>(MetricId::pipe_alu) + pipe);
}

// The tensor memory accelerator is Hopper's and later.
bool exists(const LaunchShape& shape, std::size_t pipe) {
  return pipe != static_cast<std::size_t>(sass::CountedPipe::tma) || shape.model->cc_major >= 9;
}

void add_pipes(Values& v, const LaunchShape& shape, const sass::Code& code, const sass::Flow& flow) {
  std::array<double, sass::kCountedPipes> sums{};
  for (std::size_t b = 0; b < code.blocks.size(); ++b)
    for (const Instruction& i : code.blocks[b].instructions)
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += flow.times(b, i) * i.on_pipe[k];
  const auto add = [&](sass::CountedPipe pipe, std::uint64_t n) {
    sums[static_cast<std::size_t>(pipe)] += as_double(n);
  };
  for (const sass::Flow::SlowPath& s : flow.slow_paths) {
    add(sass::CountedPipe::alu, s.counts.alu);
    add(sass::CountedPipe::fma, s.counts.fma);
    add(sass::CountedPipe::fp64, s.counts.fp64);
    add(sass::CountedPipe::xu, s.counts.special);
  }
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (exists(shape, k)) v.set(of_pipe(k), std::round(sums[k]));  // on_pipe is an average
}

// Products on the tensor cores. Measured on an H200 only, so only Hopper has these counters.
void add_tensor(Values& v, const sass::Code& code, const sass::Flow& flow) {
  struct Rows {
    MetricId instructions, cycles;
  };
  constexpr Rows kRows[] = {{MetricId::tensor_hmma, MetricId::tensor_hmma_cycles},
                            {MetricId::tensor_imma, MetricId::tensor_imma_cycles},
                            {MetricId::tensor_dmma, MetricId::tensor_dmma_cycles}};
  for (const Rows& r : kRows) v.add(r.instructions, 0), v.add(r.cycles, 0);
  for (const MetricId id : {MetricId::tensor_gmma, MetricId::gmma_wavefronts, MetricId::gmma_conflicts}) v.add(id, 0);
  bool known = true;
  for (std::size_t b = 0; b < code.blocks.size(); ++b)
    for (const Instruction& i : code.blocks[b].instructions) {
      const double times = flow.times(b, i);
      const bool product = i.pipe == sass::Pipe::tensor_half || i.pipe == sass::Pipe::tensor_double;
      if (product && i.tensor.pipe == sass::TensorPipe::none) known &= times == 0;
      if (i.tensor.pipe == sass::TensorPipe::none) continue;
      const Rows& rows = kRows[static_cast<std::size_t>(i.tensor.pipe) - 1];
      v.add(rows.instructions, times * i.tensor.instructions);
      v.add(rows.cycles, times * i.tensor.cycles);
      if (i.tensor.group) v.add(MetricId::tensor_gmma, times);
      v.add(MetricId::gmma_wavefronts, times * i.tensor.wavefronts);
    }
  v.set(MetricId::gmma_wavefronts, std::round(v.get(MetricId::gmma_wavefronts)));
  if (known) return;
  for (const Rows& r : kRows) v.remove(r.instructions), v.remove(r.cycles);
}

void add_instructions(Values& v, const sass::Code& code, const sass::Flow& flow, const LanesOn& lanes_on) {
  for (const sass::Flow::SlowPath& s : flow.slow_paths) {
    v.add(MetricId::machine_inst, as_double(s.counts.instructions));
    v.add(MetricId::machine_thread_inst, as_double(s.counts.thread_instructions));
    v.add(MetricId::machine_thread_inst_on, as_double(s.counts.thread_instructions));
  }
  for (std::size_t b = 0; b < code.blocks.size(); ++b) {
    if (flow.warps[b] == 0) continue;
    for (const Instruction& i : code.blocks[b].instructions) {
      const double on = lanes_on.of(i);
      add_width(v, i, flow.warps[b]);
      v.add(MetricId::machine_inst, flow.times(b, i) * i.issue);
      v.add(MetricId::machine_thread_inst, flow.lanes_of(b, i) * i.issue);
      v.add(MetricId::machine_thread_inst_on, on * flow.share(b, i) * i.issue);
      for (std::size_t k = 0; k < sass::kOperations; ++k)
        if (i.operations[k] != 0)
          v.add(static_cast<MetricId>(static_cast<std::size_t>(MetricId::machine_fadd) + k), on * i.operations[k]);
    }
  }
}

// Cost in shared memory of the instruction, which may do the work of several accesses.
const AccessCost& shared_cost(const Instruction& i, const events::Site& site, const events::SiteCounts& c) {
  return i.bytes > site.bytes() ? c.joint : c.shared;
}

void add_shared(Values& v, const Instruction& i, const events::Site& site, const events::SiteCounts& c) {
  if (c.shared_requests == 0) return;
  const AccessCost& cost = shared_cost(i, site, c);
  const bool load = site.kind == SiteKind::load;
  v.add(load ? MetricId::shared_ld_inst : MetricId::shared_st_inst, as_double(c.shared_requests));
  v.add(load ? MetricId::machine_shared_ld_wavefronts : MetricId::machine_shared_st_wavefronts,
        as_double(cost.wavefronts));
  v.add(load ? MetricId::machine_shared_ld_conflicts : MetricId::machine_shared_st_conflicts,
        as_double(cost.bank_conflicts));
  v.add(load ? MetricId::machine_shared_ld_ideal : MetricId::machine_shared_st_ideal, as_double(cost.ideal_wavefronts));
}

// Spilled registers: whole warps access them, 32 bits per lane and word.
void add_spills(Values& v, const sass::Spills& spills, const sass::Code& code, const sass::Flow& flow) {
  constexpr double kSectorsOfWord = 4;
  const sass::Spills::OfBlock n = sass::count_spills(spills, code, flow).all;
  v.set(MetricId::spill_ld, std::round(n.loads));
  v.set(MetricId::spill_st, std::round(n.stores));
  v.set(MetricId::spill_ld_sectors, std::round(kSectorsOfWord * n.load_words));
  v.set(MetricId::spill_st_sectors, std::round(kSectorsOfWord * n.store_words));
  v.set(MetricId::spill_bytes, as_double(spills.bytes));
}

// Aggregated atomic: one lane adds for its warp, so a request has one sector of one line.
void aggregate(Values& v, const events::Site& site, const events::SiteCounts& c) {
  const double requests = as_double(c.global_requests);
  v.add(site.no_return ? MetricId::global_red_sectors : MetricId::global_atom_sectors,
        requests - as_double(c.global.sectors));
  v.add(site.no_return ? MetricId::global_red_lines : MetricId::global_atom_lines,
        requests - as_double(c.global.lines));
}

}  // namespace

bool of_tensor_cores(MetricId id) {
  return id >= MetricId::tensor_hmma && id <= MetricId::gmma_conflicts;
}

void add_machine_values(Values& v, const LaunchShape& shape, const events::KernelFacts& facts,
                        const events::LaunchCounts& counts) {
  const bool modelled = shape.code != nullptr && !shape.code->blocks.empty();
  for (const Pair& p : kSame) v.set(p.machine, modelled ? 0 : v.get(p.ptx));
  if (!modelled) return;
  const sass::Flow flow = sass::flow_of(*shape.code, facts, counts);
  for (unsigned width = 0; width < 5; ++width)
    v.set(static_cast<MetricId>(static_cast<unsigned>(MetricId::memory_8b) + width), 0);
  add_instructions(v, *shape.code, flow, LanesOn(facts, counts));
  if (has_counted_pipes(shape)) add_pipes(v, shape, *shape.code, flow);
  if (shape.model != nullptr && shape.model->cc_major == 9) add_tensor(v, *shape.code, flow);
  if (shape.spills != nullptr) add_spills(v, *shape.spills, *shape.code, flow);
  for (const sass::Block& block : shape.code->blocks)
    for (const Instruction& i : block.instructions) {
      if (i.bytes == 0 || i.site >= facts.sites.size() || i.site >= counts.sites.size()) continue;
      const events::Site& site = facts.sites[i.site];
      if (site.kind == SiteKind::load || site.kind == SiteKind::store) add_shared(v, i, site, counts.sites[i.site]);
      if (i.aggregated) aggregate(v, site, counts.sites[i.site]);
    }
  // `issue` is an average, so the sums may be fractional.
  for (const MetricId id : {MetricId::machine_inst, MetricId::machine_thread_inst, MetricId::machine_thread_inst_on})
    v.set(id, std::round(v.get(id)));
  for (std::size_t b = 0; b < counts.branches.size() && b < shape.code->predicated.size(); ++b)
    if (!shape.code->predicated[b]) v.add(MetricId::machine_divergent, as_double(counts.branches[b].divergent));
}

void MachineAccess::add(const MachineAccess& other) {
  instructions += other.instructions;
  shared_requests += other.shared_requests;
  shared_wavefronts += other.shared_wavefronts;
  shared_ideal += other.shared_ideal;
  shared_conflicts += other.shared_conflicts;
}

std::vector<MachineAccess> machine_accesses(const LaunchShape& shape, const events::KernelFacts& facts,
                                            const events::LaunchCounts& counts) {
  std::vector<MachineAccess> left;
  if (shape.code == nullptr || shape.code->blocks.empty()) return left;
  left.resize(facts.sites.size());
  for (const sass::Block& block : shape.code->blocks)
    for (const Instruction& i : block.instructions) {
      if (i.bytes == 0 || i.site >= left.size() || i.site >= counts.sites.size()) continue;
      const events::SiteCounts& c = counts.sites[i.site];
      const AccessCost& shared = shared_cost(i, facts.sites[i.site], c);
      left[i.site].add(
          {c.requests, c.shared_requests, shared.wavefronts, shared.ideal_wavefronts, shared.bank_conflicts});
    }
  return left;
}

}  // namespace warpgrind::counters
