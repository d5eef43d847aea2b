// HTTP server of the playground.
#include "serve/server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <thread>

#include "serve/api.h"
#include "serve/page.h"
#include "serve/workers.h"

namespace warpgrind::serve {

namespace {

// The page may only load its script and style from this server and send requests to it: no output of a program can run
// as code. Elements may contain styles, because the editor makes its own.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr const char* kPage = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>warpgrind playground</title>
<link rel="stylesheet" href="/playground.css">
<link rel="license" href="/playground-licences.txt">
<script src="/playground.js" type="module"></script>
</head>
<body>
<noscript>The playground is drawn by a script; please allow it.</noscript>
<div id="app"></div>
</body>
</html>
)";

class Server {
 public:
  Server(const ServeOptions& options, Store& store, Api& api)
      : store_(store), api_(api), check_(options.listen.host, options.names, options.is_public) {
    http_.new_task_queue = [] { return new httplib::ThreadPool(256); };  // one thread waits for each viewer
    http_.set_keep_alive_timeout(2);
    http_.set_read_timeout(10);
    http_.set_write_timeout(10);
    http_.set_payload_max_length(1 << 20);
    http_.set_socket_options([](auto socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes,
                 sizeof yes);  // no SO_REUSEPORT: no other process can take our requests
    });
    http_.set_pre_routing_handler(
        [this](const Request& request, Response& response) { return before(request, response); });
    add_page();
    add_programs();
    add_runs();
  }

  Status listen(const Address& address) {
    const int port = address.port == 0 ? http_.bind_to_any_port(address.host)
                                       : (http_.bind_to_port(address.host, address.port) ? address.port : -1);
    if (port <= 0)
      return Error{ErrorKind::environment, fmt::format("cannot listen on {}:{}", address.host, address.port),
                   "the port is taken, or the address is not of this machine: --listen ADDRESS:PORT"};
    const bool v6 = address.host.find(':') != std::string::npos;
    fmt::print("warpgrind serve: http://{}:{}/\n", v6 ? "[" + address.host + "]" : address.host, port);
    std::fflush(stdout);
    http_.listen_after_bind();
    return Ok{};
  }
  void stop() { http_.stop(); }

 private:
  using Request = httplib::Request;
  using Response = httplib::Response;

  httplib::Server::HandlerResponse before(const Request& request, Response& response) {
    response.set_header("Content-Security-Policy", kPolicy);
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("X-Frame-Options", "DENY");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cross-Origin-Opener-Policy", "same-origin");
    response.set_header("Cross-Origin-Resource-Policy", "same-origin");
    response.set_header("Cache-Control", "no-store");
    const std::string host = request.get_header_value("Host");
    if (!check_.knows_host(host)) {
      send(response, refusal(403, "this server is not known by that name: start it with --name NAME"));
      return httplib::Server::HandlerResponse::Handled;
    }
    if (request.method == "GET" || request.method == "HEAD") return httplib::Server::HandlerResponse::Unhandled;
    const bool ours =
        check_.is_own_page(host, request.get_header_value("Origin"), request.get_header_value("Sec-Fetch-Site"));
    if (request.method != "POST" || !ours ||
        !request.get_header_value("Content-Type").starts_with("application/json")) {
      send(response, refusal(403, "only this server's own page may ask for that, as JSON"));
      return httplib::Server::HandlerResponse::Handled;
    }
    return httplib::Server::HandlerResponse::Unhandled;
  }

  static void send(Response& response, const Answer& answer) {
    response.status = answer.status;
    response.set_content(answer.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                         "application/json");
  }

  // Calls `use` with the session of the request, or answers with a refusal.
  template <class Use>
  void with_session(const Request& request, Response& response, const Use& use) {
    const std::string session = session_in(request.get_header_value("Cookie"));
    if (session.empty() || !store_.knows_session(session))
      return send(response, refusal(401, "no session: open the page again"));
    use(session);
  }

  void add_page() {
    const auto page = [this](const Request& request, Response& response) {
      const std::string session = session_in(request.get_header_value("Cookie"));
      if (session.empty() || !store_.knows_session(session)) {
        const bool by_https = request.get_header_value("X-Forwarded-Proto") == "https";
        response.set_header("Set-Cookie", cookie_of(store_.new_session(), by_https));
      }
      response.set_content(kPage, "text/html; charset=utf-8");
    };
    http_.Get("/", page);
    http_.Get("/p/([0-9a-f]{32})", page);
    for (const PageFile& file : page_files())
      http_.Get(file.path, [&file](const Request& request, Response& response) {
        const PageAnswer answer =
            answer_file(file, request.get_header_value("If-None-Match"), request.get_header_value("Accept-Encoding"));
        response.status = answer.status;
        response.headers.erase("Cache-Control");
        for (const auto& [name, value] : answer.headers) response.set_header(name, value);
        if (answer.status != 200) return;
        // A provider, because the library would compress other content once more.
        response.set_content_provider(
            answer.body.size(), file.type,
            [body = answer.body](std::size_t offset, std::size_t size, httplib::DataSink& sink) {
              return sink.write(body.data() + offset, size);
            });
      });
    http_.Get("/api/start", [this](const Request&, Response& response) { send(response, api_.start()); });
    http_.Get("/api/starts/(.+)", [this](const Request& request, Response& response) {
      send(response, api_.starting_point(request.matches[1]));
    });
  }

  void add_programs() {
    http_.Post("/api/programs", [this](const Request& request, Response& response) {
      with_session(request, response,
                   [&](const std::string& session) { send(response, api_.keep(session, request.body)); });
    });
    http_.Get("/api/programs/([0-9a-f]{32})",
              [this](const Request& request, Response& response) { send(response, api_.program(request.matches[1])); });
  }

  void add_runs() {
    http_.Post("/api/runs", [this](const Request& request, Response& response) {
      with_session(request, response,
                   [&](const std::string& session) { send(response, api_.run(session, request.body)); });
    });
    http_.Get("/api/runs/([0-9a-f]{32})", [this](const Request& request, Response& response) {
      with_session(request, response, [&](const std::string& session) {
        const auto number = [&](const char* name) {
          return std::strtoull(request.get_param_value(name).c_str(), nullptr, 10);
        };
        const Api::Known known{number("from"), static_cast<int>(number("attempt")), request.get_param_value("state")};
        send(response, api_.look(session, request.matches[1], known));
      });
    });
    http_.Post("/api/runs/([0-9a-f]{32})/cancel", [this](const Request& request, Response& response) {
      with_session(request, response,
                   [&](const std::string& session) { send(response, api_.cancel(session, request.matches[1])); });
    });
    http_.Get("/api/runs/([0-9a-f]{32})/report", [this](const Request& request, Response& response) {
      with_session(request, response, [&](const std::string& session) {
        auto report = api_.report(session, request.matches[1]);
        if (!report) return send(response, refusal(404, "this run has no report"));
        response.set_content(std::move(*report), "application/json");
      });
    });
  }

  Store& store_;
  Api& api_;
  RequestCheck check_;
  httplib::Server http_;
};

Status boxes_work() {
  if (const std::string& why = sandbox::why_none(); !why.empty())
    return Error{ErrorKind::environment, "no sandbox: programs that come over the network would run as you",
                 why + "; --no-sandbox runs them as you, for this machine alone"};
  return Ok{};
}

Status allowed(const ServeOptions& options) {
  if (!is_loopback(options.listen.host) && !options.is_public)
    return Error{ErrorKind::bad_input, fmt::format("{} can be reached from other machines", options.listen.host),
                 "anybody there could run programs here: --public says that this is wanted (docs/playground.md)"};
  if (Status page = page_available(); !page) return page;
  if (options.broker) {
    auto broker = Redis::connect(*options.broker);
    return broker ? Status(Ok{}) : Status(broker.error());
  }
  if (options.boxed) return boxes_work();
  if (is_loopback(options.listen.host) && !options.is_public) return Ok{};
  return Error{ErrorKind::bad_input, "--no-sandbox is for loopback alone",
               "anybody that reaches this server could run programs on this machine with all your rights"};
}

// SIGINT and SIGTERM end the server instead of the process. Must be created before the first thread.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  void wait(const std::stop_token& stop) const {
    const timespec now_and_then{0, 100'000'000};
    while (!stop.stop_requested() && sigtimedwait(&signals_, nullptr, &now_and_then) < 0) {
    }
  }

 private:
  sigset_t signals_;
};

}  // namespace

Status serve(const ServeOptions& options) {
  if (Status may = allowed(options); !may) return may;
  auto store = Store::open(options.data);
  if (!store) return store.error();
  const EndSignals signals;
  std::unique_ptr<JobQueue> queue = make_embedded_queue();
  LiveRuns live;
  for (RunRequest& run : (*store)->unfinished()) {
    live.add(run.id, run.session);
    queue->push(std::move(run));
  }
  Api api(**store, *queue, live, options.limits);
  Server server(options, **store, api);
  const std::unique_ptr<Carrier> carrier =
      options.broker ? make_redis_carrier(*options.broker) : make_local_carrier({options.limits, options.boxed});
  const Workers workers(**store, *queue, live, *carrier, options.jobs);
  std::jthread ending([&](const std::stop_token& stop) {
    signals.wait(stop);
    server.stop();
  });
  return server.listen(options.listen);
}

Status serve_as_worker(const WorkerOptions& options) {
  if (Status boxes = boxes_work(); !boxes) return boxes;
  const EndSignals signals;
  std::stop_source end;
  std::jthread ending([&](const std::stop_token& stop) {
    signals.wait(stop);
    end.request_stop();
  });
  return work_for_broker(options, end.get_token());
}

}  // namespace warpgrind::serve
