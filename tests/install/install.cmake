function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${out}")
  endif()
endfunction()

file(REMOVE_RECURSE ${SCRATCH}/prefix ${SCRATCH}/consumer)
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
step(${CMAKE_COMMAND} -S ${CONSUMER} -B ${SCRATCH}/consumer -G Ninja -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DCMAKE_BUILD_TYPE=Debug)
step(${CMAKE_COMMAND} --build ${SCRATCH}/consumer)
step(${CMAKE_COMMAND} -E env TILEWRIGHT_DB=${SCRATCH}/consumer/tuning.db ${SCRATCH}/consumer/header_only)
step(${CMAKE_COMMAND} -E env TILEWRIGHT_DB=${SCRATCH}/consumer/tuning.db ${SCRATCH}/consumer/compiled)
