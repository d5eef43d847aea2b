// Parts of the target of a request: "/p/0f%20?a=b" is a path and parameters.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace warpgrind::serve {

std::string lower_case(std::string_view text);  // of ASCII letters, as names of headers and hosts compare

// nullopt: a wrong escape, or an escaped NUL.
std::optional<std::string> percent_decoded(std::string_view text);

struct Target {
  std::string path;
  std::map<std::string, std::string> parameters;
};
std::optional<Target> read_target(std::string_view text);  // nullopt: not a path of this server

// What {id} (32 hexadecimal digits) or {rest} (any text) of `pattern` stands for in `path`. nullopt: no match.
std::optional<std::string> match_route(std::string_view pattern, std::string_view path);

}  // namespace warpgrind::serve
