# Runs PROGRAM with ARGUMENTS in the locale that make_locale.cmake has made in FOLDER.
if(NOT EXISTS ${FOLDER}/de_DE.UTF-8/LC_NUMERIC)
  message("skipped: there is no German locale")
  return()
endif()
set(ENV{LOCPATH} ${FOLDER})
set(ENV{TILEWRIGHT_TEST_LOCALE} de_DE.UTF-8)
set(ENV{LANGUAGE} en)  # the words of the system stay, its numbers do not
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS} ends with ${result} in the German locale")
endif()
