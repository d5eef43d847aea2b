// Roots of communicators, and connections to them. Each message is a header, followed by its bytes.
#include "libraries/nccl/bootstrap.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "libraries/nccl/sockets.h"

namespace warpgrind::libraries::nccl {
namespace {

// First message of a rank; the answer is a Reply with the members.
struct Hello {
  std::uint64_t magic = Id::kMagic, number = 0;
  std::int32_t rank = 0, ranks = 0;
  Member member;
};
// A rank's stream has come to an operation. The bytes of its send buffer follow.
struct Arrival {
  std::uint64_t ticket = 0;  // the answer has it, too
  Key key;
  std::int32_t participants = 0, participant = 0;
  Call call;
  std::uint64_t scalar = 0;
  std::int32_t failed = 0;
  std::uint64_t bytes = 0;
};
// The text of an error follows, then the bytes for the receive buffer.
struct Reply {
  std::uint64_t ticket = 0;
  std::int32_t result = ncclSuccess;
  std::uint32_t text = 0;
  std::uint64_t bytes = 0;
};

// The root's end of a connection.
struct Client {
  explicit Client(int of) : socket(of) {}
  ~Client() { ::close(socket); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  void answer(std::uint64_t ticket, ncclResult_t result, const std::string& error, const void* bytes,
              std::uint64_t count) {
    Reply reply;
    reply.ticket = ticket;
    reply.result = result;
    reply.text = static_cast<std::uint32_t>(error.size());
    reply.bytes = count;
    const std::lock_guard lock(mutex);
    send_all(socket, {{&reply, sizeof reply}, {error.data(), error.size()}, {bytes, count}});
  }
  const int socket;
  std::mutex mutex;  // messages are sent whole
};

// Clients that are connected. At the end of the process, its roots serve them until they have left, since other ranks
// may still need each other.
struct Clients {
  std::mutex mutex;
  std::condition_variable left;
  int count = 0;
};
Clients& clients() {
  static auto* all = new Clients;
  return *all;
}
void wait_for_clients() {
  constexpr auto kLongest = std::chrono::seconds(30);  // a rank that hangs must not keep this process
  Clients& all = clients();
  std::unique_lock lock(all.mutex);
  all.left.wait_for(lock, kLongest, [&] { return all.count == 0; });
}

// Largest message that is believed: more is not a rank that speaks.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

// Takes part in an operation for a rank of another process. Keeps its buffers until the end.
bool take_arrival(Root& root, const std::shared_ptr<Client>& client, const Arrival& a) {
  struct Buffers {
    std::vector<char> send, recv;
  };
  if (a.participants < 1 || a.participant < 0 || a.participant >= a.participants || a.bytes > kMostBytes) return false;
  auto buffers = std::make_shared<Buffers>();
  buffers->send.resize(a.bytes);
  if (!receive_all(client->socket, buffers->send.data(), a.bytes)) return false;
  if (!a.failed && a.bytes != send_bytes(a.call, a.participants, a.participant)) return false;
  buffers->recv.resize(recv_bytes(a.call, a.participants, a.participant));
  std::string error;
  const OperationRef operation = root.operations().issue(a.key, a.participants, a.participant, a.call, error);
  const Part part{buffers->send.data(), buffers->recv.data(), a.scalar, a.failed != 0};
  if (!error.empty()) client->answer(a.ticket, ncclInvalidUsage, error, nullptr, 0);
  const bool answered = !error.empty();
  Operations::arrive(
      *operation, a.participant, part, [client, buffers, answered, ticket = a.ticket](const Operation& done) {
        const bool good = done.error.empty();
        if (!answered)
          client->answer(ticket, done.result, done.error, buffers->recv.data(), good ? buffers->recv.size() : 0);
      });
  return true;
}

void serve_client(int socket) {
  send_at_once(socket);
  const auto client = std::make_shared<Client>(socket);
  Hello hello;
  std::shared_ptr<Root> root;
  if (receive_all(socket, &hello, sizeof hello) && hello.magic == Id::kMagic) root = Root::find(hello.number);
  if (root && hello.ranks > 0 && hello.rank >= 0 && hello.rank < hello.ranks) {
    root->report(hello.rank, hello.ranks, hello.member,
                 [client](const std::vector<Member>& members, const std::string& error) {
                   client->answer(0, ncclSuccess, error, members.data(), members.size() * sizeof(Member));
                 });
    Arrival arrival;
    while (receive_all(socket, &arrival, sizeof arrival) && take_arrival(*root, client, arrival)) {
    }
  }
  Clients& all = clients();
  const std::lock_guard lock(all.mutex);
  if (--all.count == 0) all.left.notify_all();
}

// Port on which this process listens for ranks of others; 0: it cannot.
std::uint16_t listen_once() {
  static const std::uint16_t port = [] {
    std::uint16_t chosen = 0;
    const int socket = listen_anywhere(chosen);
    if (socket < 0) return std::uint16_t{0};
    const bool started = start_thread([socket] {
      for (;;) {
        const int client = ::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
          continue;
        }
        {
          const std::lock_guard lock(clients().mutex);
          clients().count++;
        }
        if (start_thread([client] { serve_client(client); })) continue;
        ::close(client);
        const std::lock_guard lock(clients().mutex);
        clients().count--;
      }
    });
    if (!started) return std::uint16_t{0};
    std::atexit(wait_for_clients);
    return chosen;
  }();
  return port;
}

struct Roots {
  std::mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<Root>> all;
};
Roots& roots() {
  static auto* all = new Roots;
  return *all;
}

}  // namespace

std::uint64_t random_number() {
  std::uint64_t out = 0;
  if (::getrandom(&out, sizeof out, 0) != static_cast<ssize_t>(sizeof out))
    out = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return out;
}

std::uint64_t this_process() {
  static const std::uint64_t number = random_number();
  return number;
}

Id Root::create(std::string& error) {
  Id id;
  id.magic = Id::kMagic;
  id.number = random_number();
  id.network = number_of_network();
  id.addresses = addresses_of_host(error);
  if (!error.empty()) return id;
  id.port = listen_once();
  const std::lock_guard lock(roots().mutex);
  roots().all[id.number] = std::make_shared<Root>();
  return id;
}

std::shared_ptr<Root> Root::find(std::uint64_t number) {
  const std::lock_guard lock(roots().mutex);
  const auto found = roots().all.find(number);
  return found == roots().all.end() ? nullptr : found->second;
}

void Root::report(int rank, int ranks, const Member& member, AtWelcome at_welcome) {
  std::string error;
  std::vector<AtWelcome> waiting;
  std::vector<Member> members;
  {
    const std::lock_guard lock(mutex_);
    if (ranks_ == 0) ranks_ = ranks;
    if (ranks != ranks_)
      error = fmt::format("rank {} makes a communicator of {} ranks, others one of {}", rank, ranks, ranks_);
    else if (members_.contains(rank))
      error = fmt::format("two calls of ncclCommInitRank with one id have the rank {}", rank);
    for (const auto& [other, of] : members_)
      if (error.empty() && of.process == member.process && of.device == member.device)
        error = fmt::format("ranks {} and {} are both on device {}: call cudaSetDevice before ncclCommInitRank", other,
                            rank, member.device);
    members_[rank] = member;
    waiting_.push_back(std::move(at_welcome));
    if (error.empty() && static_cast<int>(members_.size()) < ranks_) return;
    waiting.swap(waiting_);
    for (const auto& [at, of] : members_) members.push_back(of);
    if (error.empty()) ranks_ = -1;  // another rank with this id is an error
  }
  for (const AtWelcome& one : waiting) one(members, error);
}

struct Connection::State {
  int socket = -1;
  std::mutex sending;
  struct Waiting {
    OperationRef operation;
    Part part;
    std::uint64_t bytes = 0;  // of the part's receive buffer
  };
  std::mutex mutex;
  std::map<std::uint64_t, Waiting> waiting;  // by ticket
  std::uint64_t next_ticket = 1;
  bool lost = false;

  ~State() {
    if (socket >= 0) ::close(socket);
  }
  static void end(Waiting& w, ncclResult_t result, std::string error, const std::vector<char>& bytes) {
    {
      const std::lock_guard lock(w.operation->mutex);
      w.operation->result = result;
      w.operation->error = std::move(error);
      if (!w.operation->abandoned && result == ncclSuccess && bytes.size() == w.bytes && !bytes.empty())
        std::memcpy(w.part.recv, bytes.data(), bytes.size());
    }
    w.operation->done.store(true, std::memory_order_release);
  }
  // Reads a reply; false: the connection has ended.
  bool read(Reply& reply, std::string& text, std::vector<char>& bytes) {
    if (!receive_all(socket, &reply, sizeof reply) || reply.bytes > kMostBytes) return false;
    text.resize(reply.text);
    bytes.resize(reply.bytes);
    return receive_all(socket, text.data(), text.size()) && receive_all(socket, bytes.data(), bytes.size());
  }
  void serve(const std::shared_ptr<Welcome>& welcome) {
    Reply reply;
    std::string text;
    std::vector<char> bytes;
    if (read(reply, text, bytes)) {
      welcome->members.resize(bytes.size() / sizeof(Member));
      if (!bytes.empty()) std::memcpy(static_cast<void*>(welcome->members.data()), bytes.data(), bytes.size());
      welcome->error = text;
    } else {
      welcome->error = "the process that made the ncclUniqueId has ended";
    }
    welcome->done.store(true, std::memory_order_release);
    while (read(reply, text, bytes)) {
      Waiting found;
      {
        const std::lock_guard lock(mutex);
        const auto at = waiting.find(reply.ticket);
        if (at == waiting.end()) continue;
        found = std::move(at->second);
        waiting.erase(at);
      }
      end(found, static_cast<ncclResult_t>(reply.result), text, bytes);
    }
    const std::lock_guard lock(mutex);
    lost = true;
    for (auto& [ticket, one] : waiting)
      end(one, ncclRemoteError, "the process that made the ncclUniqueId has ended", {});
    waiting.clear();
  }
};

std::shared_ptr<Connection> Connection::open(const Id& id, int rank, int ranks, const Member& member,
                                             std::shared_ptr<Welcome> welcome) {
  if (id.port == 0) return nullptr;
  constexpr std::uint32_t kLoopback = 0x0100007f;  // 127.0.0.1, network byte order on this host
  auto state = std::make_shared<State>();
  if (id.network == number_of_network()) state->socket = connect_to(kLoopback, id.port);
  for (const std::uint32_t address : id.addresses.all)
    if (state->socket < 0 && address) state->socket = connect_to(address, id.port);
  Hello hello;
  hello.number = id.number;
  hello.rank = rank;
  hello.ranks = ranks;
  hello.member = member;
  if (state->socket < 0 || !send_all(state->socket, &hello, sizeof hello)) return nullptr;
  if (!start_thread([state, welcome = std::move(welcome)] { state->serve(welcome); })) return nullptr;
  return std::shared_ptr<Connection>(new Connection(state));
}

Connection::~Connection() {
  ::shutdown(state_->socket, SHUT_RDWR);
}

void Connection::arrive(const Key& key, const OperationRef& operation, int participant, const Part& part) {
  Arrival a;
  a.key = key;
  a.participants = static_cast<std::int32_t>(operation->parts.size());
  a.participant = participant;
  a.call = operation->call;
  a.scalar = part.scalar;
  a.failed = part.failed;
  a.bytes = part.failed ? 0 : send_bytes(a.call, a.participants, participant);
  bool lost = false;
  {
    const std::lock_guard lock(state_->mutex);
    a.ticket = state_->next_ticket++;
    lost = state_->lost;
    if (!lost)
      state_->waiting[a.ticket] = {operation, part, part.failed ? 0 : recv_bytes(a.call, a.participants, participant)};
  }
  if (!lost) {
    const std::lock_guard lock(state_->sending);
    send_all(state_->socket, {{&a, sizeof a}, {part.send, a.bytes}});
    return;  // if the connection is lost, the reader ends the operation
  }
  State::Waiting none{operation, part, 0};
  State::end(none, ncclRemoteError, "the process that made the ncclUniqueId has ended", {});
}

}  // namespace warpgrind::libraries::nccl
