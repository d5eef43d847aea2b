// Messages of JSON-RPC 2.0, one in a line, as the Model Context Protocol uses them. What a client sends is not trusted.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

namespace warpgrind::mcp {

using Json = nlohmann::ordered_json;

inline constexpr std::size_t kLongestLine = 4 << 20;  // bytes
inline constexpr int kDeepest = 32;                   // lists and objects inside each other

enum class RpcCode : int {
  parse = -32700,
  invalid_request = -32600,
  unknown_method = -32601,
  invalid_params = -32602,
  no_such_resource = -32002,
  busy = -32000,
};

struct RpcError {
  RpcCode code = RpcCode::invalid_request;
  std::string message;
  Json id = nullptr;
};

struct Message {
  enum class Kind { request, notification, response };
  Kind kind = Kind::notification;
  Json id = nullptr;             // a string or a number; null: notification
  std::string method;            // empty: response
  Json params = Json::object();  // always an object
};

// The value of a line. Lines that are too deep are refused: code that copies or prints a value calls itself at each
// level.
std::variant<Json, RpcError> parse_line(std::string_view line);
std::variant<Message, RpcError> read_message(const Json& value);

Json reply(const Json& id, Json result);
Json error_reply(const RpcError& error);
Json notification(const std::string& method, Json params);
std::string line_of(const Json& message);  // with its newline; bytes that are not UTF-8 are replaced

}  // namespace warpgrind::mcp
