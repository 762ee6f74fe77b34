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

# iropt_add_pages(<tool>): makes and installs the pages of the tool.
function(iropt_add_pages tool)
  set(folder "${PROJECT_BINARY_DIR}/pages")
  set(pages)
  set(flags "-print-man-page" "-print-completion=bash" "-print-completion=zsh" "-print-completion=fish")
  set(names "${tool}.1" "${tool}.bash" "_${tool}" "${tool}.fish")
  foreach(flag name IN ZIP_LISTS flags names)
    set(page "${folder}/${name}")
    add_custom_command(OUTPUT "${page}"
                       COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
                       COMMAND ${tool} ${flag} > "${page}.new"
                       COMMAND "${CMAKE_COMMAND}" -E rename "${page}.new" "${page}"
                       DEPENDS ${tool}
                       COMMENT "${name}")
    list(APPEND pages "${page}")
  endforeach()
  add_custom_target(${tool}_pages ALL DEPENDS ${pages})
  install(FILES "${folder}/${tool}.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${folder}/${tool}.bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME ${tool})
  install(FILES "${folder}/_${tool}" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${folder}/${tool}.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endfunction()
