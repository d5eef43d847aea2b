// Export and import of device memory through unnamed files.
#include "semantics/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <map>
#include <tuple>

#include "device/memory/address_space.h"
#include "device/memory/kept_memory.h"
#include "device/memory/physical_memory.h"
#include "semantics/memory.h"
#include "semantics/pools.h"
#include "semantics/state.h"
#include "semantics/virtual_memory.h"

namespace warpgrind::semantics {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMemoryHandle = 0x4d454d2e47495057;  // "WPIG.MEM"

struct MemoryHandle {
  FileOfProcess of;
  std::uint64_t offset = 0, bytes = 0;
  std::int32_t device = 0;
};
static_assert(sizeof(MemoryHandle) <= sizeof(cudaIpcMemHandle_t));

struct Import {
  std::uint64_t base = 0, mapped = 0;  // the mapped pages; one more page is reserved
  std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> key;
  unsigned uses = 1;
  int device = 0;
  std::uint64_t bytes = 0;
  bool of_pool = false;
};
struct Imports {
  std::mutex mutex;
  std::map<std::uint64_t, Import> by_address;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::uint64_t> address_of;  // inode, offset, bytes
};
Imports& imports() {
  static auto* all = new Imports;
  return *all;
}

std::uint64_t inode_of(int file) {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 ? facts.st_ino : 0;
}

// Maps the pages and reserves an empty page behind them, so that no other memory is adjacent.
cudaError_t map_pages(Import& import, std::uint64_t& address, const Piece& piece) {
  const std::uint64_t skew = piece.offset % kPage;
  import.mapped = (skew + piece.bytes + kPage - 1) / kPage * kPage;
  device::AddressSpace& space = device::AddressSpace::instance();
  import.base = space.reserve(import.mapped + kPage, 0, 0);
  if (!import.base) return refuse(cudaErrorMemoryAllocation, "no address space left for device memory");
  if (Status mapped = device::map_physical(import.base, import.mapped, piece.offset - skew, piece.file); !mapped) {
    space.unreserve(import.base, import.mapped + kPage);
    return refuse(cudaErrorMapBufferObjectFailed, mapped.error().message);
  }
  address = import.base + skew;
  device::Range range;
  range.low = address;
  range.high = address + piece.bytes;
  range.device = piece.device;
  space.replace(import.base, import.base + import.mapped, {range});
  return cudaSuccess;
}

events::Allocation event_of(const Import& import, std::uint64_t address) {
  return {events::Allocation::Kind::device, import.device, address, import.bytes};
}

void unmap(const Import& import, std::uint64_t address) {
  device::AddressSpace& space = device::AddressSpace::instance();
  session::devices()[import.device].publish_deallocation(event_of(import, address));
  space.replace(import.base, import.base + import.mapped, {});
  device::unmap_physical(import.base, import.mapped);
  space.unreserve(import.base, import.mapped + kPage);
}

}  // namespace

FileOfProcess describe_file(std::uint64_t kind, int file) {
  return {kind, ::getpid(), file, inode_of(file)};
}

int open_file(const FileOfProcess& of) {
  const std::string path = fmt::format("/proc/{}/fd/{}", of.process, of.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return -1;
  if (inode_of(file) == of.inode && !device::file_name(file).empty()) return file;
  ::close(file);
  return -1;
}

std::string shareable_name(std::string_view what, int device) {
  return fmt::format("{} of GPU {}", what, device);
}

std::optional<int> device_of_file(int file, std::string_view what) {
  const std::string name = device::file_name(file), before = std::string(what) + " of GPU ";
  int device = 0;
  if (!name.starts_with(before)) return std::nullopt;
  const auto read = std::from_chars(name.data() + before.size(), name.data() + name.size(), device);
  if (read.ec != std::errc() || !valid_device(device)) return std::nullopt;
  return device;
}

cudaError_t import_piece(void** out, const Piece& piece) {
  if (!valid_device(piece.device))
    return refuse(cudaErrorInvalidDevice, "the memory is on a GPU that this process does not have");
  const std::tuple key{inode_of(piece.file), piece.offset, piece.bytes};
  Imports& all = imports();
  const std::lock_guard lock(all.mutex);
  if (const auto known = all.address_of.find(key); known != all.address_of.end()) {
    all.by_address[known->second].uses++;
    *out = reinterpret_cast<void*>(known->second);
    return cudaSuccess;
  }
  Import import;
  import.key = key;
  import.device = piece.device;
  import.bytes = piece.bytes;
  import.of_pool = piece.of_pool;
  std::uint64_t address = 0;
  device::KeptMemory::instance().shares_memory();
  if (cudaError_t error = map_pages(import, address, piece)) return error;
  session::devices()[piece.device].publish_allocation(event_of(import, address));
  session::devices()[piece.device].define(address, piece.bytes);
  all.by_address[address] = import;
  all.address_of[key] = address;
  *out = reinterpret_cast<void*>(address);
  return cudaSuccess;
}

bool release_import(void* pointer, bool of_pool) {
  Imports& all = imports();
  const auto find = [&] {
    const auto found = all.by_address.find(reinterpret_cast<std::uint64_t>(pointer));
    return found != all.by_address.end() && found->second.of_pool == of_pool ? found : all.by_address.end();
  };
  {
    const std::lock_guard lock(all.mutex);
    const auto found = find();
    if (found == all.by_address.end()) return false;
    if (found->second.uses > 1) {
      found->second.uses--;
      return true;
    }
  }
  if (!of_pool) Executor::instance().wait_all();  // a free of pool memory has waited already
  const std::lock_guard lock(all.mutex);
  const auto found = find();
  if (found == all.by_address.end()) return false;
  if (--found->second.uses) return true;
  unmap(found->second, found->first);
  all.address_of.erase(found->second.key);
  all.by_address.erase(found);
  return true;
}

void release_imports(int device) {
  Imports& all = imports();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.by_address, [&](const auto& one) {
    const auto& [address, import] = one;
    if (import.device != device) return false;
    unmap(import, address);
    forget_pool_block(reinterpret_cast<void*>(address));
    all.address_of.erase(import.key);
    return true;
  });
}

cudaError_t share_allocation(Piece& out, const Place& place) {
  Result<device::AddressSpace::Shared> shared = Error{};
  Executor::instance().alone([&] { shared = device::AddressSpace::instance().share(place.low); });
  if (!shared) return refuse(cudaErrorMemoryAllocation, shared.error().message);
  session::devices()[place.device].define(place.low, place.high - place.low);
  out = {shared->file, shared->offset, place.high - place.low, place.device};
  return cudaSuccess;
}

bool is_exportable(const Place& place) {
  const void* const start = reinterpret_cast<const void*>(place.low);
  return place.memory == Memory::device && is_allocated(start) && !pool_of_block(start);
}

cudaError_t ipc_get_memory_handle(cudaIpcMemHandle_t* handle, void* pointer) {
  const Place place = place_of(pointer);
  if (!handle || !is_exportable(place))
    return refuse(cudaErrorInvalidValue, "only memory from cudaMalloc has such a handle");
  Piece piece;
  if (cudaError_t error = share_allocation(piece, place)) return error;
  const MemoryHandle made{describe_file(kMemoryHandle, piece.file), piece.offset, piece.bytes, piece.device};
  *handle = {};
  std::memcpy(handle, &made, sizeof made);
  return cudaSuccess;
}

cudaError_t ipc_open_memory_handle(void** out, const cudaIpcMemHandle_t& handle, unsigned flags) {
  if (!out || flags != cudaIpcMemLazyEnablePeerAccess) return cudaErrorInvalidValue;
  MemoryHandle read;
  std::memcpy(static_cast<void*>(&read), &handle, sizeof read);
  if (read.of.kind != kMemoryHandle) return refuse(cudaErrorInvalidValue, "not the handle of a memory allocation");
  if (read.of.process == ::getpid())
    return refuse(cudaErrorDeviceUninitialized, "the exporting process itself cannot open its handle");
  const int file = open_file(read.of);
  if (file < 0)
    return refuse(cudaErrorMapBufferObjectFailed, "the exporting process has ended, or belongs to another user");
  const cudaError_t error = import_piece(out, {file, read.offset, read.bytes, read.device});
  ::close(file);
  return error;
}

cudaError_t ipc_close_memory_handle(void* pointer) {
  return release_import(pointer, false) ? cudaSuccess
                                        : refuse(cudaErrorInvalidValue, "no opened handle begins at this address");
}

}  // namespace warpgrind::semantics
