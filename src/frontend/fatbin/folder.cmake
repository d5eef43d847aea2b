target_link_libraries(wg_fatbin PUBLIC wg_base PRIVATE PkgConfig::ZSTD PkgConfig::LZ4)
