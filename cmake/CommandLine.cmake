# Man pages and the completion of bash and zsh, from the command line's own description: BUILD/share, as in PREFIX/share.
# A build with sanitizers makes them too: the description is a run like any other.
string(TIMESTAMP page_date "%Y-%m-%d" UTC)  # SOURCE_DATE_EPOCH decides where it is set
set(share ${CMAKE_BINARY_DIR}/share)
add_custom_command(
  OUTPUT ${share}/command-line.json ${share}/bash-completion/completions/warpgrind
  COMMAND ${CMAKE_COMMAND} -E make_directory ${share}
  COMMAND $<TARGET_FILE:warpgrind> command-line > ${share}/command-line.json
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${share}/man
  COMMAND python3 ${CMAKE_SOURCE_DIR}/scripts/command_line.py ${share}/command-line.json ${share} ${page_date}
  DEPENDS warpgrind ${CMAKE_SOURCE_DIR}/scripts/command_line.py
  COMMENT "man pages and completion" VERBATIM)
add_custom_target(command_line ALL DEPENDS ${share}/command-line.json)
install(DIRECTORY ${share}/man ${share}/bash-completion ${share}/zsh DESTINATION share)
