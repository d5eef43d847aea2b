// Writes JSON: just what the results of a program need.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace lab {

inline std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

inline std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

class JsonObject {
 public:
  JsonObject& raw(const std::string& name, const std::string& json) {
    text_ += (text_.empty() ? "" : ", ") + json_string(name) + ": " + json;
    return *this;
  }
  JsonObject& text(const std::string& name, const std::string& value) { return raw(name, json_string(value)); }
  JsonObject& number(const std::string& name, double value) { return raw(name, json_number(value)); }
  JsonObject& flag(const std::string& name, bool value) { return raw(name, value ? "true" : "false"); }
  std::string str() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

inline std::string json_list(const std::vector<std::string>& items, const char* separator = ", ") {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) out += (i ? separator : "") + items[i];
  return out + "]";
}

}  // namespace lab
