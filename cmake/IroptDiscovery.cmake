# What ir-opt tells about itself: the examples of passes that -help-pass shows, and the pages that are made by running
# the tool, its manual page and the completions of shells.
include(GNUInstallDirs)

# iropt_embed_examples(<target> <folder>): compiles the examples <folder>/<pass>.ir into the target.
function(iropt_embed_examples target folder)
  file(GLOB examples CONFIGURE_DEPENDS "${folder}/*.ir")
  set(table "${PROJECT_BINARY_DIR}/generated/pass_examples.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/EmbedExamples.cmake")
  add_custom_command(OUTPUT "${table}"
                     COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${folder}" "-DOUTPUT=${table}" -P "${script}"
                     DEPENDS ${examples} "${script}"
                     COMMENT "Examples of passes")
  target_sources(${target} PRIVATE "${table}")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/lib/driver")
endfunction()

# iropt_install_pages(<tool>): installs the pages of the tool. They are made by running it when they are installed, so
# that whoever has built the tool can install.
function(iropt_install_pages tool)
  set(folder "${PROJECT_BINARY_DIR}/pages")
  set(flags "-print-man-page" "-print-completion=bash" "-print-completion=zsh" "-print-completion=fish")
  set(names "${tool}.1" "${tool}.bash" "_${tool}" "${tool}.fish")
  install(CODE "file(MAKE_DIRECTORY \"${folder}\")")
  foreach(flag name IN ZIP_LISTS flags names)
    install(CODE "execute_process(COMMAND \"$<TARGET_FILE:${tool}>\" ${flag} OUTPUT_FILE \"${folder}/${name}\" COMMAND_ERROR_IS_FATAL ANY)")
  endforeach()
  install(FILES "${folder}/${tool}.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${folder}/${tool}.bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME ${tool})
  install(FILES "${folder}/_${tool}" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${folder}/${tool}.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endfunction()
