# The stores. A new one is a folder src/drivers/<kind>/ and a line at the end of this file.
#
#   holdfast_driver(KIND [OFF] [PACKAGE name] [TARGETS target…] [PKGCONFIG module…])
#
# makes the option HOLDFAST_WITH_<KIND> (ON unless OFF is given), compiles the folder when it is on, links what
# the store needs, and lets `find_package(holdfast COMPONENTS <kind>)` and holdfast.pc know of it.

function(holdfast_driver kind)
  cmake_parse_arguments(arg "OFF" "PACKAGE" "TARGETS;PKGCONFIG" ${ARGN})
  string(TOUPPER ${kind} upper)
  set(default ON)
  if(arg_OFF)
    set(default OFF)
  endif()
  option(HOLDFAST_WITH_${upper} "Build the ${kind} store" ${default})
  holdfast_glob(sources drivers/${kind}/*.cpp)
  if(NOT HOLDFAST_WITH_${upper} OR NOT sources)
    return()
  endif()

  if(arg_PACKAGE)
    find_package(${arg_PACKAGE} REQUIRED)
  endif()
  target_sources(holdfast PRIVATE ${sources})
  target_link_libraries(holdfast PRIVATE ${arg_TARGETS})
  target_link_libraries(holdfast_internal INTERFACE ${arg_TARGETS})
  target_compile_definitions(holdfast_internal INTERFACE HOLDFAST_WITH_${upper}=1)

  # For the install rules: what is built, and what a static library passes on to its users.
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_DRIVERS ${kind})
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_DRIVER_PACKAGES ${arg_PACKAGE})
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_DRIVER_PKGCONFIG ${arg_PKGCONFIG})
endfunction()

holdfast_driver(memory)
holdfast_driver(sqlite PACKAGE SQLite3 TARGETS SQLite::SQLite3 PKGCONFIG sqlite3)
