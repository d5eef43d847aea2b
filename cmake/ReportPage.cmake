# The HTML report's page: web/ bundled into one file by esbuild, and the playground's FILES, which begin with
# PLAYGROUND. Run as a script (-P) with WEB, WORK, OUT, PLAYGROUND, FILES, NPM and NODE.
# Where the packages cannot be had the build goes on with an empty page, and `--report` says so.
file(MAKE_DIRECTORY ${WORK})
foreach(name package.json package-lock.json)
  configure_file(${WEB}/${name} ${WORK}/${name} COPYONLY)
endforeach()
set(installed "${WORK}/node_modules/installed.lock")
set(result 0)
if(NOT EXISTS ${installed} OR ${WORK}/package-lock.json IS_NEWER_THAN ${installed})
  # Scripts of packages are not run; the pinned packages need none.
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error WORKING_DIRECTORY ${WORK}
                  RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(result EQUAL 0)
    file(TOUCH ${installed})
  endif()
endif()
if(NOT result EQUAL 0)
  message(WARNING "npm could not install what the HTML report needs; this build will have no report page.\n${text}\nRemove ${OUT} to try again.")
  foreach(file ${OUT} ${FILES})
    file(WRITE ${file} "")
  endforeach()
  return()
endif()
execute_process(COMMAND ${NODE} ${WEB}/build.mjs --modules ${WORK}/node_modules --out ${OUT} --playground ${PLAYGROUND}
                RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  file(REMOVE ${OUT})
  message(FATAL_ERROR "web/build.mjs failed")
endif()
