// Checks of the Host, Origin and Cookie headers of requests.
#include "serve/request_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "serve/http_message.h"

namespace warpgrind::serve {

namespace {

constexpr std::string_view kCookie = "warpgrind_session";

// "[::1]:8000" and "::1" become "::1".
std::string without_port(const std::string& host) {
  if (host.starts_with('[')) return lower_case(host.substr(1, host.find(']') - 1));
  const std::size_t colon = host.rfind(':');
  return lower_case(colon != std::string::npos && host.find(':') == colon ? host.substr(0, colon) : host);
}

}  // namespace

bool is_loopback(const std::string& host) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  char more = 0;
  if (std::sscanf(host.c_str(), "%u.%u.%u.%u%c", &a, &b, &c, &d, &more) == 4)
    return a == 127 && b < 256 && c < 256 && d < 256;
  return host == "::1" || lower_case(host) == "localhost";
}

bool read_address(const std::string& text, Address& address) {
  std::string port = text;
  if (const std::size_t colon = text.rfind(':'); colon != std::string::npos && !text.ends_with(']')) {
    port = text.substr(colon + 1);
    address.host = without_port(text);
    if (address.host.empty() || (address.host.find(':') != std::string::npos && !text.starts_with('['))) return false;
  }
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  return problem == std::errc() && end == port.data() + port.size() && address.port >= 0 && address.port <= 65535;
}

RequestCheck::RequestCheck(const std::string& listen_host, std::vector<std::string> names, bool is_public)
    : names_(std::move(names)), any_(is_public && names_.empty()) {
  for (std::string& name : names_) name = lower_case(name);
  for (const char* own : {"localhost", "127.0.0.1", "::1"}) names_.emplace_back(own);
  names_.push_back(lower_case(listen_host));
}

bool RequestCheck::knows_host(const std::string& host_header) const {
  return any_ || std::find(names_.begin(), names_.end(), without_port(host_header)) != names_.end();
}

bool RequestCheck::is_own_page(const std::string& host_header, const std::string& origin,
                               const std::string& fetch_site) const {
  if (!fetch_site.empty() && fetch_site != "same-origin") return false;
  if (origin.empty()) return true;  // not from a browser's page
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string::npos) return false;  // "null"
  const std::string from = lower_case(origin.substr(scheme + 3));
  if (from == lower_case(host_header)) return true;
  // A reverse proxy may put its own name into Host; `names_` has the names that users see.
  return !any_ && std::find(names_.begin(), names_.end(), without_port(from)) != names_.end() &&
         !is_loopback(without_port(from));
}

std::string session_in(const std::string& cookie_header) {
  std::size_t at = 0;
  while (at < cookie_header.size()) {
    const std::size_t end = std::min(cookie_header.find(';', at), cookie_header.size());
    std::string_view part = std::string_view(cookie_header).substr(at, end - at);
    while (part.starts_with(' ')) part.remove_prefix(1);
    if (part.starts_with(kCookie) && part.substr(kCookie.size()).starts_with('='))
      return std::string(part.substr(kCookie.size() + 1));
    at = end + 1;
  }
  return "";
}

std::string cookie_of(const std::string& session, bool by_https) {
  return fmt::format("{}={}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict{}", kCookie, session,
                     by_https ? "; Secure" : "");
}

}  // namespace warpgrind::serve
