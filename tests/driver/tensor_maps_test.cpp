// Tensor maps: an H200's answer to each call of tests/data/h200/tensor_maps.txt, and what a map holds.
#include <cstddef>
#include <cstring>
#include <fstream>
#include <vector>

#include "driver_test.h"
#include "gpu/tensor_map.h"
#include "tensor_map_calls.h"

namespace warpgrind::driver {

namespace {

const tensor_map_calls::Functions kFunctions{cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col,
                                             cuTensorMapEncodeIm2colWide, cuTensorMapReplaceAddress};

std::string short_name(CUresult error) {
  const char* name = nullptr;
  OK(cuGetErrorName(error, &name));
  return name ? std::string(name).substr(std::strlen("CUDA_")) : "unknown";
}

// A device address, whose memory stays allocated.
CUdeviceptr allocate() {
  CUdeviceptr address = 0;
  OK(cuMemAlloc(&address, 1 << 20));
  return address;
}

CUtensorMap tiled_map(void* address) {
  CUtensorMap map{};
  const cuuint64_t sizes[] = {256, 64}, strides[] = {1024};
  const cuuint32_t box[] = {32, 8}, steps[] = {1, 2};
  OK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, address, sizes, strides, box, steps,
                            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                            CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

class TensorMaps : public test::WithContext {};

}  // namespace

// Comes first: the file begins with calls before cuInit.
TEST(TensorMapAnswers, AreThoseOfAnH200) {
  std::ifstream file(WARPGRIND_TESTS "/../data/h200/tensor_maps.txt");
  CUcontext context = nullptr;
  CUdeviceptr allocation = 1 << 20;
  unsigned calls = 0;
  for (std::string line; std::getline(file, line);) {
    if (line == "@no_context") OK(cuInit(0));
    if (line == "@context") {
      OK(cuCtxCreate(&context, nullptr, 0, 0));
      allocation = allocate();
    }
    if (line == "@destroyed_context") OK(cuCtxDestroy(context));
    if (line.empty() || line[0] == '#' || line[0] == '@') continue;
    const tensor_map_calls::Answer answer = tensor_map_calls::Call(line, allocation).run(kFunctions);
    const std::string wanted = line.substr(line.find(" -> ") + 4);
    std::string seen = short_name(answer.error);
    calls++;
    if (wanted == "CRASH") {  // the real driver's, for null pointers and a huge rank
      EXPECT_EQ(seen, "ERROR_INVALID_VALUE") << line;
      continue;
    }
    if (answer.error != CUDA_SUCCESS && answer.changed) seen += " changed";
    EXPECT_EQ(seen, wanted) << line;
  }
  EXPECT_GT(calls, 1000u);
}

// The fields are the arguments. Sizes are stored less 1.
TEST_F(TensorMaps, HoldTheirArguments) {
  void* address = reinterpret_cast<void*>(allocate());  // NOLINT: an address of the device
  const CUtensorMap made = tiled_map(address);
  TensorMap wanted;
  wanted.kind = TensorMapKind::tiled;
  wanted.element = TensorElement::f32;
  wanted.rank = 2;
  wanted.address = reinterpret_cast<std::uint64_t>(address);
  wanted.sizes = {255, 63};
  wanted.strides = {1024};
  wanted.box = {32, 8};
  wanted.element_strides = {1, 2, 1, 1, 1};
  wanted.swizzle = TensorSwizzle::b128;
  wanted.promotion = TensorPromotion::l2_256;
  EXPECT_EQ(tensor_map_of(&made), wanted);

  CUtensorMap map{};
  const cuuint64_t sizes[] = {64, 32, 32, 16}, strides[] = {128, 4096, 131072};
  const int lower[] = {-1, -2}, upper[] = {1, 2};
  const cuuint32_t steps[] = {1, 1, 2, 1};
  OK(cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, address, sizes, strides, lower, upper, 32, 128,
                             steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_64B,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA));
  wanted = {};
  wanted.kind = TensorMapKind::im2col;
  wanted.element = TensorElement::bf16;
  wanted.rank = 4;
  wanted.address = reinterpret_cast<std::uint64_t>(address);
  wanted.sizes = {63, 31, 31, 15};
  wanted.strides = {128, 4096, 131072};
  wanted.element_strides = {1, 1, 2, 1, 1};
  wanted.swizzle = TensorSwizzle::b64;
  wanted.fill = TensorFill::nan;
  wanted.lower_corner = {-1, -2};
  wanted.upper_corner = {1, 2};
  wanted.channels_per_pixel = 32;
  wanted.pixels_per_column = 128;
  EXPECT_EQ(tensor_map_of(&map), wanted);

  OK(cuTensorMapEncodeIm2colWide(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, address, sizes, strides, -3, 4, 32, 64,
                                 steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,
                                 CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA));
  wanted.kind = TensorMapKind::im2col_wide;
  wanted.lower_corner = {-3};
  wanted.upper_corner = {4};
  wanted.pixels_per_column = 64;
  EXPECT_EQ(tensor_map_of(&map), wanted);
}

// 2^32 elements fit into the 32 bits of a size.
TEST_F(TensorMaps, HoldTheLargestSizes) {
  CUtensorMap map{};
  const cuuint64_t sizes[] = {1ull << 32, 1ull << 32}, strides[] = {(1ull << 40) - 16};
  const cuuint32_t box[] = {256, 256}, steps[] = {1, 8};
  OK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, reinterpret_cast<void*>(allocate()),  // NOLINT
                            sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  const TensorMap seen = tensor_map_of(&map);
  EXPECT_EQ(seen.sizes[0], 0xffffffffu);
  EXPECT_EQ(seen.sizes[1], 0xffffffffu);
  EXPECT_EQ(seen.strides[0], (1ull << 40) - 16);
  EXPECT_EQ(seen.box[0], 256);
}

// A map with another address is the map that is made with it.
TEST_F(TensorMaps, GetAnotherAddress) {
  const CUdeviceptr address = allocate();
  void *first = reinterpret_cast<void*>(address), *second = reinterpret_cast<void*>(address + 4096);  // NOLINT
  CUtensorMap map = tiled_map(first);
  const CUtensorMap wanted = tiled_map(second);
  OK(cuTensorMapReplaceAddress(&map, second));
  EXPECT_EQ(std::memcmp(&map, &wanted, sizeof map), 0);
}

TEST_F(TensorMaps, RefuseWrongArguments) {
  CUtensorMap map{};
  const cuuint64_t sizes[6] = {256, 64, 32, 1, 1, 1}, strides[5] = {1024, 65536, 65536, 65536, 65536};
  const cuuint32_t box[6] = {32, 8, 4, 1, 1, 1}, steps[6] = {1, 1, 1, 1, 1, 1};
  const int corner[] = {0};
  void* address = reinterpret_cast<void*>(allocate());  // NOLINT: an address of the device
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 6, address, sizes, strides, box, steps,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, address, sizes, strides, corner, corner, 32,
                                64, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuTensorMapEncodeIm2colWide(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, address, sizes, strides, 0, 0, 32, 64,
                                    steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,
                                    CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuTensorMapReplaceAddress(nullptr, address));
}

// The names of CUTLASS's look-up.
TEST_F(TensorMaps, FunctionsAreFoundByVersion) {
  const struct {
    const char* name;
    int since;
    void* function;
  } functions[] = {{"cuTensorMapEncodeTiled", 12000, reinterpret_cast<void*>(cuTensorMapEncodeTiled)},
                   {"cuTensorMapEncodeIm2col", 12000, reinterpret_cast<void*>(cuTensorMapEncodeIm2col)},
                   {"cuTensorMapEncodeIm2colWide", 12080, reinterpret_cast<void*>(cuTensorMapEncodeIm2colWide)},
                   {"cuTensorMapReplaceAddress", 12000, reinterpret_cast<void*>(cuTensorMapReplaceAddress)}};
  for (const auto& wanted : functions) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status{};
    OK(cuGetProcAddress(wanted.name, &found, wanted.since, 0, &status));
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS) << wanted.name;
    ASSERT_NE(found, nullptr) << wanted.name;
    OK(cuGetProcAddress(wanted.name, &found, wanted.since - 10, 0, &status));
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT) << wanted.name;
  }
  int supported = 0;
  OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0));
  EXPECT_EQ(supported, 1);
}

}  // namespace warpgrind::driver
