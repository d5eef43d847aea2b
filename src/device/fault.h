// Ends a launch because of what its kernel did. Texts say what, where and who; the first fault (by block and warp)
// counts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "device/device.h"
#include "device/execution/state.h"

namespace warpgrind::device {

// A fault of lane `lane` at the instruction of `site`. Does not return: the worker gives up the launch. Callers must
// hold nothing that needs a destructor.
[[noreturn]] void raise(jit::WarpContext& context, std::uint32_t site, unsigned lane, FaultKind kind,
                        std::string message, std::string advice = {}, std::uint64_t address = 0,
                        std::uint32_t bytes = 0);

// Source place of a site; no thread.
Fault describe(const Launch& launch, FaultKind kind, std::uint32_t site);
void set_thread(Fault& fault, const jit::WarpContext& context, unsigned lane);
// Keeps the fault if it is the first by (block, warp) order, and stops the launch.
void record(Launch& launch, Fault fault, std::uint64_t block, std::uint32_t warp);
// Once a launch and site.
void warn(jit::WarpContext& context, std::uint32_t site, unsigned lane, FaultKind kind, std::string message,
          std::string advice);
// The same for accesses of `lanes` threads that go on; the text is asked for once.
struct FaultText {
  FaultKind kind = FaultKind::illegal_address;
  std::string message, advice;
};
// size: bytes of the thread's stack; needed: at least, for what did not fit ("call", "access").
FaultText stack_overflow_text(const char* what, std::uint64_t size, std::uint64_t needed);
void count_went_on(jit::WarpContext& context, std::uint32_t site, unsigned lane, FaultKind kind, unsigned lanes,
                   const std::function<FaultText()>& text);
// The fault that would have ended a launch which goes on, because somebody observes invalid accesses: kept if it is the
// first by (block, warp) order. The text is asked for if it is.
void keep_first(jit::WarpContext& context, std::uint32_t site, unsigned lane, std::uint64_t address,
                std::uint32_t bytes, const std::function<FaultText()>& text);
// One more of these. Ends the launch when there are too many (events::InvalidAccess): does not return then.
void count_invalid(jit::WarpContext& context, std::uint32_t site);
// "kernel.cu:12 (ptx line 40), block (0,0,0), warp 3: waits at barrier 0"
std::string place_of(const Launch& launch, const WarpFiber& fiber, std::uint32_t site, const char* what);

// The same as one that waits; lanes: those that do.
FaultPlace fault_place(const Launch& launch, const WarpFiber& fiber, std::uint32_t site, LaneMask lanes,
                       std::string what);

// "read of 4 bytes at 0x...: 400 bytes past the end of a 4096-byte allocation"
std::string describe_address(const char* verb, std::uint64_t address, std::uint64_t bytes);
std::string address_advice(std::uint64_t address);

}  // namespace warpgrind::device
