# iropt_add_area(<name> DEPS <area or target>... [LIBRARIES <target>...] [OPTIONS <compiler option>...])
#
# The static library iropt_<name> of all sources under lib/<name>, with its headers in include/iropt/<name>. DEPS are
# areas or libraries that its headers use, LIBRARIES those that only its sources use, OPTIONS additional compiler
# options of its sources. Sources are found by pattern, so adding a file needs no change here.
function(iropt_add_area name)
  cmake_parse_arguments(arg "" "" "DEPS;LIBRARIES;OPTIONS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/${name}/*.cpp")
  # What needs LLVM is a library of its own, see IroptLlvm.
  list(FILTER sources EXCLUDE REGEX "/lib/codegen/llvm/")
  if(NOT sources)
    message(FATAL_ERROR "the area ${name} has no sources in lib/${name}")
  endif()
  set(target "iropt_${name}")
  add_library(${target} STATIC ${sources})
  add_library(iropt::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
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
  set(pch_group areas)
  if(arg_OPTIONS)
    target_compile_options(${target} PRIVATE ${arg_OPTIONS})
    set(pch_group ${name})
  endif()
  iropt_precompile_headers(${target} ${pch_group})
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

# The library iropt_cli of the sources under tools/cli: what the command lines of all tools have in common.
function(iropt_add_cli)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/cli/*.cpp")
  add_library(iropt_cli STATIC ${sources})
  target_include_directories(iropt_cli PUBLIC "${PROJECT_SOURCE_DIR}/tools")
  target_link_libraries(iropt_cli PUBLIC iropt_driver CLI11::CLI11)
  # CLI11 is much to optimize, and reading a command line is little work.
  target_compile_options(iropt_cli PUBLIC $<$<CONFIG:Release>:-O1>)
endfunction()

# iropt_add_tool(<name>): the program bin/<name> of the sources under tools/<name>. It reads its command line and leaves
# the work to the libraries.
function(iropt_add_tool name)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/${name}/*.cpp")
  if(NOT sources)
    message(FATAL_ERROR "the tool ${name} has no sources in tools/${name}")
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE iropt_cli)
  target_compile_definitions(${name} PRIVATE "IROPT_VERSION=\"${PROJECT_VERSION}\"")
endfunction()
