// Common parts of the tests of the runtime API: short expectations, and a small program (kernels and variables in PTX)
// that registers itself like code compiled by nvcc. Linked only against our libcudart.so.13: no toolkit is needed.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/api.h"

namespace warpgrind::runtime {

#define OK(...) EXPECT_EQ(__VA_ARGS__, cudaSuccess)
#define FAILS(error, ...) EXPECT_EQ(__VA_ARGS__, error)

namespace test {

// Addresses that stand for kernels and variables, like the functions and shadow variables that nvcc makes.
extern char fill;       // (u32* p, u32 value): p[thread of the grid] = value
extern char add;        // (u32* p): p[0] += 1, one thread after the other
extern char bounded;    // (u32* p), __launch_bounds__(128)
extern char read_2d;    // (u32* out, u64 texture, u32 x, u32 y): out[0] = texel
extern char write_2d;   // (u64 surface, u32 x, u32 y, u32 value)
extern char bank;       // __constant__ u32 bank[256], read by from_bank
extern char from_bank;  // (u32* out): out[0] = bank[3]
extern char word;       // __device__ u32 word[4] = {1, 2, 3, 4}
extern char broken;     // (u32* p): writes to address 16

// Words of device memory, freed in the destructor.
class Words {
 public:
  explicit Words(std::size_t count, unsigned value = 0);
  ~Words();
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  operator unsigned*() const { return data_; }  // NOLINT: used as a pointer
  std::vector<unsigned> read() const;

 private:
  std::size_t count_;
  unsigned* data_ = nullptr;
};

// Registers a separate program with one kernel, as compiled code does. The image is PTX text or, for `machine_code`,
// code for an old GPU that no virtual GPU can run. Returns the handle for __cudaUnregisterFatBinary.
void** register_program(const std::string& image, const char* name, const void* host, bool machine_code = false);

// A host function: adds one to the int at `data`.
inline void count_up(void* data) {
  ++*static_cast<int*>(data);
}

// fill<<<1, count, 0, stream>>>(p, value)
cudaError_t launch_fill(unsigned* p, unsigned value, unsigned count, cudaStream_t stream = nullptr);

}  // namespace test
}  // namespace warpgrind::runtime
