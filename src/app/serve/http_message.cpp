// Requests and responses without their connection: decoding of targets, and access to fields.
#include "serve/http_message.h"

#include <algorithm>
#include <cctype>

#include "serve/http_server.h"

namespace warpgrind::serve {

namespace {

int hexadecimal(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

bool is_id(std::string_view text) {
  return text.size() == 32 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hexadecimal(text[i + 1]), low = hexadecimal(text[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::optional<Target> read_target(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  text = text.substr(0, text.find('#'));
  const std::size_t question = text.find('?');
  const auto path = percent_decoded(text.substr(0, question));
  if (!path) return std::nullopt;
  Target target{*path, {}};
  std::string_view query = question != std::string_view::npos ? text.substr(question + 1) : std::string_view();
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = percent_decoded(pair.substr(0, equals));
    const auto value = percent_decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return std::nullopt;
    target.parameters.emplace(*name, *value);
  }
  return target;
}

std::optional<std::string> match_route(std::string_view pattern, std::string_view path) {
  const std::size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) return pattern == path ? std::optional<std::string>("") : std::nullopt;
  if (!path.starts_with(pattern.substr(0, brace))) return std::nullopt;
  path.remove_prefix(brace);
  const std::string_view name = pattern.substr(brace, pattern.find('}') + 1 - brace);
  const std::string_view behind = pattern.substr(brace + name.size());
  if (path.size() <= behind.size() || !path.ends_with(behind)) return std::nullopt;
  path.remove_suffix(behind.size());
  if (name == "{id}" && !is_id(path)) return std::nullopt;
  return std::string(path);
}

std::string HttpRequest::header(const std::string& name) const {
  const auto found = headers_.find(lower_case(name));
  return found != headers_.end() ? found->second : "";
}

std::string HttpRequest::parameter(const std::string& name) const {
  const auto found = parameters_.find(name);
  return found != parameters_.end() ? found->second : "";
}

void HttpResponse::set_header(const std::string& name, const std::string& value) {
  const auto same = std::find_if(headers_.begin(), headers_.end(), [&](const auto& h) { return h.first == name; });
  if (same != headers_.end())
    same->second = value;
  else
    headers_.emplace_back(name, value);
}

void HttpResponse::set_content(std::string body, const std::string& type) {
  owned_ = std::move(body);
  static_ = {};
  type_ = type;
}

void HttpResponse::set_static_content(std::string_view body, const std::string& type) {
  owned_.clear();
  static_ = body;
  type_ = type;
}

}  // namespace warpgrind::serve
