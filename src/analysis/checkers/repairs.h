// What repairs an error of the asynchronous machinery, in the words of C++ programs: cuda::ptx (libcu++) and CUTLASS.
#pragma once

#include <string>

namespace warpgrind::checkers {

enum class Repair {
  none,
  proxy_fence,
  copy_wait,
  expect_bytes,
  store_read_wait,
  store_wait,
  products_fence,
  products_commit,
  products_wait,
  init_fence,
  tensor_commit,
  tensor_load_wait,
  tensor_fence,
  cluster_sync,
  arrival
};

// "fence.proxy.async is cuda::ptx::fence_proxy_async(...); in CUTLASS ...". Empty for `none`.
std::string in_cpp(Repair repair);

}  // namespace warpgrind::checkers
