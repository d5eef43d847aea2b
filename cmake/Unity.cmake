# Unity builds: the sources of a target are compiled in a few groups instead of one by one. Most of the time that a source of this
# project takes is spent on headers and templates that its neighbours use too: a group of ten takes a third of the time.
#
# WARPGRIND_UNITY=OFF compiles each source alone, which is faster while one works on a single file.
option(WARPGRIND_UNITY "Compile the sources of a target in groups" ON)
set(WARPGRIND_UNITY_BYTES 250000 CACHE STRING "Size at which a group of sources is closed")

# compile_in_groups(TARGET...): puts neighbouring sources of a target, up to WARPGRIND_UNITY_BYTES of text, into a group.
function(compile_in_groups)
  if(NOT WARPGRIND_UNITY)
    return()
  endif()
  foreach(target ${ARGN})
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "^[^$].*[.]cpp$")
    set(group 0)
    set(bytes 0)
    foreach(source ${sources})
      get_filename_component(source ${source} ABSOLUTE)
      file(SIZE ${source} size)
      math(EXPR bytes "${bytes} + ${size}")
      if(bytes GREATER WARPGRIND_UNITY_BYTES)
        math(EXPR group "${group} + 1")
        set(bytes ${size})
      endif()
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}_${group})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  endforeach()
endfunction()
