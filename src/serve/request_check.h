// Who may ask for what: requests that another site's page makes a browser send are refused, as is a name that somebody
// let point to this machine (DNS rebinding).
#pragma once

#include <string>
#include <vector>

namespace warpgrind::serve {

struct Address {
  std::string host = "127.0.0.1";
  int port = 8000;
};
bool is_loopback(const std::string& host);
// "127.0.0.1:8000", "[::1]:8000", "8000"; false: it is none of them.
bool read_address(const std::string& text, Address& address);

class RequestCheck {
 public:
  // `names`: what users call this server, besides where it listens. Without any, and `is_public`, every name is taken.
  RequestCheck(const std::string& listen_host, std::vector<std::string> names, bool is_public);
  bool knows_host(const std::string& host_header) const;
  // Of a request that changes something.
  bool is_own_page(const std::string& host_header, const std::string& origin, const std::string& fetch_site) const;

 private:
  std::vector<std::string> names_;
  bool any_;
};

// The value of our cookie; empty: there is none.
std::string session_in(const std::string& cookie_header);
std::string cookie_of(const std::string& session, bool by_https);

}  // namespace warpgrind::serve
