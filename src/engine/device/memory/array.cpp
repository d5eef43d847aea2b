#include "device/memory/array.h"

#include <sys/mman.h>

namespace warpgrind::device {

std::unique_ptr<Array> Array::create(const ChannelFormat& format, const ArrayShape& shape) {
  std::uint64_t bytes = format.bytes();
  for (std::uint64_t extent : {shape.width, shape.rows(), shape.slices()})
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return nullptr;
  std::unique_ptr<Array> a(new Array(format, shape));
  void* p = mmap(nullptr, a->size() ? a->size() : 1, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  madvise(p, a->size(), MADV_HUGEPAGE);
  a->data_ = static_cast<std::uint8_t*>(p);
  return a;
}

Array::~Array() {
  if (data_) munmap(data_, size() ? size() : 1);
}

}  // namespace warpgrind::device
