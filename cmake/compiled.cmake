# tilewright::tilewright: the library, compiled once. Every impl/**/*.ipp becomes one source; there is no
# list to keep. Sixteen sources make one translation unit, since most of a small one's time goes into the
# headers that all of them read; who works on the library turns that off, and a change rebuilds one source.
option(TILEWRIGHT_UNITY "Compile the library in few translation units" ON)
file(GLOB_RECURSE TILEWRIGHT_IPP CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
  ${PROJECT_SOURCE_DIR}/include/tilewright/impl/*.ipp)
# A room needs none above it, so that checks of the lower ones do with a library of these.
set(TILEWRIGHT_ROOMS "" CACHE STRING "Rooms of the library that are compiled, for checks of them alone; all where it is empty")
if(TILEWRIGHT_ROOMS)
  string(REPLACE ";" "|" rooms "${TILEWRIGHT_ROOMS}")
  list(FILTER TILEWRIGHT_IPP INCLUDE REGEX "^tilewright/impl/(${rooms})/")
endif()
# learning.hpp alone needs Eigen: without it, its definitions are left out.
find_package(Eigen3 3.3 QUIET NO_MODULE)
if(NOT TARGET Eigen3::Eigen)
  message(STATUS "learning.hpp is left out of the library: Eigen is missing (Debian: libeigen3-dev)")
  file(STRINGS ${PROJECT_SOURCE_DIR}/include/tilewright/impl/learning.hpp TILEWRIGHT_LEARNED REGEX "^#include")
  foreach(line IN LISTS TILEWRIGHT_LEARNED)
    string(REGEX REPLACE "^#include <(.*)>$" "\\1" ipp ${line})
    list(REMOVE_ITEM TILEWRIGHT_IPP ${ipp})
  endforeach()
endif()
set(TILEWRIGHT_COMPILED_SOURCES)
foreach(ipp IN LISTS TILEWRIGHT_IPP)
  string(REPLACE "tilewright/impl/" "" unit ${ipp})
  string(REPLACE ".ipp" ".cpp" unit ${unit})
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/compiled/${unit})
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include <${ipp}>\n" @ONLY)
  list(APPEND TILEWRIGHT_COMPILED_SOURCES ${unit})
endforeach()

add_library(tilewright STATIC ${TILEWRIGHT_COMPILED_SOURCES})
add_library(tilewright::tilewright ALIAS tilewright)
add_library(tilewright::compiled ALIAS tilewright)  # an older name
set_target_properties(tilewright PROPERTIES
  CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
  UNITY_BUILD ${TILEWRIGHT_UNITY} UNITY_BUILD_BATCH_SIZE 16)
target_link_libraries(tilewright PUBLIC tilewright_header_only)
target_compile_definitions(tilewright PUBLIC TILEWRIGHT_DECLARE_ONLY)
if(TARGET Eigen3::Eigen)
  target_link_libraries(tilewright PRIVATE $<BUILD_INTERFACE:Eigen3::Eigen>)
endif()
# A project that sets no build type gets a search that is no slower for it.
target_compile_options(tilewright PRIVATE $<$<CONFIG:>:-O2>)
# Nobody puts functions of his own in the place of the library's: g++ may inline those that are not marked as such, too, as
# it does where the library is used as headers.
target_compile_options(tilewright PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
# Inside another project it is built when a target of that project links it.
if(NOT TILEWRIGHT_DEFAULT AND NOT TILEWRIGHT_INSTALL)
  set_target_properties(tilewright PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
