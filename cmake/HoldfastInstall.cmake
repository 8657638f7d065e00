# cmake --install: the library, its headers, the command, and what find_package() and pkg-config need.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")
get_property(drivers GLOBAL PROPERTY HOLDFAST_DRIVERS)
get_property(packages GLOBAL PROPERTY HOLDFAST_DRIVER_PACKAGES)
get_property(pkgconfig GLOBAL PROPERTY HOLDFAST_DRIVER_PKGCONFIG)

install(TARGETS holdfast EXPORT holdfast-targets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(TARGET holdfast-cli)
  install(TARGETS holdfast-cli)
  holdfast_glob(man_pages "${PROJECT_SOURCE_DIR}/docs/man/*.1")
  install(FILES ${man_pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

install(EXPORT holdfast-targets NAMESPACE holdfast:: DESTINATION "${package_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/holdfast-config.cmake.in" holdfast-config.cmake
  INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(holdfast-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/holdfast-config.cmake" "${PROJECT_BINARY_DIR}/holdfast-config-version.cmake"
  DESTINATION "${package_dir}")

# A shared library brings its own dependencies along, so they are private. A static one cannot: there they are
# public, and plain `pkg-config --libs holdfast` links, which nobody expects to need --static on a
# library that exists in one flavour only.
list(JOIN pkgconfig ", " requires)
set(libs "-lboost_url ${CMAKE_THREAD_LIBS_INIT}")
if(BUILD_SHARED_LIBS)
  set(dependencies "Libs: -L\${libdir} -lholdfast\nLibs.private: ${libs}\nRequires.private: ${requires}")
else()
  set(dependencies "Libs: -L\${libdir} -lholdfast ${libs}\nRequires: ${requires}")
endif()
# Relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" prefix "${prefix}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/holdfast.pc.in" holdfast.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/holdfast.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
