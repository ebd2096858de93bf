# Compiles PROGRAM with COMPILER and prints how long that took.
if(NOT COMPILER)
  message("SKIPPED: this compiler is not installed")
  return()
endif()
set(flags -std=c++20 -O2 -DTILEWRIGHT_DECLARE_ONLY)
# -isystem of a default folder would hide the headers of C from those of C++
list(REMOVE_ITEM INCLUDES /usr/include /usr/local/include)
foreach(folder IN LISTS INCLUDES)
  list(APPEND flags -isystem ${folder})
endforeach()
set(unit "%s%f")  # microseconds
if(CMAKE_VERSION VERSION_LESS 3.23)
  set(unit "%s000000")
endif()
string(TIMESTAMP start "${unit}")
execute_process(COMMAND ${COMPILER} ${flags} -c ${PROGRAM} -o ${OUTPUT}
  RESULT_VARIABLE code ERROR_VARIABLE errors)
string(TIMESTAMP end "${unit}")
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the program does not compile:\n${errors}")
endif()
math(EXPR milliseconds "(${end} - ${start}) / 1000")
message("compiled in ${milliseconds} ms")
