# CPack runs this between installing and packing: it adds to each package what Debian requires.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

# Nothing is older than the commit, and builds of the same commit are the same.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(time "@$ENV{SOURCE_DATE_EPOCH}")
else()
  set(time now)
endif()
execute_process(COMMAND date --utc +%Y --date=${time} OUTPUT_VARIABLE year OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND date --utc --rfc-email --date=${time} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)

function(compress path)
  execute_process(COMMAND gzip -9 -n -f "${path}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(add_debian_files folder package)
  set(documents "${folder}/usr/share/doc/${package}")
  file(WRITE "${documents}/copyright" "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ir-opt

Files: *
Copyright: ${year} The authors of ir-opt
License: Apache-2.0
 On Debian systems, the text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")
  file(WRITE "${documents}/changelog.Debian" "${package} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Packages of version ${CPACK_PACKAGE_VERSION}, made by scripts/package.sh.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  compress("${documents}/changelog.Debian")
  # The changelog of the project has a name of its own in Debian.
  if(EXISTS "${documents}/CHANGELOG.md")
    file(RENAME "${documents}/CHANGELOG.md" "${documents}/changelog")
    compress("${documents}/changelog")
  endif()
  file(GLOB pages "${folder}/usr/share/man/man*/*.[0-9]")
  foreach(page IN LISTS pages)
    compress("${page}")
  endforeach()
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${component}" name)
  add_debian_files("${CPACK_TEMPORARY_DIRECTORY}/${component}" "${CPACK_DEBIAN_${name}_PACKAGE_NAME}")
endforeach()
