include(CMakePackageConfigHelpers)
install(TARGETS tilewright tilewright_header_only EXPORT tilewright-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tilewright-targets NAMESPACE tilewright::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tilewright-config.cmake.in
  ${PROJECT_BINARY_DIR}/tilewright-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tilewright-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tilewright-config.cmake
  ${PROJECT_BINARY_DIR}/tilewright-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
