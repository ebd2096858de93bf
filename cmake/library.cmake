# tilewright::tilewright: the library, compiled once. Every impl/**/*.ipp becomes one source; there is no
# list to keep. Sixteen sources make one translation unit, since most of a small one's time goes into the
# headers that all of them read; who works on the library turns that off, and a change rebuilds one source.
option(TILEWRIGHT_UNITY "Compile the library in few translation units" ON)
file(GLOB_RECURSE TILEWRIGHT_IPP CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
  ${PROJECT_SOURCE_DIR}/include/tilewright/impl/*.ipp)
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
# A project that sets no build type gets a search that is no slower for it.
target_compile_options(tilewright PRIVATE $<$<CONFIG:>:-O2>)
# Inside another project it is built when a target of that project links it.
if(NOT TILEWRIGHT_DEFAULT AND NOT TILEWRIGHT_INSTALL)
  set_target_properties(tilewright PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
