target_link_libraries(${target} PRIVATE PkgConfig::ZSTD PkgConfig::LZ4)  # the test packs entries itself
