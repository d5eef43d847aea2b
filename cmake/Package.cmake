# find_package(warpgrind) of other projects, and the Debian package: `make package`.
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/warpgrindConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_SOURCE_DIR}/cmake/package/warpgrindConfig.cmake ${CMAKE_BINARY_DIR}/warpgrindConfigVersion.cmake
        DESTINATION lib/cmake/warpgrind)

set(maintainer "The warpgrind authors <maintainers@warpgrind.invalid>")
set(documents ${CMAKE_BINARY_DIR}/share/doc/warpgrind)
add_custom_command(
  OUTPUT ${documents}/changelog.gz
  COMMAND python3 ${CMAKE_SOURCE_DIR}/scripts/debian_changelog.py ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${PROJECT_VERSION}
          "${maintainer}" ${documents}/changelog.gz
  DEPENDS ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/scripts/debian_changelog.py
  COMMENT "changelog" VERBATIM)
add_custom_target(changelog ALL DEPENDS ${documents}/changelog.gz)
install(FILES ${documents}/changelog.gz ${CMAKE_SOURCE_DIR}/cmake/package/copyright DESTINATION share/doc/warpgrind)
install(FILES ${CMAKE_SOURCE_DIR}/cmake/package/lintian-overrides DESTINATION share/lintian/overrides RENAME warpgrind)

# What scripts/package_kernels.py made; elsewhere there is none.
install(DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/prepared/kernels DESTINATION lib/warpgrind/prepared OPTIONAL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME warpgrind)
set(CPACK_PACKAGE_CONTACT "${maintainer}")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${maintainer}")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "virtual NVIDIA GPU with a memory microscope")
set(CPACK_PACKAGE_DESCRIPTION
    "Runs unmodified CUDA programs on a machine without a GPU, with their real
output, finds their bugs (memory, races, undefined values, barriers, leaks),
counts every memory transaction exactly, estimates the time on 16 GPU
models, and says why one kernel is faster than another. With a lab of
classic kernels from naive to fast.")
# Files know where they will be: links and linker scripts of the toolkit name whole paths.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(WARPGRIND_PACKAGE_COMPRESSION xz CACHE STRING "of the Debian package: xz, or gzip where time counts (a test)")
set(CPACK_DEBIAN_COMPRESSION_TYPE ${WARPGRIND_PACKAGE_COMPRESSION})
# What the files are linked with, and what is called or opened by name: clang-19 with its headers and linker compiles .cu files
# (`run app.cu`, `check app.cu`, `nvcc`); cuBLAS and cuFFT calculate by OpenBLAS and FFTW.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
file(WRITE ${CMAKE_BINARY_DIR}/cpack_options.cmake "set(SHLIBDEPS_EXECUTABLE ${CMAKE_SOURCE_DIR}/cmake/package/shlibdeps.sh)\n")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/cpack_options.cmake)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/nvrtc)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "clang-19, libopenblas0-serial, libfftw3-single3, libfftw3-double3")
# Headers of Thrust, CUB and libcu++ that CUDA programs include.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libthrust-dev, libcub-dev, libcu++-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, openmpi-bin, bubblewrap, libllvm14")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${CMAKE_SOURCE_DIR}/cmake/package/postinst;${CMAKE_SOURCE_DIR}/cmake/package/prerm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)

# What an installation holds, without tests: `make package` and tests/package build this, not all.
get_property(installed DIRECTORY ${CMAKE_SOURCE_DIR}/src PROPERTY BUILDSYSTEM_TARGETS)
add_custom_target(product)
foreach(target ${installed})
  get_target_property(type ${target} TYPE)
  if(type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    add_dependencies(product ${target})
  endif()
endforeach()
add_dependencies(product warpgrind toolkit tour command_line changelog)
if(TARGET program_calibrate)
  add_dependencies(product program_calibrate)
endif()
