// Groups of accesses that share one check: loads or stores of one basic block at fixed distances from one register.
// Examples are the unrolled steps of a loop over a tile and the neighbours of a stencil along a row. The first access
// of a group is the leader. Its window in the inline cache is smaller by the extent of the group, so that a hit is
// valid for all followers, too. Followers then neither check nor count: the device counts them by the leader's
// histogram and masks. If the leader misses, followers call the device. As a follower, a load of a tiled multiplication
// takes 4 instructions instead of 13.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "codegen/kernel/function_context.h"

namespace warpgrind::jit {

class AccessGroups {
 public:
  explicit AccessGroups(const FunctionContext& context);

  bool leads(std::uint32_t instruction) const { return leaders_.contains(instruction); }
  // The leader of a follower.
  struct Follows {
    std::uint32_t leader;   // an earlier instruction of the same block
    std::int64_t distance;  // bytes from the leader's addresses
  };
  std::optional<Follows> follows(std::uint32_t instruction) const;

 private:
  struct Open;
  void scan(const FunctionContext& context, const flow::BasicBlock& block);
  void add(std::vector<Open>& open, std::uint32_t index, const ptx::Instruction& access);

  std::unordered_map<std::uint32_t, Follows> followers_;
  std::unordered_set<std::uint32_t> leaders_;
};

}  // namespace warpgrind::jit
