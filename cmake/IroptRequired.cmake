# What the build needs: everything that is missing is told at once, with the names of Debian's packages.

# Parts that are left out where what they need is missing, unless they are named here: then that is an error.
set(IROPT_REQUIRED "" CACHE STRING "Parts that must be built, of onnx, llvm and python; without them, the build fails")
set(iropt_missing "")
set(iropt_missing_packages "")

# iropt_require(<package> <package of Debian> [<argument of find_package>...])
macro(iropt_require name debian)
  find_package(${name} QUIET ${ARGN})
  if(NOT ${name}_FOUND)
    list(APPEND iropt_missing ${name})
    list(APPEND iropt_missing_packages ${debian})
  endif()
endmacro()

# iropt_require_header(<variable> <header> <package of Debian>)
# Sets the variable, of the cache, to the folder of the header.
macro(iropt_require_header variable header debian)
  find_path(${variable} ${header})
  mark_as_advanced(${variable})
  if(NOT ${variable})
    list(APPEND iropt_missing ${header})
    list(APPEND iropt_missing_packages ${debian})
  endif()
endmacro()

# Ends with the list of what was not found.
function(iropt_check_required)
  if(iropt_missing)
    list(JOIN iropt_missing ", " names)
    list(JOIN iropt_missing_packages " " packages)
    message(FATAL_ERROR "ir-opt needs what was not found: ${names}\n"
                        "Debian and Ubuntu: apt-get install ${packages}\n"
                        "scripts/setup.sh --demo installs all that the tools need")
  endif()
endfunction()

# iropt_left_out(<part> <reason>)
function(iropt_left_out part reason)
  if(part IN_LIST IROPT_REQUIRED)
    message(FATAL_ERROR "${reason}")
  endif()
  message(STATUS "${reason}")
endfunction()
