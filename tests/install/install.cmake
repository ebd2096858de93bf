# Configures, builds and runs the consumer, which gets the library by WAY.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${out}")
  endif()
endfunction()

if(NOT WAY STREQUAL "fetch")  # it goes on with the library that `subdirectory` compiled
  file(REMOVE_RECURSE ${SCRATCH})
endif()
if(WAY STREQUAL "package")
  step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
endif()
function(consume folder compiler)  # and the programs
  step(${CMAKE_COMMAND} -S ${CONSUMER} -B ${SCRATCH}/${folder} -G Ninja -DCMAKE_CXX_COMPILER=${compiler}
    -DWAY=${WAY} -DTILEWRIGHT_SOURCE=${SOURCE} -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=)
  foreach(program IN LISTS ARGN)
    step(${CMAKE_COMMAND} --build ${SCRATCH}/${folder} --target uses_${program})
    step(${CMAKE_COMMAND} -E env TILEWRIGHT_DB=${SCRATCH}/tuning.db ${SCRATCH}/${folder}/uses_${program})
  endforeach()
endfunction()

if(WAY STREQUAL "package")
  consume(build ${CXX} tilewright compiled)
  # The same file by any way, and the dearest to build: once is enough, by the compiler that makes least of it.
  consume(header_only ${WHOLE_CXX} header_only)
else()
  # These compile the library, which the installed one is in another compiler's code already.
  consume(build ${WHOLE_CXX} tilewright compiled)
endif()
