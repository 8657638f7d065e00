# Compiles each header on its own, so that none leans on what its users happen to include first.
holdfast_glob(headers
  "${PROJECT_SOURCE_DIR}/include/holdfast/*.hpp" "${PROJECT_SOURCE_DIR}/src/base/*.hpp"
  "${PROJECT_SOURCE_DIR}/src/driver/*.hpp" "${PROJECT_SOURCE_DIR}/src/client/*.hpp"
  "${PROJECT_SOURCE_DIR}/src/recipes/*.hpp")
get_property(drivers GLOBAL PROPERTY HOLDFAST_DRIVERS)
foreach(kind IN LISTS drivers)
  holdfast_glob(driver_headers "${PROJECT_SOURCE_DIR}/src/drivers/${kind}/*.hpp")
  list(APPEND headers ${driver_headers})
endforeach()
if(NOT headers)
  return()
endif()

set(units "")
foreach(header IN LISTS headers)
  file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${header}")
  set(unit "${CMAKE_BINARY_DIR}/headers/${path}.cpp")
  file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${header}\"\n")
  list(APPEND units "${unit}")
endforeach()
add_library(holdfast_headers OBJECT ${units})
target_link_libraries(holdfast_headers PRIVATE holdfast::holdfast holdfast_internal holdfast_compiler)
