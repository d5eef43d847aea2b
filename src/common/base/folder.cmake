# The decoder of x86 instructions (x86_access.cpp). Debian has it as a shared library only.
find_library(ZYDIS_LIBRARY Zydis REQUIRED)
find_path(ZYDIS_INCLUDES Zydis/Zydis.h REQUIRED)
target_include_directories(wg_base SYSTEM PRIVATE ${ZYDIS_INCLUDES})
target_link_libraries(wg_base PUBLIC -Wl,--push-state,--as-needed,${ZYDIS_LIBRARY},--pop-state)
