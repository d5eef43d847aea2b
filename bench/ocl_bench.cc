// Host of kernels.cl for PoCL and Oclgrind.
//
//   ocl_bench KERNELS.cl KERNEL SIZE REPETITIONS [ROWS]
//     ROWS  limits two-dimensional launches to the first rows of the output, to sample slow interpreters
// Prints the same line as kernels.cu, with the platform in front.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#define CHECK(call)                                          \
  do {                                                       \
    cl_int error_ = (call);                                  \
    if (error_ != CL_SUCCESS) {                              \
      std::fprintf(stderr, "%s: error %d\n", #call, error_); \
      std::exit(1);                                          \
    }                                                        \
  } while (0)

struct Device {
  std::string platform;
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
};

static Device open_device() {
  cl_platform_id platform;
  cl_int error;
  Device d;
  CHECK(clGetPlatformIDs(1, &platform, nullptr));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d.id, nullptr));
  char name[128], version[128];
  CHECK(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, nullptr));
  CHECK(clGetDeviceInfo(d.id, CL_DRIVER_VERSION, sizeof version, version, nullptr));
  d.platform = std::string(name) + " " + version;
  d.context = clCreateContext(nullptr, 1, &d.id, nullptr, nullptr, &error);
  CHECK(error);
  d.queue = clCreateCommandQueue(d.context, d.id, 0, &error);
  CHECK(error);
  return d;
}

static cl_kernel build(const Device& d, const char* file, const char* kernel) {
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const char* source = text.c_str();
  cl_int error;
  cl_program program = clCreateProgramWithSource(d.context, 1, &source, nullptr, &error);
  CHECK(error);
  CHECK(clBuildProgram(program, 1, &d.id, "", nullptr, nullptr));
  cl_kernel k = clCreateKernel(program, kernel, &error);
  CHECK(error);
  return k;
}

static cl_mem buffer(const Device& d, size_t bytes, void* data) {
  cl_int error;
  cl_mem memory = clCreateBuffer(d.context, CL_MEM_COPY_HOST_PTR, bytes, data, &error);
  CHECK(error);
  return memory;
}

struct Shape {
  size_t global[2], local[2];
  cl_uint dimensions;
  double work;
};

static Shape shape_of(const std::string& kernel, size_t n, size_t rows) {
  if (kernel == "vecadd" || kernel == "gather") return {{n, 1}, {256, 1}, 1, double(n)};
  if (kernel == "reduce") return {{n / 2, 1}, {256, 1}, 1, double(n)};
  if (kernel == "transpose") return {{n, rows / 4}, {32, 8}, 2, double(n) * rows};
  if (kernel == "jacobi") return {{n, rows}, {32, 8}, 2, double(n) * rows};
  return {{n, rows}, {16, 16}, 2, double(n) * n * rows};
}

static bool verify(const std::string& kernel, int n, int rows, const std::vector<double>& a,
                   const std::vector<double>& b, const std::vector<double>& out) {
  bool good = true;
  const auto expect = [&](double got, double want) { good &= std::fabs(got - want) <= 1e-4 * (1 + std::fabs(want)); };
  const size_t w = n;
  if (kernel == "vecadd") {
    for (int i = 0; i < n; i += 997) expect(out[i], a[i] + b[i]);
  } else if (kernel == "reduce") {
    for (int g = 0; g < n / 512; g += 7) {
      double sum = 0;
      for (int i = 0; i < 512; i++) sum += a[size_t(g) * 512 + i];
      expect(out[g], sum);
    }
  } else if (kernel == "transpose") {
    for (int y = 0; y < rows; y += 5)
      for (int x = 0; x < n; x += 3) expect(out[x * w + y], a[y * w + x]);
  } else if (kernel == "jacobi") {
    for (int y = 1; y < rows - 1; y += 3)
      for (int x = 1; x < n - 1; x += 5)
        expect(out[y * w + x], 0.25 * (a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x]));
  } else {
    for (int y = 0; y < rows; y += 13)
      for (int x = 0; x < n; x += 37) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += a[y * w + k] * b[k * w + x];
        expect(out[y * w + x], sum);
      }
  }
  return good;
}

template <class T>
static int run(const std::string& kernel, const char* file, int n, int repetitions, int rows) {
  const Device d = open_device();
  const double build_begin = now();
  cl_kernel k = build(d, file, kernel.c_str());
  const bool line = kernel == "vecadd" || kernel == "reduce";
  const size_t count = line ? size_t(n) : size_t(n) * n;
  std::vector<T> a(count), b(count), out(count);
  for (size_t i = 0; i < count; i++) {
    a[i] = std::rand() / static_cast<T>(RAND_MAX);
    b[i] = std::rand() / static_cast<T>(RAND_MAX);
  }
  cl_mem buffers[3] = {buffer(d, count * sizeof(T), a.data()), buffer(d, count * sizeof(T), b.data()),
                       buffer(d, count * sizeof(T), out.data())};
  const bool two_inputs = kernel == "vecadd" || kernel == "mm" || kernel == "mmt";
  cl_uint argument = 0;
  CHECK(clSetKernelArg(k, argument++, sizeof(cl_mem), &buffers[0]));
  if (two_inputs) CHECK(clSetKernelArg(k, argument++, sizeof(cl_mem), &buffers[1]));
  CHECK(clSetKernelArg(k, argument++, sizeof(cl_mem), &buffers[2]));
  CHECK(clSetKernelArg(k, argument++, sizeof n, &n));
  if (rows == 0 || line) rows = n;
  const Shape shape = shape_of(kernel, n, rows);
  std::vector<double> seconds;
  double first = 0;
  for (int i = 0; i <= repetitions; i++) {
    const double begin = now();
    CHECK(
        clEnqueueNDRangeKernel(d.queue, k, shape.dimensions, nullptr, shape.global, shape.local, 0, nullptr, nullptr));
    CHECK(clFinish(d.queue));
    if (i == 0) first = now() - build_begin;
    if (i > 0 || repetitions == 0) seconds.push_back(now() - begin);
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  CHECK(clEnqueueReadBuffer(d.queue, buffers[2], CL_TRUE, 0, count * sizeof(T), out.data(), 0, nullptr, nullptr));
  const bool good = verify(kernel, n, rows, {a.begin(), a.end()}, {b.begin(), b.end()}, {out.begin(), out.end()});
  std::printf("%s,%s,%d,%.6f,%.6f,%.6f,%.6f,%.0f,%.2f,%s\n", d.platform.c_str(), kernel.c_str(), n, first, median,
              seconds.front(), seconds.back(), shape.work, shape.work / median / 1e6, good ? "ok" : "WRONG");
  return good ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: ocl_bench KERNELS.cl KERNEL SIZE REPETITIONS [ROWS]\n");
    return 2;
  }
  const std::string kernel = argv[2];
  const int n = std::atoi(argv[3]), repetitions = std::atoi(argv[4]), rows = argc > 5 ? std::atoi(argv[5]) : 0;
  return kernel == "jacobi" ? run<double>(kernel, argv[1], n, repetitions, rows)
                            : run<float>(kernel, argv[1], n, repetitions, rows);
}
