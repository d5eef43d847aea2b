// Bytes in messages of the Debug Adapter Protocol.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace warpgrind::dap {

std::string encode_base64(std::span<const std::uint8_t> bytes);  // RFC 4648, with padding

}  // namespace warpgrind::dap
