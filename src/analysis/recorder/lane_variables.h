// Variables of the lanes of a stopped warp: which of them have another value than at the warp's last stop.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "debugger/stopped_warp.h"
#include "debugger/type_table.h"
#include "debugger/value.h"
#include "observers/profile_observer.h"
#include "results/recording.h"

namespace warpgrind::recorder {

class LaneVariables {
 public:
  LaneVariables(debuginfo::DebugInfo& info, observers::FindAllocation find_allocation);

  // A change of one variable in some lanes, found when the lanes stop again.
  struct Change {
    std::uint32_t variable = 0;
    LaneMask mask = 0;
    std::array<std::string, kWarpSize> texts;
  };
  // Variables of the innermost frame. line_done(lane, line): the lane has executed this line of the file of `frame`.
  using LineDone = std::function<bool(unsigned lane, const debuginfo::SourcePlace& declared)>;
  std::vector<Change> look(const debugger::StoppedWarp& warp, LaneMask lanes, const LineDone& line_done);

  const std::vector<results::RecordedVariable>& variables() const { return variables_; }
  const std::vector<results::SharedVariable>& shared() const { return shared_; }
  // A pointer parameter of the kernel. Found with the first stops of the first warp.
  struct Pointer {
    std::string name, type, format;  // type and format of an element
    std::uint64_t address = 0;
    std::uint32_t element_bytes = 0;
  };
  const std::vector<Pointer>& pointers() const { return pointers_; }

 private:
  // A variable at a stop; its last known values by warp and lane.
  struct Known {
    std::uint32_t number = 0;  // in variables_
    struct Lane {
      bool seen = false, shown = false;
      std::vector<std::uint8_t> bytes;
    };
    std::map<std::uint32_t, std::array<Lane, kWarpSize>> lanes;  // by warp
  };
  struct Visible {
    debuginfo::VisibleVariable variable;
    bool in_shared = false, asked = false;
  };
  using Place = std::pair<debuginfo::CodePlace, std::uint32_t>;

  std::vector<Visible>& visible_at(const debugger::WarpFrame& frame);
  Known& known(const debuginfo::Variable& variable, const debugger::WarpFrame& frame);
  bool is_shared(debugger::LaneContext context, const debuginfo::VisibleVariable& v);
  void add_shared(const debuginfo::VisibleVariable& v, std::uint64_t offset);
  void add_pointer(debugger::LaneContext context, const debuginfo::Variable& variable, const debugger::Value& value);
  std::string text(debugger::LaneContext context, const debugger::Value& value);
  std::optional<std::string> pointer_text(const debugger::Value& value);

  debuginfo::DebugInfo& info_;
  const observers::FindAllocation find_allocation_;
  debugger::ModuleSymbols symbols_;
  debugger::TypeTable types_;
  std::map<Place, std::vector<Visible>> places_;
  std::map<const debuginfo::Variable*, Known> known_;
  std::vector<results::RecordedVariable> variables_;
  std::vector<results::SharedVariable> shared_;
  std::vector<Pointer> pointers_;
};

// Format of the numbers of a type as SharedVariable::format has it, and their bytes; arrays: of their elements.
std::pair<std::string, std::uint32_t> number_format(const debugger::TypeTable& types, debuginfo::TypeId type);

}  // namespace warpgrind::recorder
