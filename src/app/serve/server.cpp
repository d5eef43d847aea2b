// HTTP server of the playground.
#include "serve/server.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "serve/api.h"
#include "serve/http_server.h"
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
      : store_(store),
        api_(api),
        check_(options.listen.host, options.names, options.is_public),
        http_(limits_of(options)) {
    http_.check_first([this](const Request& request, Response& response) { return may_pass(request, response); });
    add_page();
    add_programs();
    add_runs();
  }

  Status listen(const Address& address) {
    const auto port = http_.bind(address);
    if (!port) return port.error();
    const bool v6 = address.host.find(':') != std::string::npos;
    fmt::print("warpgrind serve: http://{}:{}/\n", v6 ? "[" + address.host + "]" : address.host, *port);
    std::fflush(stdout);
    http_.serve();
    return Ok{};
  }
  void stop() { http_.stop(); }
  void wake(const std::string& run) { http_.wake(run); }

 private:
  using Request = HttpRequest;
  using Response = HttpResponse;

  static HttpLimits limits_of(const ServeOptions& options) {
    HttpLimits limits;
    if (!options.connections) return limits;
    limits.connections_of_address = *options.connections;
    limits.limits_loopback = true;
    return limits;
  }

  bool may_pass(const Request& request, Response& response) {
    response.set_header("Content-Security-Policy", kPolicy);
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("X-Frame-Options", "DENY");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cross-Origin-Opener-Policy", "same-origin");
    response.set_header("Cross-Origin-Resource-Policy", "same-origin");
    response.set_header("Cache-Control", "no-store");
    const std::string host = request.header("Host");
    if (!check_.knows_host(host)) {
      send(response, refusal(403, "this server is not known by that name: start it with --name NAME"));
      return false;
    }
    if (request.method == "GET" || request.method == "HEAD") return true;
    const bool ours = check_.is_own_page(host, request.header("Origin"), request.header("Sec-Fetch-Site"));
    if (request.method == "POST" && ours && request.header("Content-Type").starts_with("application/json")) return true;
    send(response, refusal(403, "only this server's own page may ask for that, as JSON"));
    return false;
  }

  static void send(Response& response, const Answer& answer) {
    response.status = answer.status;
    response.set_content(answer.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                         "application/json");
  }

  // Calls `use` with the session of the request, or answers with a refusal.
  template <class Use>
  void with_session(const Request& request, Response& response, const Use& use) {
    const std::string session = session_in(request.header("Cookie"));
    if (session.empty() || !store_.knows_session(session))
      return send(response, refusal(401, "no session: open the page again"));
    use(session);
  }

  void add_page() {
    const auto page = [this](const Request& request, Response& response) {
      const std::string session = session_in(request.header("Cookie"));
      if (session.empty() || !store_.knows_session(session)) {
        const bool by_https = request.header("X-Forwarded-Proto") == "https";
        const std::string made = store_.new_session();
        if (made.empty())
          return send(response, refusal(503, "the server's database is full: its owner can raise --data-limit"));
        response.set_header("Set-Cookie", cookie_of(made, by_https));
      }
      response.set_content(kPage, "text/html; charset=utf-8");
    };
    http_.get("/", page);
    http_.get("/p/{id}", page);
    for (const PageFile& file : page_files())
      http_.get(file.path, [&file](const Request& request, Response& response) {
        const PageAnswer answer = answer_file(file, request.header("If-None-Match"), request.header("Accept-Encoding"));
        response.status = answer.status;
        for (const auto& [name, value] : answer.headers) response.set_header(name, value);
        if (answer.status == 200) response.set_static_content(answer.body, file.type);
      });
    http_.get("/api/start", [this](const Request&, Response& response) { send(response, api_.start()); });
    http_.get("/api/starts/{rest}",
              [this](const Request& request, Response& response) { send(response, api_.starting_point(request.id)); });
  }

  void add_programs() {
    http_.post("/api/programs", [this](const Request& request, Response& response) {
      with_session(request, response,
                   [&](const std::string& session) { send(response, api_.keep(session, request.body)); });
    });
    http_.get("/api/programs/{id}",
              [this](const Request& request, Response& response) { send(response, api_.program(request.id)); });
  }

  void add_runs() {
    http_.post("/api/runs", [this](const Request& request, Response& response) {
      with_session(request, response,
                   [&](const std::string& session) { send(response, api_.run(session, request.body)); });
    });
    http_.get("/api/runs/{id}", [this](const Request& request, Response& response) {
      with_session(request, response, [&](const std::string& session) {
        const auto number = [&](const char* name) {
          return std::strtoull(request.parameter(name).c_str(), nullptr, 10);
        };
        const Api::Known known{number("from"), static_cast<int>(number("attempt")), request.parameter("state"),
                               request.parameter("ahead").empty() ? std::nullopt : std::optional(number("ahead"))};
        const auto news = api_.look(session, request.id, known, request.last_call);
        news ? send(response, *news) : response.call_again(request.id);
      });
    });
    http_.post("/api/runs/{id}/cancel", [this](const Request& request, Response& response) {
      with_session(request, response,
                   [&](const std::string& session) { send(response, api_.cancel(session, request.id)); });
    });
    http_.get("/api/runs/{id}/report", [this](const Request& request, Response& response) {
      with_session(request, response, [&](const std::string& session) {
        auto report = api_.report(session, request.id);
        if (!report) return send(response, refusal(404, "this run has no report"));
        response.set_content(std::move(*report), "application/json");
      });
    });
  }

  Store& store_;
  Api& api_;
  RequestCheck check_;
  HttpServer http_;
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
  auto store = Store::open(options.data, options.data_bytes);
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
  live.on_change([&](const std::string& run) { server.wake(run); });
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
