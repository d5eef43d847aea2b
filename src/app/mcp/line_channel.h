// Lines over two descriptors: the standard streams of a server. No read or write blocks longer than poll() promises.
#pragma once

#include <poll.h>

#include <functional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace warpgrind::mcp {

class LineChannel {
 public:
  LineChannel(Descriptor in, Descriptor out, std::size_t longest)
      : in_(std::move(in)), out_(std::move(out)), longest_(longest) {}

  void send(std::string_view line) { queue_ += line; }  // with its newline
  std::size_t waiting() const { return queue_.size() - written_; }

  // For poll(). A peer that does not read its answers gets no further request read.
  pollfd reading() const;
  pollfd writing() const { return {waiting() == 0 ? -1 : out_.get(), POLLOUT, 0}; }

  // Call it if poll() reports reading(). Calls `handle` with each whole line, and `too_long` once for each line of more
  // than `longest` bytes, whose bytes are dropped. False: the input has ended; its last line may lack a newline.
  bool read(const std::function<void(std::string_view)>& handle, const std::function<void()>& too_long);
  // Call it if poll() reports writing(). False: the peer no longer reads.
  bool write();
  // Writes the rest for at most this many milliseconds.
  void flush(int patience);

 private:
  Descriptor in_, out_;
  std::size_t longest_;
  std::string line_, queue_;
  std::size_t written_ = 0;
  bool dropping_ = false;
};

}  // namespace warpgrind::mcp
