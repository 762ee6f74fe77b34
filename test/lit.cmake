# The lit suite. Debian and Ubuntu keep lit, FileCheck and not in the folders of an LLVM version.
set(llvm_bin)
set(llvm_lit)
foreach(version RANGE 22 14 -1)
  list(APPEND llvm_bin "/usr/lib/llvm-${version}/bin")
  list(APPEND llvm_lit "/usr/lib/llvm-${version}/build/utils/lit")
endforeach()
find_program(IROPT_LIT NAMES lit llvm-lit lit.py HINTS ${llvm_bin} ${llvm_lit} DOC "LLVM's test runner")
find_program(IROPT_FILECHECK NAMES FileCheck HINTS ${llvm_bin} DOC "LLVM's FileCheck")
find_program(IROPT_NOT NAMES not HINTS ${llvm_bin} DOC "LLVM's not")

# The suite is one test per folder, so that ctest runs several at a time; each of them runs one file at a time.
file(GLOB_RECURSE lit_files RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "*.ir" "*.test")
set(lit_folders)
foreach(file IN LISTS lit_files)
  string(REGEX REPLACE "/.*" "" folder "${file}")
  list(APPEND lit_folders "${folder}")
endforeach()
list(REMOVE_DUPLICATES lit_folders)
list(REMOVE_ITEM lit_folders fuzz tools unit)  # as in lit.cfg.py

if(IROPT_LIT AND IROPT_FILECHECK AND IROPT_NOT)
  get_filename_component(IROPT_FILECHECK_DIR "${IROPT_FILECHECK}" DIRECTORY)
  get_filename_component(IROPT_NOT_DIR "${IROPT_NOT}" DIRECTORY)
  configure_file(lit.site.cfg.py.in "${CMAKE_CURRENT_BINARY_DIR}/lit.site.cfg.py" @ONLY)
  set(lit Python3::Interpreter "${IROPT_LIT}")
  foreach(folder IN LISTS lit_folders)
    add_test(NAME lit_${folder} COMMAND ${lit} -sv -j 1 "${CMAKE_CURRENT_BINARY_DIR}/${folder}")
    set_tests_properties(lit_${folder} PROPERTIES TIMEOUT 1800 LABELS lit ENVIRONMENT "${test_environment}")
  endforeach()
  # lit finds the same tests in the whole suite as in the folders.
  add_test(NAME lit_folders COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/tools/lit_folders.py" "${IROPT_LIT}"
                                    "${CMAKE_CURRENT_BINARY_DIR}" ${lit_folders})
  set_tests_properties(lit_folders PROPERTIES LABELS lit)
else()
  # A suite that silently does not run looks like one that passes.
  add_test(NAME lit COMMAND "${CMAKE_COMMAND}" -E false)
  message(WARNING "lit, FileCheck or not was not found, so the test `lit` will fail; scripts/setup.sh installs them")
endif()
