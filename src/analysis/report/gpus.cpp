// Lists of the GPU models and of the figures of one model.
#include "report/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "report/format.h"

namespace warpgrind::report {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

const char* rule_text(CoalescingRule rule) {
  switch (rule) {
    case CoalescingRule::half_warp_strict:
      return "half-warps: lane k takes word k of an aligned segment, else 32 bytes a lane";
    case CoalescingRule::half_warp_segments:
      return "half-warps: 32-, 64- and 128-byte segments";
    case CoalescingRule::lines_128:
      return "128-byte lines for loads, 32-byte sectors for stores";
    case CoalescingRule::sectors_32:
      return "32-byte sectors of 128-byte lines";
  }
  return "unknown";
}

std::string bank_text(const BankRule& b) {
  std::string out = fmt::format("{} banks of {} bytes, {} lanes at a time", b.banks, b.bank_bytes, b.lanes);
  if (b.paired_words) out += "; words i and i + 32 of 64 go together (8-byte banks in 4-byte mode)";
  return out;
}

class Lines {
 public:
  void add(const char* label, const std::string& text) { out_ += "  " + left(label, 26) + text + "\n"; }
  std::string take() { return std::move(out_); }
  void heading(const std::string& text) { out_ += text + "\n"; }

 private:
  std::string out_;
};

// One line per figure: value, unit, origin, meaning. The names are those of the model's file.
void add_timing(const GpuModel& m, Lines& l) {
  l.heading("what pieces of work take (for the time estimate)");
  if (!m.timing_measured_on.empty()) l.heading("  measured: " + m.timing_measured_on);
  const std::span<const TimingFigure> figures = timing_figures();
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const TimingFigure& f = figures[i];
    const TimingSource& source = m.timing_sources[i];
    const std::string from = source.from.empty() ? std::string() : " (" + source.from + ")";
    l.heading("  " + left(f.name, 34) + left(fmt::format("{:g} {}", m.timing.*f.value, f.unit), 20) + f.what + "; " +
              name(source.origin) + from);
  }
}

// The model's name without its maker and brand, and as many of its words as fit into the list.
std::string listed_name(const GpuModel& m) {
  constexpr std::size_t kWidth = 20;
  std::string name = m.name;
  for (const std::string_view prefix : {"NVIDIA ", "GeForce "})
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  while (name.size() > kWidth && name.find(' ') != std::string::npos) name.erase(name.rfind(' '));
  return name;
}

// The number of figures of the time estimate with this origin.
std::string count_text(const GpuModel& m, TimingOrigin origin) {
  const auto same = [&](const TimingSource& source) { return source.origin == origin; };
  const auto count = std::count_if(m.timing_sources.begin(), m.timing_sources.end(), same);
  return count == 0 ? "-" : fmt::format("{}", count);
}

}  // namespace

std::string gpus_text() {
  std::string out = left("id", 14) + left("name", 21) + right("cc", 5) + right("SMs", 4) + right("MHz", 5) +
                    right("GiB", 6) + right("GB/s", 6) + right("meas.", 6) + right("publ.", 6) + right("deriv.", 7) +
                    "\n";
  for (const GpuModel& m : gpu_models())
    out += left(m.id, 14) + left(listed_name(m), 21) + right(fmt::format("{}.{}", m.cc_major, m.cc_minor), 5) +
           right(fmt::format("{}", m.sm_count), 4) + right(fmt::format("{:.0f}", m.sm_clock_mhz), 5) +
           right(fmt::format("{:.1f}", static_cast<double>(m.memory_bytes) / kGiB), 6) +
           right(fmt::format("{:.0f}", m.theoretical_bandwidth() * 1e-9), 6) +
           right(count_text(m, TimingOrigin::measured), 6) + right(count_text(m, TimingOrigin::literature), 6) +
           right(count_text(m, TimingOrigin::assumed), 7) + "\n";
  out += fmt::format(
      "\nmeas., publ., deriv.: how many of the {} figures of the time estimate were\n"
      "measured on that GPU, were published, or follow by a rule from other figures.\n"
      "Sizes and limits were published. Default: h200.\n"
      "warpgrind gpus NAME shows all figures and their sources.\n",
      timing_figures().size());
  return out;
}

std::string gpu_text(const GpuModel& m) {
  Lines l;
  l.heading(fmt::format("{} ({}), compute capability {}.{}, {}", m.name, m.id, m.cc_major, m.cc_minor, m.architecture));
  l.heading("execution");
  l.add("SMs", fmt::format("{}", m.sm_count));
  l.add("SM clock", fmt::format("{:.0f} MHz (base {:.0f} MHz)", m.sm_clock_mhz, m.base_clock_mhz));
  l.add("cores an SM", fmt::format("{} FP32, {} FP64, {} integer, {} special, {} load/store", m.cores_fp32_per_sm,
                                   m.cores_fp64_per_sm, m.cores_int_per_sm, m.sfu_per_sm, m.ldst_per_sm));
  l.add("peak FP32", fmt::format("{:.1f} GFLOP/s = 2 x {} x {} x {:.0f} MHz", m.peak_flops(32) * 1e-9, m.sm_count,
                                 m.cores_fp32_per_sm, m.sm_clock_mhz));
  if (m.cores_fp64_per_sm != 0)
    l.add("peak FP64", fmt::format("{:.1f} GFLOP/s = 2 x {} x {} x {:.0f} MHz", m.peak_flops(64) * 1e-9, m.sm_count,
                                   m.cores_fp64_per_sm, m.sm_clock_mhz));
  l.add("schedulers an SM", fmt::format("{}", m.schedulers_per_sm));
  l.add("an SM holds at most", fmt::format("{} blocks, {} warps, {} threads, {} registers", m.max_blocks_per_sm,
                                           m.max_warps_per_sm, m.max_threads_per_sm, m.registers_per_sm));
  l.add("a block holds at most", fmt::format("{} threads, {} of shared memory ({} on request)", m.max_threads_per_block,
                                             with_bytes(static_cast<double>(m.shared_per_block)),
                                             with_bytes(static_cast<double>(m.shared_per_block_optin))));
  l.add("shared memory an SM", with_bytes(static_cast<double>(m.shared_per_sm)));
  l.heading("memory");
  l.add("size", fmt::format("{} ({} bytes), ECC {}", with_bytes(static_cast<double>(m.memory_bytes)), m.memory_bytes,
                            m.ecc ? "on" : "off"));
  const double bandwidth = m.theoretical_bandwidth();
  l.add("theoretical bandwidth",
        fmt::format("{:.1f} GB/s = {:.1f} GiB/s (GB = 10^9, GiB = 2^30 bytes)", bandwidth * 1e-9, bandwidth / kGiB));
  l.add("  computed as", fmt::format("{:g} MHz x {:g} transfers a clock x {} bit / 8", m.memory_clock_mhz,
                                     m.memory_data_rate, m.memory_bus_bits));
  l.add("  taken as reachable", fmt::format("{:.0f} % = {:.1f} GB/s", 100 * m.achievable_bandwidth_fraction,
                                            bandwidth * m.achievable_bandwidth_fraction * 1e-9));
  l.add("L2, L1 an SM", m.l2_bytes == 0 ? std::string("none")
                                        : with_bytes(static_cast<double>(m.l2_bytes)) + ", " +
                                              with_bytes(static_cast<double>(m.l1_bytes)));
  l.add("global accesses", rule_text(m.rules.coalescing));
  l.add("shared accesses", bank_text(m.rules.banks));
  l.heading("links (for the time estimate)");
  const TimingConstants& c = m.timing;
  l.add("host link", fmt::format("{}: pinned {:g} GB/s to the device, {:g} back; pageable {:g} and {:g}", m.link_name,
                                 c.pinned_to_device_gbps, c.pinned_to_host_gbps, c.pageable_to_device_gbps,
                                 c.pageable_to_host_gbps));
  if (c.peer_copy_gbps > 0) l.add("to another GPU", fmt::format("{:g} GB/s one way", c.peer_copy_gbps));
  l.add("between two events", fmt::format("empty kernel {:g} us, copy of 4 bytes {:g} us", c.launch_event_ns * 1e-3,
                                          c.pinned_to_device_latency_ns * 1e-3));
  l.add("copy engines", fmt::format("{}", m.copy_engines));
  add_timing(m, l);
  l.heading("sources");
  for (const std::string& s : m.sources) l.heading("  - " + s);
  return l.take();
}

}  // namespace warpgrind::report
