# What the CUDA APIs share. Objects: they become part of libcudart.so, with its entry points (runtime/folder.cmake).
file(GLOB semantics_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/api/semantics/*.cpp)
add_library(semantics_objects OBJECT ${semantics_sources})
target_link_libraries(semantics_objects PUBLIC wg_session)
# The headers that programs are compiled with, without the toolkit: the types of the API.
target_include_directories(semantics_objects PUBLIC ${CMAKE_SOURCE_DIR}/include)
# No exceptions: programs in C cannot be unwound through. Which call failed is read from the stack (last_error.cpp): entry
# points must stand there, as one piece.
target_compile_options(semantics_objects PUBLIC -fno-exceptions -fno-optimize-sibling-calls
                                           $<$<CXX_COMPILER_ID:GNU>:-fno-reorder-blocks-and-partition>)
