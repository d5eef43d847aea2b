// Stream-ordered memory: it is there at once, and is given back when its stream comes to that.
#include "host/pools.h"

#include "host/graph.h"
#include "host/operation.h"
#include "host/state.h"

namespace warpgrind::host {

namespace {

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
  if (!stream) return cudaErrorInvalidResourceHandle;
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
  if (!pool) pool = pool_of(stream->device);
  if (!is_pool(pool)) return cudaErrorInvalidValue;
  if (cudaError_t error = allocate(pool->device, size, out, events::Allocation::Kind::pool)) return error;
  charge_host();
  auto work = std::make_shared<Work>();
  work->what = events::StreamWork::Kind::allocation;
  work->memory = reinterpret_cast<std::uint64_t>(*out);
  work->place = [host = take_host_time()] { host.pay(); };
  Executor::instance().issue(*stream, work);
  std::lock_guard lock(pool_mutex);
  pool_blocks()[*out] = {pool, size};
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
  block->second.first->used -= block->second.second;
  pool_blocks().erase(block);
}

cudaError_t free_async(void* pointer, const StreamRef& stream) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (!pointer) return cudaSuccess;
  if (stream->capturing) return submit(stream, FreeOperation{pointer}, false);
  const Place place = place_of(pointer);
  if ((place.memory != Memory::device && place.memory != Memory::managed) ||
      place.low != reinterpret_cast<std::uint64_t>(pointer))
    return cudaErrorInvalidValue;
  forget_pool_block(pointer);
  charge_host();
  auto work = std::make_shared<Work>();
  work->kind = Work::Kind::memory;
  work->what = events::StreamWork::Kind::deallocation;
  work->memory = reinterpret_cast<std::uint64_t>(pointer);
  work->run = [pointer] { release(pointer); };
  work->place = [host = take_host_time()] { host.pay(); };
  Executor::instance().issue(*stream, work);
  return cudaSuccess;
}

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
  r.pools.erase(pool);  // blocks that are still in use name it: it stays in memory
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
  if (properties->handleTypes) return not_supported("cudaMemPoolCreate with a shareable handle type");
  if (properties->location.type != 1) return cudaErrorInvalidValue;
  return create_pool(out, properties->location.id);
}

cudaError_t pool_set_access(cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count) {
  if (!is_pool(pool) || (count && !list)) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; i++)
    if (list[i].location.type == 1 && !valid_device(list[i].location.id)) return cudaErrorInvalidDevice;
  return cudaSuccess;
}

// All virtual GPUs reach all memory.
cudaError_t pool_get_access(cudaMemAccessFlags* flags, cudaMemPool_t pool, const cudaMemLocation* of) {
  if (!is_pool(pool) || !flags || !of || of->type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
  if (!valid_device(of->id)) return cudaErrorInvalidDevice;
  *flags = cudaMemAccessFlagsProtReadWrite;
  return cudaSuccess;
}

}  // namespace warpgrind::host
