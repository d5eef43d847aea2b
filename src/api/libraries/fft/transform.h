// A transform as a cuFFT plan describes it, and its execution by FFTW.
#pragma once

#include <cufft.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "libraries/common/issue.h"
#include "libraries/fft/fftw.h"

namespace warpgrind::libraries::fft {

inline constexpr int kMostDimensions = 3;

// Memory layout of one side (input or output), in elements of that side (real or complex).
struct Layout {
  std::array<std::int64_t, kMostDimensions> embed{};  // sizes of the array that contains the data
  std::int64_t stride = 1, distance = 0;              // between elements of the last dimension; between transforms
};

struct Transform {
  cufftType type = CUFFT_C2C;
  int rank = 0;
  std::array<std::int64_t, kMostDimensions> n{};
  std::int64_t batch = 1;
  bool own_layout = false;  // true: the caller's `in` and `out`. False: dense, padded for an in-place real transform
  Layout in, out;

  bool is_double() const { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
  bool reads_real() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool writes_real() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  std::int64_t elements() const;  // of one transform: the product of its sizes
  std::int64_t half() const { return n[static_cast<std::size_t>(rank - 1)] / 2 + 1; }
  Layout layout(bool input, bool in_place) const;
  // Bytes from the first to the last element of one side, for the whole batch.
  std::size_t bytes(bool input, bool in_place) const;
  std::size_t work_bytes() const;
  LibraryWork work() const;
};

// FFTW plans of one transform. Each is created at its first use.
class Plans {
 public:
  explicit Plans(const Transform& transform) : transform_(transform) {}
  ~Plans();
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  const Transform& transform() const { return transform_; }
  // False: FFTW cannot plan this transform.
  bool execute(void* in, void* out, int direction);

 private:
  template <class T>
  bool execute_as(T* in, T* out, int direction, std::vector<typename Fftw<T>::Plan>& plans);
  template <class T>
  typename Fftw<T>::Plan make(T* in, T* out, int direction) const;

  Transform transform_;
  std::mutex mutex_;
  std::vector<fftwf_plan> single_;
  std::vector<fftw_plan> double_;
};

}  // namespace warpgrind::libraries::fft
