// The recording of one block while it runs. All calls come from the thread that runs the block.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/fault.h"
#include "device/state.h"
#include "events/events.h"
#include "observers/profile_observer.h"
#include "recorder/lane_variables.h"
#include "results/recording.h"

namespace warpgrind::recorder {

class BlockRecording {
 public:
  // Limits of one recording. `most_bytes`: of its texts, about as the profile has them; 0: nothing is recorded.
  struct Limits {
    std::size_t most_steps = 20000, most_bytes = 0;
    bool values_of_global_memory = true;
    bool is_last = false;  // most_bytes is what the recordings before it left over
  };
  BlockRecording(const events::Launch& launch, const Dim3& index, const observers::Watched& watched,
                 const Limits& limits);

  const Dim3& index() const { return out_.index; }
  std::uint64_t linear() const { return linear_; }

  // Before the first stop: what the launch's memory and code are.
  void begin(const device::Launch& launch, debuginfo::DebugInfo& info);
  // A warp of the block is at a place, before it goes on from there.
  void stop(const debugger::StoppedWarp& warp, LaneMask lanes, std::uint32_t place);
  // Accesses of the block, and those of other blocks of its cluster to its shared memory.
  void add(const events::Access& access, const std::string& from);
  void arrive(const events::Barrier& barrier);
  void pass(const events::BarrierPassed& barrier);
  void end();  // of the block
  // The launch ends by `fault`. warp: that made it; nullopt: several, or one of another block.
  void fault(const device::Fault& fault, std::optional<std::uint32_t> warp);

  // No more is recorded.
  bool is_full() const { return !out_.cut.empty(); }
  bool has_ended() const { return ended_; }
  std::size_t bytes() const { return bytes_; }
  // Of its ids of allocations the profile has rows.
  results::Recording take(results::Profile& profile);

 private:
  struct Warp {
    static constexpr std::uint32_t kNone = ~0u;
    std::uint32_t step = kNone;                                      // the last one
    std::uint32_t place = kNone;                                     // of the machine code, the last one that it passed
    LaneMask lanes = 0;                                              // at the last step
    std::array<std::uint32_t, kWarpSize> last{};                     // the last step of each lane; kNone: none
    std::map<std::pair<std::string, std::uint32_t>, LaneMask> done;  // file and line: lanes that were there
  };
  struct Written {  // by the step, and read from memory when it is over
    std::uint32_t step = 0, access = 0;
    std::uint64_t host = 0;
    LaneMask mask = 0;
    std::array<std::uint64_t, kWarpSize> addresses{};
    std::array<std::uint32_t, kWarpSize> sizes{};
  };
  struct Object {
    observers::AllocationRange range;
    std::string fallback;  // name of the parameter or variable by PTX
    std::string format;    // of its numbers by the first instruction that names one
  };

  Warp& warp(std::uint32_t number);
  std::uint32_t place_of(const debugger::StoppedWarp& warp);
  void add_step(std::uint32_t warp, std::uint32_t place, LaneMask lanes);
  results::RecordedStep* current(std::uint32_t warp, LaneMask lanes);
  void settle();
  static std::vector<std::int64_t> words_of(const Written& written);
  void add_changes(const debugger::StoppedWarp& stopped, Warp& w, LaneMask lanes);
  void count(std::size_t bytes);
  std::uint32_t object_of(const events::Access& access, std::uint64_t address, std::uint64_t* origin);
  void guess_format(const events::Access& access, std::uint64_t offset);
  void guess_format(const events::Access& access, Object& object) const;
  std::string why_full() const;
  void name_objects(results::Profile& profile);

  const observers::Watched& watched_;
  const Limits limits_;
  const events::Launch launch_;  // its spans and pointers are valid while the launch runs
  std::uint64_t linear_ = 0;
  results::Recording out_;
  std::unique_ptr<LaneVariables> variables_;
  std::vector<results::SharedVariable> by_layout_;  // names and sizes from the PTX
  std::map<std::string, std::uint32_t> place_numbers_;
  std::map<std::uint32_t, Warp> warps_;
  std::vector<LaneMask> step_lanes_;
  std::vector<Written> written_;
  std::vector<Object> objects_;
  std::size_t bytes_ = 0;
  bool ended_ = false;
};

}  // namespace warpgrind::recorder
