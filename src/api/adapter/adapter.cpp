// The thread of the adapter.
#include "adapter/adapter.h"

#include <mutex>
#include <thread>

#include "adapter/requests.h"

namespace warpgrind::adapter {

device::StopHandler* debugger_on(int socket) {
  static std::once_flag once;
  static Requests* requests = nullptr;  // never destroyed: kernels may run until the process ends
  std::call_once(once, [&] {
    requests = new Requests(socket);
    std::thread([] { requests->serve(); }).detach();
  });
  return &requests->handler();
}

}  // namespace warpgrind::adapter
