# NVIDIA's libraries that we implement on the host (cuBLAS, cuBLASLt, cuFFT, cuRAND, cuSOLVER, cuSPARSE, NCCL), with the names,
# versions and version tags that programs of CUDA 11, 12 and 13 need. Programs open them. They link libcudart.so.13 like any other
# library, and open OpenBLAS and FFTW at the first call that needs them.
find_path(WARPGRIND_OPENBLAS_INCLUDE cblas.h PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial
          PATH_SUFFIXES openblas-serial NO_DEFAULT_PATH)
find_file(WARPGRIND_OPENBLAS libopenblas.so.0 PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial NO_DEFAULT_PATH)

file(GLOB library_common_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/api/libraries/common/*.cpp)
add_library(wg_libraries STATIC ${library_common_sources})

# add_gpu_library(NAME VERSION FOLDER): builds lib<NAME>.so.<VERSION> from libraries/FOLDER.
function(add_gpu_library name version folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/api/libraries/${folder}/*.cpp)
  add_library(${name} SHARED ${sources})
  target_link_libraries(${name} PRIVATE wg_libraries)
  set_target_properties(${name} PROPERTIES VERSION ${version} SOVERSION ${version} INSTALL_RPATH "$ORIGIN")
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/api/libraries/${folder}/lib${name}.map)
  target_link_options(${name} PRIVATE -Wl,--version-script=${map} -Wl,--no-undefined)
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${map})
  install(TARGETS ${name} LIBRARY DESTINATION lib/warpgrind)
endfunction()

# add_older_library(NAME VERSION): builds lib<NAME>.so.<VERSION> for programs of an earlier release. It consists of jumps
# to the same functions of the library above, whose parameters did not change. The list of functions is generated from
# that library's symbols.
function(add_older_library name version)
  set(target ${name}${version})
  set(jumps ${CMAKE_CURRENT_BINARY_DIR}/older/${name}.inc)
  if(NOT TARGET ${name}_jumps)
    get_target_property(own ${name} SOVERSION)
    add_custom_command(OUTPUT ${jumps} DEPENDS ${name} VERBATIM
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/older
      COMMAND sh -c "$1 -D --defined-only $2 | sed -n 's/^.* T \\([A-Za-z0-9_]*\\)@.*$/WG_JUMP(\\1, wg_newer_\\1, \\1@lib'$3'.so.'$4')/p' > $5"
              sh ${CMAKE_NM} $<TARGET_FILE:${name}> ${name} ${own} ${jumps})
    add_custom_target(${name}_jumps DEPENDS ${jumps})
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/older/${target}.map
       CONTENT "lib${name}.so.${version} { global: *; };\n")
  set(source ${CMAKE_CURRENT_BINARY_DIR}/older/${target}.S)
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/api/libraries/common/jumps.S ${source} COPYONLY)
  add_library(${target} SHARED ${source})
  add_dependencies(${target} ${name}_jumps)
  set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS ${jumps})
  target_compile_definitions(${target} PRIVATE "WARPGRIND_JUMPS=\"${jumps}\"")
  target_link_libraries(${target} PRIVATE ${name})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} SUFFIX .so.${version} NO_SONAME ON
                        INSTALL_RPATH "$ORIGIN" LINKER_LANGUAGE CXX)
  target_link_options(${target} PRIVATE -Wl,-soname=lib${name}.so.${version} -Wl,--no-undefined -nodefaultlibs
                                        -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/older/${target}.map)
  install(TARGETS ${target} LIBRARY DESTINATION lib/warpgrind)
endfunction()

target_link_libraries(wg_libraries PUBLIC warpgrind_flags cudart ${CMAKE_DL_LIBS})
target_include_directories(wg_libraries PUBLIC ${CMAKE_SOURCE_DIR}/include)
# No strict aliasing, since GPU memory has no types. No exceptions, since none may pass through a program's frames.
target_compile_options(wg_libraries PUBLIC -fno-strict-aliasing -fno-exceptions)

if(WARPGRIND_OPENBLAS_INCLUDE AND WARPGRIND_OPENBLAS)
  # Code that cuBLAS and cuBLASLt share. As in NVIDIA's toolkit, cuBLAS links cuBLASLt, which also accepts cuBLAS handles.
  file(GLOB product_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/api/libraries/products/*.cpp)
  add_library(wg_products STATIC ${product_sources})
  target_link_libraries(wg_products PUBLIC wg_libraries)
  target_include_directories(wg_products SYSTEM PUBLIC ${WARPGRIND_OPENBLAS_INCLUDE})
  target_compile_definitions(wg_products PRIVATE WARPGRIND_OPENBLAS="${WARPGRIND_OPENBLAS}")
  add_gpu_library(cublasLt 13 blaslt)
  target_link_libraries(cublasLt PRIVATE wg_products)
  add_gpu_library(cublas 13 blas)
  target_link_libraries(cublas PRIVATE wg_products cublasLt)
  foreach(release 11 12)
    add_older_library(cublas ${release})
    add_older_library(cublasLt ${release})
  endforeach()
else()
  message(STATUS "libcublas, libcublasLt and libcusolver are left out: OpenBLAS is missing (libopenblas-serial-dev, which scripts/setup.sh installs)")
endif()

find_path(WARPGRIND_FFTW_INCLUDE fftw3.h)
if(WARPGRIND_FFTW_INCLUDE)
  add_gpu_library(cufft 12 fft)
  target_include_directories(cufft SYSTEM PRIVATE ${WARPGRIND_FFTW_INCLUDE})
  add_older_library(cufft 10)
  add_older_library(cufft 11)
else()
  message(STATUS "libcufft is left out: FFTW is missing (libfftw3-dev, which scripts/setup.sh installs)")
endif()

find_path(WARPGRIND_BOOST_INCLUDE boost/random/detail/sobol_table.hpp)
if(WARPGRIND_BOOST_INCLUDE)
  add_gpu_library(curand 10 rand)
  target_compile_options(curand PRIVATE -Wno-unknown-pragmas)  # for pragmas of the device headers, whose generators it compiles
else()
  message(STATUS "libcurand is left out: Boost's table of direction numbers is missing (libboost-dev, which scripts/setup.sh installs)")
endif()

add_gpu_library(cusparse 12 sparse)
add_older_library(cusparse 11)

if(TARGET wg_products)
  add_gpu_library(cusolver 12 solver)
  target_link_libraries(cusolver PRIVATE wg_products cusparse)
  add_older_library(cusolver 10)
  add_older_library(cusolver 11)
endif()

# As NVIDIA's, it has no version tags, and one release number for all releases of CUDA.
add_gpu_library(nccl 2 nccl)
target_sources(nccl PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/api/libraries/nccl/second_names.S)
set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/api/libraries/nccl/second_names.S
             APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/api/libraries/nccl/functions.inc
             ${CMAKE_CURRENT_SOURCE_DIR}/api/libraries/nccl/unsupported.inc)
