# Helpers for the project's own programs; consumers never see these flags.
find_program(TILEWRIGHT_CCACHE ccache)
if(TILEWRIGHT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TILEWRIGHT_CCACHE})
  set_target_properties(tilewright PROPERTIES CXX_COMPILER_LAUNCHER ${TILEWRIGHT_CCACHE})
endif()

add_library(tilewright_warnings INTERFACE)
target_compile_options(tilewright_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  # false positives of g++ 12 in std::string (GCC bug 105651)
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${TILEWRIGHT_WERROR}>:-Werror>)
target_link_libraries(tilewright PRIVATE $<BUILD_INTERFACE:tilewright_warnings>)

# Sources that several programs share are compiled once: a program takes $<TARGET_OBJECTS:name>.
function(tilewright_parts name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE tilewright::tilewright tilewright_warnings)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# A program of the project: warnings on, placed in build/bin.
function(tilewright_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE tilewright::tilewright tilewright_warnings)
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set_property(GLOBAL APPEND PROPERTY TILEWRIGHT_PROGRAMS ${name})
endfunction()
