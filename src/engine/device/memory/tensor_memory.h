// Tensor memory of one block (PTX ISA, "Tensor Memory"): 128 lanes of 512 columns of 32 bits, allocated by columns. It
// also knows which columns asynchronous operations still write or read, so that a missing wait can be reported. The
// operations themselves are done when they are issued.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gpu/types.h"

namespace warpgrind::device {

class TensorMemory {
 public:
  static constexpr unsigned kLanes = 128, kColumns = 512, kUnit = 32;
  static constexpr unsigned kQuarters = 4, kQuarterLanes = 32;  // a warp reaches one quarter of the lanes

  // Thread that issues an operation.
  struct Thread {
    std::uint32_t rank = 0, warp = 0, lane = 0;  // rank: of its block in the cluster
    friend bool operator==(const Thread&, const Thread&) = default;
  };
  struct Allocation {
    unsigned first = 0, columns = 0;
    std::uint32_t site = 0, warp = 0;
  };
  // Columns of some quarters of the lanes (bit per quarter).
  struct Range {
    unsigned first = 0, columns = 0;
    unsigned quarters = 0;
  };
  // Why an access must not be made yet.
  enum class Hazard : std::uint8_t {
    none,
    unwritten,    // nothing has written the columns since their allocation
    uncommitted,  // an mma, cp or shift writes them that no tcgen05.commit tracks
    unfinished,   // ... and no thread of the cluster has waited for its mbarrier
    stored,       // a tcgen05.st writes them, without tcgen05.wait::st
    loaded        // a tcgen05.ld reads them, without tcgen05.wait::ld
  };
  struct Finding {
    Hazard hazard = Hazard::none;
    unsigned column = 0;
    std::uint32_t site = 0;  // of the other instruction
  };

  TensorMemory();
  // Forgets all. Called when a block begins to use the memory. `fill`: byte that unwritten cells contain.
  void begin(std::uint8_t fill);

  // Returns the first column; nullopt: there is no room now.
  std::optional<unsigned> allocate(unsigned columns, std::uint32_t site, std::uint32_t warp);
  bool release(unsigned first, unsigned columns, std::uint32_t site);  // false: there is no such allocation
  // Site that freed the column last; null: it was never freed, or is allocated again.
  const std::uint32_t* freed_at(unsigned column) const;
  const std::vector<Allocation>& allocations() const { return allocations_; }
  bool is_allocated(unsigned first, unsigned columns) const;
  unsigned last_size() const { return last_size_; }  // of the last allocation; 0: none
  // Allocations with .cta_group::2, which both blocks of a pair make together.
  unsigned pair_allocations() const { return pair_allocations_; }
  void count_pair_allocation() { ++pair_allocations_; }
  bool has_given_up() const { return given_up_; }
  void give_up() { given_up_ = true; }

  // All tcgen05 instructions of a kernel use the same .cta_group. Returns false for another one than before.
  bool uses_group(unsigned group);

  std::uint32_t* row(unsigned lane) { return cells_.get() + std::size_t{lane} * kColumns; }

  // Moves each lane of a quarter, except for the first, to the lane before; the last one also keeps its words.
  void shift_lanes(unsigned quarter, unsigned first, unsigned columns);

  // Accesses of ld and st by one warp, and of mma, cp and shift by one thread. Each reports what it must wait for.
  Finding load(const Range& range, std::uint32_t warp, std::uint32_t site);
  Finding store(const Range& range, std::uint32_t warp, std::uint32_t site);
  Finding read(const Range& range) const;
  Finding write(const Range& range, const Thread& by, std::uint32_t site);
  void wait_loads(std::uint32_t warp);
  void wait_stores(std::uint32_t warp);

  // An mbarrier tracks what `by` has issued: the one at `offset` in the shared memory of the blocks `ranks` (bit per
  // rank), in the phase of its parity there (`parities`, bit per rank).
  void commit(const Thread& by, std::uint64_t offset, std::uint32_t ranks, std::uint32_t parities);
  // A thread has seen that phase complete.
  void complete(std::uint32_t rank, std::uint64_t offset, bool parity);
  // First operation that is not known to have completed; null: none.
  const std::uint32_t* open_site() const;

 private:
  enum class State : std::uint8_t { issued, committed, done };
  // Operations of one thread between two commits.
  struct Batch {
    Thread by;
    std::uint32_t site = 0;
    State state = State::issued;
    std::uint64_t offset = 0;
    std::uint32_t ranks = 0, parities = 0;
  };
  struct Cell {
    std::uint32_t batch = 0;  // number of the batch that writes it + 1; 0: none
    std::uint32_t store_site = 0, load_site = 0;
    std::uint8_t stored_by = 0, loaded_by = 0;  // warp + 1; 0: none
    bool written = false;
  };
  template <class F>
  void each(const Range& range, F&& f);
  template <class F>
  void each(const Range& range, F&& f) const;
  Finding unfinished(const Cell& cell, unsigned column) const;
  std::uint32_t batch_of(const Thread& by, std::uint32_t site);

  std::unique_ptr<std::uint32_t[]> cells_;
  std::unique_ptr<std::array<Cell, kColumns>[]> states_;  // by quarter
  std::vector<Allocation> allocations_, freed_;           // freed_: by the dealloc's site, oldest first
  std::vector<Batch> batches_;
  std::size_t first_open_ = 0;  // all batches before are done
  unsigned last_size_ = 0, group_ = 0, pair_allocations_ = 0;
  bool given_up_ = false;
};

}  // namespace warpgrind::device
