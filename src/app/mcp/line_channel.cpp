// Lines over two descriptors.
#include "mcp/line_channel.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>

namespace warpgrind::mcp {

namespace {

constexpr std::size_t kMostWaiting = 16 << 20;  // bytes of answers

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

pollfd LineChannel::reading() const {
  const bool full = waiting() > kMostWaiting;
  return {in_.get(), static_cast<short>(full ? 0 : POLLIN), 0};
}

bool LineChannel::read(const std::function<void(std::string_view)>& handle, const std::function<void()>& too_long) {
  std::array<char, 1 << 16> buffer;
  const ssize_t got = ::read(in_.get(), buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  const auto finish = [&] {
    if (!dropping_ && !is_blank(line_)) handle(line_);
    dropping_ = false;
    line_.clear();
  };
  if (got == 0) {
    finish();
    return false;
  }
  std::string_view rest(buffer.data(), static_cast<std::size_t>(got));
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view part = rest.substr(0, end);
    if (!dropping_ && line_.size() + part.size() > longest_) {
      dropping_ = true;
      line_ = {};
      too_long();
    }
    if (!dropping_) line_ += part;
    if (end == std::string_view::npos) break;
    finish();
    rest.remove_prefix(end + 1);
  }
  return true;
}

bool LineChannel::write() {
  // A pipe that is ready takes this many bytes at once.
  const std::size_t part = std::min<std::size_t>(waiting(), PIPE_BUF);
  const ssize_t done = ::write(out_.get(), queue_.data() + written_, part);
  if (done < 0) return errno == EINTR || errno == EAGAIN;
  written_ += static_cast<std::size_t>(done);
  if (waiting() == 0) queue_.clear(), written_ = 0;
  constexpr std::size_t kShift = 1 << 20;
  if (written_ > kShift) queue_.erase(0, written_), written_ = 0;
  return true;
}

void LineChannel::flush(int patience) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience);
  while (waiting() != 0 && std::chrono::steady_clock::now() < end) {
    pollfd ready = writing();
    if (poll(&ready, 1, 50) > 0 && !write()) return;
  }
}

}  // namespace warpgrind::mcp
