"""The cases of calls.py: options, programs, includes and name expressions."""

# Every documented option, in each spelling, and what is wrong with it. DIR: a folder that is there.
OPTIONS = [[], ["-arch=compute_80"], ["-arch=sm_80"], ["--gpu-architecture=sm_90a"], ["--gpu-architecture compute_80"],
           ["-arch", "compute_80"], ["--gpu-architecture", "sm_90"], ["-arch=compute_70"], ["-arch=sm_120f"], ["-arch=compute_100"],
           ["-arch=compute_101"], ["-arch=native"], ["-arch=80"], ["-arch="], ["-arch"], ["-ARCH=compute_80"], ["  -arch=compute_80 "],
           ["-arch=compute_80", "-arch=compute_90"], ["-arch=sm_89a"], ["-arch=sm_103f"], ["-arch=sm_121"], ["-arch=compute_88"],
           ["-arch=sm_80,compute_80"],
           ["-dc"], ["--device-c"], ["-dw"], ["--device-w"], ["-rdc=true"], ["-rdc=false"], ["-rdc=maybe"], ["-rdc"], ["-rdc", "true"],
           ["--relocatable-device-code=true"], ["-ewp"], ["--extensible-whole-program"], ["-dc", "-dw"], ["-rdc=false", "-dc"],
           ["-rdc=true", "-dw"], ["-rdc=true", "-rdc=false"], ["-ewp", "-rdc=true"], ["-ewp", "-dc"], ["-dlto"], ["--dlink-time-opt"],
           ["-gen-opt-lto"], ["--gen-opt-lto", "-dlto"], ["-dlto", "-arch=sm_80"], ["-dlto", "-rdc=false"], ["-dlto", "-optix-ir"],
           ["-optix-ir"], ["--optix-ir"], ["-fdevice-syntax-only"], ["--fdevice-syntax-only", "-arch=sm_80"],
           ["-G"], ["--device-debug"], ["-lineinfo"], ["--generate-line-info"], ["-G", "-lineinfo"], ["-G", "-dopt=on"],
           ["-dopt=on"], ["--dopt=on"], ["-dopt", "on"], ["-dopt=off"], ["--dopt on"], ["-Ofc=max"], ["--Ofast-compile=mid"],
           ["-Ofc", "min"], ["-Ofc=0"], ["-Ofc=bad"], ["-Ofast-compile=max"],
           ["-Xptxas=-v"], ["-Xptxas", "-v"], ["--ptxas-options=-v"], ["--ptxas-options", "-O1"], ["-Xptxas -v"],
           ["-maxrregcount=32"], ["--maxrregcount=32"], ["-maxrregcount", "32"], ["-maxrregcount=x"], ["-maxrregcount="], ["-maxrregcount"],
           ["-maxrregcount=32", "-maxrregcount=64"], ["-ftz=true"], ["--ftz=false"], ["-ftz", "true"], ["-ftz=1"],
           ["-ftz=true", "-ftz=false"], ["-prec-sqrt=false"], ["--prec-sqrt=true"], ["-prec-div=false"], ["--prec-div", "true"],
           ["-fmad=false"], ["--fmad=true"], ["-fmad"], ["-use_fast_math"], ["--use_fast_math"], ["--use-fast-math"],
           ["-use_fast_math", "-ftz=false"], ["-extra-device-vectorization"], ["--extra-device-vectorization"],
           ["-modify-stack-limit=false"], ["--modify-stack-limit", "true"], ["-modify-stack-limit=3"], ["-jtd=50"],
           ["--jump-table-density=101"], ["-jtd=102"], ["-jtd=x"], ["-jtd", "3"], ["-device-stack-protector=true"],
           ["--device-stack-protector"], ["-no-cache"], ["--no-cache"], ["-frandom-seed=3"], ["--frandom-seed=abc"], ["-restrict"],
           ["--restrict"], ["-split-compile=2"], ["--split-compile=0"], ["-split-compile", "2"], ["-split-compile=x"], ["-split-compile=-1"],
           ["-DX"], ["-D=X"], ["-D X"], ["-D", "X"], ["-DX=1"], ["--define-macro=X=1"], ["--define-macro", "X"], ["-Df(x)=x"], ["-DX Y"],
           ["-D"], ["-UX"], ["-U X"], ["--undefine-macro=X"], ["-U"], ["-IDIR"], ["-I DIR"], ["-I=DIR"], ["-I", "DIR"],
           ["--include-path=DIR"], ["-IDIR/nowhere"], ["-I"], ["-include=DIR/disk.h"], ["--pre-include=DIR/disk.h"],
           ["-include", "DIR/disk.h"], ["-include=nowhere.h"], ["-include"], ["-no-source-include"], ["--no-source-include"],
           ["-std=c++03"], ["-std=c++11"], ["-std=c++14"], ["-std=c++17"], ["-std=c++20"], ["--std=c++17"], ["-std=c++23"], ["-std=gnu++17"],
           ["-std"], ["-std", "c++17"], ["-std=c++11", "-std=c++14"], ["-builtin-move-forward=false"], ["--builtin-move-forward", "true"],
           ["-builtin-initializer-list=false"], ["--builtin-initializer-list=no"], ["-default-device"],
           ["--device-as-default-execution-space"], ["-device-int128"], ["--device-int128"], ["-device-float128"],
           ["--device-float128", "-arch=compute_100"], ["-minimal"], ["--minimal"], ["-minimal=true"],
           ["-pch"], ["--pch"], ["-create-pch=DIR/x.pch"], ["--use-pch=DIR/x.pch"], ["-use-pch=DIR/none.pch"], ["-create-pch=DIR/no/x.pch"],
           ["--create-pch=y.pch", "-pch-dir=DIR/sub"], ["-use-pch=y.pch", "--pch-dir=DIR/sub"], ["-create-pch=x", "-use-pch=x"],
           ["-pch", "-create-pch=x"], ["-pch-verbose=true"], ["--pch-messages", "false"], ["-instantiate-templates-in-pch=true"],
           ["-w"], ["--disable-warnings"], ["-w=true"], ["-opt-info=inline"], ["--optimization-info=inline"], ["-opt-info=loops"],
           ["-opt-info", "inline"], ["-err-no"], ["--display-error-number"], ["-no-err-no"], ["--no-display-error-number"],
           ["-diag-error=177"], ["--diag-suppress=177,178"], ["-diag-warn", "177"], ["-diag-suppress=x"], ["-diag-suppress=0"], ["-diag-error"],
           ["-brief-diag=true"], ["--brief-diagnostics=false"], ["-brief-diag"], ["-time=-"], ["--time=DIR/t.csv"],
           ["-time=DIR/no/t.csv"], ["-time", "-"], ["-fdevice-time-trace=DIR/trace"], ["--fdevice-time-trace", "DIR/trace"],
           ["-O3"], ["-g"], ["-v"], ["--help"], ["--gpu-arch=compute_80"], [""], ["foo"], ["-"], ["--"], ["--foo", "--bar"],
           ["-arch=foo", "--bar"], ["--extended-lambda"], ["-m64"], ["-isystem", "DIR"]]


def body(statements):
    return "__global__ void k(float* p, double* d, int* i) { " + statements + " }"


# Programs, with their options: that each is taken, or where it is wrong.
SOURCES = [[body(s)] for s in (
    "size_t x = 0; ptrdiff_t y = 1; i[0] = x + y;", "uint32_t x = 0; i[0] = x;", "uint8_t x;", "time_t t;", "FILE* f;", "clock_t c = clock();",
    "p[0] = sin(p[1]) + fabs(p[0]) + floor(p[1]) + sqrt(p[1]) + exp(p[0]) + log(p[0]) + tanh(p[1]) + atan2(p[0], p[1]) + fmod(p[1], p[0]);",
    "d[0] = sin(d[1]) + pow(d[1], 2) + fma(d[0], d[1], d[2]) + hypot(d[0], 1.0) + round(d[1]) + lround(d[1]) + rsqrt(d[1]) + erf(d[2]);",
    "p[0] = sinf(p[1]) + fmaxf(p[0], 1) + fminf(p[1], 2) + min(1, 2) + max(1.f, 2.f) + powf(p[0], 2) + __expf(p[0]) + __fdividef(p[0], 2);",
    "p[0] = nanf(\"\") + copysignf(1, p[0]) + erfinvf(p[0]) + normcdff(p[0]) + cbrt(p[0]) + rsqrtf(p[0]);", "p[0] = pow(p[0], 2.0f);",
    "float s, c; sincosf(p[0], &s, &c); p[0] = s + c; double t; d[0] = modf(d[1], &t);",
    "i[0] = isnan(p[0]) + isinf(d[0]) + isfinite(p[1]) + signbit(p[0]);", "p[0] = std::sin(p[1]);", "i[0] = std::max(1, 2);", "i[0] = INT_MAX;",
    "i[0] = abs(-3) + labs(3) + llabs(3);", "p[0] = INFINITY;", "p[0] = std::move(p[1]); i[0] = std::forward<int>(3);",
    "std::initializer_list<int> l = {1, 2}; i[0] = l.size();", "assert(i[0] == 0);", "printf(\"%d %f\\n\", 1, 2.0);", "i = (int*)malloc(4); free(i);",
    "memcpy(p, d, 4); memset(p, 0, 4);", "i[0] = strlen(\"a\");", "int* q = new int(3); delete q; q = new int[3]; delete[] q;",
    "struct T { int a; }; T* t = new ((void*)p) T(); i[0] = t->a;", "throw 1;", "int4 v = make_int4(1, 2, 3, 4); i[0] = v.x;",
    "dim3 g(1, 2); i[0] = g.x + warpSize + threadIdx.x + blockDim.y + gridDim.z + blockIdx.x;", "cudaError_t e = cudaSuccess; i[0] = e;",
    "cudaStream_t s = 0; i[0] = s == 0;", "cudaTextureObject_t t = 0; p[0] = tex2D<float>(t, 0, 0);", "i[0] = __shfl_sync(~0u, i[0], 0) + __popc(3) + __ffs(1) + __clz(1);",
    "i[0] = atomicAdd(i, 1) + atomicCAS(i, 1, 2); atomicAdd(p, 1.0f);", "__half h;", "cuComplex c;", "__syncthreads(); __threadfence(); __syncwarp(); __nanosleep(3);",
    "extern __shared__ int s[]; i[0] = s[0];", "__shared__ float s[4]; p[0] = s[1];", "auto f = [=](int x) { return x; }; i[0] = f(1);",
    "static int s = 0; i[0] = s++;", "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(i[0]));", "i[0] = __CUDA_ARCH__;", "cudaMalloc((void**)&p, 3);",
    "i[0] = clock64(); __trap();", "i[0] = __ldg(i) + __isGlobal(p);", "p[0] = q;", "int x = ;", "undefined(3);", "i[0] = 1",
    "wchar_t w = L'a'; i[0] = w;", "__builtin_assume(i[0] > 0);", "i[0] = __dp4a(i[0], i[1], 3);")] + [
    [""], ["int x = ;"], ["}"], ["__global__ int k() {}"], ["\n\n#error stop\n"], ["#warning careful\n"],
    ["typedef unsigned long long uint64_t; typedef unsigned int uint32_t; " + body("i[0] = sizeof(uint64_t) + sizeof(uint32_t);")],
    ["namespace std { template <class T> struct numeric_limits {}; template <class T> __device__ T max(T a, T b) { return a < b ? b : a; } }" + body("i[0] = std::max(1, 2);")],
    ["template <class T> __device__ T f(T x) { return x; }\n" + body("i[0] = f(1);")], ["__device__ __host__ void f() {} " + body("f();")],
    ["__device__ int a[3] = {1, 2, 3}; __constant__ float c[2]; " + body("i[0] = a[1]; p[0] = c[1];")],
    ["const int g = 3; constexpr int h[2] = {1, 2}; static const float q[2] = {1, 2}; " + body("i[0] = g + h[i[1]]; p[0] = q[i[2]];")],
    [body("__shared__ alignas(16) float s[4]; p[0] = s[1];") + "\n__device__ [[nodiscard]] int f() { return 1; }"],
    [body("asm(\"{ .reg .b32 t; mov.u32 t, %laneid; mov.u32 %0, t; }\" : \"=r\"(i[0]));")],
    ["__global__ __launch_bounds__(128, 2) void k() {}"], ["__global__ void __maxnreg__(32) k() {}"],
    ["__global__ void __cluster_dims__(2, 1, 1) k() {}", "-arch=compute_90"], ["#define min(a, b) ((a) < (b) ? (a) : (b))\n" + body("i[0] = min(1, 2);")],
    ["__device__ long double x;"], ["__device__ int clamp(int a) { return a; }"], ["__device__ __int128 x;", "-device-int128"],
    ["#ifndef __CUDACC_RTC_INT128__\n#error no\n#endif", "-device-int128"], ["int f() { return 1; } " + body("i[0] = f();"), "-default-device"],
    ["int g = 3; " + body("i[0] = g++;"), "-default-device"], ["struct S { int v; int f() { return v; } }; " + body("S s{1}; i[0] = s.f();"), "-default-device"],
    ["template <class T> T f(T x) { return x; } " + body("i[0] = f(1);"), "-default-device"], ["constexpr int f() { return 1; } " + body("i[0] = f();"), "-default-device"],
    ["int f() { return 1; } " + body("i[0] = f();")], ["__host__ int f() { return 1; } " + body("i[0] = f();")], ["struct S { int v; int f() { return v; } }; " + body("S s; i[0] = s.f();")],
    ["int f() { return 1; }"], ["int g = 3;"],
    [body("p[0] = std::move(p[1]);"), "-builtin-move-forward=false"], ["namespace std { template <class T> __device__ T move(T x) { return x; } }" + body("p[0] = std::move(p[1]);"), "-builtin-move-forward=false"],
    [body("std::initializer_list<int> l;"), "-builtin-initializer-list=false"], [body("i[0] = X;"), "-DX=3"], [body("i[0] = X;"), "-DX=3", "-UX"],
    ["#if __cplusplus != 201402L\n#error no\n#endif", "-std=c++14"], ["#if __cplusplus != 202002L\n#error no\n#endif", "--std=c++20"],
    ["#if __CUDA_ARCH__ != 800\n#error no\n#endif", "-arch=sm_80"], ["#if __CUDA_FTZ != 1 || __CUDA_PREC_DIV != 0\n#error no\n#endif", "-use_fast_math"],
    ["#if __CUDACC_VER_MAJOR__ != 13 || __CUDACC_VER_MINOR__ != 0 || CUDART_VERSION != 13000 || !defined(__CUDACC__)\n#error no\n#endif"],
    ["#if defined(__NVCC__) || defined(__clang__) || defined(__GNUC__) || defined(__GNUG__) || defined(__CUDA__) || defined(__linux__) || defined(__unix__) || defined(_GNU_SOURCE) || defined(CUDA_VERSION) || defined(M_PI) || !defined(__CUDACC_RTC__) || !defined(NULL)\n#error no\n#endif"]]

# Headers: given to nvrtcCreateProgram, in folders, beside the source; and what is nowhere.
INCLUDES = [
    {"what": "nowhere, and nowhere to look", "source": "\n#include <nowhere.h>\n"},
    {"what": "nowhere in a folder", "source": "\n#include \"nowhere.h\"\n", "options": ["-IDIR"]},
    {"what": "the C++ library", "source": "#include <vector>\n"},
    {"what": "cstdint", "source": "#include <cstdint>\n"},
    {"what": "one of the program's", "source": '#include "k.h"\n__device__ int x = K;', "headers": [("k.h", "#define K 3")]},
    {"what": "one with an attribute behind a word of CUDA's", "source": '#include "k.h"\n', "headers": [("k.h", "__device__ alignas(16) float x[4];")]},
    {"what": "in angles", "source": "#include <k.h>\n__device__ int x = K;", "headers": [("k.h", "#define K 3")]},
    {"what": "with a folder in its name", "source": '#include <a/b.h>\n__device__ int x = K;', "headers": [("a/b.h", '#include "c.h"'), ("c.h", "#define K 3")]},
    {"what": "above", "source": '#include "../k.h"\n__device__ int x = K;', "headers": [("../k.h", "#define K 3")]},
    {"what": "absolute", "source": '#include "/nowhere/k.h"\n__device__ int x = K;', "headers": [("/nowhere/k.h", "#define K 3")]},
    {"what": "the C library's name", "source": "#include <stdint.h>\n__device__ uint7_t x;", "headers": [("stdint.h", "typedef int uint7_t;")]},
    {"what": "an error in one", "source": '#include "k.h"\n', "headers": [("k.h", "\n__device__ int x = q;\n")]},
    {"what": "one that includes what is nowhere", "source": '#include "k.h"\n', "headers": [("k.h", "\n\n#include <nowhere.h>\n")]},
    {"what": "the program's before a folder's", "source": '#include "disk.h"\n#ifdef DISK\n#error no\n#endif', "options": ["-IDIR"], "headers": [("disk.h", "")]},
    {"what": "in a folder", "source": "#include <disk.h>\n#ifndef DISK\n#error no\n#endif", "options": ["-IDIR"]},
    {"what": "beside another in a folder", "source": "#include <first.h>\n#ifndef SECOND\n#error no\n#endif", "options": ["-I", "DIR/sub"]},
    {"what": "beside the source", "source": '#include "disk.h"\n#ifndef DISK\n#error no\n#endif', "name": "DIR/k.cu"},
    {"what": "beside the source, in angles", "source": "#include <disk.h>\n", "name": "DIR/k.cu"},
    {"what": "beside the source, switched off", "source": '#include "disk.h"\n', "name": "DIR/k.cu", "options": ["-no-source-include"]},
    {"what": "from where the program runs", "source": '#include "sub/first.h"\n'},
    {"what": "before the program", "source": "#ifndef DISK\n#error no\n#endif", "options": ["-include=DIR/disk.h"]},
    {"what": "a name with a quote", "source": "#error stop\n", "name": 'a "b" c.cu'},
    {"what": "no name", "source": "#error stop\n", "name": ""},
    {"what": "cuda_fp16.h, which NVIDIA's finds with -I alone", "source": "#include <cuda_fp16.h>\n__global__ void k(__half* p) { *p = __hadd(*p, *p); }"},
    {"what": "cuda_bf16.h", "source": "#include <cuda_bf16.h>\n__global__ void k(__nv_bfloat16* p) { *p = __hadd(*p, *p); }", "options": ["-arch=compute_90"]},
    {"what": "mma.h", "source": "#include <mma.h>\n__global__ void k(float* p) { nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c; nvcuda::wmma::fill_fragment(c, 1.0f); nvcuda::wmma::store_matrix_sync(p, c, 16, nvcuda::wmma::mem_row_major); }", "options": ["-arch=compute_80"]},
    {"what": "cooperative_groups.h", "source": "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__global__ void k(int* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); *p = t.shfl(*p, 0); t.sync(); }"},
    {"what": "curand_kernel.h", "source": "#include <curand_kernel.h>\n__global__ void k(float* p) { curandState s; curand_init(1, 2, 3, &s); *p = curand_uniform(&s); }"},
    {"what": "cuComplex.h", "source": "#include <cuComplex.h>\n__global__ void k(cuComplex* p) { *p = cuCmulf(*p, *p); }"},
    {"what": "cuda_runtime.h", "source": "#include <cuda_runtime.h>\n__global__ void k(float4* p) { *p = make_float4(1, 2, 3, 4); }"},
    {"what": "math_constants.h", "source": "#include <math_constants.h>\n__global__ void k(float* p) { *p = CUDART_PI_F; }"},
]

NAME_SOURCE = """namespace a { static __global__ void s() {} __device__ int dv; static __device__ int sdv; }
__device__ void df() {} static __constant__ int sc; template <int N, class T> struct Q {}; template <class T> __global__ void tk(T) {}
template <int N> __device__ int tv; const int ci = 3; extern "C" __constant__ int cc; extern "C" __global__ void c() {} struct L { int v; };
template <class T, int N> __global__ void t(T*) {} __global__ void ov(int) {} __global__ void ov(float) {} enum E { A };
__global__ void plain() {}
#define MAC plain
__device__ const int dci = 4; __device__ int* dp; __device__ int arr[3]; __device__ int dv; namespace q = a; static __constant__ float sc2[2]; static __device__ L sl; __global__ void uses(float* p) { *p = sc2[1] + sl.v; } template <class T> struct W { static const int v = 3; };
"""
NAMES = ["plain", "&plain", "  plain  ", "(plain)", "*plain", "::plain", "MAC", "plain\n", "c", "&c", "a::s", "tk<int>", "&tk<int>", "tk<float>", "tk<Q<3,float>>", "tk<L>",
         "tk<unsigned long long>", "tk<decltype(1.f)>", "t<float,3>", "t<float, (3+1)>", "t<L*, W<int>::v>", "(void(*)(int))ov", "(void(*)(float))&ov",
         "static_cast<void(*)(float)>(ov)", "&dv", "&a::dv", "q::dv", "&q::dv", "&tv<4>", "arr", "&arr", "&arr[0]", "&cc", "dv", "cc", "sc", "a::sdv", "tv<4>",
         "dp", "*dp", "arr[1]", "&arr[1]", "df", "&df", "ci", "dci", "A", "0", "nullptr", "", "ov", "tk", "tk<nope>", "tk<int", "tk<int>;", "tk<tk<int>>", "nothing", "&nothing",
         "plain()", "a::dv+1", "sc2", "&sl", "&sc"]
