// Loads and stores of one basic block at fixed distances from one register (the unrolled steps of a loop over a tile,
// the neighbours of a stencil along a row, what is read and written back): the first one's check answers for all.
// Where the inline cache of the leader, whose window is as much smaller as the group is wide, takes it, its followers
// neither check nor count: the device counts them by the leader's histogram and masks. Else they are calls. A load of a
// tiled multiplication takes 4 instructions so, of 13.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "jit/kernel/function_context.h"

namespace warpgrind::jit {

class AccessGroups {
 public:
  explicit AccessGroups(const FunctionContext& context);

  bool leads(std::uint32_t instruction) const { return leaders_.contains(instruction); }
  // What a follower follows.
  struct Follows {
    std::uint32_t leader;   // an instruction of the same block, before it
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
