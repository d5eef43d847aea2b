# The folders a session uses; those that do not exist yet in a partial checkout are left out.
foreach(folder adapter device counters timing results observers recorder checkers advice report jit events flow ptx fatbin gpu base)
  if(TARGET wg_${folder})
    target_link_libraries(wg_session PUBLIC wg_${folder})
  endif()
endforeach()
target_link_libraries(wg_session PRIVATE nlohmann_json::nlohmann_json)
