# iropt_add_format(<name> [DEPS <area>...])
#
# The format of the sources under lib/exchange/<name>, see iropt/exchange/format.h. If its row is a file of its own,
# row.cpp, the other sources are libiropt_<name>.so, which programs load when they meet a file of the format. Like a
# plugin, it links no library of ir-opt: it takes all definitions from the program. DEPS are the areas that these sources
# include, which scripts/check_layering.py checks. The folder may have a format.cmake, which finds libraries: it sets
# format_includes, or format_missing to the reason why the shared object cannot be built. Sets IROPT_HAVE_<NAME>.
function(iropt_add_format name)
  set(folder "${PROJECT_SOURCE_DIR}/lib/exchange/${name}")
  set_property(GLOBAL APPEND PROPERTY iropt_format_names ${name})
  string(TOUPPER "IROPT_HAVE_${name}" have)
  set(${have} ON PARENT_SCOPE)
  if(NOT EXISTS "${folder}/row.cpp")
    return()  # part of the area exchange
  endif()
  include("${folder}/format.cmake" OPTIONAL)
  if(format_missing)
    iropt_left_out(${name} "${format_missing}")
    set(${have} OFF PARENT_SCOPE)
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  list(REMOVE_ITEM sources "${folder}/row.cpp")
  iropt_unity_groups(${name} ${IROPT_UNITY_BYTES} ${sources})
  set(target "iropt_${name}")
  if(IROPT_PLAIN_SYSTEM)
    list(APPEND format_includes "${iropt_headers}")
    list(REMOVE_DUPLICATES format_includes)
    add_library(${target} STATIC ${sources})
  else()
    add_library(${target} MODULE ${sources})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP CXX_VISIBILITY_PRESET default
                                             LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  # Private headers are included from the root of lib, as in areas.
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/lib")
  target_include_directories(${target} SYSTEM PRIVATE ${format_includes})
  target_link_libraries(${target} PRIVATE iropt::plugin)
  target_compile_options(${target} PRIVATE -fno-semantic-interposition ${IROPT_COLD_OPTIONS})
  set_property(GLOBAL APPEND PROPERTY iropt_formats ${target})
endfunction()

# iropt_add_format_rows(): what the area exchange knows of all formats: their rows, in the order of iropt_add_format; the
# names that can be written; and the flags of those that have a flags.def.
function(iropt_add_format_rows)
  get_property(names GLOBAL PROPERTY iropt_format_names)
  set(folder "${PROJECT_BINARY_DIR}/generated/formats")
  list(JOIN names "|" words)
  list(JOIN names ", " declared)
  list(TRANSFORM names PREPEND "formats::" OUTPUT_VARIABLE rows)
  list(JOIN rows ", " rows)
  set(flags)
  foreach(name IN LISTS names)
    if(EXISTS "${PROJECT_SOURCE_DIR}/lib/exchange/${name}/flags.def")
      string(APPEND flags "#include \"${PROJECT_SOURCE_DIR}/lib/exchange/${name}/flags.def\"\n")
    endif()
  endforeach()
  set(made "// Made by cmake/IroptFormat.cmake.\n")
  file(CONFIGURE OUTPUT "${folder}/iropt/exchange/format_names.h" @ONLY
       CONTENT "${made}#pragma once\n\n#define IROPT_FORMAT_NAMES \"${words}\"\n")
  file(CONFIGURE OUTPUT "${folder}/iropt/exchange/format_flags.def" @ONLY CONTENT "${made}${flags}")
  file(CONFIGURE OUTPUT "${folder}/format_rows.cpp" @ONLY CONTENT "${made}#include \"iropt/exchange/formats.h\"

namespace iropt {

namespace formats {
extern const FormatRow ${declared};
}  // namespace formats

std::span<const FormatRow> Formats() {
  static const FormatRow rows[] = {${rows}};
  return rows;
}

}  // namespace iropt
")
  target_sources(iropt_exchange PRIVATE "${folder}/format_rows.cpp")
  target_include_directories(iropt_exchange PUBLIC "$<BUILD_INTERFACE:${folder}>")
endfunction()
