// HTTP/1.1 server for the open network. It bounds everything that a client decides: the size of a request, its time,
// the number of connections, and the memory that all connections hold together.
//
// One thread serves all connections and calls the handlers. A client that sends or reads slowly costs memory, not a
// thread. Handlers must be short. A handler without news asks to be called again (HttpResponse::call_again).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "serve/request_check.h"

namespace warpgrind::serve {

struct HttpLimits {
  std::size_t header_bytes = 8 << 10;  // request line and headers
  std::size_t headers = 64;
  std::size_t body_bytes = 1 << 20;
  std::size_t connections = 512;
  // Of one address. 0: no limit. Loopback has none unless `limits_loopback`: a reverse proxy connects from there.
  std::size_t connections_of_address = 64;
  bool limits_loopback = false;
  std::size_t bytes_of_all = 48 << 20;            // bodies of requests and answers that the connections hold
  std::chrono::milliseconds request_time{15000};  // from the first byte to the last
  std::chrono::milliseconds idle_time{5000};      // between two requests
  std::chrono::milliseconds patience{20000};      // until a handler that waits for news must answer
};

class HttpConnection;

class HttpRequest {
 public:
  std::string method;
  std::string path;  // decoded, without the query
  std::string id;    // what {id} or {rest} of the route matched
  std::string body;
  bool last_call = false;                                // the handler must answer now
  std::string header(const std::string& name) const;     // empty: absent
  std::string parameter(const std::string& name) const;  // of the query; empty: absent

 private:
  friend class HttpConnection;
  std::map<std::string, std::string> headers_;  // names in lower case
  std::map<std::string, std::string> parameters_;
};

class HttpResponse {
 public:
  int status = 200;
  void set_header(const std::string& name, const std::string& value);  // instead of an earlier one of this name
  void set_content(std::string body, const std::string& type);
  void set_static_content(std::string_view body, const std::string& type);  // `body` lives as long as the server
  // There is no news. The handler is called again after HttpServer::wake(key), and at the end of HttpLimits::patience.
  void call_again(const std::string& key) { key_ = key; }

 private:
  friend class HttpConnection;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::string type_, owned_, key_;
  std::string_view static_;
};

class HttpServer {
 public:
  using Handler = std::function<void(const HttpRequest&, HttpResponse&)>;
  using Check = std::function<bool(const HttpRequest&, HttpResponse&)>;

  explicit HttpServer(const HttpLimits& limits);
  ~HttpServer();

  void check_first(Check check);  // runs before every handler; false: it has answered
  // A path may contain one {id} (32 hexadecimal digits), or end with {rest} (any text).
  void get(const std::string& path, Handler handler);  // also answers HEAD
  void post(const std::string& path, Handler handler);

  Result<int> bind(const Address& address);  // the port
  void serve();                              // until stop()
  void stop();                               // from any thread
  void wake(const std::string& key);         // from any thread

 private:
  friend class HttpConnection;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpgrind::serve
