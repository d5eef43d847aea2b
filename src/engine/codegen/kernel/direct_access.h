// Data transfer of accesses that the inline cache has found good: plain loads and stores of the host.
#pragma once

#include <optional>
#include <vector>

#include "codegen/kernel/addresses.h"

namespace warpgrind::jit {

class DirectAccess {
 public:
  DirectAccess(FunctionContext& context, LaneMasks& masks) : f_(context), ir_(context.ir()), masks_(masks) {}
  std::vector<llvm::Value*> load(const Address& a, StateSpace space, llvm::Type* element, unsigned count);
  void store(const Address& a, StateSpace space, llvm::Type* element, const std::vector<llvm::Value*>& values);
  // At least one lane must be active.
  void store_some(const Address& a, StateSpace space, llvm::Type* element, llvm::Value* value);
  void go_to_shadow(bool shadow) { shadow_ = shadow; }  // from now on accesses the memory's shadow (jit/abi.h)

 private:
  llvm::Value* host_pointer(llvm::Value* address, StateSpace space);
  llvm::Value* lane_pointers(const Address& a, llvm::Value* pointer);
  // Pattern of the lanes that share a row (f_.layout.row_length). The step is a constant number of elements. In a dense
  // row the lanes own all elements. With step 0 they read one place.
  struct Rows {
    unsigned lanes = 1, step = 0, elements = 1;  // of a row, counted from its lowest address
    bool backwards = false, dense = false;
    unsigned first_of(unsigned lane) const { return (backwards ? lanes - 1 - lane : lane) * step; }
  };
  std::optional<Rows> rows_of(const Address& a, unsigned bytes, unsigned count) const;
  llvm::Value* row_pointer(const Address& a, llvm::Value* pointer, const Rows& rows, unsigned r);
  llvm::Value* load_row(const Rows& rows, llvm::Value* at, llvm::Type* element);
  std::vector<llvm::Value*> load_rows(const Address& a, llvm::Value* pointer, const Rows& rows, StateSpace space,
                                      llvm::Type* element, unsigned count);
  void store_rows(const Address& a, llvm::Value* pointer, const Rows& rows, llvm::Type* element,
                  const std::vector<llvm::Value*>& values);
  void prefetch_behind(llvm::Value* row, std::uint64_t bytes);
  void store_masked(llvm::Value* value, llvm::Value* at, llvm::Align align, llvm::Value* on, bool alone);
  std::vector<llvm::Value*> load_wholes(llvm::Value* pointers, llvm::Type* element, unsigned count);
  void store_wholes(llvm::Value* pointers, llvm::Type* element, const std::vector<llvm::Value*>& values);
  std::vector<llvm::Value*> load_local(llvm::Value* offset, llvm::Type* element, unsigned count);
  // `lanes`, a <32 x i1>: the lanes to store; null: all.
  void store_local(llvm::Value* offset, llvm::Type* element, const std::vector<llvm::Value*>& values,
                   llvm::Value* lanes);
  bool is_volatile() const;
  llvm::Value* local_memory();

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  bool shadow_ = false;
};

}  // namespace warpgrind::jit
