// HTTP/1.1 server: connections and their limits. Boost.Beast parses the request line and the headers.
#include "serve/http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/throw_exception.hpp>
#include <mutex>
#include <optional>
#include <set>

#include "base/assert.h"
#include "serve/http_message.h"

// Boost calls these instead of a throw. This file uses the functions that return error codes.
namespace boost {
void throw_exception(const std::exception&) {
  WG_ASSERT(false);
}
void throw_exception(const std::exception&, const source_location&) {
  WG_ASSERT(false);
}
}  // namespace boost

namespace warpgrind::serve {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using net::ip::tcp;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kReadAtOnce = 16 << 10;
constexpr std::size_t kSlowestReader = 64 << 10;  // bytes per second that a client must take
constexpr std::size_t kDiscarded = 4 << 20;       // bytes behind a refused request that are read and dropped
constexpr std::chrono::seconds kDrainTime{2};

struct HttpRoute {
  std::string method, pattern;
  HttpServer::Handler handler;
};

std::string_view view_of(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

struct HttpServer::State {
  explicit State(const HttpLimits& limits) : limits(limits) {}

  void accept();
  void admit(tcp::socket socket);
  // Closes a connection of that address (empty: of the address with the most). Connections that send a request go
  // first, then those that read an answer, then those that wait for news; of these the oldest.
  void close_one_of(std::string address);
  void close_the_largest();
  const HttpRoute* find(const std::string& method, const std::string& path, std::string& id) const;
  void wake_waiting();

  const HttpLimits limits;
  net::io_context io{1};
  tcp::acceptor acceptor{io};
  net::steady_timer pause{io};
  Check check;
  std::vector<HttpRoute> routes;
  std::set<std::shared_ptr<HttpConnection>> connections;
  std::size_t held = 0;  // bytes of bodies
  std::mutex wake_mutex;
  std::set<std::string> keys;  // to wake
};

// A connection: it reads a request, answers it, and so on.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  enum class Phase { reading, writing, waiting };

  HttpConnection(HttpServer::State& server, tcp::socket socket, std::string address)
      : address(std::move(address)),
        server_(server),
        socket_(std::move(socket)),
        timer_(server.io),
        buffer_(server.limits.header_bytes + kReadAtOnce) {}

  void start() { read_header(); }

  void close() {
    if (closed_) return;
    closed_ = true;
    hold(0);
    timer_.cancel();
    error_code ignored;
    socket_.close(ignored);
    server_.connections.erase(shared_from_this());
  }

  void wake(const std::set<std::string>& keys) {
    if (phase == Phase::waiting && keys.contains(response_.key_)) handle();
  }

  const std::string address;
  Phase phase = Phase::reading;
  Clock::time_point since = Clock::now();  // when the phase began
  std::size_t held = 0;                    // bytes of its bodies

 private:
  void begin(Phase next, std::chrono::milliseconds time) {
    phase = next;
    since = Clock::now();
    timer_.expires_after(time);
    timer_.async_wait([self = shared_from_this()](error_code problem) {
      // A cancelled wait may already have its success queued: the deadline itself decides.
      if (problem || self->closed_ || self->timer_.expiry() > Clock::now()) return;
      if (self->phase != Phase::waiting) return self->close();
      self->request_.last_call = true;
      self->handle();
    });
  }

  // Sets the number of bytes that this connection holds. May close connections, this one too.
  void hold(std::size_t bytes) {
    WG_ASSERT(server_.held >= held);
    server_.held += bytes - held;
    held = bytes;
    while (server_.held > server_.limits.bytes_of_all && server_.held > 0) server_.close_the_largest();
  }

  // Between two requests: the time of a request begins with its first byte.
  void await_request() {
    if (buffer_.size() > 0) return read_header();
    begin(Phase::reading, server_.limits.idle_time);
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code problem) {
      if (self->closed_) return;
      if (problem) return self->close();
      self->read_header();
    });
  }

  void read_header() {
    begin(Phase::reading, server_.limits.request_time);
    request_ = {};
    keep_alive_ = false;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(server_.limits.header_bytes));
    parser_->body_limit(server_.limits.body_bytes);
    http::async_read_header(socket_, buffer_, *parser_, [self = shared_from_this()](error_code problem, std::size_t) {
      if (self->closed_) return;
      problem ? self->refuse(problem) : self->read_request();
    });
  }

  void refuse(error_code problem) {
    if (problem == http::error::header_limit || problem == http::error::buffer_overflow)
      return refuse(431, "the request line and its headers are too long");
    if (problem == http::error::body_limit) return refuse(413, "the request is too long");
    if (problem.category() != make_error_code(http::error::bad_method).category() ||
        problem == http::error::end_of_stream || problem == http::error::partial_message)
      return close();
    refuse(400, "this is no HTTP/1.1 request");
  }

  void refuse(int status, const std::string& why) {
    keep_alive_ = false;
    response_ = {};
    response_.status = status;
    response_.set_content("{\"error\":\"" + why + "\"}", "application/json");
    write();
  }

  void read_request() {
    const auto& message = parser_->get();
    if (message.version() != 10 && message.version() != 11) return refuse(505, "HTTP/1.0 or HTTP/1.1 is wanted");
    if (message.count(http::field::host) > 1) return refuse(400, "two Host headers");
    std::size_t fields = 0;
    for (const auto& field : message) {
      if (++fields > server_.limits.headers) return refuse(431, "too many headers");
      request_.headers_.emplace(lower_case(view_of(field.name_string())), view_of(field.value()));
    }
    // Chunks need not say in time how long a request is. Browsers and proxies send the length.
    if (parser_->chunked() || message.count(http::field::transfer_encoding) > 0)
      return refuse(411, "a request needs a Content-Length");
    auto target = read_target(view_of(message.target()));
    if (!target) return refuse(400, "the path is not valid");
    request_.path = std::move(target->path);
    request_.parameters_ = std::move(target->parameters);
    request_.method = std::string(view_of(message.method_string()));
    is_head_ = request_.method == "HEAD";
    keep_alive_ = parser_->keep_alive();
    const auto length = parser_->content_length();
    body_bytes_ = length ? static_cast<std::size_t>(*length) : 0;
    const bool asks = lower_case(request_.header("Expect")) == "100-continue";
    parser_.reset();
    if (body_bytes_ > server_.limits.body_bytes) return refuse(413, "the request is too long");
    if (!asks || body_bytes_ == 0) return read_body();
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    net::async_write(socket_, net::buffer(kContinue.data(), kContinue.size()),
                     [self = shared_from_this()](error_code problem, std::size_t) {
                       if (self->closed_) return;
                       problem ? self->close() : self->read_body();
                     });
  }

  void read_body() {
    const std::size_t ready = std::min(buffer_.size(), body_bytes_ - request_.body.size());
    request_.body.append(static_cast<const char*>(buffer_.data().data()), ready);
    buffer_.consume(ready);
    hold(request_.body.capacity());
    if (closed_) return;
    if (request_.body.size() == body_bytes_) return handle();
    socket_.async_read_some(buffer_.prepare(std::min(kReadAtOnce, body_bytes_ - request_.body.size())),
                            [self = shared_from_this()](error_code problem, std::size_t got) {
                              if (self->closed_) return;
                              if (problem) return self->close();
                              self->buffer_.commit(got);
                              self->read_body();
                            });
  }

  void handle() {
    timer_.cancel();
    response_ = {};
    if (!server_.check || server_.check(request_, response_)) {
      const HttpRoute* route = server_.find(is_head_ ? "GET" : request_.method, request_.path, request_.id);
      if (route == nullptr) return refuse(404, "there is nothing at this path");
      route->handler(request_, response_);
    }
    if (!response_.key_.empty()) {
      WG_ASSERT(!request_.last_call);
      if (phase != Phase::waiting) wait_until_ = Clock::now() + server_.limits.patience;
      return begin(Phase::waiting, std::chrono::ceil<std::chrono::milliseconds>(
                                       std::max(wait_until_ - Clock::now(), Clock::duration(1))));
    }
    write();
  }

  void write() {
    request_ = {};
    const std::string_view body = response_.static_.empty() ? response_.owned_ : response_.static_;
    head_ = fmt::format("HTTP/1.1 {} {}\r\n", response_.status,
                        view_of(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(response_.status)))));
    for (const auto& [name, value] : response_.headers_) head_ += fmt::format("{}: {}\r\n", name, value);
    if (response_.status != 304)  // Not Modified has no body
      head_ += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", response_.type_, body.size());
    head_ += fmt::format("Connection: {}\r\n\r\n", keep_alive_ ? "keep-alive" : "close");
    hold(response_.owned_.size());
    if (closed_) return;
    begin(Phase::writing, server_.limits.request_time + std::chrono::seconds(body.size() / kSlowestReader));
    const std::array<net::const_buffer, 2> parts = {net::buffer(head_),
                                                    net::buffer(body.data(), is_head_ ? 0 : body.size())};
    net::async_write(socket_, parts, [self = shared_from_this()](error_code problem, std::size_t) {
      if (self->closed_) return;
      self->response_ = {};
      self->hold(0);
      if (problem) return self->close();
      self->is_head_ = false;
      self->keep_alive_ ? self->await_request() : self->drain();
    });
  }

  // A connection that is closed while bytes of its client are unread is reset, and the client may lose the answer.
  void drain() {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    begin(Phase::reading, kDrainTime);
    discard();
  }
  void discard() {
    buffer_.consume(buffer_.size());
    socket_.async_read_some(buffer_.prepare(kReadAtOnce),
                            [self = shared_from_this()](error_code problem, std::size_t got) {
                              if (self->closed_) return;
                              self->discarded_ += got;
                              if (problem || self->discarded_ > kDiscarded) return self->close();
                              self->discard();
                            });
  }

  HttpServer::State& server_;
  tcp::socket socket_;
  net::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  HttpRequest request_;
  HttpResponse response_;
  std::string head_;
  std::size_t body_bytes_ = 0;
  std::size_t discarded_ = 0;
  Clock::time_point wait_until_;
  bool keep_alive_ = false, is_head_ = false, closed_ = false;
};

void HttpServer::State::accept() {
  acceptor.async_accept([this](error_code problem, tcp::socket socket) {
    if (problem == net::error::operation_aborted) return;
    if (!problem) {
      admit(std::move(socket));
      return accept();
    }
    // No descriptor is free: one connection makes room for the next.
    close_one_of("");
    pause.expires_after(std::chrono::milliseconds(10));
    pause.async_wait([this](error_code stopped) {
      if (!stopped) accept();
    });
  });
}

void HttpServer::State::admit(tcp::socket socket) {
  error_code problem;
  const tcp::endpoint peer = socket.remote_endpoint(problem);
  if (problem) return;
  socket.set_option(tcp::no_delay(true), problem);
  net::ip::address address = peer.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = net::ip::make_address_v4(net::ip::v4_mapped, address.to_v6());
  const std::string name = address.to_string();
  const auto same =
      std::count_if(connections.begin(), connections.end(), [&](const auto& c) { return c->address == name; });
  const bool limited = limits.connections_of_address > 0 && (limits.limits_loopback || !address.is_loopback());
  if (limited && static_cast<std::size_t>(same) >= limits.connections_of_address) close_one_of(name);
  if (connections.size() >= limits.connections) close_one_of("");
  const auto connection = std::make_shared<HttpConnection>(*this, std::move(socket), name);
  connections.insert(connection);
  connection->start();
}

void HttpServer::State::close_one_of(std::string address) {
  if (connections.empty()) return;
  if (address.empty()) {
    std::map<std::string, int> counts;
    for (const auto& connection : connections) ++counts[connection->address];
    address = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                return a.second < b.second;
              })->first;
  }
  std::shared_ptr<HttpConnection> chosen;
  for (const auto& connection : connections)
    if (connection->address == address &&
        (!chosen || std::pair(connection->phase, connection->since) < std::pair(chosen->phase, chosen->since)))
      chosen = connection;
  if (chosen) chosen->close();
}

void HttpServer::State::close_the_largest() {
  const auto largest = std::max_element(connections.begin(), connections.end(),
                                        [](const auto& a, const auto& b) { return a->held < b->held; });
  WG_ASSERT(largest != connections.end() && (*largest)->held > 0);
  const std::shared_ptr<HttpConnection> kept = *largest;
  kept->close();
}

const HttpRoute* HttpServer::State::find(const std::string& method, const std::string& path, std::string& id) const {
  for (const HttpRoute& route : routes)
    if (route.method == method)
      if (auto matched = match_route(route.pattern, path)) {
        id = std::move(*matched);
        return &route;
      }
  return nullptr;
}

void HttpServer::State::wake_waiting() {
  std::set<std::string> woken;
  {
    const std::lock_guard lock(wake_mutex);
    woken.swap(keys);
  }
  for (const auto& connection : std::vector(connections.begin(), connections.end())) connection->wake(woken);
}

HttpServer::HttpServer(const HttpLimits& limits) : state_(std::make_unique<State>(limits)) {}
HttpServer::~HttpServer() = default;

void HttpServer::check_first(Check check) {
  state_->check = std::move(check);
}
void HttpServer::get(const std::string& path, Handler handler) {
  state_->routes.push_back({"GET", path, std::move(handler)});
}
void HttpServer::post(const std::string& path, Handler handler) {
  state_->routes.push_back({"POST", path, std::move(handler)});
}

Result<int> HttpServer::bind(const Address& address) {
  error_code problem;
  const auto failed = [&] {
    return Error{ErrorKind::environment,
                 fmt::format("cannot listen on {}:{}: {}", address.host, address.port, problem.message()),
                 "the port is taken, or the address is not of this machine: --listen ADDRESS:PORT"};
  };
  tcp::resolver resolver(state_->io);
  const auto found = resolver.resolve(address.host, std::to_string(address.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, problem);
  if (problem || found.empty()) return failed();
  const tcp::endpoint endpoint = found.begin()->endpoint();
  tcp::acceptor& acceptor = state_->acceptor;
  if (acceptor.open(endpoint.protocol(), problem)) return failed();
  // No SO_REUSEPORT: no other process can take our requests.
  if (acceptor.set_option(net::socket_base::reuse_address(true), problem)) return failed();
  if (endpoint.address().is_v6() && acceptor.set_option(net::ip::v6_only(false), problem)) return failed();
  if (acceptor.bind(endpoint, problem) || acceptor.listen(net::socket_base::max_listen_connections, problem))
    return failed();
  const tcp::endpoint bound = acceptor.local_endpoint(problem);
  if (problem) return failed();
  return static_cast<int>(bound.port());
}

void HttpServer::serve() {
  state_->accept();
  state_->io.run();
}

void HttpServer::stop() {
  state_->io.stop();
}

void HttpServer::wake(const std::string& key) {
  {
    const std::lock_guard lock(state_->wake_mutex);
    const bool is_posted = !state_->keys.empty();
    state_->keys.insert(key);
    if (is_posted) return;
  }
  net::post(state_->io, [state = state_.get()] { state->wake_waiting(); });
}

}  // namespace warpgrind::serve
