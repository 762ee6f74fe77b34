# The target `documents`: docs/*.md with the tables that are made of rows, in build/documents, which are installed and of
# which the site is made. What has kernels is known to a program that prints the table of operators.
add_executable(operators_document "${PROJECT_SOURCE_DIR}/scripts/tables/operators_document.cpp")
target_link_libraries(operators_document PRIVATE iropt_eval)
file(GLOB documents CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md")
file(GLOB_RECURSE scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/scripts/tables/*.py")
file(GLOB_RECURSE rows CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/exchange/*/ops/*.cpp" "${PROJECT_SOURCE_DIR}/lib/exchange/onnx/run/*.cpp")
set(IROPT_DOCUMENTS "${PROJECT_BINARY_DIR}/documents")
add_custom_command(OUTPUT "${IROPT_DOCUMENTS}/stamp"
                   COMMAND "${CMAKE_COMMAND}" -E env "CXX=${CMAKE_CXX_COMPILER}" "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/scripts/tables"
                           documents "${IROPT_DOCUMENTS}" "$<TARGET_FILE:operators_document>"
                   COMMAND "${CMAKE_COMMAND}" -E touch "${IROPT_DOCUMENTS}/stamp"
                   DEPENDS ${documents} ${scripts} ${rows} operators_document
                           "${PROJECT_SOURCE_DIR}/include/iropt/schedule/primitives.def"
                   COMMENT "Documents with their tables"
                   VERBATIM)
add_custom_target(documents ALL DEPENDS "${IROPT_DOCUMENTS}/stamp")
