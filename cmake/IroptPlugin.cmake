# Functions to build plugins and programs that load them; also part of the installed package.

# iropt_add_plugin(<name> <source>...)
#
# The shared object <name>.so of passes and instruments that `ir-opt -load-pass-plugin=` loads, see iropt/pass/plugin.h.
# It links no library of ir-opt: the program that loads it has the code.
function(iropt_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE iropt::plugin)
  # Symbols defined in headers must be visible, to be merged with those of the program.
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET default)
endfunction()

set(IROPT_PLUGIN_EXPORTS "${CMAKE_CURRENT_LIST_DIR}/plugin_exports.list" CACHE INTERNAL "What plugins may use")

# iropt_host_plugins(<program>)
#
# Makes a program that links the library able to load plugins: the whole library is linked into it, including parts that
# it does not use itself, and exported.
function(iropt_host_plugins program)
  set(archives)
  foreach(area IN LISTS IROPT_PLUGIN_AREAS)
    target_link_libraries(${program} PRIVATE iropt::${area})
    list(APPEND archives "$<TARGET_FILE:iropt::${area}>")
  endforeach()
  list(JOIN archives "," archives)
  target_link_options(${program} PRIVATE "LINKER:--whole-archive,${archives},--no-whole-archive"
                                         "LINKER:--dynamic-list=${IROPT_PLUGIN_EXPORTS}")
  target_link_libraries(${program} PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(${program} PROPERTIES CXX_VISIBILITY_PRESET default)
  set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS "${IROPT_PLUGIN_EXPORTS}")
endfunction()
