// Clusters of a grid whose blocks may cancel the launch of others (PTX ISA, clusterlaunchcontrol.try_cancel). A cluster
// that does not fit on the GPU at the start waits for a fixed one: cluster n follows n - r, where r clusters are
// resident. Only the running cluster of such a line cancels its next one, so results and counts do not depend on the
// number of workers. A GPU gives the next cluster to the first that asks.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace warpgrind::device {

class CancellableGrid {
 public:
  // resident: clusters that fit on the GPU together, at least 1.
  CancellableGrid(std::uint64_t clusters, std::uint64_t resident);

  // A worker comes to cluster `number`, each once. Returns a cluster of that line which begins now. nullopt: the line
  // is busy, or all of its clusters have begun or were cancelled.
  std::optional<std::uint64_t> arrive(std::uint64_t number);
  // A running cluster has ended.
  void end(std::uint64_t number);
  // Returns a cluster that begins now because the one before it in its line ended; workers came to it earlier.
  std::optional<std::uint64_t> follow();
  // The running cluster `by` cancels the launch of another one. Returns that one. nullopt: the request fails.
  std::optional<std::uint64_t> cancel(std::uint64_t by);

 private:
  struct Line {
    std::uint64_t next = 0;     // its first cluster that has neither begun nor been cancelled
    std::int64_t arrivals = 0;  // workers that came here, less the clusters that began or were cancelled
    bool busy = false;
  };
  std::uint64_t begin(Line& line);

  const std::uint64_t clusters_;
  std::mutex mutex_;
  std::vector<Line> lines_;             // one for each resident cluster
  std::vector<std::uint64_t> waiting_;  // numbers of lines that became free with an arrival left
};

}  // namespace warpgrind::device
