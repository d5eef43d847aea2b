// Loading of FFTW in single and double precision.
#include "libraries/fft/fftw.h"

#include "libraries/common/host_library.h"

namespace warpgrind::libraries::fft {

namespace {

template <class T>
Fftw<T> load_fftw(const char* file, const char* package, const std::string& prefix) {
  Fftw<T> f;
  HostLibrary library({file}, package);
  const auto find = [&](auto& function, const char* name) { library.find(function, (prefix + name).c_str()); };
  find(f.plan_c2c, "plan_guru64_dft");
  find(f.plan_r2c, "plan_guru64_dft_r2c");
  find(f.plan_c2r, "plan_guru64_dft_c2r");
  find(f.execute_c2c, "execute_dft");
  find(f.execute_r2c, "execute_dft_r2c");
  find(f.execute_c2r, "execute_dft_c2r");
  find(f.destroy, "destroy_plan");
  f.missing = library.missing();
  return f;
}

}  // namespace

template <>
const Fftw<float>& fftw<float>() {
  static const auto* loaded = new Fftw<float>(load_fftw<float>("libfftw3f.so.3", "libfftw3-single3", "fftwf_"));
  return *loaded;
}
template <>
const Fftw<double>& fftw<double>() {
  static const auto* loaded = new Fftw<double>(load_fftw<double>("libfftw3.so.3", "libfftw3-double3", "fftw_"));
  return *loaded;
}

std::mutex& planner() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

}  // namespace warpgrind::libraries::fft
