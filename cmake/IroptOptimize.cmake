# iropt_optimize(<variable> MODULES <file>... [PASSES <pipeline>] [PIPELINE <file>] [FLAGS <flag>...]
#                [DESTINATION <folder>] [EXTENSION <.ext>] [CACHE_DIR <folder>])
#
# Adds one build step for each module: ir-opt reads it and writes a file of the same name in DESTINATION, by default
# the folder ir-opt of the current binary directory. `variable` becomes the list of these files: a custom target or a
# source of a program has to depend on them. With EXTENSION, the names have that extension instead of their own, which
# decides on the format: .onnx, .relay or .ir.
#
# PASSES is the value of -passes, PIPELINE that of -pipeline, and FLAGS are other flags, such as -O3. A step runs again
# if the module or another file that ir-opt read changes (weights, rules, plugins, pipelines), or the program itself.
# With CACHE_DIR, or the variable IROPT_CACHE_DIR, ir-opt keeps results there (-cache-dir), also for other builds.
#
# Two modules must not have the same name. Requires CMake 3.20; the generators Ninja and Makefile use the dependencies
# that ir-opt finds.
function(iropt_optimize variable)
  cmake_parse_arguments(arg "" "PASSES;PIPELINE;DESTINATION;EXTENSION;CACHE_DIR" "MODULES;FLAGS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "iropt_optimize: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_MODULES)
    message(FATAL_ERROR "iropt_optimize: MODULES names no file")
  endif()
  if(NOT arg_DESTINATION)
    set(arg_DESTINATION "${CMAKE_CURRENT_BINARY_DIR}/ir-opt")
  endif()
  get_filename_component(destination "${arg_DESTINATION}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  file(MAKE_DIRECTORY "${destination}")
  set(flags ${arg_FLAGS})
  if(DEFINED arg_PASSES)
    list(APPEND flags "-passes=${arg_PASSES}")
  endif()
  if(arg_PIPELINE)
    get_filename_component(pipeline "${arg_PIPELINE}" ABSOLUTE)
    list(APPEND flags "-pipeline=${pipeline}")
  endif()
  if(NOT arg_CACHE_DIR)
    set(arg_CACHE_DIR "${IROPT_CACHE_DIR}")
  endif()
  if(arg_CACHE_DIR)
    list(APPEND flags "-cache-dir=${arg_CACHE_DIR}")
  endif()
  set(outputs "")
  foreach(module IN LISTS arg_MODULES)
    get_filename_component(input "${module}" ABSOLUTE)
    get_filename_component(name "${module}" NAME)
    if(arg_EXTENSION)
      get_filename_component(name "${module}" NAME_WLE)
      string(APPEND name "${arg_EXTENSION}")
    endif()
    set(output "${destination}/${name}")
    if(output IN_LIST outputs)
      message(FATAL_ERROR "iropt_optimize: two modules would be written to ${output}")
    endif()
    add_custom_command(OUTPUT "${output}"
                       COMMAND iropt::ir-opt ${flags} "${input}" -o "${output}" -MD -MF "${output}.d"
                       DEPENDS "${input}" DEPFILE "${output}.d"
                       COMMENT "ir-opt ${name}" VERBATIM)
    list(APPEND outputs "${output}")
  endforeach()
  set(${variable} "${outputs}" PARENT_SCOPE)
endfunction()
