# cmake --install: the tool, the libraries with their headers, and the package `ir-opt` for find_package, whose targets
# are iropt::<area> and iropt::plugin. The package is relocatable. The components are those of IroptPackages.cmake; what has
# none belongs to the tools.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ir-opt")
set(IROPT_PKGCONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
foreach(area IN LISTS IROPT_AREAS)
  list(APPEND targets iropt_${area})
endforeach()
install(TARGETS ir-opt iropt_plugin EXPORT ir-opt-targets
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS ${targets} EXPORT ir-opt-libraries
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT libraries
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(IROPT_HAVE_LLVM)
  install(TARGETS iropt_codegen_llvm LIBRARY DESTINATION "${IROPT_PRIVATE_LIBDIR}" COMPONENT llvm)
endif()
get_property(formats GLOBAL PROPERTY iropt_formats)
if(formats)
  install(TARGETS ${formats} LIBRARY DESTINATION "${IROPT_PRIVATE_LIBDIR}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/iropt" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT plugins
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(DIRECTORY "${IROPT_PUBLIC_GENERATED_HEADERS}/iropt" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT plugins)
# Headers of transform/ include it from their folder.
install(FILES "${PROJECT_SOURCE_DIR}/passes.def" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/iropt/transform"
        COMPONENT plugins)

# The documents and the modules and programs that they show, in the folders of the repository.
set(doc_dir "${CMAKE_INSTALL_DATADIR}/doc/ir-opt")
iropt_install_documents("${doc_dir}" editors "${CMAKE_INSTALL_DATADIR}/ir-opt/editors"
                        include/iropt "${CMAKE_INSTALL_INCLUDEDIR}/iropt" passes.def "${CMAKE_INSTALL_INCLUDEDIR}/iropt/transform/passes.def"
                        packaging/bazel "${CMAKE_INSTALL_DATADIR}/ir-opt/bazel")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/pictures" DESTINATION "${doc_dir}/docs")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${doc_dir}" USE_SOURCE_PERMISSIONS)
# The README runs it.
install(PROGRAMS "${PROJECT_SOURCE_DIR}/scripts/onnx_nodes.py" DESTINATION "${doc_dir}/scripts")
iropt_install_pass_document(ir-opt "${doc_dir}/docs")

# The rule of Bazel, and the files of editors: Vim and Neovim find theirs by themselves.
install(FILES "${PROJECT_SOURCE_DIR}/packaging/bazel/ir_opt.bzl" DESTINATION "${CMAKE_INSTALL_DATADIR}/ir-opt/bazel")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/editors/" DESTINATION "${CMAKE_INSTALL_DATADIR}/ir-opt/editors"
        PATTERN "node_modules" EXCLUDE PATTERN "out" EXCLUDE PATTERN "*.vsix" EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/editors/nvim/" DESTINATION "${CMAKE_INSTALL_DATADIR}/nvim/site")
foreach(part ftdetect syntax)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/editors/nvim/${part}" DESTINATION "${CMAKE_INSTALL_DATADIR}/vim/vimfiles")
endforeach()

# For programs that use the libraries and are not built with CMake. A library uses those that come after it.
set(IROPT_PKGCONFIG_LIBRARIES "")
foreach(area IN LISTS IROPT_AREAS)
  string(PREPEND IROPT_PKGCONFIG_LIBRARIES " -liropt_${area}")
endforeach()
GNUInstallDirs_get_absolute_install_dir(pkgconfig_dir IROPT_PKGCONFIG_DIR LIBDIR)
file(RELATIVE_PATH IROPT_PREFIX_FROM_PKGCONFIG "${pkgconfig_dir}" "${CMAKE_INSTALL_PREFIX}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/iropt.pc.in" "${PROJECT_BINARY_DIR}/package/iropt.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/iropt.pc" DESTINATION "${IROPT_PKGCONFIG_DIR}" COMPONENT libraries)

install(EXPORT ir-opt-targets NAMESPACE iropt:: DESTINATION "${package_dir}" FILE ir-optTargets.cmake)
install(EXPORT ir-opt-libraries NAMESPACE iropt:: DESTINATION "${package_dir}" FILE ir-optLibraries.cmake
        COMPONENT libraries)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/ir-optConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/package/ir-optConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
# Before 1.0, every minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/ir-optConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/ir-optConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/ir-optConfigVersion.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/IroptPlugin.cmake" "${CMAKE_CURRENT_LIST_DIR}/IroptOptimize.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/plugin_exports.list"
        DESTINATION "${package_dir}")
