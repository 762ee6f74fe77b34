# The tests of the WebAssembly build, which scripts/web.sh makes; without it they are skipped.
foreach(test runtime files size package runs bytes lit page firefox lit_all)
  add_test(NAME web_${test} COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/web/test/run.py" --native=$<TARGET_FILE:ir-opt> ${test})
  set_tests_properties(web_${test} PROPERTIES TIMEOUT 900 LABELS web SKIP_RETURN_CODE 77)
endforeach()
# The tests of the page measure what a run takes.
set_tests_properties(web_page web_firefox PROPERTIES RUN_SERIAL ON)
set_tests_properties(web_lit_all PROPERTIES TIMEOUT 3600 LABELS long)
