// What a debugger is asked while a kernel runs (Options::stops). The engine's debugger implements it (engine/debugger).
// Launches of a device with a handler have one worker, so that a launch that runs again makes the same steps in the
// same order. All calls come from the thread that runs the launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.h"
#include "jit/abi.h"
#include "jit/stop_at.h"

namespace warpgrind::device {

struct Launch;

class StopHandler {
 public:
  virtual ~StopHandler() = default;
  virtual jit::StopAt stops_at() const = 0;  // for kernels that are compiled from now on
  // A launch begins, for the first time or again. May set Launch::stop_flags.
  virtual void begins(Launch& launch) = 0;
  // A warp is at a place whose flag is set; it goes on when this returns. end_here() in its place ends the launch.
  virtual void stopped(jit::WarpContext& context, LaneMask lanes, std::uint32_t place) = 0;
  // A lane of an access touches bytes of a watchpoint (access/watchpoints.h). The data is not moved yet.
  struct Touch {
    unsigned watchpoint = 0;
    std::uint32_t site = 0;
    unsigned lane = 0;
    bool is_write = false;
    LaneMask lanes = 0;  // of the access
  };
  virtual void touched(jit::WarpContext& context, const Touch& touch) = 0;
  // The launch ends by this fault. context: the warp that made it; null: none, or several.
  virtual void faulted(Launch& launch, const Fault& fault, jit::WarpContext* context) = 0;
  // The fault that the next launch must end by, as it did in another process (a core file).
  virtual void expect(const Fault& fault) = 0;
  // Most bytes to keep of memory when a launch begins, so that it can run again.
  virtual std::uint64_t most_kept_bytes() const = 0;
  // The launch has ended. True: memory is restored, and it runs again from its start, or another launch does
  // (Launch::runs_back). Called for each launch that began; never true without Launch::before.
  virtual bool runs_again(Launch& launch) = 0;
  // An error of the program that ends no launch: a finding of the checks, or an error that a CUDA call returns. Called
  // by the thread that finds it, which may be any thread of the program; it goes on when this returns.
  struct Report {
    enum class Kind : std::uint8_t { finding, api } kind = Kind::finding;
    std::string text;    // for the user; may have several lines
    std::string advice;  // what to do; may be empty
    // The accesses of a running launch behind it, the one to show first. Empty: the error is the host's.
    struct Access {
      Dim3 block;
      std::uint32_t warp = 0;
      unsigned lane = 0;
    };
    std::uint64_t launch = 0;  // its serial number
    std::vector<Access> accesses;
    // Of the host: the CUDA call, and the return addresses outside our libraries, innermost first.
    std::string call;
    std::vector<const void*> callers;
  };
  virtual bool wants(Report::Kind kind) = 0;  // else reported() does nothing
  virtual void reported(const Report& report) = 0;
};

// The same kind at the same instruction, in the same thread and at the same address.
bool is_same(const Fault& a, const Fault& b);

// Abandons the launch of this warp, without a fault. For StopHandler::stopped(), before the launch runs again. The
// caller's frames are never left: they must own nothing.
[[noreturn]] void end_here(jit::WarpContext& context);
// Sets the flags of all warps of the launch, of those that run and those that start later.
void set_stop_flags(Launch& launch, const std::uint8_t* flags);

}  // namespace warpgrind::device
