# The folder of the libraries that the tools and the Python package load, and nothing else does: formats and the loop
# compiler.
include(GNUInstallDirs)
set(IROPT_PRIVATE_LIBDIR "${CMAKE_INSTALL_LIBDIR}/iropt")
set(IROPT_PYTHON_PACKAGE_DIR "lib/python3/dist-packages" CACHE STRING
    "Where the package iropt is installed, relative to the prefix")

# iropt_private_libraries(<source>): tells a source where the folder is, seen from the programs and from the Python package.
function(iropt_private_libraries source)
  GNUInstallDirs_get_absolute_install_dir(libraries IROPT_PRIVATE_LIBDIR LIBDIR)
  GNUInstallDirs_get_absolute_install_dir(package IROPT_PYTHON_PACKAGE_DIR LIBDIR)
  file(RELATIVE_PATH from_programs "${CMAKE_INSTALL_FULL_BINDIR}" "${libraries}")
  file(RELATIVE_PATH from_package "${package}/iropt" "${libraries}")
  set_property(SOURCE "${PROJECT_SOURCE_DIR}/${source}" APPEND PROPERTY COMPILE_DEFINITIONS
               "IROPT_LIBRARIES_FROM_PROGRAMS=\"${from_programs}\"" "IROPT_LIBRARIES_FROM_PYTHON=\"${from_package}\"")
endfunction()
