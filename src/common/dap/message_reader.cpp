// Framing of messages of the Debug Adapter Protocol.
#include "dap/message_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/printable.h"

namespace warpgrind::dap {

namespace {

Error broken(const std::string& what) {
  return {ErrorKind::bad_input, "broken message of the Debug Adapter Protocol: " + what, ""};
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return printable(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "");
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

constexpr std::string_view kLineEnd = "\r\n";

}  // namespace

Result<std::optional<std::size_t>> MessageReader::read_header() {
  bool has_length = false;
  std::size_t at = 0;
  for (;;) {
    const std::size_t end = bytes_.find(kLineEnd, at);
    if (end == std::string::npos && bytes_.size() - at <= kLongestHeader) {
      // A client of another protocol may never send a line end, so its first word is checked at once.
      constexpr std::string_view kField = "content-";
      const std::string_view begun = std::string_view(bytes_).substr(at, kField.size());
      if (!begun.empty() && begun != kLineEnd.substr(0, 1) &&
          !equal_ignoring_case(begun, kField.substr(0, begun.size())))
        return broken(fmt::format("\"{}\" is no header field", shortened(std::string_view(bytes_).substr(at))));
      return std::optional<std::size_t>();
    }
    if (end == std::string::npos || end > kLongestHeader)
      return broken(fmt::format("a header of more than {} bytes", kLongestHeader));
    const std::string_view line = std::string_view(bytes_).substr(at, end - at);
    at = end + kLineEnd.size();
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return broken(fmt::format("\"{}\" is no header field", shortened(line)));
    if (!equal_ignoring_case(trimmed(line.substr(0, colon)), "Content-Length")) continue;
    const std::string_view number = trimmed(line.substr(colon + 1));
    const auto [stop, problem] = std::from_chars(number.data(), number.data() + number.size(), length_);
    if (problem != std::errc() || stop != number.data() + number.size())
      return broken(fmt::format("\"{}\" is no length", shortened(number)));
    if (length_ > kLongestMessage)
      return broken(fmt::format("{} bytes, and the limit is {}", length_, kLongestMessage));
    has_length = true;
  }
  if (!has_length) return broken("the header has no Content-Length");
  return std::optional<std::size_t>(at);
}

Result<std::optional<Json>> MessageReader::next() {
  const auto begin = read_header();
  if (!begin) return begin.error();
  if (!*begin || bytes_.size() - **begin < length_) return std::optional<Json>();
  const std::string_view body = std::string_view(bytes_).substr(**begin, length_);
  Json message = Json::parse(body, nullptr, false);
  if (!message.is_object())
    return broken(fmt::format("its {} bytes are no JSON object: \"{}\"", length_, shortened(body)));
  bytes_.erase(0, **begin + length_);
  return std::optional<Json>(std::move(message));
}

std::string frame(const Json& message) {
  const std::string body = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  return fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
}

}  // namespace warpgrind::dap
