# Compiler settings for our own targets. `holdfast_compiler` carries the warnings; it is linked PRIVATE and
# only in the build tree, so that nobody who uses the library inherits our taste.

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo …" FORCE)
  endif()
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # The sloppiness is what ccache asks for where there are precompiled headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CCACHE_PROGRAM}")
  endif()
  # Errors in colour, though Ninja is no terminal.
  set(CMAKE_COLOR_DIAGNOSTICS ON)
endif()

add_library(holdfast_compiler INTERFACE)
target_compile_options(holdfast_compiler INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<BOOL:${HOLDFAST_WERROR}>:-Werror>
  # A false alarm of g++ 12 on every coroutine of Boost.Asio.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>)

# Sanitizers must see every object of the program, hence for the whole tree and not for a target.
if(HOLDFAST_SANITIZE)
  add_compile_options(-fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HOLDFAST_SANITIZE})
  if(HOLDFAST_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan)  # "atomic_thread_fence is not supported": Asio uses one
  endif()
endif()

# holdfast_glob(VARIABLE PATTERN…): the files that match, in sub-folders too; a new one needs no change here.
macro(holdfast_glob variable)
  file(GLOB_RECURSE ${variable} CONFIGURE_DEPENDS ${ARGN})
endmacro()
