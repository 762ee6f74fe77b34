# cmake -DFOLDER=<docs/passes> -DOUTPUT=<file.cpp> -P EmbedExamples.cmake: the examples of passes as a C++ table, in the
# order of their names.
file(GLOB examples "${FOLDER}/*.ir")
list(SORT examples)
set(table "#include \"pass_examples.h\"\n\nnamespace iropt {\n\nnamespace {\n\nconstexpr PassExample kExamples[] = {\n")
foreach(example IN LISTS examples)
  get_filename_component(name "${example}" NAME_WLE)
  file(READ "${example}" text)
  string(APPEND table "    {\"${name}\", R\"example(${text})example\"},\n")
endforeach()
string(APPEND table "};\n\n}  // namespace\n\nstd::span<const PassExample> PassExamples() { return kExamples; }\n\n}  // namespace iropt\n")
file(WRITE "${OUTPUT}" "${table}")
