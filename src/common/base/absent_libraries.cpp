// The advice, by the beginning of the file's name.
#include "base/absent_libraries.h"

namespace warpgrind {

std::string_view advice_without(std::string_view file) {
  constexpr struct {
    std::string_view prefix, advice;
  } kAll[] = {{"libcudnn",
               "warpgrind has no cuDNN. Kernels, cuBLAS, cuBLASLt, cuFFT, cuRAND, cuSOLVER and cuSPARSE work. Switch "
               "cuDNN off in "
               "the program (PyTorch: torch.backends.cudnn.enabled = False)"},
              {"libcutensor",
               "warpgrind has no cuTENSOR. Kernels, cuBLAS, cuBLASLt, cuFFT, cuRAND, cuSOLVER and cuSPARSE work. "
               "Switch cuTENSOR "
               "off in the program (CuPy: without cutensor in CUPY_ACCELERATORS)"},
              {"libcusolverMg", "warpgrind has cuSOLVER for one GPU only (libcusolver)"}};
  for (const auto& one : kAll)
    if (file.starts_with(one.prefix)) return one.advice;
  return {};
}

}  // namespace warpgrind
