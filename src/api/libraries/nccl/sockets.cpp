// TCP between the processes of a communicator.
#include "libraries/nccl/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace warpgrind::libraries::nccl {
namespace {

sockaddr_in address(std::uint32_t host, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = host;
  out.sin_port = htons(port);
  return out;
}

}  // namespace

void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int listen_anywhere(std::uint16_t& port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  sockaddr_in at = address(htonl(INADDR_ANY), 0);
  socklen_t size = sizeof at;
  constexpr int kWaiting = 1024;
  if (::bind(socket, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(socket, kWaiting) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    ::close(socket);
    return -1;
  }
  port = ntohs(at.sin_port);
  return socket;
}

bool is_chosen(const std::string& list, const std::string& interface) {
  std::size_t at = 0;
  const bool all_but = list.starts_with('^');
  if (all_but) at++;
  const bool whole = list.find('=', at) == at;
  if (whole) at++;
  bool found = false;
  while (at < list.size()) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, end - at);
    found = found || (whole ? interface == name : !name.empty() && interface.starts_with(name));
    at = end + 1;
  }
  return found != all_but;
}

Addresses addresses_of_host(std::string& error) {
  Addresses out;
  std::size_t count = 0;
  const char* const variable = std::getenv("NCCL_SOCKET_IFNAME");
  const std::string list = variable ? variable : "";
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) == 0) {
    constexpr int kRanks = 4;
    const auto rank_of = [&](const ifaddrs& one) {
      const std::string name = one.ifa_name;
      if (!list.empty()) return is_chosen(list, name) ? 0 : kRanks;
      return name.starts_with("ib") ? 0 : one.ifa_flags & IFF_LOOPBACK ? 3 : name.starts_with("docker") ? 2 : 1;
    };
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == kRanks - 1 && count > 0) break;  // others need no loopback address
      for (const ifaddrs* one = all; one; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && one->ifa_flags & IFF_UP && rank_of(*one) == rank &&
            count < out.all.size())
          out.all[count++] = reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr;
    }
    ::freeifaddrs(all);
  }
  if (count == 0 && !list.empty())
    error = "no interface with an IPv4 address is one of NCCL_SOCKET_IFNAME=" + list;
  else if (count == 0)
    out.all[0] = htonl(INADDR_LOOPBACK);
  return out;
}

std::uint64_t number_of_network() {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325, kPrime = 0x100000001b3;  // FNV-1a
  std::uint64_t h = kBasis;
  char text[64] = {};
  const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t length = file >= 0 ? ::read(file, text, sizeof text) : 0;
  if (file >= 0) ::close(file);
  for (ssize_t i = 0; i < length; ++i) h = (h ^ static_cast<unsigned char>(text[i])) * kPrime;
  // Containers of one host have interfaces of their own.
  struct stat space {};
  if (::stat("/proc/self/ns/net", &space) == 0) h = (h ^ space.st_ino) * kPrime;
  return h;
}

int connect_to(std::uint32_t host, std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  const sockaddr_in at = address(host, port);
  // A network that drops the packets of a connection would keep connect() for two minutes.
  const timeval longest{5, 0}, for_ever{0, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) {
    ::close(socket);
    return -1;
  }
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &for_ever, sizeof for_ever);
  send_at_once(socket);
  return socket;
}

bool send_all(int socket, const void* from, std::size_t bytes) {
  const char* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool send_all(int socket, std::initializer_list<Bytes> pieces) {
  constexpr std::size_t kFew = 16384;
  std::size_t total = 0;
  for (const Bytes& piece : pieces) total += piece.count;
  if (total > kFew) {
    for (const Bytes& piece : pieces)
      if (!send_all(socket, piece.at, piece.count)) return false;
    return true;
  }
  std::vector<char> all;
  all.reserve(total);
  for (const Bytes& piece : pieces) {
    const char* const at = static_cast<const char*>(piece.at);
    all.insert(all.end(), at, at + piece.count);
  }
  return send_all(socket, all.data(), all.size());
}

bool receive_all(int socket, void* to, std::size_t bytes) {
  char* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::recv(socket, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool start_thread(std::function<void()> run) {
  auto given = std::make_unique<std::function<void()>>(std::move(run));
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_t thread;
  const int error = ::pthread_create(
      &thread, nullptr,
      [](void* function) -> void* {
        const std::unique_ptr<std::function<void()>> mine(static_cast<std::function<void()>*>(function));
        (*mine)();
        return nullptr;
      },
      given.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error) return false;
  given.release();
  ::pthread_detach(thread);
  return true;
}

}  // namespace warpgrind::libraries::nccl
