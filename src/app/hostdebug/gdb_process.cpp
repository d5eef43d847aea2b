// The pipes to gdb, and its commands.
#include "hostdebug/gdb_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/json.h"

namespace warpgrind::hostdebug {

namespace {

constexpr std::chrono::seconds kLongestAnswer{30};           // reading the symbols of a large library takes seconds
constexpr std::size_t kLongestLine = std::size_t{64} << 20;  // bytes

Error ended() {
  return {ErrorKind::environment, "gdb has ended: host code is no longer debugged", ""};
}

}  // namespace

Status GdbProcess::start() {
  Pipe to, from;
  if (!to.open() || !from.open())
    return Error{ErrorKind::environment, fmt::format("cannot start gdb: {}", std::strerror(errno)), ""};
  ProcessCommand command{.words = {"gdb", "--interpreter=mi3", "--nx", "--quiet"}};
  command.input = Stream::open_file(to.read.get());
  command.output = Stream::open_file(from.write.get());
  command.errors = Stream::nothing();
  command.own_session = true;  // a Ctrl-C of the terminal is for the debugger
  command.death_signal = SIGKILL;
  // They change gdb's own libraries.
  command.unset = {"LD_PRELOAD", "LD_LIBRARY_PATH", "DEBUGINFOD_URLS"};
  const auto process = start_process(command);
  if (!process) return process.error();
  process_ = *process;
  in_ = std::move(to.write);
  out_ = std::move(from.read);
  return Ok{};
}

void GdbProcess::stop() {
  if (!process_) return;
  in_.reset();
  out_.reset();
  process_->send(SIGKILL);
  process_->wait();
  process_.reset();
  bytes_.clear();
  events_.clear();
}

// A command is far shorter than a pipe's buffer, and gdb reads its input at once.
bool GdbProcess::write(std::string_view text) {
  struct sigaction ignored {
  }, before{};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, &before);
  while (!text.empty()) {
    const ssize_t sent = ::write(in_.get(), text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  sigaction(SIGPIPE, &before, nullptr);
  return text.empty();
}

void GdbProcess::take_line(std::string_view line) {
  auto record = read_mi(line);
  if (!record) return;  // "(gdb)", or output of the program
  if (record->kind == MiRecord::Kind::result && record->token == token_)
    answer_ = std::move(record);
  else if (record->kind == MiRecord::Kind::console)
    printed_ += record->text;
  else if (record->kind == MiRecord::Kind::event)
    events_.push_back(std::move(*record));
}

void GdbProcess::read() {
  std::array<char, 1 << 16> buffer;
  const ssize_t got = ::read(out_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0 || bytes_.size() > kLongestLine) return stop();
  bytes_.append(buffer.data(), static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end; (end = bytes_.find('\n', begin)) != std::string::npos; begin = end + 1)
    take_line(std::string_view(bytes_).substr(begin, end - begin));
  bytes_.erase(0, begin);
}

Result<Json> GdbProcess::call(const std::string& command) {
  if (!alive()) return ended();
  answer_.reset();
  printed_.clear();
  ++token_;
  if (!write(fmt::format("{}{}\n", token_, command))) {
    stop();
    return ended();
  }
  const auto limit = std::chrono::steady_clock::now() + kLongestAnswer;
  while (alive() && !answer_) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now()).count();
    if (left <= 0)
      return Error{ErrorKind::environment, fmt::format("gdb does not answer {}", command.substr(0, command.find(' '))),
                   ""};
    pollfd ready = reading();
    if (poll(&ready, 1, static_cast<int>(left)) > 0) read();
  }
  if (!answer_) return ended();
  if (answer_->name == "error") {
    std::string message = json::text(answer_->values, "msg");
    if (message.empty()) message = "gdb refused the command";
    return Error{ErrorKind::bad_input, message, ""};
  }
  return std::move(answer_->values);
}

Result<std::string> GdbProcess::console(const std::string& command, const std::string& context) {
  const auto done =
      call(fmt::format("-interpreter-exec {}{}console {}", context, context.empty() ? "" : " ", mi_quoted(command)));
  if (!done) return done.error();
  return std::move(printed_);
}

std::optional<MiRecord> GdbProcess::next_event() {
  if (events_.empty()) return std::nullopt;
  MiRecord first = std::move(events_.front());
  events_.pop_front();
  return first;
}

}  // namespace warpgrind::hostdebug
