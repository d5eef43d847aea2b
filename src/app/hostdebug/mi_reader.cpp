// Parser of gdb/MI.
#include "hostdebug/mi_reader.h"

#include <cctype>
#include <charconv>

#include "base/json.h"

namespace warpgrind::hostdebug {

namespace {

constexpr int kDeepest = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool skip(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::int64_t token() {
    std::int64_t out = -1;
    constexpr int kMostDigits = 15;
    for (int i = 0; i < kMostDigits && std::isdigit(static_cast<unsigned char>(peek())); ++i)
      out = (out < 0 ? 0 : out) * 10 + (text_[at_++] - '0');
    return out;
  }

  std::string name() {
    const std::size_t begin = at_;
    while (!at_end() && (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '-' || peek() == '_')) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  // A text in quotation marks, with C's escapes.
  bool quoted(std::string& out) {
    if (!skip('"')) return false;
    while (!at_end()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (c == '\\' && !at_end())
        escape(out);
      else
        out += c;
    }
    return false;
  }

  // NAME=VALUE,... up to `end`; '\0': the end of the line.
  bool members(Json& out, char end, int depth) {
    if (end == '\0' ? at_end() : skip(end)) return true;
    do {
      const std::string key = name();
      Json one;
      if (!skip('=') || !value(one, depth)) return false;
      if (!out.contains(key)) out[key] = std::move(one);
    } while (skip(','));
    return end == '\0' ? at_end() : skip(end);
  }

 private:
  void escape(std::string& out) {
    const char c = text_[at_++];
    if (c >= '0' && c <= '7') {
      int code = c - '0';
      for (int i = 0; i < 2 && peek() >= '0' && peek() <= '7'; ++i) code = code * 8 + (text_[at_++] - '0');
      out += static_cast<char>(code);
      return;
    }
    out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'e' ? '\033' : c;
  }

  bool value(Json& out, int depth) {
    if (depth == kDeepest) return false;
    if (peek() == '"') {
      std::string text;
      if (!quoted(text)) return false;
      out = std::move(text);
      return true;
    }
    if (skip('{')) {
      out = Json::object();
      return members(out, '}', depth + 1);
    }
    return skip('[') && elements(out, depth + 1);
  }

  bool elements(Json& out, int depth) {
    out = Json::array();
    if (skip(']')) return true;
    do {
      if (std::isalpha(static_cast<unsigned char>(peek()))) {
        name();
        if (!skip('=')) return false;
      }
      Json one;
      if (!value(one, depth)) return false;
      out.push_back(std::move(one));
    } while (skip(','));
    return skip(']');
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<MiRecord> read_mi(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  Reader reader(line);
  MiRecord out;
  out.token = reader.token();
  const char kind = reader.peek();
  if (!reader.skip(kind)) return std::nullopt;
  if (kind == '~') {
    out.kind = MiRecord::Kind::console;
    return reader.quoted(out.text) && reader.at_end() ? std::optional(std::move(out)) : std::nullopt;
  }
  if (kind == '@' || kind == '&')
    return reader.quoted(out.text) && reader.at_end() ? std::optional(std::move(out)) : std::nullopt;
  if (kind == '^')
    out.kind = MiRecord::Kind::result;
  else if (kind == '*' || kind == '=')
    out.kind = MiRecord::Kind::event;
  else if (kind != '+')
    return std::nullopt;
  out.name = reader.name();
  if (reader.skip(',') ? !reader.members(out.values, '\0', 0) : !reader.at_end()) return std::nullopt;
  return out;
}

std::int64_t number_of(const Json& values, std::string_view name) {
  const std::string text = json::text(values, name);
  std::int64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::string mi_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) >= ' ' || c == '\t')
      out += c;
  }
  return out + '"';
}

}  // namespace warpgrind::hostdebug
