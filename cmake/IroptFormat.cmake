# iropt_add_format(<name> <folder> [LIBRARIES <target>...])
#
# libiropt_<name>.so, the reader and writer of a format (iropt/text/format.h) of the sources under lib/<folder>, which
# programs load when they meet a file of it. Like a plugin, it links no library of ir-opt: it takes all definitions from
# the program. LIBRARIES are what its sources use besides.
function(iropt_add_format name folder)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/${folder}/*.cpp")
  iropt_unity_groups(${name} ${IROPT_UNITY_BYTES} ${sources})
  set(target "iropt_${name}")
  add_library(${target} MODULE ${sources})
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP CXX_VISIBILITY_PRESET default
                                             LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  # Private headers are included from the root of lib, as in areas.
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/lib")
  target_link_libraries(${target} PRIVATE iropt::plugin ${arg_LIBRARIES})
  target_compile_options(${target} PRIVATE -fno-semantic-interposition ${IROPT_COLD_OPTIONS})
  # Programs in bin look for it in the folder beside theirs.
  set_property(GLOBAL APPEND PROPERTY iropt_formats ${target})
endfunction()
