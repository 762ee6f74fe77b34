# cmake -DFOLDER=<lib/observe/report/page> -DSCRIPTS=<a.js,b.js> -DOUTPUT=<file.cpp> -P EmbedReportPage.cmake: the
# sources of the page of -report as C++. The scripts are one program, in this order.
function(append_literal name file)
  file(READ "${FOLDER}/${file}" text)
  string(LENGTH "${text}" length)
  set(pieces "")
  # Compilers limit the length of a literal.
  foreach(begin RANGE 0 ${length} 12000)
    string(SUBSTRING "${text}" ${begin} 12000 piece)
    string(APPEND pieces "R\"piece(${piece})piece\"\n")
  endforeach()
  set(${name} "${${name}}${pieces}" PARENT_SCOPE)
endfunction()

append_literal(page page.html)
append_literal(style page.css)
string(REPLACE "," ";" scripts "${SCRIPTS}")
foreach(file IN LISTS scripts)
  append_literal(script ${file})
endforeach()
file(WRITE "${OUTPUT}" "#include \"page_sources.h\"\n\nnamespace iropt {\n\nPageSources ReportPageSources() {\n  return {${page},\n${style},\n${script}};\n}\n\n}  // namespace iropt\n")
