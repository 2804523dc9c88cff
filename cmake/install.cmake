# cmake --install: the library, its public headers, the command, and the package for find_package(proprio).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/proprio)
install(TARGETS proprio EXPORT proprio-targets)
install(EXPORT proprio-targets NAMESPACE proprio:: DESTINATION ${package_dir})
# testing/ serves the tests only
install(DIRECTORY proprio DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
        PATTERN testing EXCLUDE PATTERN "*_internal.h" EXCLUDE)
if(TARGET proprio_command)
  install(TARGETS proprio_command)
endif()

configure_package_config_file(cmake/proprio-config.cmake.in ${CMAKE_BINARY_DIR}/proprio-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/proprio-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/proprio-config.cmake ${CMAKE_BINARY_DIR}/proprio-config-version.cmake
              cmake/dependencies.cmake
        DESTINATION ${package_dir})
