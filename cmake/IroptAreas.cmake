# iropt_add_area(<name> DEPS <area or target>... [LIBRARIES <target>...])
#
# The static library iropt_<name> of all sources under lib/<name>, with its headers in include/iropt/<name>. DEPS are
# areas or libraries that its headers use, LIBRARIES those that only its sources use. Sources are found by pattern, so
# adding a file changes nothing here. An area without sources is left out together with its mention in other DEPS.
function(iropt_add_area name)
  cmake_parse_arguments(arg "" "" "DEPS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/${name}/*.cpp")
  if(NOT sources)
    return()
  endif()
  set(target "iropt_${name}")
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/include")
  foreach(dep IN LISTS arg_DEPS)
    if(TARGET "iropt_${dep}")
      target_link_libraries(${target} PUBLIC "iropt_${dep}")
    elseif(dep MATCHES "::")
      target_link_libraries(${target} PUBLIC ${dep})
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  if(name STREQUAL "pass")
    # passes.def lies at the top of the repository, where people look for the list of passes.
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  endif()
endfunction()

# iropt_add_tool(<name>): the program bin/<name> of the sources under tools/<name>.
function(iropt_add_tool name)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/${name}/*.cpp")
  if(NOT sources OR NOT TARGET iropt_driver)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE iropt_driver CLI11::CLI11)
  target_compile_definitions(${name} PRIVATE "IROPT_VERSION=\"${PROJECT_VERSION}\"")
endfunction()
