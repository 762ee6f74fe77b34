# docs/adding_an_operator.md is followed to the letter: its changes are applied to copies of the files that it names,
# and these are built and run.
set(document "${PROJECT_SOURCE_DIR}/docs/adding_an_operator.md")
set(unpacked "${CMAKE_CURRENT_BINARY_DIR}/adding_an_operator")
set(types "${CMAKE_CURRENT_SOURCE_DIR}/unit/infer/types")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${document}" "${types}/nn.txt"
             "${PROJECT_SOURCE_DIR}/include/iropt/op/ops/activation.def" "${PROJECT_SOURCE_DIR}/lib/infer/types/nn.cpp"
             "${PROJECT_SOURCE_DIR}/lib/eval/kernels/convert.cpp"
             "${PROJECT_SOURCE_DIR}/lib/legalize/legalizations.def" "${PROJECT_SOURCE_DIR}/lib/legalize/ops/unary.cpp")
file(COPY "${types}" DESTINATION "${unpacked}/test/unit/infer")
execute_process(COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/scripts/unpack_document.py" "${unpacked}" "${document}"
                COMMAND_ERROR_IS_FATAL ANY)
set(headers "${unpacked}/generated")
iropt_tables(ops "${PROJECT_SOURCE_DIR}/include/iropt/op/ops.def" "${headers}" "${CMAKE_CXX_COMPILER}" "${unpacked}/include")

# The operator is the last of its family, so all others keep their ids: besides the files that the document changes, only
# those that depend on the whole table are compiled again.
add_library(documented_operator OBJECT
            "${unpacked}/lib/infer/types/nn.cpp" "${unpacked}/lib/eval/kernels/convert.cpp"
            "${headers}/op/op_rows.cpp"
            "${PROJECT_SOURCE_DIR}/lib/infer/type_rules.cpp" "${PROJECT_SOURCE_DIR}/lib/infer/layout_rules.cpp"
            "${PROJECT_SOURCE_DIR}/lib/eval/evaluator.cpp"
            "${unpacked}/lib/legalize/ops/unary.cpp" "${PROJECT_SOURCE_DIR}/lib/legalize/legalizations.cpp")
# No other program calls the function that makes a call of the operator.
add_library(documented_operator_calls OBJECT "${headers}/op_builder/activation.cpp")
foreach(library documented_operator documented_operator_calls)
  target_include_directories(${library} BEFORE PRIVATE "${unpacked}/include" "${headers}/public" "${unpacked}/lib"
                             "${PROJECT_SOURCE_DIR}/lib" "${PROJECT_SOURCE_DIR}/lib/op" "${PROJECT_SOURCE_DIR}/lib/infer"
                             "${PROJECT_SOURCE_DIR}/lib/eval/kernels")
  target_compile_options(${library} PRIVATE $<$<CONFIG:Release>:-O0>)
  target_link_libraries(${library} PRIVATE iropt_eval iropt_legalize)
endforeach()

add_executable(documented_operator_ir_opt $<TARGET_OBJECTS:ir-opt> $<TARGET_OBJECTS:documented_operator>)
target_link_libraries(documented_operator_ir_opt PRIVATE iropt_cli)
set_target_properties(documented_operator_ir_opt PROPERTIES OUTPUT_NAME ir-opt RUNTIME_OUTPUT_DIRECTORY "${unpacked}/bin")
add_test(NAME documented_operator_commands
         COMMAND ${check_docs} --kind in-tree --root "${unpacked}" $<TARGET_FILE_DIR:documented_operator_ir_opt> "${document}")

add_executable(documented_operator_infer $<TARGET_OBJECTS:unit_infer> $<TARGET_OBJECTS:documented_operator>)
target_link_libraries(documented_operator_infer PRIVATE iropt_eval iropt_legalize iropt_text ${catch2_main})
add_test(NAME documented_operator_types COMMAND documented_operator_infer "calls have the types*,every operator is among*")
add_executable(documented_operator_eval $<TARGET_OBJECTS:unit_eval> $<TARGET_OBJECTS:documented_operator>)
target_link_libraries(documented_operator_eval PRIVATE iropt_eval iropt_legalize iropt_text ${catch2_main})
add_test(NAME documented_operator_values COMMAND documented_operator_eval "values: calls*,kernels: *")
set_property(TEST documented_operator_types documented_operator_values PROPERTY ENVIRONMENT "IROPT_TYPE_CASES=${unpacked}/test/unit/infer/types")
set_property(TEST documented_operator_commands documented_operator_types documented_operator_values PROPERTY LABELS document)
