// Layouts, work and FFTW plans of a transform.
#include "libraries/fft/transform.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace warpgrind::libraries::fft {

namespace {
std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}
}  // namespace

std::int64_t Transform::elements() const {
  std::int64_t product = 1;
  for (int i = 0; i < rank; ++i) product *= n[at(i)];
  return product;
}

Layout Transform::layout(bool input, bool in_place) const {
  if (own_layout) return input ? in : out;
  Layout dense;
  const bool real_side = input ? reads_real() : writes_real();
  const bool other_is_real = input ? writes_real() : reads_real();
  std::int64_t last = n[at(rank - 1)];
  if (other_is_real) last = half();  // the complex side of a real transform
  if (real_side && in_place) last = 2 * half();
  dense.distance = last;
  for (int i = 0; i < rank; ++i) {
    dense.embed[at(i)] = i == rank - 1 ? last : n[at(i)];
    if (i < rank - 1) dense.distance *= n[at(i)];
  }
  return dense;
}

std::size_t Transform::bytes(bool input, bool in_place) const {
  const Layout l = layout(input, in_place);
  const bool real_side = input ? reads_real() : writes_real();
  const bool other_is_real = input ? writes_real() : reads_real();
  std::int64_t step = l.stride, furthest = (batch - 1) * l.distance;
  for (int i = rank - 1; i >= 0; --i) {
    const std::int64_t size = i == rank - 1 && other_is_real ? half() : n[at(i)];
    furthest += (size - 1) * step;
    step *= l.embed[at(i)];
  }
  const std::size_t element = (is_double() ? 8u : 4u) * (real_side ? 1 : 2);
  return static_cast<std::size_t>(furthest + 1) * element;
}

// Size of the work area: a second copy of the data, as for cuFFT's larger transforms.
std::size_t Transform::work_bytes() const {
  return static_cast<std::size_t>(elements() * batch) * (is_double() ? 16 : 8);
}

// Work for the time estimate: 5 N log2 N operations. The data is read and written once for each dimension, or twice if
// the dimension is longer than a thread block can hold.
LibraryWork Transform::work() const {
  constexpr double kOnePass = 8192;
  LibraryWork work;
  work.family = LibraryFamily::transform;
  work.arithmetic = is_double() ? LibraryArithmetic::fp64 : LibraryArithmetic::fp32;
  const double size = static_cast<double>(elements()), many = static_cast<double>(batch);
  const bool real = reads_real() || writes_real();
  double passes = 0;
  for (int i = 0; i < rank; ++i) passes += static_cast<double>(n[at(i)]) > kOnePass ? 2 : 1;
  work.operations = 5 * size * std::log2(std::max(2.0, size)) * many * (real ? 0.5 : 1);
  work.bytes = passes * 2 * size * many * (is_double() ? 16 : 8) * (real ? 0.5 : 1);
  return work;
}

Plans::~Plans() {
  const std::lock_guard lock(planner());
  for (fftwf_plan plan : single_)
    if (plan) fftw<float>().destroy(plan);
  for (fftw_plan plan : double_)
    if (plan) fftw<double>().destroy(plan);
}

template <class T>
typename Fftw<T>::Plan Plans::make(T* in, T* out, int direction) const {
  const Transform& t = transform_;
  const bool in_place = in == out;
  const Layout from = t.layout(true, in_place), to = t.layout(false, in_place);
  typename Fftw<T>::Dimension dimensions[kMostDimensions];
  std::int64_t from_step = from.stride, to_step = to.stride;
  for (int i = t.rank - 1; i >= 0; --i) {
    dimensions[i] = {static_cast<std::ptrdiff_t>(t.n[at(i)]), from_step, to_step};
    from_step *= from.embed[at(i)];
    to_step *= to.embed[at(i)];
  }
  const typename Fftw<T>::Dimension many{static_cast<std::ptrdiff_t>(t.batch), from.distance, to.distance};
  // ESTIMATE: no trial runs, which would overwrite the data. UNALIGNED: the plan is used with other arrays too.
  const unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
  using Complex = typename Fftw<T>::Complex;
  const std::lock_guard lock(planner());
  if (t.reads_real())
    return fftw<T>().plan_r2c(t.rank, dimensions, 1, &many, in, reinterpret_cast<Complex*>(out),
                              flags | FFTW_PRESERVE_INPUT);
  if (t.writes_real())
    return fftw<T>().plan_c2r(t.rank, dimensions, 1, &many, reinterpret_cast<Complex*>(in), out, flags);
  return fftw<T>().plan_c2c(t.rank, dimensions, 1, &many, reinterpret_cast<Complex*>(in),
                            reinterpret_cast<Complex*>(out), direction, flags | FFTW_PRESERVE_INPUT);
}

template <class T>
bool Plans::execute_as(T* in, T* out, int direction, std::vector<typename Fftw<T>::Plan>& plans) {
  using Complex = typename Fftw<T>::Complex;
  const bool in_place = in == out;
  // FFTW overwrites the input of a complex-to-real transform of several dimensions, so it works on a copy.
  std::vector<char> copy;
  if (transform_.writes_real() && !in_place) {
    copy.resize(transform_.bytes(true, false));
    std::memcpy(copy.data(), in, copy.size());
    in = reinterpret_cast<T*>(copy.data());
  }
  typename Fftw<T>::Plan plan = nullptr;
  {
    const std::lock_guard lock(mutex_);
    plans.resize(4);
    auto& kept = plans[(in_place ? 1u : 0u) + (direction == CUFFT_INVERSE ? 2u : 0u)];
    if (!kept) kept = make(in, out, direction);
    plan = kept;
  }
  if (!plan) return false;
  if (transform_.reads_real())
    fftw<T>().execute_r2c(plan, in, reinterpret_cast<Complex*>(out));
  else if (transform_.writes_real())
    fftw<T>().execute_c2r(plan, reinterpret_cast<Complex*>(in), out);
  else
    fftw<T>().execute_c2c(plan, reinterpret_cast<Complex*>(in), reinterpret_cast<Complex*>(out));
  return true;
}

bool Plans::execute(void* in, void* out, int direction) {
  if (transform_.is_double())
    return execute_as(static_cast<double*>(in), static_cast<double*>(out), direction, double_);
  return execute_as(static_cast<float*>(in), static_cast<float*>(out), direction, single_);
}

}  // namespace warpgrind::libraries::fft
