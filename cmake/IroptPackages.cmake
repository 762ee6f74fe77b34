# Debian packages and a source archive by CPack, for scripts/package.sh:
#
#   ir-opt             the tools, their documents, examples and files of editors, and iropt_optimize() for CMake
#   ir-opt-llvm        compiles loops with LLVM; without it, they are interpreted
#   ir-opt-plugin-dev  headers and CMake functions for plugins, which link no library
#   libir-opt-dev      the static libraries, for programs that use ir-opt as a library
#   python3-ir-opt     the Python package
#
# Each depends on the others in the same version: before 1.0 there is no stable interface.
set(CPACK_GENERATOR "DEB")
set(CPACK_PACKAGE_NAME "ir-opt")
set(CPACK_PACKAGE_VENDOR "ir-opt")
# Debian's variables say who makes packages. Without them, it is nobody who has an address.
set(CPACK_PACKAGE_CONTACT "ir-opt <ir-opt@packages.invalid>")
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
# Each package has its own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_COMPONENTS_ALL tools plugins libraries)
if(TARGET iropt_codegen_llvm)
  list(APPEND CPACK_COMPONENTS_ALL llvm)
endif()
if(TARGET iropt_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_STRIP_FILES ON)
# What Debian requires of each package: copyright, changelog, compressed manual pages.
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/DebianFiles.cmake")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Libraries that are loaded from the folder of the tools are in no package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

# iropt_debian_package(<component> <name> <section> <dependencies> <description>)
macro(iropt_debian_package component name section depends description)
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME "${name}")
  set(CPACK_DEBIAN_${component}_PACKAGE_SECTION "${section}")
  set(CPACK_DEBIAN_${component}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${component}_DESCRIPTION "${description}")
endmacro()

iropt_debian_package(TOOLS ir-opt devel "" "optimizer for machine learning models and tensor programs
ir-opt reads ONNX or TVMScript, runs passes of graphs and loops, and writes
the result; ir-run, ir-reduce and ir-lsp run, reduce and edit modules.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "ir-opt-llvm ${same}")

iropt_debian_package(LLVM ir-opt-llvm devel "ir-opt ${same}" "loop compiler of ir-opt
Compiles loops with LLVM when ir-run or a pass asks for it. Without this
package, loops are interpreted.")

iropt_debian_package(PLUGINS ir-opt-plugin-dev devel "ir-opt ${same}, libfmt-dev, python3" "headers for plugins of ir-opt
What passes in shared objects, which ir-opt loads, are compiled with.")

iropt_debian_package(LIBRARIES libir-opt-dev libdevel "ir-opt-plugin-dev ${same}, zlib1g-dev" "ir-opt as a library
Static libraries of the passes, the reader and the printer of ir-opt, with
files for CMake and pkg-config.")

iropt_debian_package(PYTHON python3-ir-opt python python3 "Python package of ir-opt
Modules, passes, rewriting and plugins in Python.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "ir-opt-llvm ${same}, python3-numpy")

# The source archive has what the repository has.
set(CPACK_SOURCE_GENERATOR "TXZ")
set(CPACK_SOURCE_PACKAGE_FILE_NAME "ir-opt-${PROJECT_VERSION}")
set(CPACK_SOURCE_IGNORE_FILES "/\\\\.git/;^${PROJECT_SOURCE_DIR}/build[^/]*/;/__pycache__/;/node_modules/;\\\\.deb$;\\\\.tar\\\\.xz$")
include(CPack)
