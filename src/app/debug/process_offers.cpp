// Offers of connections. A session that wants one connects, sends the process id as 8 bytes, and gets the descriptor.
#include "debug/process_offers.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "dap/local_socket.h"

namespace warpgrind::debug {

namespace {

constexpr std::chrono::seconds kOffer{30};         // an editor may start a program, or ask its user
constexpr std::chrono::milliseconds kAsking{500};  // a session sends the number at once

}  // namespace

Result<std::string> ProcessOffers::add(const std::string& folder, Descriptor socket, ProcessName name) {
  if (listener_.get() < 0) {
    path_ = folder + "/sessions";
    auto made = dap::listen_at(path_);
    if (!made) return made.error();
    listener_ = made.take();
  }
  all_.push_back({std::move(socket), std::move(name), Clock::now() + kOffer});
  return path_;
}

void ProcessOffers::refuse(pid_t process, const std::string& why) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Offer& o) { return o.name.id == process; });
  if (found == all_.end()) return;
  say_(fmt::format("{} is not debugged: {}", found->name.text(), why));
  all_.erase(found);
}

void ProcessOffers::close() {
  all_.clear();
  listener_.reset();
}

int ProcessOffers::patience() const {
  Clock::time_point first = Clock::time_point::max();
  for (const Offer& one : all_) first = std::min(first, one.until);
  if (all_.empty()) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(first - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left + 1, 0));
}

void ProcessOffers::answer(const Descriptor& asking) {
  std::int64_t process = 0;
  pollfd ready{asking.get(), POLLIN, 0};
  if (poll(&ready, 1, static_cast<int>(kAsking.count())) != 1) return;
  if (::recv(asking.get(), &process, sizeof process, 0) != sizeof process) return;
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Offer& o) { return o.name.id == process; });
  if (found == all_.end()) return;
  if (const Status passed = dap::pass_descriptor(asking.get(), found->socket.get()); !passed)
    say_(fmt::format("{} is not debugged: {}", found->name.text(), passed.error().message));
  all_.erase(found);
}

void ProcessOffers::handle() {
  if (listener_.get() < 0) return;
  for (;;) {
    pid_t peer = 0;
    const Descriptor asking = dap::accept_at(listener_.get(), peer);
    if (asking.get() < 0) break;
    answer(asking);
  }
  const auto now = Clock::now();
  for (std::size_t i = 0; i < all_.size();) {
    if (now < all_[i].until)
      ++i;
    else
      refuse(all_[i].name.id,
             fmt::format("the client has started no session for it within {} seconds", kOffer.count()));
  }
}

Result<Descriptor> receive_offer(const std::string& path, pid_t process) {
  constexpr std::chrono::seconds kPatience{10};
  auto socket = dap::connect_to(path, kPatience);
  if (!socket) return socket;
  const std::int64_t number = process;
  if (::send(socket->get(), &number, sizeof number, MSG_NOSIGNAL) != sizeof number)
    return Error{ErrorKind::environment, "the session that has launched it has ended", ""};
  return dap::receive_descriptor(socket->get(), kPatience);
}

}  // namespace warpgrind::debug
