// Messages of the Debug Adapter Protocol in a stream of bytes: "Content-Length: N", an empty line, and N bytes of JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace warpgrind::dap {

using Json = nlohmann::json;

inline constexpr std::size_t kLongestHeader = 4096;
inline constexpr std::size_t kLongestMessage = std::size_t{64} << 20;  // bytes; one answer with memory has a few MB

class MessageReader {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  // The next whole message, which is a JSON object; nullopt: more bytes are needed. After an error the stream has no
  // known place to go on, so every later call returns an error too.
  Result<std::optional<Json>> next();
  // True: the stream ended inside a message if no more bytes come.
  bool inside_message() const { return !bytes_.empty(); }

 private:
  Result<std::optional<std::size_t>> read_header();  // where the body begins; sets length_
  std::string bytes_;
  std::size_t length_ = 0;
};

std::string frame(const Json& message);

}  // namespace warpgrind::dap
