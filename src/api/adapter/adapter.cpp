// The thread of the adapter.
#include "adapter/adapter.h"

#include <atomic>
#include <mutex>
#include <new>
#include <thread>

#include "adapter/requests.h"
#include "dap/local_socket.h"

namespace warpgrind::adapter {

namespace {

// A front that is busy (gdb attaches, a prompt is open) accepts later. A program is not kept waiting for longer.
constexpr std::chrono::seconds kPatience{10};

// Of this process. Never destroyed: kernels may run until the process ends.
struct State {
  std::mutex mutex;
  bool tried = false;
  MemoryOrigins* origins = nullptr;
};
State state;
std::atomic<Requests*> requests{nullptr};

}  // namespace

events::Observer* memory_observer(MemoryOrigins::DescribeCall describe) {
  Requests* const serving = requests.load();
  if (!serving) return nullptr;
  const std::lock_guard lock(state.mutex);
  if (!state.origins) {
    auto* const made = state.origins = new MemoryOrigins(describe);
    serving->explain_with([made](std::uint64_t address) { return made->describe(address); });
  }
  return state.origins;
}

device::StopHandler* debugger_at(const std::string& path, const std::function<void(const std::string& why)>& report) {
  if (Requests* const serving = requests.load()) return &serving->handler();
  const std::lock_guard lock(state.mutex);
  if (Requests* const serving = requests.load()) return &serving->handler();
  if (std::exchange(state.tried, true)) return nullptr;
  auto socket = dap::connect_to(path, kPatience);
  if (!socket) {
    report(socket.error().message);
    return nullptr;
  }
  auto* const made = new Requests(socket.take());
  std::thread([made] { made->serve(); }).detach();
  requests.store(made);
  return &made->handler();
}

// Another thread of the parent may have held the lock, so the child gets a new one.
void leave_after_fork() {
  Requests* const of_parent = requests.exchange(nullptr);
  new (&state) State;
  if (of_parent) of_parent->abandon();
}

}  // namespace warpgrind::adapter
