// The thread of the adapter.
#include "adapter/adapter.h"

#include <mutex>
#include <thread>

#include "adapter/requests.h"

namespace warpgrind::adapter {

namespace {

Requests* requests = nullptr;  // never destroyed: kernels may run until the process ends

}  // namespace

events::Observer* memory_observer(MemoryOrigins::DescribeCall describe) {
  if (!requests) return nullptr;
  static MemoryOrigins* const origins = [describe] {
    auto* made = new MemoryOrigins(describe);  // never destroyed, like `requests`
    requests->explain_with([made](std::uint64_t address) { return made->describe(address); });
    return made;
  }();
  return origins;
}

device::StopHandler* debugger_on(int socket) {
  static std::once_flag once;
  std::call_once(once, [&] {
    requests = new Requests(socket);
    std::thread([] { requests->serve(); }).detach();
  });
  return &requests->handler();
}

}  // namespace warpgrind::adapter
