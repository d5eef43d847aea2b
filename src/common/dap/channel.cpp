// Reading and writing of a connection without waiting.
#include "dap/channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace warpgrind::dap {

Channel::Channel(Descriptor socket)
    : in_(std::move(socket)), out_(in_.get() < 0 ? -1 : fcntl(in_.get(), F_DUPFD_CLOEXEC, 3)) {}

void Channel::close() {
  in_.reset();
  out_.reset();
  queue_.clear();
}

void Channel::abandon() {
  in_.reset();
  out_.reset();
}

void Channel::send(const Json& message) {
  if (out_.get() < 0) return;
  queue_ += frame(message);
  pollfd ready = writing();
  if (poll(&ready, 1, 0) > 0) write();
}

void Channel::write() {
  constexpr std::size_t kAtOnce = 4096;  // PIPE_BUF: a pipe that poll() reports takes so many without blocking
  ssize_t sent = ::send(out_.get(), queue_.data(), queue_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && errno == ENOTSOCK) sent = ::write(out_.get(), queue_.data(), std::min(queue_.size(), kAtOnce));
  if (sent > 0) queue_.erase(0, static_cast<std::size_t>(sent));
  if (sent < 0 && errno != EAGAIN && errno != EINTR) {  // the peer is gone
    out_.reset();
    queue_.clear();
  }
}

void Channel::flush() {
  constexpr int kLongest = 2000;  // milliseconds: a peer that ends may read no more
  while (!queue_.empty() && out_.get() >= 0) {
    pollfd ready = writing();
    const int count = poll(&ready, 1, kLongest);
    if (count == 0) return;
    if (count > 0) write();
  }
}

Result<bool> Channel::read(const std::function<void(const Json&)>& handle) {
  std::array<char, 1 << 16> buffer;
  const ssize_t got = ::read(in_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got <= 0) {
    if (!reader_.inside_message()) return false;
    return Error{ErrorKind::environment, "the connection was closed in the middle of a message", ""};
  }
  reader_.add({buffer.data(), static_cast<std::size_t>(got)});
  while (open()) {
    auto message = reader_.next();
    if (!message) return message.error();
    if (!*message) return true;
    handle(**message);
  }
  return true;
}

}  // namespace warpgrind::dap
