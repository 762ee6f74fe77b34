# Debian packages and a source archive by CPack, for scripts/package.sh:
#
#   ir-opt             the tools, their documents and examples, and iropt_optimize() for CMake
#   ir-opt-plugin-dev  headers and CMake functions for plugins, which link no library
#   libir-opt-dev      the static libraries, for programs that use ir-opt as a library
#   python3-ir-opt     the Python package
#
# Each depends on the others in the same version: before 1.0 there is no stable interface.
set(CPACK_GENERATOR "DEB")
set(CPACK_PACKAGE_NAME "ir-opt")
set(CPACK_PACKAGE_VENDOR "ir-opt")
set(CPACK_PACKAGE_CONTACT "ir-opt <ir-opt@localhost>" CACHE STRING "Who is responsible for the packages")
set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_COMPONENTS_ALL tools plugins libraries)
if(TARGET iropt_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Libraries that are loaded from the folder of the tools are in no package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
set(same "(= ${PROJECT_VERSION})")
# Libraries that are loaded by their names, which no tool finds.
set(loaded "libarchive13 | libarchive13t64")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME "ir-opt")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION "devel")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${loaded}")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "optimizer driver for tensor programs in TVMScript
 ir-opt reads a module, runs passes of graphs and loops, and prints the
 result; ir-run, ir-reduce and ir-lsp run, reduce and edit modules.")

set(CPACK_DEBIAN_PLUGINS_PACKAGE_NAME "ir-opt-plugin-dev")
set(CPACK_DEBIAN_PLUGINS_PACKAGE_SECTION "devel")
set(CPACK_DEBIAN_PLUGINS_PACKAGE_DEPENDS "ir-opt ${same}, libfmt-dev")
set(CPACK_COMPONENT_PLUGINS_DESCRIPTION "headers for plugins of ir-opt
 What passes in shared objects, which ir-opt loads, are compiled with.")

set(CPACK_DEBIAN_LIBRARIES_PACKAGE_NAME "libir-opt-dev")
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SECTION "libdevel")
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_DEPENDS "ir-opt-plugin-dev ${same}, libtbb-dev")
set(CPACK_COMPONENT_LIBRARIES_DESCRIPTION "ir-opt as a library
 Static libraries of the passes, the reader and the printer of ir-opt.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME "python3-ir-opt")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION "python")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, ${loaded}")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-numpy")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Python package of ir-opt
 Modules, passes, rewriting and plugins in Python.")

# The source archive has what the repository has.
set(CPACK_SOURCE_GENERATOR "TXZ")
set(CPACK_SOURCE_PACKAGE_FILE_NAME "ir-opt-${PROJECT_VERSION}")
set(CPACK_SOURCE_IGNORE_FILES "/\\\\.git/;^${PROJECT_SOURCE_DIR}/build[^/]*/;/__pycache__/;\\\\.deb$;\\\\.tar\\\\.xz$")
include(CPack)
