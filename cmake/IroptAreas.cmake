# iropt_unity_groups(<name> <bytes> <source>...)
#
# In a unity build, the sources are compiled together, folder by folder, in parts of about the same size and at most
# <bytes>. The larger the parts are, the less often the same headers and templates are compiled, which is a third of the
# work, and the more memory GCC needs: no compile shall need more than 1.5 GiB. What defines many classes and templates
# needs more memory for the same bytes. Names in unnamed namespaces have to differ within a part.
set(IROPT_UNITY_BYTES 380000)
function(iropt_unity_groups name bytes)
  list(SORT ARGN)
  set(total 0)
  foreach(source IN LISTS ARGN)
    file(SIZE "${source}" size)
    math(EXPR total "${total} + ${size}")
  endforeach()
  math(EXPR parts "${total} / ${bytes} + 1")
  set(before 0)
  foreach(source IN LISTS ARGN)
    math(EXPR part "${before} * ${parts} / (${total} + 1)")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${name}_${part}")
    file(SIZE "${source}" size)
    math(EXPR before "${before} + ${size}")
  endforeach()
endfunction()

# iropt_tables(<kind> <table> <folder> [<argument>...]): what scripts/tables makes of a table in a folder, which is to be searched
# for headers. It is made when CMake runs: which files there are depends on the table.
function(iropt_tables kind table folder)
  file(GLOB scripts "${PROJECT_SOURCE_DIR}/scripts/tables/*.py")
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}" ${scripts})
  execute_process(COMMAND "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/scripts/tables" ${kind} "${table}" "${folder}" ${ARGN}
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# iropt_op_headers(<folder>): what scripts/tables makes of the table of operators: the rows for the area op, and for each family
# headers, which are public; those that make calls are for the area infer.
function(iropt_op_headers folder)
  file(GLOB families CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/iropt/op/ops/*.def")
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${families})
  iropt_tables(ops "${PROJECT_SOURCE_DIR}/include/iropt/op/ops.def" "${folder}" "${CMAKE_CXX_COMPILER}")
  target_include_directories(iropt_op PUBLIC "$<BUILD_INTERFACE:${folder}/public>")
  target_sources(iropt_op PRIVATE "${folder}/op/op_rows.cpp")
  # The tests of the walk-throughs link another one instead.
  set_source_files_properties("${folder}/op/op_rows.cpp" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  file(GLOB sources "${folder}/op_builder/*.cpp")
  target_sources(iropt_infer PRIVATE ${sources})
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP op_builder)
  set(IROPT_PUBLIC_GENERATED_HEADERS "${folder}/public" PARENT_SCOPE)
endfunction()

# iropt_add_area(<name> DEPS <area or target>... [LIBRARIES <target>...] [OPTIONS <compiler option>...] [UNITY_BYTES <bytes>])
#
# The static library iropt_<name> of all sources under lib/<name>, with its headers in include/iropt/<name>. DEPS are
# areas or libraries that its headers use, LIBRARIES those that only its sources use, OPTIONS additional compiler
# options of its sources, UNITY_BYTES how many are compiled together in a unity build. Sources are found by pattern, so
# adding a file needs no change here.
function(iropt_add_area name)
  cmake_parse_arguments(arg "" "UNITY_BYTES" "DEPS;LIBRARIES;OPTIONS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/${name}/*.cpp")
  iropt_choose_sources(sources)
  # Libraries of their own, see IroptLlvm and IroptFormat; of a format that is one, the area has its row.
  list(FILTER sources EXCLUDE REGEX "/lib/codegen/llvm/")
  set(rows ${sources})
  list(FILTER rows INCLUDE REGEX "/lib/exchange/[^/]+/row\\.cpp$")
  foreach(row IN LISTS rows)
    get_filename_component(format "${row}" DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${format}/")
  endforeach()
  list(APPEND sources ${rows})
  if(NOT sources)
    message(FATAL_ERROR "the area ${name} has no sources in lib/${name}")
  endif()
  # A quick build has the same groups: names that are defined twice in a group show in every build.
  if(NOT arg_UNITY_BYTES)
    set(arg_UNITY_BYTES ${IROPT_UNITY_BYTES})
  endif()
  iropt_unity_groups(${name} ${arg_UNITY_BYTES} ${sources})
  set(target "iropt_${name}")
  add_library(${target} STATIC ${sources})
  add_library(iropt::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} UNITY_BUILD_MODE GROUP)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
  # Private headers are included from the root of lib: "infer/type_util.h".
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/lib")
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(IROPT_PLUGINS)
    # A program can export symbols to plugins only if they are visible. Without the second flag, GCC would assume that
    # they may be interposed, and would not inline them; with both, the tool is as fast as with hidden symbols.
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET default)
    target_compile_options(${target} PRIVATE -fno-semantic-interposition)
  endif()
  target_compile_options(${target} PRIVATE ${arg_OPTIONS})
  iropt_precompile_headers(${target} areas ${arg_OPTIONS})
  foreach(dep IN LISTS arg_DEPS)
    if(dep MATCHES "::")
      target_link_libraries(${target} PUBLIC ${dep})
    elseif(TARGET "iropt_${dep}")
      target_link_libraries(${target} PUBLIC "iropt_${dep}")
    else()
      message(FATAL_ERROR "the area ${name} depends on ${dep}, which comes after it or does not exist")
    endif()
  endforeach()
  foreach(library IN LISTS arg_LIBRARIES)
    # Users of the installed archive do not need the header-only libraries.
    set(type)
    if(TARGET ${library})
      get_target_property(type ${library} TYPE)
    endif()
    if(type STREQUAL "INTERFACE_LIBRARY")
      target_link_libraries(${target} PRIVATE "$<BUILD_INTERFACE:${library}>")
    else()
      target_link_libraries(${target} PRIVATE ${library})
    endif()
  endforeach()
  set(IROPT_AREAS ${IROPT_AREAS} ${name} PARENT_SCOPE)
  if(name STREQUAL "pass")
    # passes.def is at the top of the repository, where it is easy to find.
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  endif()
endfunction()

# The library iropt_cli of the command lines of all tools: tools/cli is what they have in common.
function(iropt_add_cli)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/*/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/tools/[^/]*.cpp$")
  iropt_choose_sources(sources)
  set(guests iropt_reduce iropt_lsp)
  if(IROPT_PLAIN_SYSTEM)
    list(FILTER sources EXCLUDE REGEX "/tools/ir-(reduce|lsp)/")
    set(guests)
  endif()
  add_library(iropt_cli STATIC ${sources})
  target_include_directories(iropt_cli PUBLIC "${PROJECT_SOURCE_DIR}/tools")
  target_link_libraries(iropt_cli PUBLIC iropt_driver ${guests} PRIVATE CLI11::CLI11)
  # CLI11 is much to optimize, and reading a command line is little work.
  target_compile_options(iropt_cli PUBLIC ${IROPT_COLD_OPTIONS})
  list(FILTER sources INCLUDE REGEX "/tools/(cli|ir-opt)/")  # each of the other tools is a source
  iropt_unity_groups(cli ${IROPT_UNITY_BYTES} ${sources})
  set_target_properties(iropt_cli PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# The objects of tools/allocator.cpp, which every tool has if mimalloc is installed. Sanitizers bring an allocator.
function(iropt_add_allocator)
  if(NOT IROPT_PLAIN_SYSTEM)
    find_package(mimalloc 2.0 CONFIG QUIET)
  endif()
  if(NOT mimalloc_FOUND OR IROPT_SANITIZE)
    return()
  endif()
  add_library(iropt_allocator OBJECT "${PROJECT_SOURCE_DIR}/tools/allocator.cpp")
  target_link_libraries(iropt_allocator PUBLIC iropt_support mimalloc)
endfunction()

# iropt_add_tools(<name> <link>...): the program bin/<name> with all tools, and links to it, whose names choose the other
# ones. One program is as fast to start as several, and takes the space of one.
function(iropt_add_tools name)
  add_executable(${name} "${PROJECT_SOURCE_DIR}/tools/main.cpp")
  target_link_libraries(${name} PRIVATE iropt_cli)
  if(IROPT_PLAIN_SYSTEM)
    target_compile_definitions(${name} PRIVATE IROPT_PLAIN_SYSTEM)
    iropt_build_in_formats(${name})
    iropt_link_wasi(${name})
    return()
  endif()
  if(TARGET iropt_allocator)
    target_link_libraries(${name} PRIVATE iropt_allocator)
  endif()
  foreach(link IN LISTS ARGN)
    set(path "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${link}")
    add_custom_command(OUTPUT "${path}" COMMAND "${CMAKE_COMMAND}" -E create_symlink ${name} "${path}" DEPENDS ${name})
    add_custom_target(${link} ALL DEPENDS "${path}")
    install(PROGRAMS "${path}" DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endforeach()
endfunction()
