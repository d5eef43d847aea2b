// Multicast objects of two virtual GPUs, and the instructions on multimem addresses. Expected values are computed here,
// number by number; all sums are exact, so that no order of GPUs can change them.
#include <bit>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "code.h"

namespace warpgrind::driver {

namespace {

constexpr size_t kUnit = 2 << 20;
constexpr int kGpus = test::kDevices;
constexpr unsigned kLanes = 32, kBytes = 16 * kLanes;
using Data = std::vector<unsigned char>;

CUmemAllocationProp memory_of(int device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return properties;
}

CUmulticastObjectProp object_of(unsigned devices, size_t size) {
  CUmulticastObjectProp properties{};
  properties.numDevices = devices;
  properties.size = size;
  return properties;
}

CUresult let_use(CUdeviceptr at, size_t size, int devices = kGpus) {
  CUmemAccessDesc list[kGpus];
  for (int d = 0; d < devices; d++) list[d] = {{CU_MEM_LOCATION_TYPE_DEVICE, d}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  return cuMemSetAccess(at, size, list, static_cast<size_t>(devices));
}

// Two GPUs with a page of memory each, mapped at plain[d], and one multicast object of both, mapped at `all`.
class Multicast : public test::WithContext {
 protected:
  Multicast() {
    const CUmulticastObjectProp properties = object_of(kGpus, kUnit);
    OK(cuMulticastCreate(&object, &properties));
    for (int d = 0; d < kGpus; d++) OK(cuMulticastAddDevice(object, d));
    OK(cuMemAddressReserve(&all, kUnit, 0, 0, 0));
    for (int d = 0; d < kGpus; d++) {
      const CUmemAllocationProp of_device = memory_of(d);
      OK(cuMemCreate(&memory[d], kUnit, &of_device, 0));
      OK(cuMemAddressReserve(&plain[d], kUnit, 0, 0, 0));
      OK(cuMemMap(plain[d], kUnit, 0, memory[d], 0));
      OK(let_use(plain[d], kUnit));
    }
  }
  ~Multicast() override {
    for (int d = 0; d < kGpus; d++) {
      cuMemUnmap(plain[d], kUnit);  // fails after a fault, and where a test has unmapped it
      cuMemRelease(memory[d]);
      cuMemAddressFree(plain[d], kUnit);
    }
    cuMemUnmap(all, kUnit);
    cuMemRelease(object);
    cuMemAddressFree(all, kUnit);
  }
  void bind_and_map() {
    for (int d = 0; d < kGpus; d++) OK(cuMulticastBindMem(object, 0, memory[d], 0, kUnit, 0));
    OK(cuMemMap(all, kUnit, 0, object, 0));
    OK(let_use(all, kUnit));
  }
  CUresult launch(const std::string& code, CUdeviceptr at, CUdeviceptr other, unsigned blocks = 1) {
    CUmodule module = nullptr;
    CUfunction kernel = nullptr;
    OK(cuModuleLoadData(&module, code.c_str()));
    OK(cuModuleGetFunction(&kernel, module, "k"));
    void* arguments[] = {&at, &other};
    OK(cuLaunchKernel(kernel, blocks, 1, 1, kLanes, 1, 1, 0, nullptr, arguments, nullptr));
    const CUresult result = cuCtxSynchronize();
    if (result == CUDA_SUCCESS) OK(cuModuleUnload(module));
    return result;
  }
  static Data read(CUdeviceptr from) {
    Data data(kBytes);
    OK(cuMemcpyDtoH(data.data(), from, kBytes));
    return data;
  }
  static void write(CUdeviceptr to, const Data& data) { OK(cuMemcpyHtoD(to, data.data(), data.size())); }

  CUmemGenericAllocationHandle object = 0, memory[kGpus] = {};
  CUdeviceptr all = 0, plain[kGpus] = {};
};

// ---- Forms

// A number type, by its bytes and the bits of small integers in it.
struct Number {
  const char* type;
  unsigned bytes;
  std::uint64_t (*bits)(int);
};

std::uint64_t half_bits(int n) {  // exact up to 2048
  if (n == 0) return 0;
  const unsigned size = static_cast<unsigned>(n < 0 ? -n : n);
  const int exponent = static_cast<int>(std::bit_width(size)) - 1;
  return (n < 0 ? 0x8000u : 0u) | static_cast<unsigned>(exponent + 15) << 10 | ((size << (10 - exponent)) & 0x3ff);
}

const Number kU32{"u32", 4, [](int n) { return std::uint64_t{static_cast<std::uint32_t>(n + 1000)}; }};
const Number kS32{"s32", 4, [](int n) { return std::uint64_t{static_cast<std::uint32_t>(n)}; }};
const Number kU64{"u64", 8, [](int n) { return static_cast<std::uint64_t>(n + 1000); }};
const Number kS64{"s64", 8, [](int n) { return static_cast<std::uint64_t>(std::int64_t{n}); }};
const Number kF32{"f32", 4, [](int n) { return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(n))}; }};
const Number kF64{"f64", 8, [](int n) { return std::bit_cast<std::uint64_t>(static_cast<double>(n)); }};
const Number kF16{"f16", 2, half_bits};
const Number kBf16{"bf16", 2,
                   [](int n) { return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(n)) >> 16}; }};

struct Form {
  Number number;
  unsigned packed, vector;  // numbers in a register, registers
  std::string type() const { return number.type + std::string(packed == 2 ? "x2" : ""); }
  unsigned bytes() const { return number.bytes * packed * vector; }
};

const Form kForms[] = {{kU32, 1, 1},  {kS32, 1, 1}, {kU64, 1, 1}, {kS64, 1, 1}, {kF64, 1, 1},  {kF32, 1, 1},
                       {kF32, 1, 2},  {kF32, 1, 4}, {kF16, 1, 2}, {kF16, 1, 4}, {kF16, 1, 8},  {kBf16, 1, 2},
                       {kBf16, 1, 8}, {kF16, 2, 1}, {kF16, 2, 2}, {kF16, 2, 4}, {kBf16, 2, 1}, {kBf16, 2, 4}};

std::vector<std::string> operations_of(const Form& f, bool reduction) {
  const std::string type = f.number.type;
  if (type == "f32" || type == "f64") return {"add"};
  if (type == "s64") return {"min", "max"};
  if (reduction && f.packed == 2 && f.vector == 1) return {"add"};
  return {"add", "min", "max"};
}

int apply(const std::string& operation, int a, int b) {
  return operation == "add" ? a + b : operation == "min" ? std::min(a, b) : std::max(a, b);
}

// Different small numbers for each position and GPU.
int sample(unsigned position, int gpu) {
  return static_cast<int>((position * 37 + static_cast<unsigned>(gpu) * 53 + 11) % 101) - 50;
}

// u32 and u64 are shifted, to be no negative numbers; the sum of two is shifted twice.
Data numbers(const Form& f, const std::function<int(unsigned)>& value, bool sum = false) {
  Data data(kBytes, 0xee);
  for (unsigned i = 0; i < f.bytes() / f.number.bytes * kLanes; i++) {
    const bool shifted = f.number.type[0] == 'u' && sum;
    const std::uint64_t bits = f.number.bits(value(i) + (shifted ? 1000 : 0));
    std::memcpy(&data[std::size_t{i} * f.number.bytes], &bits, f.number.bytes);
  }
  return data;
}

// Kernel k(a, b): %a and %b are the lane's places, and %0 to %7 its registers.
std::string kernel(unsigned lane_bytes, unsigned register_bytes, const std::string& body) {
  const std::string bits = std::to_string(register_bytes * 8);
  return ".version 8.2\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{\n"
         "  .reg .b64 %a, %b, %o; .reg .b32 %t; .reg .b" +
         bits +
         " %r<8>;\n  ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; mov.u32 %t, %tid.x;\n"
         "  mul.wide.u32 %o, %t, " +
         std::to_string(lane_bytes) + "; add.u64 %a, %a, %o; add.u64 %b, %b, %o;\n" + body + "  ret;\n}\n";
}

std::string registers(unsigned count) {
  if (count == 1) return "%r0";
  std::string list = "{";
  for (unsigned k = 0; k < count; k++) list += (k ? ", %r" : "%r") + std::to_string(k);
  return list + "}";
}

// Plain loads or stores of the registers at %b.
std::string plain_moves(const Form& f, bool load) {
  const unsigned bytes = f.number.bytes * f.packed;
  std::string out;
  for (unsigned k = 0; k < f.vector; k++) {
    const std::string at = "[%b+" + std::to_string(k * bytes) + "]", r = "%r" + std::to_string(k);
    out += std::string("  ") + (load ? "ld" : "st") + ".global.b" + std::to_string(bytes * 8) + " " +
           (load ? r + ", " + at : at + ", " + r) + ";\n";
  }
  return out;
}

std::string vector_of(const Form& f) {
  return f.vector == 1 ? "" : ".v" + std::to_string(f.vector);
}

std::string kernel_of(const Form& f, const std::string& body) {
  return kernel(f.bytes(), f.number.bytes * f.packed, body);
}

Data first(const Data& data, unsigned bytes) {
  return {data.begin(), data.begin() + bytes};
}

}  // namespace

TEST_F(Multicast, LoadsReduceOverAllGpus) {
  bind_and_map();
  CUdeviceptr out = 0;
  OK(cuMemAlloc(&out, kBytes));
  for (const Form& f : kForms)
    for (const std::string& operation : operations_of(f, false)) {
      SCOPED_TRACE(operation + vector_of(f) + "." + f.type());
      for (int d = 0; d < kGpus; d++) write(plain[d], numbers(f, [&](unsigned i) { return sample(i, d); }));
      OK(launch(kernel_of(f, "  multimem.ld_reduce.relaxed.sys.global." + operation + vector_of(f) + "." + f.type() +
                                 " " + registers(f.vector) + ", [%a];\n" + plain_moves(f, false)),
                all, out));
      const Data expected = numbers(
          f, [&](unsigned i) { return apply(operation, sample(i, 0), sample(i, 1)); }, operation == "add");
      EXPECT_EQ(first(read(out), f.bytes() * kLanes), first(expected, f.bytes() * kLanes));
    }
  OK(cuMemFree(out));
}

TEST_F(Multicast, StoresReachAllGpus) {
  bind_and_map();
  for (const Form& f : kForms) {
    if (f.number.bytes == 2 && f.packed == 1 && f.vector == 1) continue;
    SCOPED_TRACE(vector_of(f) + "." + f.type());
    CUdeviceptr from = 0;
    OK(cuMemAlloc(&from, kBytes));
    const Data source = numbers(f, [](unsigned i) { return sample(i, 7); });
    write(from, source);
    for (int d = 0; d < kGpus; d++) write(plain[d], Data(kBytes, 0xee));
    OK(launch(kernel_of(f, plain_moves(f, true) + "  multimem.st.weak.global" + vector_of(f) + "." + f.type() +
                               " [%a], " + registers(f.vector) + ";\n"),
              all, from));
    for (int d = 0; d < kGpus; d++) EXPECT_EQ(read(plain[d]), source);
    OK(cuMemFree(from));
  }
}

TEST_F(Multicast, ReductionsReachAllGpus) {
  bind_and_map();
  CUdeviceptr from = 0;
  OK(cuMemAlloc(&from, kBytes));
  for (const Form& f : kForms)
    for (const std::string& operation : operations_of(f, true)) {
      SCOPED_TRACE(operation + vector_of(f) + "." + f.type());
      write(from, numbers(f, [](unsigned i) { return sample(i, 7); }));
      for (int d = 0; d < kGpus; d++) write(plain[d], numbers(f, [&](unsigned i) { return sample(i, d); }));
      OK(launch(kernel_of(f, plain_moves(f, true) + "  multimem.red.relaxed.sys.global." + operation + vector_of(f) +
                                 "." + f.type() + " [%a], " + registers(f.vector) + ";\n"),
                all, from));
      for (int d = 0; d < kGpus; d++) {
        const Data expected = numbers(
            f, [&](unsigned i) { return apply(operation, sample(i, d), sample(i, 7)); }, operation == "add");
        EXPECT_EQ(first(read(plain[d]), f.bytes() * kLanes), first(expected, f.bytes() * kLanes));
      }
    }
  OK(cuMemFree(from));
}

TEST_F(Multicast, BitsAreReduced) {
  bind_and_map();
  CUdeviceptr out = 0;
  OK(cuMemAlloc(&out, kBytes));
  Data of_gpu[kGpus];
  for (int d = 0; d < kGpus; d++) {
    for (unsigned i = 0; i < 8 * kLanes; i++) of_gpu[d].push_back(static_cast<unsigned char>(i * (d ? 73 : 59) + 5));
    write(plain[d], of_gpu[d]);
  }
  for (const unsigned bytes : {4u, 8u})
    for (const std::string operation : {"and", "or", "xor"}) {
      OK(launch(kernel(bytes, bytes,
                       "  multimem.ld_reduce.acquire.gpu." + operation + ".b" + std::to_string(bytes * 8) +
                           " %r0, [%a];\n  st.global.b" + std::to_string(bytes * 8) + " [%b], %r0;\n"),
                all, out));
      const Data got = read(out);
      for (unsigned i = 0; i < bytes * kLanes; i++) {
        const int a = of_gpu[0][i], b = of_gpu[1][i];
        EXPECT_EQ(got[i], operation == "and" ? a & b : operation == "or" ? a | b : a ^ b) << i;
      }
    }
  OK(cuMemFree(out));
}

// 3000 blocks of 32 threads add to one word of each GPU; the address is a generic one.
TEST_F(Multicast, ReductionsAreAtomic) {
  bind_and_map();
  for (int d = 0; d < kGpus; d++) write(plain[d], Data(kBytes, 0));
  OK(launch(kernel(0, 4, "  mov.u32 %r0, 1;\n  multimem.red.add.u32 [%a], %r0;\n"), all, all, 3000));
  for (int d = 0; d < kGpus; d++) {
    unsigned sum = 0;
    OK(cuMemcpyDtoH(&sum, plain[d], 4));
    EXPECT_EQ(sum, 3000u * kLanes);
  }
}

TEST_F(Multicast, BulkCopiesReachAllGpus) {
  bind_and_map();
  for (int d = 0; d < kGpus; d++) write(plain[d], Data(kBytes, 1));
  const std::string body =
      "  .shared .align 16 .b32 words[32]; .reg .b32 %s, %w; .reg .pred %p; .reg .b64 %c;\n"
      "  mov.u32 %s, words; mad.lo.u32 %w, %t, 4, %s; add.u32 %r0, %t, 100; st.shared.u32 [%w], %r0;\n"
      "  bar.sync 0; fence.proxy.async; setp.ne.u32 %p, %t, 0; @%p ret;\n"
      "  multimem.cp.async.bulk.global.shared::cta.bulk_group [%a], [%s], 128;\n"
      "  multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a+128], [%s], 128;\n"
      "  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
  std::string code = kernel(0, 4, body);
  code.replace(code.find("8.2"), 3, "9.1");
  OK(launch(code, all, all));
  for (int d = 0; d < kGpus; d++) {
    unsigned words[2 * kLanes];
    const Data got = read(plain[d]);
    std::memcpy(words, got.data(), sizeof words);
    for (unsigned i = 0; i < kLanes; i++) {
      EXPECT_EQ(words[i], i + 100);
      EXPECT_EQ(words[kLanes + i], 0x01010101u + i + 100);
    }
  }
}

// ---- Objects

TEST_F(Multicast, IsSupported) {
  int supported = 0;
  size_t bytes = 0;
  CUmulticastObjectProp properties = object_of(kGpus, kUnit);
  OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
  EXPECT_EQ(supported, 1);
  OK(cuMulticastGetGranularity(&bytes, &properties, CU_MULTICAST_GRANULARITY_MINIMUM));
  EXPECT_EQ(bytes, kUnit);
  OK(cuMulticastGetGranularity(&bytes, &properties, CU_MULTICAST_GRANULARITY_RECOMMENDED));
  EXPECT_EQ(bytes % kUnit, 0u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastGetGranularity(nullptr, &properties, CU_MULTICAST_GRANULARITY_MINIMUM));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastGetGranularity(&bytes, nullptr, CU_MULTICAST_GRANULARITY_MINIMUM));
}

TEST_F(Multicast, IsCreatedForGpus) {
  CUmemGenericAllocationHandle other = 0;
  CUmulticastObjectProp properties = object_of(kGpus, kUnit);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(nullptr, &properties));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&other, nullptr));
  properties.size = kUnit + 4096;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&other, &properties));
  properties = object_of(0, kUnit);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&other, &properties));
  properties = object_of(kGpus, kUnit);
  properties.flags = 1;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&other, &properties));
  properties = object_of(kGpus, kUnit);
  properties.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMulticastCreate(&other, &properties));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastAddDevice(object, 0));  // again
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuMulticastAddDevice(object, 9));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastAddDevice(memory[0], 0));
}

TEST_F(Multicast, IsBoundPieceByPiece) {
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, memory[0], 0, kUnit, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, memory[0], 0, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, memory[0], 0, 4096, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, kUnit, memory[0], 0, kUnit, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, memory[0], kUnit, kUnit, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, 12345, 0, kUnit, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(12345, 0, memory[0], 0, kUnit, 0));
  OK(cuMulticastBindMem(object, 0, memory[0], 0, kUnit, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, memory[0], 0, kUnit, 0));  // already bound
  OK(cuMulticastBindAddr(object, 0, plain[1], kUnit, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastBindAddr(object, 0, plain[1] + 4096, kUnit, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastUnbind(object, 0, 0, 2 * kUnit));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuMulticastUnbind(object, 9, 0, kUnit));
  OK(cuMulticastUnbind(object, 0, 0, kUnit));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastUnbind(object, 0, 0, kUnit));
  OK(cuMulticastBindMem(object, 0, memory[0], 0, kUnit, 0));
}

// cuMemAlloc's memory cannot be bound.
TEST_F(Multicast, TakesNoOtherMemory) {
  CUdeviceptr other = 0;
  OK(cuMemAlloc(&other, 4 * kUnit));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMulticastBindAddr(object, 0, (other + kUnit - 1) / kUnit * kUnit, kUnit, 0));
  OK(cuMemFree(other));
}

TEST_F(Multicast, WaitsForAllGpus) {
  CUmemGenericAllocationHandle other = 0;
  const CUmulticastObjectProp properties = object_of(kGpus, kUnit);
  OK(cuMulticastCreate(&other, &properties));
  OK(cuMulticastAddDevice(other, 0));
  CUresult bound = CUDA_ERROR_UNKNOWN;
  std::thread binds([&] { bound = cuMulticastBindMem(other, 0, memory[0], 0, kUnit, 0); });
  OK(cuMulticastAddDevice(other, 1));
  binds.join();
  OK(bound);
  OK(cuMemRelease(other));
}

// The memory stays while it is bound, and the object while it is mapped.
TEST_F(Multicast, KeepsItsMemory) {
  bind_and_map();
  CUdeviceptr from = 0;
  OK(cuMemAlloc(&from, kBytes));
  write(from, Data(kBytes, 3));
  for (int d = 0; d < kGpus; d++) {
    OK(cuMemUnmap(plain[d], kUnit));
    OK(cuMemRelease(memory[d]));
  }
  OK(cuMemRelease(object));
  const Form f{kU32, 1, 1};
  OK(launch(kernel_of(f, plain_moves(f, true) + "  multimem.st.global.u32 [%a], %r0;\n"), all, from));
  OK(launch(kernel_of(f, "  multimem.ld_reduce.global.add.u32 %r0, [%a];\n" + plain_moves(f, false)), all, from));
  EXPECT_EQ(first(read(from), 128), Data(128, 6));
  OK(cuMemFree(from));
}

// ---- Faults. Each of these cases breaks its process.

TEST_F(Multicast, IsNothingForPlainAccesses) {
  bind_and_map();
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS,
        launch(kernel(4, 4, "  ld.global.u32 %r0, [%a];\n  st.global.u32 [%b], %r0;\n"), all, plain[0]));
}
TEST_F(Multicast, IsNotPlainMemory) {
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS,
        launch(kernel(4, 4, "  mov.u32 %r0, 1;\n  multimem.st.global.u32 [%a], %r0;\n"), plain[0], 0));
}
TEST_F(Multicast, NeedsMemoryOfAllGpus) {
  OK(cuMulticastBindMem(object, 0, memory[0], 0, kUnit, 0));
  OK(cuMemMap(all, kUnit, 0, object, 0));
  OK(let_use(all, kUnit));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS,
        launch(kernel(4, 4, "  mov.u32 %r0, 1;\n  multimem.st.global.u32 [%a], %r0;\n"), all, 0));
}
TEST_F(Multicast, NeedsAccess) {
  for (int d = 0; d < kGpus; d++) OK(cuMulticastBindMem(object, 0, memory[d], 0, kUnit, 0));
  OK(cuMemMap(all, kUnit, 0, object, 0));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS,
        launch(kernel(4, 4, "  mov.u32 %r0, 1;\n  multimem.st.global.u32 [%a], %r0;\n"), all, 0));
}
TEST_F(Multicast, IsAligned) {
  bind_and_map();
  FAILS(CUDA_ERROR_MISALIGNED_ADDRESS,
        launch(kernel(4, 4, "  mov.u32 %r0, 1;\n  multimem.st.global.u32 [%a+2], %r0;\n"), all, 0));
}

}  // namespace warpgrind::driver
