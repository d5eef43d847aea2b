# NVIDIA's libraries as far as they are carried out on the host: libcublas.so.13 and its like, with the names, versions and
# version tags that programs of CUDA 13 ask for. They are opened by programs, link libcudart.so.13 as anybody's, and open
# OpenBLAS and FFTW when the first call needs them.
find_path(WARPGRIND_OPENBLAS_INCLUDE cblas.h PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial
          PATH_SUFFIXES openblas-serial NO_DEFAULT_PATH)
find_file(WARPGRIND_OPENBLAS libopenblas.so.0 PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial NO_DEFAULT_PATH)

file(GLOB library_common_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/libraries/common/*.cpp)
add_library(wg_libraries STATIC ${library_common_sources})

# add_gpu_library(NAME VERSION FOLDER): lib<NAME>.so.<VERSION> from libraries/FOLDER.
function(add_gpu_library name version folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/libraries/${folder}/*.cpp)
  add_library(${name} SHARED ${sources})
  target_link_libraries(${name} PRIVATE wg_libraries)
  set_target_properties(${name} PROPERTIES VERSION ${version} SOVERSION ${version} INSTALL_RPATH "$ORIGIN")
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/libraries/${folder}/lib${name}.map)
  target_link_options(${name} PRIVATE -Wl,--version-script=${map} -Wl,--no-undefined)
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${map})
  install(TARGETS ${name} LIBRARY DESTINATION lib/warpgrind)
endfunction()

target_link_libraries(wg_libraries PUBLIC warpgrind_flags cudart ${CMAKE_DL_LIBS})
target_include_directories(wg_libraries PUBLIC ${CMAKE_SOURCE_DIR}/include)
# Memory of a GPU has no types, and nothing here may throw through a program's frames.
target_compile_options(wg_libraries PUBLIC -fno-strict-aliasing -fno-exceptions)

if(WARPGRIND_OPENBLAS_INCLUDE AND WARPGRIND_OPENBLAS)
  # What cuBLAS and cuBLASLt share. As in NVIDIA's toolkit the first needs the second, which takes its handles too.
  file(GLOB product_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/libraries/products/*.cpp)
  add_library(wg_products STATIC ${product_sources})
  target_link_libraries(wg_products PUBLIC wg_libraries)
  target_include_directories(wg_products SYSTEM PUBLIC ${WARPGRIND_OPENBLAS_INCLUDE})
  target_compile_definitions(wg_products PRIVATE WARPGRIND_OPENBLAS="${WARPGRIND_OPENBLAS}")
  add_gpu_library(cublasLt 13 blaslt)
  target_link_libraries(cublasLt PRIVATE wg_products)
  add_gpu_library(cublas 13 blas)
  target_link_libraries(cublas PRIVATE wg_products cublasLt)
else()
  message(STATUS "libcublas and libcublasLt are left out: OpenBLAS is missing (libopenblas-serial-dev, which scripts/setup.sh installs)")
endif()

find_path(WARPGRIND_FFTW_INCLUDE fftw3.h)
if(WARPGRIND_FFTW_INCLUDE)
  add_gpu_library(cufft 12 fft)
  target_include_directories(cufft SYSTEM PRIVATE ${WARPGRIND_FFTW_INCLUDE})
else()
  message(STATUS "libcufft is left out: FFTW is missing (libfftw3-dev, which scripts/setup.sh installs)")
endif()

find_path(WARPGRIND_BOOST_INCLUDE boost/random/detail/sobol_table.hpp)
if(WARPGRIND_BOOST_INCLUDE)
  add_gpu_library(curand 10 rand)
  target_compile_options(curand PRIVATE -Wno-unknown-pragmas)  # of the device headers, whose sequences it shares
else()
  message(STATUS "libcurand is left out: Boost's table of direction numbers is missing (libboost-dev, which scripts/setup.sh installs)")
endif()

add_gpu_library(cusparse 12 sparse)
