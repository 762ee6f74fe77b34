# Documents are tests: the output of their examples is compared, and the walk-throughs are followed to the letter. Their
# files are unpacked next to copies of the ones that they change, and these are built and run. One ir-opt contains the
# additions of all of them, because linking takes long.
set(check_docs Python3::Interpreter "${PROJECT_SOURCE_DIR}/scripts/check_docs.py")
add_test(NAME documents COMMAND ${check_docs} $<TARGET_FILE_DIR:ir-opt>)

set(unpacked "${CMAKE_CURRENT_BINARY_DIR}/documented")
set(documented)          # the documents, in the order in which they are followed
set(documented_changes)  # files of the repository that they change

# iropt_follow_document(<name> CHANGES <file>...): docs/<name>.md is followed.
function(iropt_follow_document name)
  cmake_parse_arguments(arg "" "" "CHANGES" ${ARGN})
  list(TRANSFORM arg_CHANGES PREPEND "${PROJECT_SOURCE_DIR}/")
  set(documented ${documented} "${PROJECT_SOURCE_DIR}/docs/${name}.md" PARENT_SCOPE)
  set(documented_changes ${documented_changes} ${arg_CHANGES} PARENT_SCOPE)
endfunction()

set(pass_table CHANGES passes.def docs/passes_by_purpose.md)
iropt_follow_document(adding_a_pass ${pass_table})
iropt_follow_document(adding_a_tir_pass ${pass_table})

list(REMOVE_DUPLICATES documented_changes)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${documented} ${documented_changes}
             "${PROJECT_SOURCE_DIR}/scripts/unpack_document.py")
execute_process(COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/scripts/unpack_document.py" "${unpacked}" ${documented}
                COMMAND_ERROR_IS_FATAL ANY)

file(GLOB_RECURSE documented_sources "${unpacked}/lib/*.cpp")
iropt_tables(passes_rows "${unpacked}/passes.def" "${unpacked}/generated")
file(GLOB documented_rows "${unpacked}/generated/transform/passes/*.cpp")
add_library(documented_code OBJECT ${documented_sources} ${documented_rows})
target_include_directories(documented_code BEFORE PRIVATE "${unpacked}/generated/public" "${unpacked}/include"
                           "${PROJECT_SOURCE_DIR}/lib" "${IROPT_GENERATED_HEADERS}")
target_link_libraries(documented_code PRIVATE iropt_transform)
target_compile_options(documented_code PRIVATE $<$<CONFIG:Release>:-O0>)

execute_process(COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${unpacked}/docs/passes" "-DOUTPUT=${unpacked}/pass_examples.cpp"
                        -P "${PROJECT_SOURCE_DIR}/cmake/EmbedExamples.cmake"
                COMMAND_ERROR_IS_FATAL ANY)
add_executable(documented_ir_opt $<TARGET_OBJECTS:ir-opt> $<TARGET_OBJECTS:documented_code> "${unpacked}/pass_examples.cpp")
target_include_directories(documented_ir_opt PRIVATE "${PROJECT_SOURCE_DIR}/lib/driver")
target_link_libraries(documented_ir_opt PRIVATE iropt_cli)
set_target_properties(documented_ir_opt PROPERTIES OUTPUT_NAME ir-opt RUNTIME_OUTPUT_DIRECTORY "${unpacked}/bin")
add_test(NAME documented_commands
         COMMAND ${check_docs} --kind in-tree --root "${unpacked}" $<TARGET_FILE_DIR:documented_ir_opt> ${documented})

add_test(NAME documented_pass_groups COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/pass_groups.py"
                                             $<TARGET_FILE:documented_ir_opt> "${unpacked}/docs/passes_by_purpose.md")

file(GLOB_RECURSE documented_tests "${unpacked}/test/unit/*_test.cpp")
add_executable(documented_unit ${documented_tests} $<TARGET_OBJECTS:documented_code>)
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
  add_test(NAME documented_plugin COMMAND ${check_docs} --kind plugin --root "${unpacked}" "${package}/bin" ${documented})
  set_tests_properties(documented_plugin PROPERTIES FIXTURES_REQUIRED installed_package
                       ENVIRONMENT "PREFIX=${package};CXX=${CMAKE_CXX_COMPILER};CXXFLAGS=${iropt_sanitizer_flags};CMAKE_GENERATOR=${CMAKE_GENERATOR}")
  set_property(TEST documented_plugin PROPERTY LABELS document)
endif()
set_property(TEST documents documented_commands documented_pass_groups documented_unit PROPERTY LABELS document)

add_test(NAME test_names COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/scripts/check_test_names.py"
                                 "${CMAKE_CURRENT_SOURCE_DIR}/unit/pass/pass_infrastructure.md")
set_property(TEST test_names PROPERTY LABELS document)

# A walk-through on examples in a folder of its own. Compiled loops need LLVM.
function(iropt_add_walk_through name document)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/documented_${name}")
  foreach(file IN LISTS ARGN)
    configure_file("${PROJECT_SOURCE_DIR}/examples/${file}" "${folder}/${file}" COPYONLY)
  endforeach()
  set(arguments --root "${folder}" "$<TARGET_FILE_DIR:ir-opt>" "${PROJECT_SOURCE_DIR}/docs/${document}")
  add_test(NAME documented_${name} COMMAND ${check_docs} --kind ${name} ${arguments})
  set_tests_properties(documented_${name} PROPERTIES LABELS document FIXTURES_SETUP documented_${name})
  if(IROPT_HAVE_LLVM)
    add_test(NAME documented_compiled_${name} COMMAND ${check_docs} --kind compiled-${name} ${arguments})
    set_tests_properties(documented_compiled_${name} PROPERTIES LABELS document FIXTURES_REQUIRED documented_${name})
  endif()
endfunction()
# A model from end to end, and a schedule from the graph to a run.
iropt_add_walk_through(model end_to_end.md cnn.ir cnn.safetensors)
iropt_add_walk_through(schedule schedules.md two_convs.ir two_convs.trace)

# The commands of documents that are not run name what there is.
add_test(NAME check_commands COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/scripts/check_commands.py" "${PROJECT_BINARY_DIR}")
add_test(NAME check_commands_self_test COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/check_commands_test.py")
set_tests_properties(check_commands check_commands_self_test PROPERTIES LABELS document)
