// Stream-ordered memory: allocated at the call, and freed when the stream reaches the free.
#include "semantics/pools.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/assert.h"
#include "device/memory/address_space.h"
#include "device/memory/physical_memory.h"
#include "semantics/graph.h"
#include "semantics/operation.h"
#include "semantics/shared_memory.h"
#include "semantics/state.h"
#include "semantics/streams.h"

namespace warpgrind::semantics {

namespace {

constexpr std::string_view kPoolFile = "pool";
constexpr std::uint64_t kPointerData = 0x5254502e47495057;  // "WPIG.PTR"
// Content of cudaMemPoolPtrExportData.
struct PointerData {
  std::uint64_t kind = 0, inode = 0, offset = 0, bytes = 0;
};
static_assert(sizeof(PointerData) <= sizeof(cudaMemPoolPtrExportData));

std::mutex pool_mutex;
std::map<const void*, std::pair<MemPool*, std::size_t>>& pool_blocks() {
  static auto* blocks = new std::map<const void*, std::pair<MemPool*, std::size_t>>;
  return *blocks;
}

}  // namespace

bool is_pool(const MemPool* pool) {
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  return r.pools.count(pool) != 0;
}

MemPool* pool_of(int device) {
  Context& c = context(device);
  MemPool* const current = c.current;
  return current ? current : &c.pool;
}

cudaError_t allocate_from(MemPool* pool, void** out, std::size_t size, const StreamRef& stream) {
  if (!out) return cudaErrorInvalidValue;
  if (cudaError_t error = takes_calls(stream)) return error;
  *out = nullptr;
  if (size == 0) return cudaSuccess;
  if (stream->capturing) {
    const GraphsLock lock;
    if (!stream->capture) return allocate_from(pool, out, size, stream);  // ended by another thread meanwhile
    AllocOperation op{size, nullptr, stream->device};
    if (cudaError_t error = allocate(stream->device, size, &op.pointer, events::Allocation::Kind::graph)) return error;
    *out = op.pointer;
    stream->capture->graph->memory.push_back(std::make_shared<GraphMemory>(op.pointer, size, stream->device));
    return submit(stream, op, false);
  }
  if (cudaError_t error = forbidden_by_captures()) return error;
  if (!pool) pool = pool_of(stream->device);
  if (!is_pool(pool)) return cudaErrorInvalidValue;
  if (pool->imported) return refuse(cudaErrorInvalidValue, "an imported pool cannot allocate memory");
  if (cudaError_t error = allocate(pool->device, size, out, events::Allocation::Kind::pool, pool->file)) return error;
  charge_host();
  auto work = std::make_shared<Work>();
  work->what = events::StreamWork::Kind::allocation;
  work->memory = reinterpret_cast<std::uint64_t>(*out);
  work->place = [host = take_host_time()] { host.pay(); };
  Executor::instance().issue(*stream, work);
  std::lock_guard lock(pool_mutex);
  const bool is_new = pool_blocks().emplace(*out, std::pair{pool, size}).second;
  WG_ASSERT(is_new);  // every way to free memory calls forget_pool_block()
  pool->used += size;
  if (pool->used > pool->used_high) pool->used_high = pool->used.load();
  return cudaSuccess;
}

MemPool* pool_of_block(const void* pointer) {
  const std::lock_guard lock(pool_mutex);
  const auto block = pool_blocks().find(pointer);
  return block == pool_blocks().end() ? nullptr : block->second.first;
}

void forget_pool_block(void* pointer) {
  std::lock_guard lock(pool_mutex);
  auto block = pool_blocks().find(pointer);
  if (block == pool_blocks().end()) return;
  WG_ASSERT(block->second.first->used >= block->second.second);
  block->second.first->used -= block->second.second;
  pool_blocks().erase(block);
}

cudaError_t free_async(void* pointer, const StreamRef& stream) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (!pointer) return cudaSuccess;
  if (stream->capturing) {
    if (cudaError_t error = takes_calls(stream)) return error;
    // "must therefore be passed the address of a graph allocation" (CUDA driver API, cuMemFreeAsync).
    if (pool_of_block(pointer))
      return refuse(cudaErrorInvalidValue, "a captured free is possible only for memory that a graph allocated");
    return submit(stream, FreeOperation{pointer}, false);
  }
  const Place place = place_of(pointer);
  if ((place.memory != Memory::device && place.memory != Memory::managed) ||
      place.low != reinterpret_cast<std::uint64_t>(pointer))
    return cudaErrorInvalidValue;
  const GraphFree of_graph = note_graph_free(pointer);
  if (of_graph == GraphFree::not_allocated) return cudaErrorInvalidValue;
  forget_pool_block(pointer);
  charge_host();
  auto work = std::make_shared<Work>();
  work->kind = Work::Kind::memory;
  work->what = events::StreamWork::Kind::deallocation;
  work->memory = reinterpret_cast<std::uint64_t>(pointer);
  if (of_graph == GraphFree::other_memory) work->run = [pointer] { release(pointer); };
  work->place = [host = take_host_time()] { host.pay(); };
  Executor::instance().issue(*stream, work);
  return cudaSuccess;
}

static_assert(cudaMemPoolReuseFollowEventDependencies > 0 &&
              cudaMemPoolReuseAllowInternalDependencies < std::extent_v<decltype(MemPool::reuse)>);

cudaError_t pool_attribute(MemPool* pool, cudaMemPoolAttr what, void* value, bool set) {
  if (!is_pool(pool) || !value) return cudaErrorInvalidValue;
  auto* word = static_cast<std::uint64_t*>(value);
  switch (what) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      if (set) {
        pool->reuse[what] = *static_cast<int*>(value);
      } else {
        *static_cast<int*>(value) = pool->reuse[what];
      }
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
      if (set) {
        pool->release_threshold = *word;
      } else {
        *word = pool->release_threshold;
      }
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      if (set) return cudaErrorInvalidValue;
      *word = pool->used;
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      if (set) {
        if (*word) return cudaErrorInvalidValue;
        pool->used_high = pool->used.load();
      } else {
        *word = pool->used_high;
      }
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

cudaError_t set_pool(int device, MemPool* pool) {
  if (!valid_device(device) || !is_pool(pool) || pool->device != device) return cudaErrorInvalidValue;
  context(device).current = pool;
  return cudaSuccess;
}

cudaError_t destroy_pool(MemPool* pool) {
  if (!is_pool(pool) || pool == &context(pool->device).pool) return cudaErrorInvalidValue;
  Context& c = context(pool->device);
  MemPool* current = pool;
  c.current.compare_exchange_strong(current, nullptr);
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  r.pools.erase(pool);                                         // not deleted: blocks that are still in use refer to it
  if (pool->imported) ::close(std::exchange(pool->file, -1));  // existing mappings stay
  return cudaSuccess;
}

cudaError_t create_pool(MemPool** out, int device) {
  if (!valid_device(device)) return cudaErrorInvalidValue;
  auto* pool = new MemPool;
  pool->device = device;
  HostState& r = HostState::instance();
  const std::lock_guard lock(r.mutex);
  r.pools.insert(pool);
  *out = pool;
  return cudaSuccess;
}

cudaError_t device_get_default_pool(cudaMemPool_t* out, int device) {
  if (!out || !valid_device(device)) return cudaErrorInvalidValue;
  *out = &context(device).pool;
  return cudaSuccess;
}

cudaError_t device_get_pool(cudaMemPool_t* out, int device) {
  if (!out || !valid_device(device)) return cudaErrorInvalidValue;
  *out = pool_of(device);
  return cudaSuccess;
}

cudaError_t pool_create(cudaMemPool_t* out, const cudaMemPoolProps* properties) {
  if (!out || !properties) return cudaErrorInvalidValue;
  if (properties->handleTypes & ~cudaMemHandleTypePosixFileDescriptor)
    return not_supported("cudaMemPoolCreate with a handle type other than a file descriptor");
  if (properties->location.type != 1 || !valid_device(properties->location.id)) return cudaErrorInvalidValue;
  int file = -1;
  if (properties->handleTypes) {
    const Result<int> made = device::make_shareable_file(shareable_name(kPoolFile, properties->location.id),
                                                         device::AddressSpace::kReserved);
    if (!made) return refuse(cudaErrorMemoryAllocation, made.error().message);
    file = *made;
  }
  const cudaError_t error = create_pool(out, properties->location.id);
  if (error == cudaSuccess) (*out)->file = file;
  return error;
}

cudaError_t pool_set_access(cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count) {
  if (!is_pool(pool) || (count && !list)) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; i++) {
    // refuse(), not not_supported(): no GPU gives the host access to a pool of a device.
    if (list[i].location.type != cudaMemLocationTypeDevice)
      return refuse(cudaErrorNotSupported, "only devices can have access to a pool");
    if (!valid_device(list[i].location.id)) return cudaErrorInvalidDevice;
  }
  return cudaSuccess;
}

// All virtual GPUs can access all pools, the host none.
cudaError_t pool_get_access(cudaMemAccessFlags* flags, cudaMemPool_t pool, const cudaMemLocation* of) {
  if (!is_pool(pool) || !flags || !of) return cudaErrorInvalidValue;
  const bool host = of->type == cudaMemLocationTypeHost;
  if (!host && (of->type != cudaMemLocationTypeDevice || !valid_device(of->id))) return cudaErrorInvalidValue;
  *flags = host ? cudaMemAccessFlagsProtNone : cudaMemAccessFlagsProtReadWrite;
  return cudaSuccess;
}

cudaError_t pool_export(int* descriptor, cudaMemPool_t pool, cudaMemAllocationHandleType type, unsigned flags) {
  if (!descriptor || flags || !is_pool(pool) || type != cudaMemHandleTypePosixFileDescriptor)
    return cudaErrorInvalidValue;
  if (pool->file < 0 || pool->imported)
    return refuse(cudaErrorInvalidValue, "the pool was not created for export (cudaMemPoolProps::handleTypes)");
  *descriptor = ::dup(pool->file);  // not close-on-exec: child programs inherit it
  return *descriptor < 0 ? refuse(cudaErrorOperatingSystem, std::strerror(errno)) : cudaSuccess;
}

cudaError_t pool_import(cudaMemPool_t* out, int descriptor, cudaMemAllocationHandleType type, unsigned flags) {
  if (!out || flags || type != cudaMemHandleTypePosixFileDescriptor) return cudaErrorInvalidValue;
  const std::optional<int> device = device_of_file(descriptor, kPoolFile);
  if (!device) return refuse(cudaErrorInvalidValue, "not the descriptor of a pool on a GPU of this process");
  const int file = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);  // a copy: the program may close its descriptor
  if (file < 0) return refuse(cudaErrorOperatingSystem, std::strerror(errno));
  if (cudaError_t error = create_pool(out, *device)) return error;
  (*out)->file = file;
  (*out)->imported = true;
  return cudaSuccess;
}

cudaError_t pool_export_pointer(cudaMemPoolPtrExportData* out, void* pointer) {
  const Place place = place_of(pointer);
  MemPool* const pool = pool_of_block(reinterpret_cast<void*>(place.low));
  if (!out || !pool || pool->file < 0 || pool->imported)
    return refuse(cudaErrorInvalidValue, "not memory of a pool that was created for export");
  Piece piece;
  if (cudaError_t error = share_allocation(piece, place)) return error;
  const PointerData made{kPointerData, describe_file(kPointerData, piece.file).inode, piece.offset, piece.bytes};
  *out = {};
  std::memcpy(out, &made, sizeof made);
  return cudaSuccess;
}

cudaError_t pool_import_pointer(void** out, cudaMemPool_t pool, const cudaMemPoolPtrExportData* data) {
  if (!out || !data || !is_pool(pool) || !pool->imported) return cudaErrorInvalidValue;
  PointerData read;
  std::memcpy(static_cast<void*>(&read), data, sizeof read);
  if (read.kind != kPointerData || read.inode != describe_file(kPointerData, pool->file).inode)
    return refuse(cudaErrorInvalidValue, "not a pointer of this pool");
  if (cudaError_t error = import_piece(out, {pool->file, read.offset, read.bytes, pool->device, true})) return error;
  const std::lock_guard lock(pool_mutex);
  if (pool_blocks().emplace(*out, std::pair{pool, read.bytes}).second) pool->used += read.bytes;
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
