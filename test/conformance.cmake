# Recorded results of TVM 0.18 on its own test programs. All cases must agree, apart from those of known_differences.txt.
function(iropt_add_conformance name kind)
  add_test(NAME conformance_${name}
           COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/conformance.py"
                   "--folder=${IROPT_CONFORMANCE_DIR}" --kind=${kind} --ir-opt=$<TARGET_FILE:ir-opt> ${ARGN})
  set_tests_properties(conformance_${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3600 LABELS conformance)
endfunction()

iropt_add_conformance(roundtrip roundtrip)
iropt_add_conformance(well_formed well_formed)
iropt_add_conformance(pass pass --level=graph)
iropt_add_conformance(tir_pass pass --level=tir)
foreach(kind schedule relay_text relay_types relay_pass)
  iropt_add_conformance(${kind} ${kind})
endforeach()

# The same of TVM's newest version.
foreach(kind roundtrip well_formed pass schedule dlight)
  iropt_add_conformance(${kind}_0.27 ${kind} --cases cases_0.27)
endforeach()

# Functions, with what TVM's compiled code computed on recorded inputs.
foreach(kind value relay_value)
  iropt_add_conformance(${kind} ${kind} -- --ir-run "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ir-run")
endforeach()

# Real models: the one in the repository, and those of the conformance folder.
add_test(NAME model_example
         COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/models.py" --ir-opt $<TARGET_FILE:ir-opt>
                 "${PROJECT_SOURCE_DIR}/examples/resnet50.ir")
add_test(NAME models
         COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/models.py" --ir-opt $<TARGET_FILE:ir-opt>
                 "${IROPT_CONFORMANCE_DIR}/../corpus/models")
set_tests_properties(model_example models PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3600 LABELS conformance)

# iropt_add_sampled_test(<name> <script> COMMON <argument>... SAMPLE <argument>... [ALL <argument>...])
#
# The test <name> looks at a sample, which every run of the tests does; the test all_<name>, labelled `long`, at everything.
set(corpus "${IROPT_CONFORMANCE_DIR}/../corpus/models")
function(iropt_add_sampled_test name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "COMMON;SAMPLE;ALL")
  set(command Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/${script}" ${arg_COMMON})
  add_test(NAME ${name} COMMAND ${command} ${arg_SAMPLE})
  add_test(NAME all_${name} COMMAND ${command} ${arg_ALL})
  set_tests_properties(${name} all_${name} PROPERTIES SKIP_RETURN_CODE 77)
  set_tests_properties(${name} PROPERTIES TIMEOUT 3600 LABELS conformance)
  set_tests_properties(all_${name} PROPERTIES TIMEOUT 36000 LABELS long)
endfunction()

set(small_models squeezenet shufflenet llama_2l_tiny lfm2_decoder_tiny)
set(small_files ${small_models} resnet50 resnet50.legalized resnet50.fused resnet50.lowered)
list(TRANSFORM small_files REPLACE "(.+)" "${corpus}/\\1.ir")
iropt_add_sampled_test(passes_on_models passes_on_models.py COMMON --ir-opt $<TARGET_FILE:ir-opt>
                       SAMPLE ${small_files} ALL "${corpus}")
iropt_add_sampled_test(semantics_on_models semantics_on_models.py
                       COMMON --ir-opt $<TARGET_FILE:ir-opt> --budget 100000000000 "${corpus}"
                       SAMPLE --model llama_2l_tiny
                       ALL --model squeezenet --model shufflenet --model llama_2l_tiny --model lfm2_decoder_tiny)
iropt_add_sampled_test(compared_by_default compared_by_default.py COMMON --ir-opt $<TARGET_FILE:ir-opt>
                       SAMPLE ${small_files} ALL "${corpus}")

# What exists in the text of two versions is the same after it was moved to the other one and back.
iropt_add_sampled_test(translation translation.py
                       COMMON --ir-opt $<TARGET_FILE:ir-opt> --folder "${IROPT_CONFORMANCE_DIR}" --minimum 0.965 --same 0.92
                       SAMPLE --sample 300)

# What is the same program in the tests of both versions is printed as the newest version printed it.
iropt_add_sampled_test(same_programs same_programs.py
                       COMMON --ir-opt $<TARGET_FILE:ir-opt> --folder "${IROPT_CONFORMANCE_DIR}" --minimum 0.87
                       SAMPLE --sample 300)

# TIR passes keep what functions compute: recorded modules, functions of models, and random ones, interpreted and compiled.
if(IROPT_HAVE_LLVM)
  set(compiled --ir-run "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ir-run")
  set(forms --forms)
else()
  set(interpret --interpret)
endif()
iropt_add_sampled_test(tir_values tir_values.py
                       COMMON --ir-opt $<TARGET_FILE:ir-opt> --models "${corpus}" --budget 5000000 ${compiled}
                              "${IROPT_CONFORMANCE_DIR}"
                       SAMPLE --recorded 20 --from-models 4 --random 20)

# Kernels whose threads exchange values: right ones, and ones that lack a barrier.
iropt_add_sampled_test(thread_kernels thread_kernels.py
                       COMMON --ir-opt $<TARGET_FILE:ir-opt> --ir-run "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ir-run" ${interpret}
                       SAMPLE --count 12)

# Races of random kernels, which are also found by trying everything.
iropt_add_sampled_test(race_kernels race_kernels.py COMMON --ir-opt $<TARGET_FILE:ir-opt>
                       SAMPLE --count 80 ALL --count 4000 --seed 2)

# A race is found in each kernel that lacks one of its barriers.
iropt_add_sampled_test(barriers barriers.py
                       COMMON --ir-opt $<TARGET_FILE:ir-opt> --ir-run "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ir-run"
                              "${IROPT_CONFORMANCE_DIR}"
                       SAMPLE --sample 12 --undecided 0.2)

# Random PrimFuncs compute what an interpreter of their text says that shares nothing with the library.
if(IROPT_HAVE_LLVM)
  iropt_add_sampled_test(reference_values reference_values.py
                         COMMON --ir-opt $<TARGET_FILE:ir-opt> --ir-run "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ir-run"
                                --cpus haswell,x86-64
                         SAMPLE --functions 60 ALL --functions 5000 --seed 2)
endif()

# What models compute, before and after -O3, and in other forms if loops can be compiled.
iropt_add_sampled_test(run_models run_models.py COMMON --ir-run "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ir-run" ${forms} "${corpus}"
                       SAMPLE --model squeezenet --model llama_2l_tiny --model lfm2_decoder_tiny --model resnet50)

# With their weights bound, -O3 folds all batch norms, and no level makes a model bigger.
add_test(NAME levels_on_models
         COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/bench/models.py" --ir-opt $<TARGET_FILE:ir-opt> --runs=1
                 --check "${IROPT_CONFORMANCE_DIR}/../corpus/models")
set_tests_properties(levels_on_models PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3600 LABELS conformance)

# Planned memory is at most TVM's.
add_test(NAME planned_memory
         COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/planned_memory.py"
                 --ir-opt $<TARGET_FILE:ir-opt> "--folder=${IROPT_CONFORMANCE_DIR}")
set_tests_properties(planned_memory PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3600 LABELS conformance)

# Type inference restores the annotations of bindings.
add_test(NAME inference
         COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/inference.py" --ir-opt $<TARGET_FILE:ir-opt>
                 "--folder=${IROPT_CONFORMANCE_DIR}" --min=0.99)
set_tests_properties(inference PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3600 LABELS conformance)
