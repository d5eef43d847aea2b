// A connection that carries messages of the Debug Adapter Protocol both ways: a socket, or the two standard streams.
#pragma once

#include <poll.h>

#include <functional>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"
#include "dap/message_reader.h"

namespace warpgrind::dap {

class Channel {
 public:
  Channel() = default;
  Channel(Descriptor in, Descriptor out) : in_(std::move(in)), out_(std::move(out)) {}
  explicit Channel(Descriptor socket);

  bool open() const { return in_.get() >= 0; }
  void close();
  // In the child of a fork: closes the descriptors alone, because another thread may have been sending.
  void abandon();
  // Queues the message. A peer that does not read its messages never blocks this process.
  void send(const Json& message);

  // For poll(): the two descriptors, with what they are waited for.
  pollfd reading() const { return {in_.get(), POLLIN, 0}; }
  pollfd writing() const { return {queue_.empty() ? -1 : out_.get(), POLLOUT, 0}; }
  // Call it if poll() reports writing(). A peer that is gone is noticed by read().
  void write();
  // Call it if poll() reports reading(). Calls `handle` with each whole message. False: the peer has closed the
  // connection between two messages. Error: it sent something else, or closed the connection inside a message.
  Result<bool> read(const std::function<void(const Json&)>& handle);
  // Writes the rest of the queue, and waits until it is written.
  void flush();

 private:
  Descriptor in_, out_;
  std::string queue_;
  MessageReader reader_;
};

}  // namespace warpgrind::dap
