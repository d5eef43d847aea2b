// Texts short enough for a model.
#pragma once

#include <string>
#include <vector>

#include "mcp/json_rpc.h"

namespace warpgrind::mcp {

// How much a result may say: about 2,000 tokens, or with "detail": "full" about 8,000.
struct Room {
  std::size_t text = 8000;    // bytes of a result
  std::size_t output = 1500;  // of the program's output in it
  std::size_t findings = 4, advice = 2, lines = 5, kernels = 4, opcodes = 12;
};
Room room_of(const Json& arguments);  // by its member "detail"

// The beginning and the end of a text, cut between lines where possible; between them, how much is missing.
std::string cut(const std::string& text, std::size_t most);
// Control characters and bytes that are not UTF-8 become visible; colours are removed.
std::string plain(const std::string& text);
std::string bullets(const std::vector<std::string>& items);  // "- one\n- two\n"

}  // namespace warpgrind::mcp
