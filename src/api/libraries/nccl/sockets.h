// TCP between the processes of a communicator: listening, connecting, whole messages, and threads that serve them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>

namespace warpgrind::libraries::nccl {

// Socket that listens on all addresses of this host; -1: not possible. `port` gets its port.
int listen_anywhere(std::uint16_t& port);
// IPv4 address of this host for others, network byte order: the first that is not the loopback one, else that.
std::uint32_t address_of_host();
std::uint64_t number_of_host();  // equal in all processes of this host
// Sends each message at once. Otherwise TCP holds small ones back for up to 40 ms.
void send_at_once(int socket);
// -1: not possible.
int connect_to(std::uint32_t address, std::uint16_t port);
// Send or receive all bytes. False: the connection has ended.
bool send_all(int socket, const void* from, std::size_t bytes);
struct Bytes {
  const void* at;
  std::size_t count;
};
bool send_all(int socket, std::initializer_list<Bytes> pieces);  // in one packet if they are few
bool receive_all(int socket, void* to, std::size_t bytes);
// Runs the function in a thread of its own, which takes no signals. False: the host refuses.
bool start_thread(std::function<void()> run);

}  // namespace warpgrind::libraries::nccl
