// TCP between the processes of a communicator: listening, connecting, whole messages, and threads that serve them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

namespace warpgrind::libraries::nccl {

// Socket that listens on all addresses of this host; -1: not possible. `port` gets its port.
int listen_anywhere(std::uint16_t& port);
// IPv4 addresses of this host, network byte order, the best for other hosts first. Plain data.
struct Addresses {
  std::array<std::uint32_t, 8> all{};  // 0: none
};
// True if the interface is one of `list`, the value of NCCL_SOCKET_IFNAME: prefixes of names, separated by commas. "="
// before them asks for whole names, "^" for all interfaces but these; "^=" is possible.
bool is_chosen(const std::string& list, const std::string& interface);
// Those of the interfaces that NCCL_SOCKET_IFNAME chooses. Without it, NCCL's order: InfiniBand (ib*), others, docker*,
// and the loopback interface if there is no other. `error` says that none is chosen.
Addresses addresses_of_host(std::string& error);
// Equal in all processes that share their network interfaces, and so the loopback address.
std::uint64_t number_of_network();
// Sends each message at once. Otherwise TCP holds small ones back for up to 40 ms.
void send_at_once(int socket);
// -1: not possible, or no answer within 5 s.
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
