// A JSON writer with only the parts that the results of a program need.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace lab {

std::string json_string(const std::string& text);

std::string json_number(double value);

class JsonObject {
 public:
  JsonObject& raw(const std::string& name, const std::string& json);
  JsonObject& text(const std::string& name, const std::string& value) { return raw(name, json_string(value)); }
  JsonObject& number(const std::string& name, double value) { return raw(name, json_number(value)); }
  JsonObject& flag(const std::string& name, bool value) { return raw(name, value ? "true" : "false"); }
  std::string str() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string json_list(const std::vector<std::string>& items, const char* separator = ", ");

}  // namespace lab
