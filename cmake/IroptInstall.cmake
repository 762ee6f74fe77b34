# cmake --install: the tool, the libraries with their headers, and the package `ir-opt` for find_package, whose targets
# are iropt::<area> and iropt::plugin. The package is relocatable. The components are those of IroptPackages.cmake; what has
# none belongs to the tools.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ir-opt")
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
  # Programs in bin look for it in the folder next to theirs.
  install(TARGETS iropt_codegen_llvm LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
get_property(formats GLOBAL PROPERTY iropt_formats)
if(formats)
  install(TARGETS ${formats} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/iropt" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT plugins
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(DIRECTORY "${IROPT_PUBLIC_GENERATED_HEADERS}/iropt" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT plugins)
# Headers of transform/ include it from their folder.
install(FILES "${PROJECT_SOURCE_DIR}/passes.def" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/iropt/transform"
        COMPONENT plugins)

# The documents and the modules and programs that they show, in the folders of the repository.
set(doc_dir "${CMAKE_INSTALL_DATADIR}/doc/ir-opt")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        DESTINATION "${doc_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${doc_dir}" USE_SOURCE_PERMISSIONS
        PATTERN "passes" EXCLUDE)
install(DIRECTORY "${IROPT_DOCUMENTS}/" DESTINATION "${doc_dir}/docs" FILES_MATCHING PATTERN "*.md")
iropt_install_pass_document(ir-opt "${doc_dir}/docs")

# The rule of Bazel.
install(FILES "${PROJECT_SOURCE_DIR}/packaging/bazel/ir_opt.bzl" DESTINATION "${CMAKE_INSTALL_DATADIR}/ir-opt/bazel")

# The wrapper of ir-opt in tests of passes, for the tests of plugins.
install(PROGRAMS "${PROJECT_SOURCE_DIR}/test/tools/check_pass.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/ir-opt"
        COMPONENT plugins)

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
