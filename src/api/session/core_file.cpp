// Encoding and checks of core files.
#include "session/core_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/json.h"
#include "device/schedule.h"

namespace warpgrind::session {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "WGCORE\r\n";  // a copy that changes the ends of lines damages it
constexpr std::size_t kDigest = 32;
constexpr std::size_t kHeader = 8 + 4 + 4 + 8 + kDigest;

Json encode_dim(const Dim3& d) {
  return {d.x, d.y, d.z};
}

// False: no three numbers.
bool read_dim(const Json& j, std::string_view key, Dim3& out) {
  const auto it = j.find(key);
  return it != j.end() && it->is_array() && it->size() == 3 && json::read_value((*it)[0], out.x) &&
         json::read_value((*it)[1], out.y) && json::read_value((*it)[2], out.z);
}

std::string encode_bytes(const std::vector<std::uint8_t>& bytes) {
  std::string out;
  for (std::uint8_t byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

bool decode_bytes(const std::string& text, std::vector<std::uint8_t>& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (text.size() % 2 != 0) return false;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const std::size_t high = kDigits.find(text[at]), low = kDigits.find(text[at + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return false;
    out.push_back(static_cast<std::uint8_t>(high << 4 | low));
  }
  return true;
}

std::string_view payload_of(const fatbin::FatbinEntry& image) {
  return {reinterpret_cast<const char*>(image.payload.data()), image.payload.size()};
}

template <class T>
std::string_view raw(const T& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

Json encode_image(const fatbin::FatbinEntry& e) {
  return {{"kind", static_cast<unsigned>(e.kind)},
          {"compression", static_cast<unsigned>(e.compression)},
          {"image", e.image},
          {"wrapper", e.wrapper},
          {"linked", e.linked},
          {"arch", e.arch},
          {"major", e.major},
          {"minor", e.minor},
          {"debug", e.debug},
          {"name", e.name},
          {"options", e.options},
          {"size", e.size},
          {"bytes", e.payload.size()},
          {"digest", digest(payload_of(e))}};
}

Json encode_fault(const device::Fault& f) {
  return {{"kind", static_cast<unsigned>(f.kind)},
          {"message", f.message},
          {"kernel", f.kernel},
          {"function", f.function},
          {"file", f.file},
          {"line", f.line},
          {"ptx_line", f.ptx_line},
          {"block", encode_dim(f.block)},
          {"thread", encode_dim(f.thread)},
          {"address", f.address},
          {"size", f.bytes}};
}

Json encode_range(const device::Range& r) {
  return {{"low", r.low},         {"high", r.high},         {"constant", r.constant},
          {"managed", r.managed}, {"internal", r.internal}, {"host", r.host}};
}

// The bytes that the lists name, from the first on. nullopt: they end too early, or are others.
struct Contents {
  std::string_view rest;

  bool take(const Json& entry, std::string_view& out) {
    std::uint64_t bytes = 0;
    json::read(entry, "bytes", bytes);
    if (bytes > rest.size()) return false;
    out = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    return digest(out) == json::text(entry, "digest");
  }
};

bool read_image(const Json& j, Contents& contents, fatbin::FatbinEntry& e) {
  std::string_view bytes;
  if (!contents.take(j, bytes)) return false;
  e.kind = json::get<unsigned>(j, "kind") == 0 ? fatbin::EntryKind::ptx : fatbin::EntryKind::cubin;
  const auto compression = json::get<unsigned>(j, "compression");
  if (compression > static_cast<unsigned>(fatbin::Compression::zstd)) return false;
  e.compression = static_cast<fatbin::Compression>(compression);
  json::read(j, "image", e.image);
  json::read(j, "wrapper", e.wrapper);
  json::read(j, "linked", e.linked);
  json::read(j, "arch", e.arch);
  json::read(j, "major", e.major);
  json::read(j, "minor", e.minor);
  json::read(j, "debug", e.debug);
  json::read(j, "name", e.name);
  json::read(j, "options", e.options);
  json::read(j, "size", e.size);
  e.payload = std::as_bytes(std::span(bytes.data(), bytes.size()));
  return true;
}

bool read_fault(const Json& j, device::Fault& f) {
  unsigned kind = 0;
  json::read(j, "kind", kind);
  if (kind > static_cast<unsigned>(device::FaultKind::tensor_memory)) return false;
  f.kind = static_cast<device::FaultKind>(kind);
  json::read(j, "message", f.message);
  json::read(j, "kernel", f.kernel);
  json::read(j, "function", f.function);
  json::read(j, "file", f.file);
  json::read(j, "line", f.line);
  json::read(j, "ptx_line", f.ptx_line);
  json::read(j, "address", f.address);
  json::read(j, "size", f.bytes);
  return read_dim(j, "block", f.block) && read_dim(j, "thread", f.thread);
}

// Ranges are sorted, do not overlap, and lie in the lower half of the addresses, where user memory is.
bool read_ranges(const Json& j, std::vector<device::Range>& out) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 47;
  bool good = true;
  json::each(j, "ranges", [&](const Json& one) {
    device::Range r;
    json::read(one, "low", r.low);
    json::read(one, "high", r.high);
    json::read(one, "constant", r.constant);
    json::read(one, "managed", r.managed);
    json::read(one, "internal", r.internal);
    json::read(one, "host", r.host);
    good &= r.low >= device::kHostPage && r.low < r.high && r.high <= kEnd && (out.empty() || out.back().high <= r.low);
    out.push_back(r);
  });
  return good;
}

bool is_inside(const std::vector<device::Range>& ranges, std::uint64_t address, std::uint64_t bytes) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const device::Range& r) {
    return address >= r.low && address <= r.high && bytes <= r.high - address;
  });
}

bool read_launch(const Json& j, CoreFile& core) {
  json::read(j, "gpu", core.options.gpu);
  const auto schedule = device::read_schedule(json::text(j, "schedule"));
  if (!schedule) return false;
  core.options.schedule = *schedule;
  json::read(j, "fill", core.options.fill);
  json::read(j, "program", core.options.program);
  json::read(j, "command", core.options.command);
  json::read(j, "date", core.date);
  json::read(j, "process", core.process);
  json::read(j, "kernel", core.kernel);
  json::read(j, "module", core.module);
  json::read(j, "dynamic_shared", core.config.dynamic_shared);
  json::read(j, "cooperative", core.config.cooperative);
  json::read(j, "base", core.base);
  const auto globals = j.find("globals");
  if (globals == j.end() || !globals->is_array()) return false;
  for (const Json& one : *globals)
    if (!json::read_value(one, core.globals.emplace_back())) return false;
  const auto fault = j.find("fault");
  return fault != j.end() && fault->is_object() && read_fault(*fault, core.fault) &&
         decode_bytes(json::text(j, "parameters"), core.parameters) && read_dim(j, "grid", core.config.grid) &&
         read_dim(j, "block", core.config.block) && read_dim(j, "cluster", core.config.cluster) &&
         read_ranges(j, core.ranges);
}

}  // namespace

std::string encode_core(const CoreFile& core) {
  Json j = {{"warpgrind", "core file"},
            {"gpu", core.options.gpu},
            {"schedule", device::name(core.options.schedule)},
            {"fill", core.options.fill},
            {"program", core.options.program},
            {"command", core.options.command},
            {"date", core.date},
            {"process", core.process},
            {"kernel", core.kernel},
            {"module", core.module},
            {"grid", encode_dim(core.config.grid)},
            {"block", encode_dim(core.config.block)},
            {"cluster", encode_dim(core.config.cluster)},
            {"dynamic_shared", core.config.dynamic_shared},
            {"cooperative", core.config.cooperative},
            {"parameters", encode_bytes(core.parameters)},
            {"base", core.base},
            {"globals", core.globals},
            {"fault", encode_fault(core.fault)},
            {"ranges", Json::array()},
            {"images", Json::array()},
            {"memory", Json::array()}};
  for (const device::Range& range : core.ranges) j["ranges"].push_back(encode_range(range));
  for (const fatbin::FatbinEntry& image : core.images) j["images"].push_back(encode_image(image));
  for (const CoreFile::Piece& piece : core.memory)
    j["memory"].push_back({{"address", piece.address}, {"bytes", piece.bytes.size()}, {"digest", digest(piece.bytes)}});
  const std::string text = j.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out(kMagic);
  out += raw(CoreFile::kVersion);
  out += raw(std::uint32_t{0});
  out += raw(std::uint64_t{text.size()});
  out += digest(text);
  out += text;
  for (const fatbin::FatbinEntry& image : core.images) out += payload_of(image);
  for (const CoreFile::Piece& piece : core.memory) out += piece.bytes;
  return out;
}

Result<CoreFile> decode_core(std::string_view bytes, const std::string& path) {
  const auto damaged = [&](const char* what) {
    return Error{ErrorKind::bad_input, fmt::format("{}: the core file is damaged: {}", path, what),
                 "write it again: warpgrind run --core FILE PROGRAM"};
  };
  if (!bytes.starts_with(kMagic.substr(0, std::min(kMagic.size(), bytes.size()))) || bytes.empty())
    return Error{ErrorKind::bad_input, fmt::format("{} is not a core file of warpgrind", path),
                 "warpgrind run --core FILE PROGRAM writes one"};
  if (bytes.size() < kHeader) return damaged("it ends in its header");
  std::uint32_t version = 0, zero = 0;
  std::uint64_t length = 0;
  std::memcpy(&version, bytes.data() + 8, 4);
  std::memcpy(&zero, bytes.data() + 12, 4);
  std::memcpy(&length, bytes.data() + 16, 8);
  if (version != CoreFile::kVersion || zero != 0)
    return Error{ErrorKind::unsupported,
                 fmt::format("{}: a core file of version {}, and this warpgrind reads version {}", path, version,
                             CoreFile::kVersion),
                 "open it with the warpgrind that wrote it"};
  if (length > bytes.size() - kHeader) return damaged("it is cut off");
  const std::string_view text = bytes.substr(kHeader, length);
  if (digest(text) != bytes.substr(24, kDigest)) return damaged("its description has changed");
  const Json j = Json::parse(text, nullptr, false);
  CoreFile core;
  if (!j.is_object() || !read_launch(j, core)) return damaged("its description is not complete");
  Contents contents{bytes.substr(kHeader + length)};
  bool good = true;
  json::each(j, "images",
             [&](const Json& one) { good = good && read_image(one, contents, core.images.emplace_back()); });
  json::each(j, "memory", [&](const Json& one) {
    CoreFile::Piece piece{json::get<std::uint64_t>(one, "address"), {}};
    good = good && contents.take(one, piece.bytes) && is_inside(core.ranges, piece.address, piece.bytes.size());
    core.memory.push_back(piece);
  });
  if (!good || !contents.rest.empty()) return damaged("its contents are cut off, or have changed");
  return core;
}

}  // namespace warpgrind::session
