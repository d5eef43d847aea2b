// Epilogues of cublasLtMatmul: bias, ReLU, GELU, and their gradients.
#include "libraries/blaslt/epilogues.h"

#include <algorithm>
#include <cmath>

#include "libraries/common/elements.h"

namespace warpgrind::libraries::blaslt {
namespace {

constexpr struct {
  std::uint32_t kind;
  const char* name;
} kEpilogues[] = {{CUBLASLT_EPILOGUE_DEFAULT, "DEFAULT"},     {CUBLASLT_EPILOGUE_RELU, "RELU"},
                  {CUBLASLT_EPILOGUE_RELU_AUX, "RELU_AUX"},   {CUBLASLT_EPILOGUE_BIAS, "BIAS"},
                  {CUBLASLT_EPILOGUE_RELU_BIAS, "RELU_BIAS"}, {CUBLASLT_EPILOGUE_RELU_AUX_BIAS, "RELU_AUX_BIAS"},
                  {CUBLASLT_EPILOGUE_DRELU, "DRELU"},         {CUBLASLT_EPILOGUE_DRELU_BGRAD, "DRELU_BGRAD"},
                  {CUBLASLT_EPILOGUE_GELU, "GELU"},           {CUBLASLT_EPILOGUE_GELU_AUX, "GELU_AUX"},
                  {CUBLASLT_EPILOGUE_GELU_BIAS, "GELU_BIAS"}, {CUBLASLT_EPILOGUE_GELU_AUX_BIAS, "GELU_AUX_BIAS"},
                  {CUBLASLT_EPILOGUE_DGELU, "DGELU"},         {CUBLASLT_EPILOGUE_DGELU_BGRAD, "DGELU_BGRAD"},
                  {CUBLASLT_EPILOGUE_BGRADA, "BGRADA"},       {CUBLASLT_EPILOGUE_BGRADB, "BGRADB"}};

// Bits of cublasLtEpilogue_t that have no enumerator of their own.
constexpr std::uint32_t kAux = 128, kGradientOfRelu = 8, kGradientOfBias = 16, kGradientOfGelu = 64;

// Constants of GELU in its tanh form, as on GPUs.
constexpr double kSlope = 0.7978845608028654, kCubic = 0.044715;  // sqrt(2 / pi)
template <class T>
T gelu(T x) {
  return x / 2 * (1 + std::tanh(static_cast<T>(kSlope) * (x + static_cast<T>(kCubic) * x * x * x)));
}
template <class T>
T gelu_gradient(T x) {
  const T t = std::tanh(static_cast<T>(kSlope) * (x + static_cast<T>(kCubic) * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * static_cast<T>(kSlope) * (1 + static_cast<T>(3 * kCubic) * x * x);
}

void* bias_of(const Epilogue& e, std::int64_t i) {
  return static_cast<char*>(e.bias) + i * e.bias_stride * static_cast<std::int64_t>(element_bytes(e.bias_type));
}

template <class T>
bool add_bias(LibraryRun& run, const Epilogue& e, std::int64_t i, std::vector<T>& values) {
  const void* const at = bias_of(e, i);
  if (!run.reads("bias", at, static_cast<std::size_t>(e.rows) * element_bytes(e.bias_type))) return false;
  std::vector<T> bias(static_cast<std::size_t>(e.rows));
  load(e.bias_type, at, e.rows, e.rows, 1, bias.data());
  for (std::size_t p = 0; p < values.size(); ++p) values[p] += bias[p % bias.size()];
  return true;
}

// Bit mask of a matrix: one bit for each element, by columns. ld is in bits.
struct Mask {
  std::uint8_t* at;
  std::int64_t ld;
  bool get(std::int64_t row, std::int64_t column) const {
    const std::int64_t bit = column * ld + row;
    return (at[bit / 8] >> (bit % 8) & 1) != 0;
  }
  void set(std::int64_t row, std::int64_t column, bool value) const {
    const std::int64_t bit = column * ld + row;
    const auto one = static_cast<std::uint8_t>(1u << (bit % 8));
    at[bit / 8] = static_cast<std::uint8_t>(value ? at[bit / 8] | one : at[bit / 8] & ~one);
  }
};
Mask mask_of(const Epilogue& e, std::int64_t i) {
  return {static_cast<std::uint8_t*>(e.aux) + i * e.aux_stride / 8, e.aux_ld};
}
std::size_t mask_bytes(const Epilogue& e) {
  return static_cast<std::size_t>((blas::matrix_elements(e.rows, e.columns, e.aux_ld) + 7) / 8);
}

template <class T>
bool relu(LibraryRun& run, const Epilogue& e, std::int64_t i, std::vector<T>& values) {
  const Mask mask = mask_of(e, i);
  if (e.kind & kAux) {
    if (!run.writes("aux", mask.at, mask_bytes(e))) return false;
    for (std::size_t p = 0; p < values.size(); ++p)
      mask.set(static_cast<std::int64_t>(p) % e.rows, static_cast<std::int64_t>(p) / e.rows, values[p] > T{});
  }
  for (T& v : values)
    if (v < T{}) v = T{};
  return true;
}
template <class T>
bool relu_backwards(LibraryRun& run, const Epilogue& e, std::int64_t i, std::vector<T>& values) {
  const Mask mask = mask_of(e, i);
  if (!run.reads("aux", mask.at, mask_bytes(e))) return false;
  for (std::size_t p = 0; p < values.size(); ++p)
    if (!mask.get(static_cast<std::int64_t>(p) % e.rows, static_cast<std::int64_t>(p) / e.rows)) values[p] = T{};
  return true;
}

void* aux_of(const Epilogue& e, std::int64_t i) {
  return static_cast<char*>(e.aux) + i * e.aux_stride * static_cast<std::int64_t>(element_bytes(e.aux_type));
}
std::size_t aux_bytes(const Epilogue& e) {
  return static_cast<std::size_t>(blas::matrix_elements(e.rows, e.columns, e.aux_ld)) * element_bytes(e.aux_type);
}
template <class T>
bool gelu(LibraryRun& run, const Epilogue& e, std::int64_t i, std::vector<T>& values) {
  if (e.kind & kAux) {
    if (!run.writes("aux", aux_of(e, i), aux_bytes(e))) return false;
    store(e.aux_type, aux_of(e, i), e.aux_ld, e.rows, e.columns, values.data());
  }
  for (T& v : values) v = gelu(v);
  return true;
}
template <class T>
bool gelu_backwards(LibraryRun& run, const Epilogue& e, std::int64_t i, std::vector<T>& values) {
  if (!run.reads("aux", aux_of(e, i), aux_bytes(e))) return false;
  std::vector<T> inputs(values.size());
  load(e.aux_type, aux_of(e, i), e.aux_ld, e.rows, e.columns, inputs.data());
  for (std::size_t p = 0; p < values.size(); ++p) values[p] *= gelu_gradient(inputs[p]);
  return true;
}

}  // namespace

const char* name_of_epilogue(std::uint32_t kind) {
  for (const auto& e : kEpilogues)
    if (e.kind == kind) return e.name;
  return nullptr;
}
std::uint32_t every_epilogue() {
  std::uint32_t out = 0;
  for (const auto& e : kEpilogues) out |= e.kind;
  return out;
}
bool uses_bias(std::uint32_t kind) {
  return (kind & (CUBLASLT_EPILOGUE_BIAS | kGradientOfBias | CUBLASLT_EPILOGUE_BGRADA | CUBLASLT_EPILOGUE_BGRADB)) != 0;
}
bool uses_aux(std::uint32_t kind) {
  return (kind & kAux) != 0;
}
bool aux_fits(const Epilogue& e) {
  const std::int64_t unit = e.kind & (CUBLASLT_EPILOGUE_RELU | kGradientOfRelu) ? 128 : 8;
  return blas::at_least(e.aux_ld, e.rows) && e.aux_ld % unit == 0 && e.aux_stride % unit == 0;
}

template <class T>
bool apply(LibraryRun& run, const Epilogue& e, std::int64_t i, std::vector<T>& values) {
  if (e.has(CUBLASLT_EPILOGUE_BIAS) && !add_bias(run, e, i, values)) return false;
  if (e.has(CUBLASLT_EPILOGUE_RELU) && !relu(run, e, i, values)) return false;
  if (e.has(CUBLASLT_EPILOGUE_GELU) && !gelu(run, e, i, values)) return false;
  if (e.kind & kGradientOfRelu && !relu_backwards(run, e, i, values)) return false;
  if (e.kind & kGradientOfGelu && !gelu_backwards(run, e, i, values)) return false;
  return !(e.kind & kGradientOfBias) || store_bias_gradient(run, e, i, values, e.rows, false);
}

template <class T>
bool store_bias_gradient(LibraryRun& run, const Epilogue& e, std::int64_t i, const std::vector<T>& values,
                         std::int64_t rows, bool by_column) {
  const auto height = static_cast<std::size_t>(std::max<std::int64_t>(1, rows));
  std::vector<T> sums(by_column ? values.size() / height : static_cast<std::size_t>(rows));
  for (std::size_t p = 0; p < values.size(); ++p) sums[by_column ? p / height : p % height] += values[p];
  void* const at = bias_of(e, i);
  const auto count = static_cast<std::int64_t>(sums.size());
  if (!run.writes("bias", at, sums.size() * element_bytes(e.bias_type))) return false;
  store(e.bias_type, at, std::max<std::int64_t>(1, count), count, 1, sums.data());
  return true;
}

#define WG_FOR_NUMBERS(T)                                                                                 \
  template bool apply<T>(LibraryRun&, const Epilogue&, std::int64_t, std::vector<T>&);                    \
  template bool store_bias_gradient<T>(LibraryRun&, const Epilogue&, std::int64_t, const std::vector<T>&, \
                                       std::int64_t, bool);
WG_FOR_NUMBERS(float)
WG_FOR_NUMBERS(double)
#undef WG_FOR_NUMBERS

}  // namespace warpgrind::libraries::blaslt
