# Documents are tests: their examples print what is written there, and docs/adding_a_pass.md is followed to the letter.
# Its files are unpacked beside copies of the ones that it changes, and are what is built and run.
set(check_docs Python3::Interpreter "${PROJECT_SOURCE_DIR}/scripts/check_docs.py")
add_test(NAME documents COMMAND ${check_docs} $<TARGET_FILE_DIR:ir-opt>)

set(document "${PROJECT_SOURCE_DIR}/docs/adding_a_pass.md")
set(unpacked "${CMAKE_CURRENT_BINARY_DIR}/adding_a_pass")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${document}" "${PROJECT_SOURCE_DIR}/passes.def"
             "${PROJECT_SOURCE_DIR}/scripts/unpack_document.py")
execute_process(COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/scripts/unpack_document.py" "${document}" "${unpacked}"
                COMMAND_ERROR_IS_FATAL ANY)

# What includes passes.def is compiled with the document's, which takes the place of the library's.
add_library(documented_pass OBJECT
            "${unpacked}/lib/transform/relax/remove_no_ops.cpp"
            "${PROJECT_SOURCE_DIR}/lib/transform/make_passes.cpp" "${PROJECT_SOURCE_DIR}/lib/transform/register.cpp")
target_include_directories(documented_pass BEFORE PRIVATE "${unpacked}" "${unpacked}/include")
target_link_libraries(documented_pass PRIVATE iropt_transform)
target_compile_options(documented_pass PRIVATE $<$<CONFIG:Release>:-O0>)

execute_process(COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${unpacked}/docs/passes" "-DOUTPUT=${unpacked}/pass_examples.cpp"
                        -P "${PROJECT_SOURCE_DIR}/cmake/EmbedExamples.cmake"
                COMMAND_ERROR_IS_FATAL ANY)
add_executable(documented_ir_opt $<TARGET_OBJECTS:ir-opt> $<TARGET_OBJECTS:documented_pass> "${unpacked}/pass_examples.cpp")
target_include_directories(documented_ir_opt PRIVATE "${PROJECT_SOURCE_DIR}/lib/driver")
target_link_libraries(documented_ir_opt PRIVATE iropt_driver)
set_target_properties(documented_ir_opt PROPERTIES OUTPUT_NAME ir-opt RUNTIME_OUTPUT_DIRECTORY "${unpacked}/bin")
add_test(NAME documented_commands
         COMMAND ${check_docs} --kind in-tree --root "${unpacked}" $<TARGET_FILE_DIR:documented_ir_opt> "${document}")

add_executable(documented_unit "${unpacked}/test/unit/transform/remove_no_ops_test.cpp" $<TARGET_OBJECTS:documented_pass>)
target_include_directories(documented_unit PRIVATE "${unpacked}/include" "${CMAKE_CURRENT_SOURCE_DIR}/unit"
                           "${CMAKE_CURRENT_SOURCE_DIR}/unit/transform" "${PROJECT_SOURCE_DIR}/lib")
target_compile_options(documented_unit PRIVATE $<$<CONFIG:Release>:-O0>)
target_link_libraries(documented_unit PRIVATE iropt_transform ${catch2_main})
add_test(NAME documented_unit COMMAND documented_unit)

if(IROPT_LIT AND IROPT_FILECHECK AND IROPT_NOT)
  file(READ "${CMAKE_CURRENT_BINARY_DIR}/lit.site.cfg.py" site)
  string(REPLACE "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" "${unpacked}/bin" site "${site}")
  file(WRITE "${unpacked}/test/lit.site.cfg.py" "${site}config.test_source_root = config.test_exec_root = \"${unpacked}/test\"\n")
  add_test(NAME documented_lit COMMAND Python3::Interpreter "${IROPT_LIT}" -sv "${unpacked}/test")
  set_property(TEST documented_lit PROPERTY LABELS document)
endif()

if(IROPT_PLUGINS)
  # The plugin is built as users build theirs: against the package that the test `package` installs.
  set(package "${CMAKE_CURRENT_BINARY_DIR}/plugin/package/moved")
  add_test(NAME documented_plugin COMMAND ${check_docs} --kind plugin --root "${unpacked}" "${package}/bin" "${document}")
  set(flags "$<$<BOOL:${IROPT_SANITIZE}>:-fsanitize=${IROPT_SANITIZE}>")
  set_tests_properties(documented_plugin PROPERTIES FIXTURES_REQUIRED installed_package
                       ENVIRONMENT "PREFIX=${package};CXX=${CMAKE_CXX_COMPILER};CXXFLAGS=${flags};CMAKE_GENERATOR=${CMAKE_GENERATOR}")
  set_property(TEST documented_plugin PROPERTY LABELS document)
endif()
set_property(TEST documents documented_commands documented_unit PROPERTY LABELS document)

add_test(NAME test_names COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/scripts/check_test_names.py"
                                 "${PROJECT_SOURCE_DIR}/docs/pass_infrastructure.md")
set_property(TEST test_names PROPERTY LABELS document)
