target_link_libraries(wg_gpu PUBLIC wg_base PRIVATE nlohmann_json::nlohmann_json)

# The GPU models, as text in the program: one string each, so that no file is needed at run time.
file(GLOB model_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/common/gpu/models/*.json)
set(model_strings "")
foreach(file ${model_files})
  file(READ ${file} text)
  get_filename_component(stem ${file} NAME_WE)
  string(APPEND model_strings "    {\"${stem}\", R\"json(${text})json\"},\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/gpu/embedded_models.inc CONTENT "${model_strings}" @ONLY)
