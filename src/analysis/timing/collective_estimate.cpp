// Time estimates of collective operations: constants, and the formulas of ring and tree.
#include "timing/collective_estimate.h"

#include <algorithm>
#include <cmath>

namespace warpgrind::timing {
namespace {

// Fitted to NCCL 2.28.9 on two H200s (lab/results/h200/nccl-x2.csv); the steps of more GPUs are assumed to take as
// long. The protocol for small messages has short steps, but half of the bytes that it sends are flags.
constexpr double kCollectiveStartNs = 7000;
struct Protocol {
  double step_ns;  // one hop over a direct link
  double share;    // of the bandwidth that the operation reaches
};
constexpr Protocol kProtocols[] = {{2500, 0.5}, {8000, 1}};
constexpr double kThroughHostNs = 1000;  // added to each hop where GPUs have no direct link

// What an operation reaches with long arrays, as a share of copies from GPU to GPU.
double reached(Collective::Kind kind) {
  using Kind = Collective::Kind;
  switch (kind) {
    case Kind::all_reduce:
      return 0.77;
    case Kind::all_gather:
    case Kind::reduce_scatter:
      return 0.65;
    case Kind::all_to_all:
    case Kind::send:
    case Kind::receive:
      return 0.77;
    case Kind::reduce:
    case Kind::broadcast:
    case Kind::gather:
    case Kind::scatter:
      break;
  }
  return 0.92;
}

// Link of one GPU to the others, one way.
struct Link {
  double gbps, hop_ns;
};
Link link_of(const TimingConstants& c) {
  if (c.peer_copy_gbps > 0) return {c.peer_copy_gbps, 0};
  return {std::min(c.pinned_to_device_gbps, c.pinned_to_host_gbps), kThroughHostNs};
}

// Serial steps, and the bytes that pass the busiest link.
struct Path {
  double steps, bytes;
};
double time_of(const Link& link, const Path& path) {
  double best = 0;
  for (const Protocol& p : kProtocols) {
    const double ns = path.steps * (p.step_ns + link.hop_ns) + path.bytes / (link.gbps * p.share);
    best = best == 0 ? ns : std::min(best, ns);
  }
  return best;
}

double estimate(Link link, const Collective& c) {
  using Kind = Collective::Kind;
  link.gbps *= reached(c.kind);
  const double n = c.ranks, others = n - 1, shared = c.bytes * others / n;
  switch (c.kind) {
    case Kind::all_reduce:
      // A tree sums upwards and sends the result down; it has fewer steps, and a node has two children.
      return std::min(time_of(link, {2 * others, 2 * shared}),
                      time_of(link, {2 * std::ceil(std::log2(n)), 2 * c.bytes}));
    case Kind::reduce:
    case Kind::broadcast:
      return time_of(link, {others, c.bytes});
    case Kind::all_gather:
    case Kind::reduce_scatter:
      return time_of(link, {others, shared});
    case Kind::all_to_all:
    case Kind::gather:
    case Kind::scatter:
      return time_of(link, {1, shared});
    case Kind::send:
    case Kind::receive:
      return time_of(link, {1, c.bytes});
  }
  return 0;
}

}  // namespace

double estimate_collectives(const GpuModel& model, const std::vector<Collective>& collectives) {
  const Link direct = link_of(model.timing);
  double total = kCollectiveStartNs, sent = 0, received = 0;
  for (const Collective& c : collectives) {
    if (c.kind == Collective::Kind::send)
      sent += c.bytes;
    else if (c.kind == Collective::Kind::receive)
      received += c.bytes;
    else if (c.ranks == 1)
      total += 2 * c.bytes / model.timing.dram_copy_gbps;
    else
      total += estimate(direct, c);
  }
  if (const double bytes = std::max(sent, received); bytes > 0)
    total += estimate(direct, {Collective::Kind::send, 2, bytes});
  return total;
}

}  // namespace warpgrind::timing
