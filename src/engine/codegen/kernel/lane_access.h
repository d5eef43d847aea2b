// Lowering of ld and st with arbitrary lane addresses, by masked gathers and scatters (AVX2 has no scatters). One
// comparison per lane checks the address, and machine code makes the access in place (LaneRequests in jit/abi.h).
// Irregular requests are kept and counted later with others. Usually all lanes are contiguous or evenly spaced, but the
// compiler cannot know it: the index comes from a division, or nvcc has split a loop's iterations by four.
#pragma once

#include "codegen/kernel/addresses.h"
#include "codegen/kernel/counting.h"
#include "codegen/kernel/sites.h"

namespace warpgrind::jit {

class LaneAccess {
 public:
  LaneAccess(FunctionContext& context, LaneMasks& masks, Sites& sites, Counting& counting)
      : f_(context),
        ir_(context.ir()),
        masks_(masks),
        sites_(sites),
        counting_(counting),
        width_(context.unit.options.shape == LaneShape::half ? kWarpSize / 2 : kWarpSize) {}
  // Whether this class handles the current instruction, with `count` elements of `bytes` a lane.
  bool serves(const Address& a, StateSpace space, unsigned bytes, unsigned count) const;
  // Whether it handles affine accesses that the inline cache does not: some lanes are on, or inactive ones are out of
  // bounds. Without it, a block of 16 threads that walks a diagonal of shared memory calls the device each time.
  bool serves_apart(const Address& a, StateSpace space, unsigned bytes, unsigned count) const;
  // Whether it handles irregular lane addresses as well.
  static bool gathers(unsigned count);

  // Continues here if all lanes are good, otherwise at `slow`. Returns the distances of the lanes from the start of the
  // window, for keep() and load_irregular().
  llvm::Value* begin(llvm::Value* addresses, llvm::Value* state, unsigned bytes, StateSpace space,
                     llvm::BasicBlock* slow);
  // Same, for accesses that serves_apart() accepts. Full warps go to `slow`, where the device refills the inline cache.
  llvm::Value* begin_apart(llvm::Value* addresses, llvm::Value* state, unsigned bytes, StateSpace space,
                           llvm::BasicBlock* slow);
  struct Ways {
    llvm::BasicBlock *expected, *strided, *irregular;  // expected step; another constant step; irregular
  };
  // Expected step: `bytes` (a lane's, so lanes are contiguous), or the larger step found by flow/lane_steps.h.
  std::int64_t expected_step(const Address& a, unsigned bytes) const;
  void branch(llvm::Value* addresses, llvm::Value* state, std::int64_t expected, const Ways& ways);
  Address expected(llvm::Value* addresses, std::int64_t step);
  Address strided(llvm::Value* addresses, llvm::Value* state);
  void count_regular(llvm::Value* addresses, llvm::Value* state);
  void keep(llvm::Value* distances, llvm::Value* state);
  llvm::Value* load(llvm::Value* addresses, StateSpace space, llvm::Type* element);
  void store(llvm::Value* addresses, StateSpace space, llvm::Value* value);
  // The same for lanes that are often near each other. distances: of begin(). Their code is longer: with it in all
  // accesses of some lanes, Rodinia's nw, which has thousands of them, would take 1.7 times as long.
  llvm::Value* load_irregular(llvm::Value* addresses, llvm::Value* distances, llvm::Value* state, StateSpace space,
                              llvm::Type* element);
  void store_irregular(llvm::Value* addresses, StateSpace space, llvm::Value* value);
  // The same for accesses of some lanes (begin_apart()). Lanes side by side need no gathers and scatters.
  llvm::Value* load_apart(Address& a, llvm::Value* addresses, StateSpace space, llvm::Type* element);
  void store_apart(Address& a, llvm::Value* addresses, StateSpace space, llvm::Value* value);

 private:
  // Lanes near lane 0: elements of 4 bytes within 32 elements from its own.
  llvm::Value* load_near(llvm::Value* addresses, llvm::Value* distances, llvm::Value* state, StateSpace space,
                         llvm::Type* element);
  llvm::Value* narrow(llvm::Value* addresses, StateSpace space);
  llvm::Value* all_active(llvm::Value* lanes);
  llvm::Value* none_has(llvm::Value* lanes, std::uint64_t bits);
  void check_avx2(llvm::Value* distances, llvm::Value* state, unsigned bytes, llvm::BasicBlock* quick,
                  llvm::BasicBlock* slow);
  llvm::Value* splat_first(llvm::Value* lanes);
  llvm::Value* pointer_of(llvm::Value* addresses, unsigned lane, StateSpace space);
  bool side_by_side(const Address& a, llvm::Type* element) const;
  llvm::Value* row_of(llvm::Value* lanes, unsigned row);
  void store_one_by_one(llvm::Value* pointers, llvm::Value* value);  // at least one lane is active
  // Of the lanes: 32-bit offsets from one pointer, or addresses (64 bits; base: null).
  struct Places {
    llvm::Value *base, *offsets;
  };
  struct Words {
    Places places;       // 4-byte words that hold smaller elements
    llvm::Value* shift;  // to the right, in bits, <32 x i32>
  };
  bool serves_order() const;
  bool left_in(bool serves) const;
  llvm::Value* step(llvm::Value* state);
  Address in_steps(llvm::Value* addresses, llvm::Value* step);
  llvm::MDNode* weights(std::uint32_t first, std::uint32_t second) const;
  // Vectors here have 16 lanes if no others are ever on: gathers and scatters of as many take half of the time.
  llvm::Type* vector(llvm::Type* element) const { return llvm::FixedVectorType::get(element, width_); }
  llvm::Value* splat(llvm::Value* value) { return ir_.CreateVectorSplat(width_, value); }
  llvm::Value* own(llvm::Value* lanes);         // the first lanes of 32
  llvm::Value* all_lanes(llvm::Value* of_own);  // 32 lanes; those that are never on have 0
  llvm::Value* mask();                          // of the active lanes
  llvm::Value* gather(const Places& places, llvm::Type* element, unsigned alignment);
  llvm::Value* gather_avx2(const Places& places, llvm::Type* element);
  void scatter(llvm::Value* value, const Places& places);
  llvm::Value* permuted(llvm::Value* row, llvm::Value* index);
  llvm::Value* pointers(const Places& places);
  Places lane_places(llvm::Value* addresses, StateSpace space);
  Places local_words(llvm::Value* addresses, std::uint64_t next);
  Words words(llvm::Value* addresses, StateSpace space);
  void store_part_of_words(llvm::Value* addresses, llvm::Value* value, unsigned bits);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Sites& sites_;
  Counting& counting_;
  const unsigned width_;
};

}  // namespace warpgrind::jit
