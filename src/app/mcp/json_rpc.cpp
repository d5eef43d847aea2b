// Messages of JSON-RPC 2.0: reading and writing.
#include "mcp/json_rpc.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace warpgrind::mcp {

namespace {

// Deepest nesting of lists and objects in a text; brackets in strings do not count.
int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

bool is_id(const Json& value) {
  return value.is_string() || value.is_number();
}

}  // namespace

std::variant<Json, RpcError> parse_line(std::string_view line) {
  if (depth_of(line) > kDeepest)
    return RpcError{RpcCode::parse, fmt::format("more than {} lists and objects inside each other", kDeepest)};
  Json value = Json::parse(line, nullptr, false);
  if (value.is_discarded()) return RpcError{RpcCode::parse, "the line is not JSON"};
  return value;
}

std::variant<Message, RpcError> read_message(const Json& value) {
  if (!value.is_object()) return RpcError{RpcCode::invalid_request, "a message is a JSON object"};
  Message message;
  const auto id = value.find("id");
  if (id != value.end() && is_id(*id)) message.id = *id;
  const auto invalid = [&](const char* why) { return RpcError{RpcCode::invalid_request, why, message.id}; };
  if (json::text(value, "jsonrpc") != "2.0") return invalid("\"jsonrpc\" must be \"2.0\"");
  const auto method = value.find("method");
  if (method == value.end()) {
    if (!value.contains("result") && !value.contains("error")) return invalid("the message has no \"method\"");
    message.kind = Message::Kind::response;
    return message;
  }
  if (!method->is_string()) return invalid("\"method\" must be a string");
  if (id != value.end() && !is_id(*id)) return invalid("\"id\" must be a string or a number");
  message.kind = id == value.end() ? Message::Kind::notification : Message::Kind::request;
  message.method = method->get<std::string>();
  if (const auto params = value.find("params"); params != value.end()) {
    if (!params->is_object()) return RpcError{RpcCode::invalid_params, "\"params\" must be an object", message.id};
    message.params = *params;
  }
  return message;
}

Json reply(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error_reply(const RpcError& error) {
  return {{"jsonrpc", "2.0"},
          {"id", error.id},
          {"error", {{"code", static_cast<int>(error.code)}, {"message", error.message}}}};
}

Json notification(const std::string& method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string line_of(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpgrind::mcp
