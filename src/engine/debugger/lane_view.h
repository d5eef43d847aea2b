// What an expression of the user can see: one lane in one frame of a stopped warp. The debugger implements it over a
// running launch (stopped_warp.h), tests over plain arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "debuginfo/debug_info.h"
#include "gpu/types.h"

namespace warpgrind::debugger {

// A place in memory. generic and global: an address of the program; shared: an offset in the block's shared memory;
// local: an offset in the lane's local memory; param: an offset in the kernel's parameters; const: as global.
struct Address {
  StateSpace space = StateSpace::generic;
  std::uint64_t value = 0;
};

class LaneView {
 public:
  virtual ~LaneView() = default;

  virtual debuginfo::DebugInfo& info() const = 0;
  virtual debuginfo::CodePlace code() const = 0;  // the next instruction of the frame's PTX function
  virtual std::uint32_t frame() const = 0;        // in DebugInfo::frames(code()): inlined calls
  virtual unsigned lane() const = 0;
  virtual std::uint32_t warp() const = 0;  // in the block
  virtual Dim3 thread_index() const = 0;
  virtual Dim3 block_index() const = 0;
  virtual Dim3 block_dim() const = 0;
  virtual Dim3 grid_dim() const = 0;

  // Bits of a PTX register of the frame, in the low bits (128 bits: two words). The second word is 0 for all others.
  struct RegisterBits {
    std::uint64_t low = 0, high = 0;
  };
  virtual RegisterBits read_register(ptx::RegId reg) const = 0;
  // Why the register's value is not known; empty: it is. read_register() returns 0 then. Kernels without variables of
  // the source keep a value only as long as it is used.
  virtual std::string why_unknown(ptx::RegId) const { return {}; }
  // A register that is the same in all lanes is changed in all of them. Refused for a function of the lane's number.
  virtual Status write_register(ptx::RegId reg, RegisterBits bits) = 0;

  // Place of a PTX variable of the module or of the frame's function. Error: it has none in this kernel.
  virtual Result<Address> address_of(const debuginfo::InVariable& variable) const = 0;
  // Error: nothing is allocated there, or not all of it, in words for the user.
  virtual Status read(Address from, std::span<std::uint8_t> bytes) const = 0;
  virtual Status write(Address to, std::span<const std::uint8_t> bytes) = 0;
  // Sets the bits of `undefined` that were never written. It comes zeroed, and stays so where that is not known.
  virtual void read_undefined(Address /*from*/, std::span<std::uint8_t> /*undefined*/) const {}
  // True if no path from the function's beginning to code() writes the register.
  virtual bool is_unset(ptx::RegId /*reg*/) const { return false; }
  // Bits of a register that come from what was never written, as far as that is known.
  virtual std::uint64_t undefined_bits(ptx::RegId reg) const { return is_unset(reg) ? ~std::uint64_t{0} : 0; }
  // "in a 4096-byte allocation, byte 16", or why not; for pointers. Empty: nothing is known.
  virtual std::string describe(Address address) const = 0;
};

}  // namespace warpgrind::debugger
