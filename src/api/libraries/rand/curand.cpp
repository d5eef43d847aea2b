// Functions of cuRAND's host interface.
#include <cuda_runtime_api.h>
#include <curand.h>
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <mutex>

#include "libraries/common/handles.h"
#include "libraries/common/issue.h"
#include "libraries/rand/direction_vectors.h"
#include "libraries/rand/generator.h"

namespace {

// Current sequence of a generator. The generator is created at the first request for numbers.
struct Sequence {
  std::mutex mutex;
  std::unique_ptr<warpgrind::libraries::rand::Generator> generator;
};

}  // namespace

struct curandGenerator_st {
  bool on_host = false;
  cudaStream_t stream = nullptr;
  warpgrind::libraries::rand::Settings settings;
  std::shared_ptr<Sequence> sequence = std::make_shared<Sequence>();
};

namespace warpgrind::libraries::rand {
namespace {

Handles<curandGenerator_t, curandGenerator_st>& generators() {
  return handles<curandGenerator_t, curandGenerator_st>();
}

bool is_type(curandRngType type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      return true;
    default:
      return false;
  }
}

const char* name_of(curandRngType type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_MRG32K3A:
      return "MRG32k3a";
    case CURAND_RNG_PSEUDO_MTGP32:
      return "MTGP32";
    case CURAND_RNG_PSEUDO_MT19937:
      return "MT19937";
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      return "Philox4_32_10";
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
      return "Sobol32";
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
      return "scrambled Sobol32";
    case CURAND_RNG_QUASI_SOBOL64:
      return "Sobol64";
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      return "scrambled Sobol64";
    default:
      return "XORWOW";
  }
}

template <class Body>
curandStatus_t with(curandGenerator_t handle, Body&& body) {
  const std::shared_ptr<curandGenerator_st> generator = generators().find(handle);
  return generator ? body(*generator) : CURAND_STATUS_NOT_INITIALIZED;
}

// Changes a setting; the sequence then starts again.
template <class Body>
curandStatus_t change(curandGenerator_t handle, Body&& body) {
  return with(handle, [&](curandGenerator_st& g) {
    const curandStatus_t status = body(g);
    if (status == CURAND_STATUS_SUCCESS) g.sequence = std::make_shared<Sequence>();
    return status;
  });
}

curandStatus_t create(curandGenerator_t* out, curandRngType type, bool on_host) {
  if (!out) return CURAND_STATUS_INITIALIZATION_FAILED;
  if (!is_type(type)) return CURAND_STATUS_TYPE_ERROR;
  if (!on_host) {
    if (cudaFree(nullptr) != cudaSuccess) return CURAND_STATUS_PREEXISTING_FAILURE;
    warpgrind_library_begin("cuRAND", "warpgrind");
  }
  auto generator = std::make_shared<curandGenerator_st>();
  generator->on_host = on_host;
  generator->settings.type = type;
  if (is_quasi(type)) generator->settings.ordering = CURAND_ORDERING_QUASI_DEFAULT;
  *out = generator.get();
  generators().add(generator.get(), generator);
  return CURAND_STATUS_SUCCESS;
}

// Generates `count` numbers at `out` with `fill(generator, out, count)`.
template <class T, class Fill>
curandStatus_t generate(curandGenerator_t handle, const char* function, T* out, std::size_t count, bool in_pairs,
                        Fill fill) {
  return with(handle, [&](curandGenerator_st& g) {
    const bool quasi = is_quasi(g.settings.type);
    if (quasi ? count % g.settings.dimensions != 0 : in_pairs && count % 2 != 0)
      return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (count == 0) return CURAND_STATUS_SUCCESS;
    const auto run = [sequence = g.sequence, settings = g.settings, out, count, fill] {
      const std::lock_guard lock(sequence->mutex);
      if (!sequence->generator) sequence->generator = make_generator(settings);
      fill(*sequence->generator, out, count);
    };
    if (g.on_host) {
      run();
      return CURAND_STATUS_SUCCESS;
    }
    LibraryWork work;
    work.family = LibraryFamily::random;
    work.bytes = static_cast<double>(count) * sizeof(T);
    const LibraryIssue issued = issue({function, fmt::format("{} of {}", count, name_of(g.settings.type))}, "warpgrind",
                                      work, g.stream, false, [run, out, count](LibraryRun& access) {
                                        if (access.writes("outputPtr", out, count * sizeof(T))) run();
                                      });
    return issued == LibraryIssue::done ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
  });
}

template <class T, class Vectors>
curandStatus_t give_vectors(Vectors** out, bool right_set) {
  if (!right_set || !out) return CURAND_STATUS_OUT_OF_RANGE;
  static_assert(sizeof(Direction<T>) == sizeof(Vectors));
  *out = reinterpret_cast<Vectors*>(const_cast<Direction<T>*>(directions<T>().data()));
  return CURAND_STATUS_SUCCESS;
}

}  // namespace
}  // namespace warpgrind::libraries::rand

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::rand;

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  return generators().remove(generator) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
curandStatus_t curandGetVersion(int* version) {
  if (!version) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
  *value = type == MAJOR_VERSION ? CURAND_VER_MAJOR : type == MINOR_VERSION ? CURAND_VER_MINOR : CURAND_VER_PATCH;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  return with(generator, [&](curandGenerator_st& g) {
    g.stream = stream;
    return CURAND_STATUS_SUCCESS;
  });
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  return change(generator, [&](curandGenerator_st& g) {
    if (is_quasi(g.settings.type)) return CURAND_STATUS_TYPE_ERROR;
    g.settings.seed = seed;
    return CURAND_STATUS_SUCCESS;
  });
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  return change(generator, [&](curandGenerator_st& g) {
    if (g.settings.type == CURAND_RNG_PSEUDO_MTGP32) return CURAND_STATUS_TYPE_ERROR;  // it cannot skip ahead
    g.settings.offset = offset;
    return CURAND_STATUS_SUCCESS;
  });
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  return change(generator, [&](curandGenerator_st& g) {
    const bool known = is_quasi(g.settings.type)
                           ? order == CURAND_ORDERING_QUASI_DEFAULT
                           : order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC;
    const bool refused = g.settings.type == CURAND_RNG_PSEUDO_MTGP32 && order == CURAND_ORDERING_PSEUDO_SEEDED;
    if (!known || refused) return CURAND_STATUS_OUT_OF_RANGE;
    g.settings.ordering = order;
    return CURAND_STATUS_SUCCESS;
  });
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned dimensions) {
  return change(generator, [&](curandGenerator_st& g) {
    if (!is_quasi(g.settings.type)) return CURAND_STATUS_TYPE_ERROR;
    if (dimensions == 0 || dimensions > kDimensions) return CURAND_STATUS_OUT_OF_RANGE;
    if (dimensions > kJoeKuoDimensions) {
      warpgrind_library_missing(
          fmt::format("cuRAND: {} dimensions; direction numbers are there for {}", dimensions, kJoeKuoDimensions)
              .c_str());
      return CURAND_STATUS_OUT_OF_RANGE;
    }
    g.settings.dimensions = dimensions;
    return CURAND_STATUS_SUCCESS;
  });
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return with(generator, [](curandGenerator_st&) { return CURAND_STATUS_SUCCESS; });
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* out, size_t n) {
  return with(generator, [&](curandGenerator_st& g) {
    if (is_64_bit(g.settings.type)) return CURAND_STATUS_TYPE_ERROR;
    return generate(generator, "curandGenerate", out, n, false,
                    [](Generator& from, unsigned* to, size_t count) { from.bits(to, count); });
  });
}
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long* out, size_t n) {
  return with(generator, [&](curandGenerator_st& g) {
    if (!is_64_bit(g.settings.type)) return CURAND_STATUS_TYPE_ERROR;
    return generate(generator, "curandGenerateLongLong", out, n, false,
                    [](Generator& from, unsigned long long* to, size_t count) {
                      from.bits(reinterpret_cast<std::uint64_t*>(to), count);
                    });
  });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, size_t n) {
  return generate(generator, "curandGenerateUniform", out, n, false,
                  [](Generator& from, float* to, size_t count) { from.uniform(to, count); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, size_t n) {
  return generate(generator, "curandGenerateUniformDouble", out, n, false,
                  [](Generator& from, double* to, size_t count) { from.uniform(to, count); });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, size_t n, float mean, float deviation) {
  return generate(generator, "curandGenerateNormal", out, n, true,
                  [=](Generator& from, float* to, size_t count) { from.normal(to, count, mean, deviation); });
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, size_t n, double mean,
                                          double deviation) {
  return generate(generator, "curandGenerateNormalDouble", out, n, true,
                  [=](Generator& from, double* to, size_t count) { from.normal(to, count, mean, deviation); });
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, size_t n, float mean, float deviation) {
  return generate(generator, "curandGenerateLogNormal", out, n, true, [=](Generator& from, float* to, size_t count) {
    from.normal(to, count, mean, deviation);
    for (size_t i = 0; i < count; ++i) to[i] = std::exp(to[i]);
  });
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out, size_t n, double mean,
                                             double deviation) {
  return generate(generator, "curandGenerateLogNormalDouble", out, n, true,
                  [=](Generator& from, double* to, size_t count) {
                    from.normal(to, count, mean, deviation);
                    for (size_t i = 0; i < count; ++i) to[i] = std::exp(to[i]);
                  });
}
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned* out, size_t n, double lambda) {
  if (!(lambda > 0) || lambda > 400000) return CURAND_STATUS_OUT_OF_RANGE;
  return generate(generator, "curandGeneratePoisson", out, n, false,
                  [=](Generator& from, unsigned* to, size_t count) { from.poisson(to, count, lambda); });
}

curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t* vectors[], curandDirectionVectorSet_t set) {
  return give_vectors<std::uint32_t>(
      vectors, set == CURAND_DIRECTION_VECTORS_32_JOEKUO6 || set == CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6);
}
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t* vectors[], curandDirectionVectorSet_t set) {
  return give_vectors<std::uint64_t>(
      vectors, set == CURAND_DIRECTION_VECTORS_64_JOEKUO6 || set == CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6);
}
curandStatus_t curandGetScrambleConstants32(unsigned** constants) {
  if (!constants) return CURAND_STATUS_OUT_OF_RANGE;
  *constants = const_cast<unsigned*>(scrambles<std::uint32_t>().data());
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetScrambleConstants64(unsigned long long** constants) {
  if (!constants) return CURAND_STATUS_OUT_OF_RANGE;
  *constants = reinterpret_cast<unsigned long long*>(const_cast<std::uint64_t*>(scrambles<std::uint64_t>().data()));
  return CURAND_STATUS_SUCCESS;
}

}  // extern "C"
