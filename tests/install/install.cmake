# Configures, builds and runs the consumer, which gets the library by WAY.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${out}")
  endif()
endfunction()

# Header-only is the same file by any way, and the dearest to build: once is enough.
set(programs tilewright compiled)
if(WAY STREQUAL "package")
  list(APPEND programs header_only)
endif()
if(NOT WAY STREQUAL "fetch")  # it goes on with the library that `subdirectory` compiled
  file(REMOVE_RECURSE ${SCRATCH})
endif()
if(WAY STREQUAL "package")
  step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
endif()
step(${CMAKE_COMMAND} -S ${CONSUMER} -B ${SCRATCH}/build -G Ninja -DCMAKE_CXX_COMPILER=${CXX}
  -DWAY=${WAY} -DTILEWRIGHT_SOURCE=${SOURCE} -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=)
foreach(program IN LISTS programs)
  step(${CMAKE_COMMAND} --build ${SCRATCH}/build --target uses_${program})
  step(${CMAKE_COMMAND} -E env TILEWRIGHT_DB=${SCRATCH}/tuning.db ${SCRATCH}/build/uses_${program})
endforeach()
