// Unix sockets. A path of such a socket has at most 107 bytes, so its folder is opened and named by its descriptor.
#include "dap/local_socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

namespace warpgrind::dap {

namespace {

struct Address {
  Descriptor folder;  // must stay open while the address is used
  sockaddr_un at{};
};

Error problem(const std::string& what) {
  return {ErrorKind::environment, fmt::format("{}: {}", what, std::strerror(errno)), ""};
}

Result<Address> address_of(const std::string& path) {
  Address out;
  out.at.sun_family = AF_UNIX;
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  out.folder.reset(above_streams(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  if (out.folder.get() < 0) return problem(folder);
  const std::string name =
      fmt::format("/proc/self/fd/{}/{}", out.folder.get(), path.substr(slash == std::string::npos ? 0 : slash + 1));
  if (name.size() >= sizeof out.at.sun_path)
    return Error{ErrorKind::bad_input, fmt::format("{}: the name is too long for a socket", path), ""};
  std::copy(name.begin(), name.end(), out.at.sun_path);
  return out;
}

Result<Descriptor> make_socket(int flags) {
  Descriptor out(above_streams(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)));
  if (out.get() < 0) return problem("cannot make a socket");
  return out;
}

const sockaddr* pointer(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.at);
}

// A message of one byte, with room for one descriptor.
class Message {
 public:
  Message() {
    header.msg_iov = &part_;
    header.msg_iovlen = 1;
    header.msg_control = control_.bytes.data();
    header.msg_controllen = control_.bytes.size();
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  msghdr header{};

 private:
  union Control {
    cmsghdr header;
    std::array<char, CMSG_SPACE(sizeof(int))> bytes;
  };
  char byte_ = 1;
  iovec part_{&byte_, 1};
  Control control_{};
};

}  // namespace

Result<Descriptor> listen_at(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return address.error();
  auto out = make_socket(SOCK_NONBLOCK);
  if (!out) return out;
  if (bind(out->get(), pointer(*address), sizeof address->at) != 0 || listen(out->get(), SOMAXCONN) != 0)
    return problem(path);
  return out;
}

Result<Descriptor> connect_to(const std::string& path, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kPause{10};
  const auto address = address_of(path);
  if (!address) return address.error();
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    auto out = make_socket(SOCK_NONBLOCK);
    if (!out) return out;
    if (connect(out->get(), pointer(*address), sizeof address->at) == 0) {
      fcntl(out->get(), F_SETFL, fcntl(out->get(), F_GETFL) & ~O_NONBLOCK);
      return out;
    }
    // EAGAIN: too many connections wait to be accepted.
    if ((errno != EAGAIN && errno != EINTR) || std::chrono::steady_clock::now() >= end) return problem(path);
    std::this_thread::sleep_for(kPause);
  }
}

Descriptor accept_at(int listener, pid_t& peer) {
  Descriptor out(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  ucred credentials{};
  socklen_t size = sizeof credentials;
  peer = 0;
  if (out.get() >= 0 && getsockopt(out.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0)
    peer = credentials.pid;
  return out;
}

Status pass_descriptor(int socket, int descriptor) {
  Message message;
  cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (sendmsg(socket, &message.header, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) return problem("cannot pass a connection on");
  return Ok{};
}

Result<Descriptor> receive_descriptor(int socket, std::chrono::milliseconds patience) {
  pollfd ready{socket, POLLIN, 0};
  const Error none{ErrorKind::environment, "the debugger that knows this process does not answer", ""};
  if (poll(&ready, 1, static_cast<int>(patience.count())) != 1) return none;
  Message message;
  if (recvmsg(socket, &message.header, MSG_CMSG_CLOEXEC) != 1) return none;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message.header);
  if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return none;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return Descriptor(above_streams(descriptor));
}

}  // namespace warpgrind::dap
