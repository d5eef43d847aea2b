// A program under the debugger, and the connections of its processes.
#include "debug/dap_client.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "dap/local_socket.h"

namespace warpgrind::debug {

namespace {

constexpr const char* kStreams[] = {"stdout", "stderr"};

Error no_descriptors() {
  return {ErrorKind::environment, fmt::format("cannot start the program: {}", std::strerror(errno)), ""};
}

Descriptor open_process(pid_t id) {
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, id, 0)));
}

}  // namespace

DapClient::DapClient(Handlers handlers) : AdapterConnection(handlers.adapter), handlers_(std::move(handlers)) {}

DapClient::~DapClient() {
  handlers_ = {};
  forget_handlers();
  if (adopted_ != 0) known_.clear();  // the process runs on
  kill();
}

Status DapClient::start(const MakeCommand& make, bool output) {
  WG_ASSERT(!alive());
  folder_ = std::make_unique<TemporaryFolder>();
  if (folder_->path.empty()) return Error{ErrorKind::environment, folder_->problem, "set TMPDIR to a folder"};
  const std::string path = folder_->path + "/debugger";
  auto listener = dap::listen_at(path);
  if (!listener) return listener.error();
  auto command = make(path);
  if (!command) return command.error();
  Pipe pipes[2];
  if (output) {
    for (Pipe& pipe : pipes)
      if (!pipe.open()) return no_descriptors();
    command->output = Stream::open_file(pipes[0].write.get());
    command->errors = Stream::open_file(pipes[1].write.get());
  }
  command->death_signal = SIGKILL;
  const auto process = start_process(*command);
  if (!process) return process.error();
  process_ = *process;
  alive_ = open_process(process->id());
  for (unsigned i = 0; i < output_.size(); ++i) output_[i] = std::move(pipes[i].read);
  listener_ = listener.take();
  known_.clear();
  first_ = 0;
  expect_process();
  return Ok{};
}

void DapClient::adopt(Descriptor socket, pid_t process) {
  WG_ASSERT(!alive());
  adopted_ = first_ = process;
  known_.clear();
  known_.push_back({process, open_process(process)});
  connect(std::move(socket));
}

void DapClient::remove(const AdapterConnection& other) {
  std::erase(others_, &other);
}

void DapClient::accept() {
  pid_t id = 0;
  Descriptor socket = dap::accept_at(listener_.get(), id);
  if (socket.get() < 0) return;
  const bool again = std::any_of(known_.begin(), known_.end(), [&](const Known& k) { return k.id == id; });
  if (!again) known_.push_back({id, open_process(id)});
  if (first_ == 0) {
    first_ = id;
    connect(std::move(socket));
  } else if (handlers_.on_process) {
    handlers_.on_process(std::move(socket), id);
  }
}

void DapClient::read_output(unsigned stream) {
  std::array<char, 1 << 16> buffer;
  const ssize_t got = ::read(output_[stream].get(), buffer.data(), buffer.size());
  if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) output_[stream].reset();
  if (got > 0 && handlers_.on_output)
    handlers_.on_output(kStreams[stream], {buffer.data(), static_cast<std::size_t>(got)});
}

// What the program wrote before its end is read first. Processes that it left behind may hold the pipes open, so this
// stops when nothing more is there.
void DapClient::finish(const ProcessEnd& end) {
  process_.reset();
  alive_.reset();
  listener_.reset();
  for (;;) {
    pollfd ready[] = {reading(), {output_[0].get(), POLLIN, 0}, {output_[1].get(), POLLIN, 0}};
    if (poll(ready, 3, 0) <= 0) break;
    if (ready[0].revents != 0) read();
    for (unsigned i = 0; i < output_.size(); ++i)
      if (ready[1 + i].revents != 0) read_output(i);
  }
  const std::vector<AdapterConnection*> connections = others_;
  for (AdapterConnection* one : connections)
    for (pollfd ready = one->reading(); ready.fd >= 0 && poll(&ready, 1, 0) > 0; ready = one->reading()) one->read();
  for (Descriptor& stream : output_) stream.reset();
  disconnect(fmt::format("the program has ended ({})", end.text()));
  forget_reason();
  if (handlers_.on_end) handlers_.on_end(end);
}

void DapClient::end_adopted() {
  adopted_ = 0;
  disconnect("the process has ended");
  forget_reason();
  if (handlers_.on_end) handlers_.on_end({.lost = true});
}

void DapClient::wait(std::vector<pollfd>& others, int milliseconds) {
  constexpr int kWithoutPidfd = 20;
  if (process_ && alive_.get() < 0 && (milliseconds < 0 || milliseconds > kWithoutPidfd)) milliseconds = kWithoutPidfd;
  std::vector<pollfd> all = {
      {alive_.get(), POLLIN, 0},   reading(), writing(), {output_[0].get(), POLLIN, 0}, {output_[1].get(), POLLIN, 0},
      {listener_.get(), POLLIN, 0}};
  const std::size_t own = all.size();
  const std::vector<AdapterConnection*> connections = others_;
  for (const AdapterConnection* one : connections) {
    all.push_back(one->reading());
    all.push_back(one->writing());
  }
  const std::size_t given = all.size();
  all.insert(all.end(), others.begin(), others.end());
  for (pollfd& other : others) other.revents = 0;
  const int ready = poll(all.data(), all.size(), milliseconds);
  if (ready > 0) {
    for (std::size_t i = 0; i < others.size(); ++i) others[i].revents = all[given + i].revents;
    if (all[3].revents != 0) read_output(0);
    if (all[4].revents != 0) read_output(1);
    if (all[2].revents != 0) write();
    if (all[1].revents != 0) read();
    for (std::size_t i = 0; i < connections.size(); ++i) {
      // An answer before may have removed it.
      if (std::find(others_.begin(), others_.end(), connections[i]) == others_.end()) continue;
      if (all[own + 2 * i + 1].revents != 0) connections[i]->write();
      if (all[own + 2 * i].revents != 0) connections[i]->read();
    }
    if (all[5].revents != 0) accept();
  }
  if (adopted_ != 0 && !connected()) return end_adopted();
  if (!process_) return;
  if (const auto end = process_->ended()) finish(*end);
}

void DapClient::send_signal(int signal) {
  if (process_) process_->send(signal);
  if (adopted_ != 0 && !known_.empty()) syscall(SYS_pidfd_send_signal, known_[0].alive.get(), signal, nullptr, 0);
}

void DapClient::kill() {
  std::vector<pollfd> none;
  for (const Known& one : known_)
    if (alive() && one.alive.get() >= 0) syscall(SYS_pidfd_send_signal, one.alive.get(), SIGKILL, nullptr, 0);
  if (adopted_ != 0) end_adopted();
  while (process_) {
    process_->send(SIGKILL);
    wait(none);
  }
}

}  // namespace warpgrind::debug
