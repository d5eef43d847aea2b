// The programs of generate.py on a real GPU.
//   nvcc -std=c++17 -o run_random_on_gpu run_random_on_gpu.cu -lcuda && ./run_random_on_gpu [-O0] RESULTS [RAW]
//   FILE.ptx...
// Writes one line of hashes a program to RESULTS, and with RAW all rows (8 bytes a value, in the order of the
// programs). With -O0 the driver compiles without optimization: a program whose hashes then differ has met a defect of
// the driver's compiler.
#include "../tensor_copies/encode.h"
#include "cases.h"

using namespace random_programs;

static cudaChannelFormatDesc format_of(const Image& image) {
  const auto bits = [&](int channel) { return channel < image.channels ? image.bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3),
          image.kind == 'f'   ? cudaChannelFormatKindFloat
          : image.kind == 's' ? cudaChannelFormatKindSigned
                              : cudaChannelFormatKindUnsigned};
}

// Fills `resource`; what it names lives to the end of the program.
static cudaError_t make_resource(const Image& image, const std::vector<std::uint8_t>& data,
                                 cudaResourceDesc* resource) {
  cudaChannelFormatDesc format = format_of(image);
  const std::size_t row = image.row_bytes();
  if (image.in_linear_memory()) {
    void* memory = nullptr;
    std::size_t pitch = row;
    cudaError_t e = image.geometry == "pitched" ? cudaMallocPitch(&memory, &pitch, row, image.rows())
                                                : cudaMalloc(&memory, data.size());
    if (e == cudaSuccess) e = cudaMemcpy2D(memory, pitch, data.data(), row, row, image.rows(), cudaMemcpyHostToDevice);
    if (image.geometry == "pitched") {
      resource->resType = cudaResourceTypePitch2D;
      resource->res.pitch2D = {memory, format, static_cast<std::size_t>(image.width), image.rows(), pitch};
    } else {
      resource->resType = cudaResourceTypeLinear;
      resource->res.linear = {memory, format, data.size()};
    }
    return e;
  }
  const unsigned flags = (image.layered() ? cudaArrayLayered : 0) | (image.cube() ? cudaArrayCubemap : 0) |
                         (image.gather() ? cudaArrayTextureGather : 0) |
                         (image.surface() ? cudaArraySurfaceLoadStore : 0);
  cudaArray_t array = nullptr;
  cudaError_t e = cudaMalloc3DArray(&array, &format, make_cudaExtent(image.width, image.height, image.depth), flags);
  if (e != cudaSuccess) return e;
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<std::uint8_t*>(data.data()), row, image.width, image.rows());
  copy.dstArray = array;
  copy.extent = make_cudaExtent(image.width, image.rows(), image.slices());
  copy.kind = cudaMemcpyHostToDevice;
  resource->resType = cudaResourceTypeArray;
  resource->res.array.array = array;
  return cudaMemcpy3D(&copy);
}

static cudaError_t make_object(const Image& image, std::uint64_t seed, std::uint64_t* object) {
  cudaResourceDesc resource{};
  cudaTextureDesc description{};
  const cudaError_t e = make_resource(image, texels(image, seed), &resource);
  if (e != cudaSuccess) return e;
  if (image.surface()) return cudaCreateSurfaceObject(reinterpret_cast<cudaSurfaceObject_t*>(object), &resource);
  for (int d = 0; d < 3; ++d) description.addressMode[d] = static_cast<cudaTextureAddressMode>(image.address[d]);
  description.filterMode = image.linear ? cudaFilterModeLinear : cudaFilterModePoint;
  description.readMode = image.normalized_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  description.normalizedCoords = image.normalized;
  description.sRGB = image.srgb;
  for (int k = 0; k < 4; ++k) description.borderColor[k] = kBorder[k];
  return cudaCreateTextureObject(reinterpret_cast<cudaTextureObject_t*>(object), &resource, &description, nullptr);
}

// Memory for copies, whose content every run needs anew, and the table of tensor maps; the maps that are parameters
// themselves.
struct Copies {
  void *data = nullptr, *table = nullptr;
  std::vector<CUtensorMap> parameters;

  bool make(const Case& c) {
    cudaMalloc(&data, c.copied_bytes());
    cudaMalloc(&table, (c.maps.size() + 1) * c.grid * kMapBytes);
    std::vector<CUtensorMap> all;
    for (const TensorMapLine& line : c.maps) {
      for (unsigned block = 0; block < c.grid; ++block) {
        all.emplace_back();
        const CUresult e =
            tensor_copies::encode(line.keys, c.tensor(line, reinterpret_cast<std::uint64_t>(data), block), &all.back());
        if (e)
          return std::printf("case %u: the driver refuses a map (%d): %s\n", c.number, e, line.keys.text.c_str()),
                 false;
      }
      if (!line.written) parameters.push_back(all.back());
    }
    cudaMemcpy(table, all.data(), all.size() * kMapBytes, cudaMemcpyHostToDevice);
    return true;
  }
  void fill(const Case& c) const {
    const std::vector<std::uint8_t> bytes = c.copied();
    cudaMemcpy(data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
  }
  ~Copies() {
    cudaFree(data);
    cudaFree(table);
  }
};

static bool run(cudaLibrary_t library, const Case& c, void* in, std::FILE* results, std::FILE* raw) {
  std::vector<std::uint64_t> output(c.bytes() / 8), again(c.bytes() / 8);
  cudaKernel_t function;
  cudaError_t e = cudaLibraryGetKernel(&function, library, c.name().c_str());
  std::vector<std::uint64_t> objects(c.images.size());
  for (std::size_t k = 0; k < objects.size() && e == cudaSuccess; ++k)
    e = make_object(c.images[k], image_seed(c, k), &objects[k]);
  Copies copies;
  if (c.copies && !copies.make(c)) return false;
  for (auto* to : {&output, &again}) {  // twice: a program whose result is not defined shows
    void* out;
    cudaMalloc(&out, c.bytes());
    cudaMemset(out, 0, c.bytes());
    std::vector<void*> arguments{&in, &out};
    for (std::uint64_t& object : objects) arguments.push_back(&object);
    if (c.copies) {
      copies.fill(c);
      arguments.push_back(&copies.data);
      arguments.push_back(&copies.table);
      for (CUtensorMap& map : copies.parameters) arguments.push_back(&map);
    }
    if (e == cudaSuccess)
      e = cudaLaunchKernel(reinterpret_cast<const void*>(function), dim3(c.grid), dim3(c.x, c.y), arguments.data(), 0,
                           nullptr);
    if (e == cudaSuccess) e = cudaMemcpy(to->data(), out, c.bytes(), cudaMemcpyDeviceToHost);
    cudaFree(out);
  }
  if (e != cudaSuccess) return std::printf("case %u: %s\n", c.number, cudaGetErrorString(e)), false;
  if (output != again) return std::printf("case %u: two runs differ\n", c.number), true;
  write_line(results, c, row_hashes(c, output));
  if (raw) std::fwrite(output.data(), 8, c.threads() * c.rows, raw);
  return true;
}

int main(int argc, char** argv) {
  const bool plain = argc > 1 && !std::strcmp(argv[1], "-O0");
  if (plain) --argc, ++argv;
  if (argc < 3) return std::printf("usage: run_random_on_gpu [-O0] RESULTS [RAW] FILE.ptx...\n"), 2;
  cudaJitOption level = cudaJitOptimizationLevel;
  void* no_optimization = nullptr;  // the level is the pointer's value
  std::FILE* results = std::fopen(argv[1], "w");
  std::FILE* raw = std::strstr(argv[2], ".ptx") ? nullptr : std::fopen(argv[2], "wb");
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  int driver = 0;
  cudaDriverGetVersion(&driver);
  std::fprintf(results, "# %s, driver for CUDA %d, PTX compiled by the driver\n", properties.name, driver);
  cudaDeviceSetLimit(cudaLimitStackSize, 1 << 14);  // for programs that call themselves
  const std::vector<std::uint64_t> words = input();
  void* in;
  cudaMalloc(&in, words.size() * 8);
  cudaMemcpy(in, words.data(), words.size() * 8, cudaMemcpyHostToDevice);
  unsigned done = 0;
  for (int k = raw ? 3 : 2; k < argc; ++k) {
    cudaLibrary_t library;
    const cudaError_t e =
        cudaLibraryLoadFromFile(&library, argv[k], &level, &no_optimization, plain, nullptr, nullptr, 0);
    if (e != cudaSuccess) {
      std::printf("%s: %s\n", argv[k], cudaGetErrorString(e));
      continue;
    }
    for (const Case& c : cases_of(read_text(argv[k]))) {
      done += run(library, c, in, results, raw);
    }
    cudaLibraryUnload(library);
  }
  std::fclose(results);
  if (raw) std::fclose(raw);
  std::printf("%u programs\n", done);
}
