# What TVM 0.18 did with its own test programs. Each line is a share of cases that must agree, both of all cases and of
# those that a tool which prints its input unchanged would fail; it only ever goes up.
function(iropt_add_conformance name minimum)
  add_test(NAME conformance_${name}
           COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/conformance.py"
                   "--folder=${IROPT_CONFORMANCE_DIR}" -- --ir-opt $<TARGET_FILE:ir-opt> --min ${minimum} ${ARGN})
  set_tests_properties(conformance_${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3600 LABELS conformance)
endfunction()

iropt_add_conformance(roundtrip 0.98 --kind roundtrip)
iropt_add_conformance(well_formed 0.97 --kind well_formed)
# The passes that there are.
iropt_add_conformance(pass 0.95 --kind pass --pass Normalize --pass CanonicalizeBindings --pass EliminateCommonSubexpr
                      --pass DeadCodeElimination --pass FoldConstant)
