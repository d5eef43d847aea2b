// Checks of the origin of requests. Refused: requests that another site's page makes a browser send, and host names
// that someone pointed at this machine (DNS rebinding).
#pragma once

#include <string>
#include <vector>

namespace warpgrind::serve {

struct Address {
  std::string host = "127.0.0.1";
  int port = 8000;
};
bool is_loopback(const std::string& host);
// "127.0.0.1:8000", "[::1]:8000", "8000". False: the text has none of these forms.
bool read_address(const std::string& text, Address& address);

class RequestCheck {
 public:
  // `names`: names by which users call this server, in addition to the listening address. If there are none and
  // `is_public` is true, every name is accepted.
  RequestCheck(const std::string& listen_host, std::vector<std::string> names, bool is_public);
  bool knows_host(const std::string& host_header) const;
  // For a request that changes something.
  bool is_own_page(const std::string& host_header, const std::string& origin, const std::string& fetch_site) const;

 private:
  std::vector<std::string> names_;
  bool any_;
};

// The value of our cookie; empty: no cookie.
std::string session_in(const std::string& cookie_header);
std::string cookie_of(const std::string& session, bool by_https);

}  // namespace warpgrind::serve
