# Makes the German locale in FOLDER, of which the system needs to know no more than the source.
find_program(LOCALEDEF localedef)
file(MAKE_DIRECTORY ${FOLDER})
if(LOCALEDEF)
  execute_process(COMMAND ${LOCALEDEF} -i de_DE -f UTF-8 ${FOLDER}/de_DE.UTF-8
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
endif()
if(NOT EXISTS ${FOLDER}/de_DE.UTF-8/LC_NUMERIC)
  message("skipped: no German locale can be made; localedef needs the package locales: ${text}")
endif()
