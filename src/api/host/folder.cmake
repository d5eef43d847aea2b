# What the CUDA APIs share. Objects: they become part of libcudart.so, with its entry points (cudart/folder.cmake).
file(GLOB host_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/api/host/*.cpp)
add_library(host_objects OBJECT ${host_sources})
target_link_libraries(host_objects PUBLIC wg_session)
# The headers that programs are compiled with, without the toolkit: the types of the API.
target_include_directories(host_objects PUBLIC ${CMAKE_SOURCE_DIR}/include)
# No exceptions: programs in C cannot be unwound through. Which call failed is read from the stack (unasked.cpp): entry
# points must stand there, as one piece.
target_compile_options(host_objects PUBLIC -fno-exceptions -fno-optimize-sibling-calls
                                           $<$<CXX_COMPILER_ID:GNU>:-fno-reorder-blocks-and-partition>)
