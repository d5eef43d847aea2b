// Reads and writes of a debugger.
#include "device/access/peek.h"

#include <fmt/format.h>

#include <cstring>

#include "device/fault.h"
#include "device/memory/address_space.h"
#include "device/memory/shadow_memory.h"
#include "gpu/addresses.h"

namespace warpgrind::device {

namespace {

Error outside(const char* what, std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return Error{ErrorKind::bad_input,
               fmt::format("{} bytes at offset {} are outside the {} bytes of {}", bytes, offset, size, what), ""};
}

bool holds(std::uint64_t size, std::uint64_t offset, std::uint64_t bytes) {
  return offset <= size && bytes <= size - offset;
}

// Modulo 2^64: a shadow may lie before its memory.
std::uint8_t* shadow_of_byte(std::uint8_t* byte, std::uint64_t distance) {
  return reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(byte) + distance);
}

// Calls at(host pointer, place in the caller's bytes, count, distance to its shadow) for each contiguous piece. The
// distance is 0 where there is no shadow.
template <class At>
Status for_pieces(const WarpFiber& f, unsigned lane, StateSpace space, std::uint64_t address, std::uint64_t bytes,
                  At&& at) {
  const jit::WarpContext& c = f.context;
  const ShadowMemory* const tracked = f.worker->launch->shadow;
  if (space == StateSpace::generic || space == StateSpace::none) {
    if (in_shared(GenericAddress{address})) {
      space = StateSpace::shared;
      address -= kSharedWindow;
    } else if (in_local(GenericAddress{address})) {
      space = StateSpace::local;
      address -= kLocalWindow;
    } else {
      space = StateSpace::global;
    }
  }
  switch (space) {
    case StateSpace::shared: {
      const Block* b = f.block;
      if (b->cluster) {
        const std::uint64_t rank = address >> kClusterShift;
        if (rank >= b->cluster->size || !b->cluster->blocks[rank])
          return Error{ErrorKind::bad_input, fmt::format("the cluster has no block of rank {} now", rank), ""};
        b = b->cluster->blocks[rank];
        address &= (std::uint64_t{1} << kClusterShift) - 1;
      }
      if (!holds(c.shared_size, address, bytes)) return outside("shared memory", address, bytes, c.shared_size);
      at(b->shared + address, 0, bytes, tracked ? c.shared_shadow : 0);
      return Ok{};
    }
    case StateSpace::local:
      if (!holds(c.local_size, address, bytes)) return outside("local memory", address, bytes, c.local_size);
      for (std::uint64_t k = 0; k < bytes; ++k) {
        const std::uint64_t byte = address + k;
        at(c.local + (byte / 4 * kWarpSize + lane) * 4 + byte % 4, k, 1, tracked ? c.local_shadow : 0);
      }
      return Ok{};
    case StateSpace::param: {
      const std::uint64_t size = f.worker->launch->kernel->code->parameter_bytes;
      if (!holds(size, address, bytes)) return outside("the kernel's parameters", address, bytes, size);
      at(const_cast<std::uint8_t*>(c.params) + address, 0, bytes, 0);  // NOLINT: poke() refuses this space
      return Ok{};
    }
    default: {
      const auto range = AddressSpace::instance().find(address);
      if (!range || !holds(range->high - range->low, address - range->low, bytes))
        return Error{ErrorKind::bad_input, describe_address("access", address, bytes), ""};
      at(reinterpret_cast<std::uint8_t*>(address), 0, bytes,
         tracked && tracked->covers(address, bytes) ? tracked->distance() : 0);
      return Ok{};
    }
  }
}

}  // namespace

Status peek(const WarpFiber& f, unsigned lane, StateSpace space, std::uint64_t address, std::span<std::uint8_t> bytes) {
  return for_pieces(f, lane, space, address, bytes.size(),
                    [&](const std::uint8_t* from, std::uint64_t k, std::uint64_t count, std::uint64_t) {
                      std::memcpy(bytes.data() + k, from, count);
                    });
}

Status poke(WarpFiber& f, unsigned lane, StateSpace space, std::uint64_t address, std::span<const std::uint8_t> bytes) {
  if (space == StateSpace::param) return Error{ErrorKind::bad_input, "a kernel's parameters cannot be changed", ""};
  return for_pieces(f, lane, space, address, bytes.size(),
                    [&](std::uint8_t* to, std::uint64_t k, std::uint64_t count, std::uint64_t shadow) {
                      std::memcpy(to, bytes.data() + k, count);
                      if (shadow) std::memset(shadow_of_byte(to, shadow), 0, count);
                    });
}

void peek_undefined(const WarpFiber& f, unsigned lane, StateSpace space, std::uint64_t address,
                    std::span<std::uint8_t> undefined) {
  (void)for_pieces(f, lane, space, address, undefined.size(),
                   [&](std::uint8_t* from, std::uint64_t k, std::uint64_t count, std::uint64_t shadow) {
                     if (shadow) std::memcpy(undefined.data() + k, shadow_of_byte(from, shadow), count);
                   });
}

std::string locate(const WarpFiber& f, std::uint64_t address) {
  if (in_shared(GenericAddress{address})) return fmt::format("byte {} of shared memory", address - kSharedWindow);
  if (in_local(GenericAddress{address})) return fmt::format("byte {} of local memory", address - kLocalWindow);
  const auto range = AddressSpace::instance().find(address);
  if (!range) return f.block && AddressSpace::instance().inside_reserved(address) ? "not allocated" : "";
  return fmt::format("byte {} of a {}-byte allocation", address - range->low, range->high - range->low);
}

}  // namespace warpgrind::device
