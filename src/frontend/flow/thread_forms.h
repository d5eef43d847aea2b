// Values of registers as linear functions of the thread and block indexes, for one launch: base + 4 * (ctaid.x * ntid.x
// + tid.x), with the launch's numbers. nullopt: any other value, and a value that may wrap around. A value computed
// under a condition is given as if the condition held.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "flow/definitions.h"
#include "gpu/types.h"
#include "ptx/ast.h"

namespace warpgrind::flow {

struct ThreadForm {
  static constexpr unsigned kIndexes = 6;  // tid.x, y, z, ctaid.x, y, z
  std::int64_t constant = 0;
  std::array<std::int64_t, kIndexes> steps{};
  friend bool operator==(const ThreadForm&, const ThreadForm&) = default;
};

// Numbers of a launch, as its threads see them.
struct LaunchNumbers {
  Dim3 grid, block;
  // `bytes` (4 or 8) of parameter `index` from `offset` on, zero-extended. nullopt: not available.
  std::function<std::optional<std::uint64_t>(std::uint32_t index, std::uint64_t offset, unsigned bytes)> parameter;
  std::array<std::uint64_t, ThreadForm::kIndexes> extents() const {
    return {block.x, block.y, block.z, grid.x, grid.y, grid.z};
  }
};

class ThreadForms {
 public:
  // Keeps references to both arguments.
  ThreadForms(const Definitions& definitions, const LaunchNumbers& launch);
  // Form of the address of a memory operand [register + offset].
  std::optional<ThreadForm> address(const ptx::Operand& operand);
  struct Range {
    std::int64_t low = 0, high = 0;  // over all threads
  };
  static std::optional<Range> range(const ThreadForm& form, const LaunchNumbers& launch);

 private:
  using Value = std::optional<ThreadForm>;
  enum class State : std::uint8_t { unknown, in_progress, known };
  Value of(const ptx::Operand& operand, unsigned bits);
  Value of_register(ptx::RegId r);
  Value result(const ptx::Instruction& i);
  Value loaded(const ptx::Instruction& i);
  Value converted(const ptx::Instruction& i);
  Value product(const ptx::Instruction& i);
  Value shifted(const ptx::Instruction& i);
  Value joined(const ptx::Instruction& i);
  Value special(ptx::SpecialRegister s) const;
  Value fitting(const Value& v, unsigned bits) const;

  const Definitions& definitions_;
  const LaunchNumbers& launch_;
  std::vector<State> state_;  // by register
  std::vector<Value> values_;
};

}  // namespace warpgrind::flow
