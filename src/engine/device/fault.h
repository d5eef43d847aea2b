// Faults of kernels: recording them and ending the launch. Messages give the problem, the place and the thread. The
// first fault in (block, warp) order counts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "device/device.h"
#include "device/state.h"

namespace warpgrind::device {

// Raises a fault of lane `lane` at the instruction of `site`. Does not return: the worker abandons the launch. The
// caller must hold nothing that needs a destructor.
[[noreturn]] void raise(jit::WarpContext& context, std::uint32_t site, unsigned lane, FaultKind kind,
                        std::string message, std::string advice = {}, std::uint64_t address = 0,
                        std::uint32_t bytes = 0);

// Returns a fault with the source place of a site, without a thread.
Fault describe(const Launch& launch, FaultKind kind, std::uint32_t site);
void set_thread(Fault& fault, const jit::WarpContext& context, unsigned lane);
// Keeps the fault if it is the first in (block, warp) order, and stops the launch, or with shares (block_share.h) all
// blocks from this one on.
void record(Launch& launch, Fault fault, std::uint64_t block, std::uint32_t warp);
// Adds a warning, at most one per launch and site.
void warn(jit::WarpContext& context, std::uint32_t site, unsigned lane, FaultKind kind, std::string message,
          std::string advice);
// Same, of a block that has ended: of its thread `thread`.
void warn_at_end(Worker& worker, std::uint32_t site, Dim3 block, Dim3 thread, FaultKind kind, std::string message,
                 std::string advice);
// Text of a fault or warning.
struct FaultText {
  FaultKind kind = FaultKind::illegal_address;
  std::string message, advice;
};
// size: bytes of the thread's stack; needed: lower bound of the bytes needed; what: the thing that did not fit ("call",
// "access").
FaultText stack_overflow_text(const char* what, std::uint64_t size, std::uint64_t needed);
// Adds `lanes` to the warning about accesses that go on. At most one warning per kind and site; `text` is called once.
void count_went_on(jit::WarpContext& context, std::uint32_t site, unsigned lane, FaultKind kind, unsigned lanes,
                   const std::function<FaultText()>& text);
// Keeps the fault that would have ended the launch if no observer wanted invalid accesses. The first in (block, warp)
// order is kept; `text` is called only then.
void keep_first(jit::WarpContext& context, std::uint32_t site, unsigned lane, std::uint64_t address,
                std::uint32_t bytes, const std::function<FaultText()>& text);
// Counts one such access. Ends the launch, and does not return, if there are too many (events::InvalidAccess).
void count_invalid(jit::WarpContext& context, std::uint32_t site);
// "block (0,0,0), warp 3 (threads 96-127): waits at a barrier in scale(float*) at kernel.cu:12"
std::string place_of(const Launch& launch, const WarpFiber& fiber, std::uint32_t site, const char* what);

// The same place as a FaultPlace; lanes: the waiting lanes.
FaultPlace fault_place(const Launch& launch, const WarpFiber& fiber, std::uint32_t site, LaneMask lanes,
                       std::string what);

// "read of 4 bytes at 0x...: 400 bytes past the end of a 4096-byte allocation"
std::string describe_address(const char* verb, std::uint64_t address, std::uint64_t bytes);
// Place of an access outside `size` bytes, relative to them: "4 bytes before the beginning of", "just past the end of".
std::string beside_text(std::int64_t offset, std::uint64_t size);
std::string address_advice(std::uint64_t address);

}  // namespace warpgrind::device
