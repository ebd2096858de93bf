# tilewright::compiled: every impl/**/*.ipp becomes one source. There is no list to keep. Sixteen
# sources make one translation unit, since most of a small one's time goes into the headers that
# all of them read; who works on the library turns that off, and a change rebuilds one source.
option(TILEWRIGHT_UNITY "Compile tilewright::compiled in few translation units" ON)
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

add_library(tilewright_compiled STATIC ${TILEWRIGHT_COMPILED_SOURCES})
add_library(tilewright::compiled ALIAS tilewright_compiled)
set_target_properties(tilewright_compiled PROPERTIES
  EXPORT_NAME compiled CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
  UNITY_BUILD ${TILEWRIGHT_UNITY} UNITY_BUILD_BATCH_SIZE 16)
target_link_libraries(tilewright_compiled PUBLIC tilewright)
target_compile_definitions(tilewright_compiled PUBLIC TILEWRIGHT_DECLARE_ONLY)
