// Core file of the virtual GPU: all that a launch started from, and the fault that it ended by. A launch runs the same
// way every time, so that the debugger runs it again (core_player.h), forwards and backwards.
//
// Form, version 1, little-endian: 8 bytes "WGCORE\r\n", the version (32 bits), 32 bits of zero, the length of a JSON
// text (64 bits), its digest (32 hexadecimal digits), the text. Then come the bytes that it lists under "images" and
// "memory", without gaps. Each list entry has the digest of its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/memory/address_space.h"
#include "fatbin/fatbin.h"
#include "session/options.h"

namespace warpgrind::session {

struct CoreFile {
  static constexpr std::uint32_t kVersion = 1;

  RunOptions options;  // those that change the run: gpu, schedule, fill, program, command
  std::string date;    // "2026-11-28 18:00:00 UTC"
  std::uint32_t process = 0;
  std::string kernel;  // mangled
  device::LaunchConfig config;
  std::vector<std::uint8_t> parameters;
  std::string module;                       // name of the program's module, for messages
  std::vector<fatbin::FatbinEntry> images;  // of that program
  std::vector<std::uint64_t> globals;       // device::LoadedModule::globals()
  std::uint64_t base = 0;                   // AddressSpace::reserved_base()
  std::vector<device::Range> ranges;        // sorted
  device::Fault fault;
  struct Piece {
    std::uint64_t address = 0;
    std::string_view bytes;
  };
  std::vector<Piece> memory;  // at the launch; zero elsewhere in the ranges
};

std::string encode_core(const CoreFile& core);  // the file's bytes
// `core` refers to `bytes`, which must stay. Error: the bytes are no whole core file of this version.
Result<CoreFile> decode_core(std::string_view bytes, const std::string& path);

}  // namespace warpgrind::session
