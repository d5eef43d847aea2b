// Access to single members of a descriptor by attribute number. Each descriptor type has a table of its attributes.
#pragma once

#include <cublas_v2.h>

#include <cstddef>
#include <cstring>
#include <span>

namespace warpgrind::libraries::blaslt {

struct Attribute {
  int name;
  std::size_t offset, bytes;
  bool read_only = false;
};
#define WG_ATTRIBUTE(name, type, member) \
  { name, offsetof(type, member), sizeof(type::member) }

inline const Attribute* find_attribute(std::span<const Attribute> all, int name) {
  for (const Attribute& a : all)
    if (a.name == name) return &a;
  return nullptr;
}

inline cublasStatus_t set_attribute(std::span<const Attribute> all, void* object, int name, const void* from,
                                    std::size_t bytes) {
  const Attribute* const a = find_attribute(all, name);
  if (!object || !a || a->read_only || !from || bytes != a->bytes) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(static_cast<char*>(object) + a->offset, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

// Copies a value to the program. bytes = 0 asks only for the size. at_least: `bytes` may exceed the size (arrays).
inline cublasStatus_t give_bytes(const void* value, std::size_t value_bytes, void* to, std::size_t bytes,
                                 std::size_t* written, bool at_least = false) {
  const bool fits = at_least ? bytes >= value_bytes : bytes == value_bytes;
  if (bytes == 0 ? !written : !to || !fits) return CUBLAS_STATUS_INVALID_VALUE;
  if (bytes != 0) std::memcpy(to, value, value_bytes);
  if (written) *written = value_bytes;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t get_attribute(std::span<const Attribute> all, const void* object, int name, void* to,
                                    std::size_t bytes, std::size_t* written) {
  const Attribute* const a = find_attribute(all, name);
  if (!object || !a) return CUBLAS_STATUS_INVALID_VALUE;
  return give_bytes(static_cast<const char*>(object) + a->offset, a->bytes, to, bytes, written);
}

}  // namespace warpgrind::libraries::blaslt
