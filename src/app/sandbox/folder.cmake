pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
    target_link_libraries(wg_sandbox PUBLIC wg_base PRIVATE PkgConfig::SECCOMP)
