// Table of the FFTW functions that our cuFFT calls, in single and double precision.
#pragma once

#include <fftw3.h>

#include <mutex>
#include <string>

namespace warpgrind::libraries::fft {

template <class T>
struct FftwTypes;
template <>
struct FftwTypes<float> {
  using Plan = fftwf_plan;
  using Dimension = fftwf_iodim64;
  using Complex = fftwf_complex;
};
template <>
struct FftwTypes<double> {
  using Plan = fftw_plan;
  using Dimension = fftw_iodim64;
  using Complex = fftw_complex;
};

template <class T>
struct Fftw {
  using Plan = typename FftwTypes<T>::Plan;
  using Dimension = typename FftwTypes<T>::Dimension;
  using Complex = typename FftwTypes<T>::Complex;
  Plan (*plan_c2c)(int, const Dimension*, int, const Dimension*, Complex*, Complex*, int, unsigned) = nullptr;
  Plan (*plan_r2c)(int, const Dimension*, int, const Dimension*, T*, Complex*, unsigned) = nullptr;
  Plan (*plan_c2r)(int, const Dimension*, int, const Dimension*, Complex*, T*, unsigned) = nullptr;
  void (*execute_c2c)(const Plan, Complex*, Complex*) = nullptr;
  void (*execute_r2c)(const Plan, T*, Complex*) = nullptr;
  void (*execute_c2r)(const Plan, Complex*, T*) = nullptr;
  void (*destroy)(Plan) = nullptr;
  std::string missing;  // message about a missing function; empty: none
};
template <class T>
const Fftw<T>& fftw();
template <>
const Fftw<float>& fftw<float>();
template <>
const Fftw<double>& fftw<double>();

// Lock for creating and destroying FFTW plans, which is not thread-safe. Executing a plan needs no lock.
std::mutex& planner();

}  // namespace warpgrind::libraries::fft
