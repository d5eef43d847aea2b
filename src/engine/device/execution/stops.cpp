// Stops of a debugger: the call of machine code, and what a StopHandler may ask of a launch that runs.
#include "device/execution/rounds.h"
#include "device/state.h"
#include "device/stop_handler.h"
#include "device/symbols.h"

namespace warpgrind::device {

bool is_same(const Fault& a, const Fault& b) {
  return a.kind == b.kind && a.kernel == b.kernel && a.function == b.function && a.ptx_line == b.ptx_line &&
         a.block == b.block && a.thread == b.thread && a.address == b.address && a.bytes == b.bytes;
}

void end_here(jit::WarpContext& context) {
  Launch& launch = launch_of(context);
  launch.stop.store(true);
  launch.interrupt.store(kInterruptStop, std::memory_order_release);
  leave_launch(worker_of(context));
}

void set_stop_flags(Launch& launch, const std::uint8_t* flags) {
  launch.stop_flags = flags;
  for (const auto& worker : *launch.all_workers)
    for (const auto& fiber : worker->fibers)
      if (fiber->launch == launch.serial) fiber->context.stop_flags = flags;
}

namespace {

void stop(void* context, std::uint32_t lanes, std::uint32_t place) {
  auto& c = *static_cast<jit::WarpContext*>(context);
  leave_round(worker_of(c), fiber_of(c));
  launch_of(c).stops->stopped(c, lanes, place);
}

}  // namespace

std::span<const jit::CallSymbol> stop_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_stop", reinterpret_cast<void*>(&wg_stop)}};
  return symbols;
}

}  // namespace warpgrind::device

extern "C" void wg_stop(void* context, std::uint32_t lanes, std::uint32_t place) {
  warpgrind::device::stop(context, lanes, place);
}
