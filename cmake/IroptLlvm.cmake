# libiropt_codegen_llvm.so, which compiles loops with LLVM and is loaded when they are to be compiled: programs do not link
# it. It has a copy of those parts of the library that it needs, and shows nothing but its factory, so that it works with
# any program. Without LLVM it is left out.

# The newest LLVM that the distribution has, unless LLVM_DIR names one.
set(IROPT_LLVM_VERSIONS 22 21 20 19)
foreach(version IN LISTS IROPT_LLVM_VERSIONS)
  if(NOT LLVM_FOUND AND NOT LLVM_DIR)
    find_package(LLVM CONFIG QUIET PATHS "/usr/lib/llvm-${version}/lib/cmake/llvm" NO_DEFAULT_PATH)
  endif()
endforeach()
if(NOT LLVM_FOUND)
  find_package(LLVM CONFIG QUIET)
endif()
if(NOT LLVM_FOUND OR LLVM_VERSION_MAJOR LESS 19)
  iropt_left_out(llvm "LLVM 19 or newer was not found (Debian: llvm-19-dev): loops are not compiled, only interpreted")
  set(IROPT_HAVE_LLVM OFF)
  return()
endif()
set(IROPT_HAVE_LLVM ON)
message(STATUS "Loops are compiled with LLVM ${LLVM_VERSION} in ${LLVM_DIR}")

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/codegen/llvm/*.cpp")
add_library(iropt_codegen_llvm MODULE ${sources})
target_include_directories(iropt_codegen_llvm PRIVATE "${PROJECT_SOURCE_DIR}/lib/codegen")
target_include_directories(iropt_codegen_llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_link_libraries(iropt_codegen_llvm PRIVATE iropt_codegen)
if(TARGET LLVM)
  target_link_libraries(iropt_codegen_llvm PRIVATE LLVM)
else()
  llvm_map_components_to_libnames(libraries native orcjit passes)
  target_link_libraries(iropt_codegen_llvm PRIVATE ${libraries})
endif()
set_target_properties(iropt_codegen_llvm PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
target_link_options(iropt_codegen_llvm PRIVATE "LINKER:--exclude-libs,ALL" "LINKER:-Bsymbolic")
if(NOT IROPT_SANITIZE)
  # The run-time libraries of sanitizers are in the program.
  target_link_options(iropt_codegen_llvm PRIVATE "LINKER:--no-undefined")
endif()
# Compiling loops is LLVM's work. LLVM's headers are not written for our warnings, and its library decides about run-time
# type information.
target_compile_options(iropt_codegen_llvm PRIVATE -Wno-unused-parameter ${IROPT_COLD_OPTIONS})
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(iropt_codegen_llvm PRIVATE -fno-rtti)
endif()
