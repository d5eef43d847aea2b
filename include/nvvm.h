// libNVVM's documented interface (libNVVM API, CUDA 13.0): LLVM IR for GPUs in, PTX out. Ours is src/compiler/nvvm.
#pragma once

#ifdef __cplusplus
#include <cstddef>
extern "C" {
#else
#include <stddef.h>
#endif

typedef enum {
  NVVM_SUCCESS = 0,
  NVVM_ERROR_OUT_OF_MEMORY = 1,
  NVVM_ERROR_PROGRAM_CREATION_FAILURE = 2,
  NVVM_ERROR_IR_VERSION_MISMATCH = 3,
  NVVM_ERROR_INVALID_INPUT = 4,
  NVVM_ERROR_INVALID_PROGRAM = 5,
  NVVM_ERROR_INVALID_IR = 6,
  NVVM_ERROR_INVALID_OPTION = 7,
  NVVM_ERROR_NO_MODULE_IN_PROGRAM = 8,
  NVVM_ERROR_COMPILATION = 9
} nvvmResult;

typedef struct _nvvmProgram* nvvmProgram;

const char* nvvmGetErrorString(nvvmResult result);
nvvmResult nvvmVersion(int* major, int* minor);
nvvmResult nvvmIRVersion(int* majorIR, int* minorIR, int* majorDbg, int* minorDbg);
nvvmResult nvvmCreateProgram(nvvmProgram* prog);
nvvmResult nvvmDestroyProgram(nvvmProgram* prog);
// buffer: size bytes of LLVM's text or bitcode. Lazily: only what the other modules use of it is taken.
nvvmResult nvvmAddModuleToProgram(nvvmProgram prog, const char* buffer, size_t size, const char* name);
nvvmResult nvvmLazyAddModuleToProgram(nvvmProgram prog, const char* buffer, size_t size, const char* name);
nvvmResult nvvmCompileProgram(nvvmProgram prog, int numOptions, const char** options);
nvvmResult nvvmVerifyProgram(nvvmProgram prog, int numOptions, const char** options);
// Sizes count the 0 at the end.
nvvmResult nvvmGetCompiledResultSize(nvvmProgram prog, size_t* bufferSizeRet);
nvvmResult nvvmGetCompiledResult(nvvmProgram prog, char* buffer);
nvvmResult nvvmGetProgramLogSize(nvvmProgram prog, size_t* bufferSizeRet);
nvvmResult nvvmGetProgramLog(nvvmProgram prog, char* buffer);

#ifdef __cplusplus
}
#endif
