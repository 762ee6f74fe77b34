# The toolchain of the preset `wasm`: Debian's clang-22, lld-22, libc++ and C library for WASI (wasi-libc), and what libc++ lacks
# there, web/runtime. Exceptions are those of WebAssembly.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(iropt_llvm "/usr/lib/llvm-22")
get_filename_component(iropt_wasi_runtime "${CMAKE_CURRENT_LIST_DIR}/../web/runtime" ABSOLUTE)
set(CMAKE_CXX_COMPILER "${iropt_llvm}/bin/clang++")
set(CMAKE_C_COMPILER "${iropt_llvm}/bin/clang")
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasip1)
set(CMAKE_C_COMPILER_TARGET wasm32-wasip1)
set(CMAKE_AR "/usr/bin/llvm-ar-22")
set(CMAKE_RANLIB "/usr/bin/llvm-ranlib-22")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(iropt_wasi_libc "-isystem /usr/include/wasm32-wasi")
string(CONCAT CMAKE_CXX_FLAGS_INIT "-nostdinc++ -nostdlibinc -isystem ${iropt_wasi_runtime}/include "
                                   "-isystem ${iropt_llvm}/include/wasm32-wasi/c++/v1 ${iropt_wasi_libc} -fwasm-exceptions "
                                   "-D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_PROCESS_CLOCKS")
set(CMAKE_C_FLAGS_INIT "-nostdlibinc ${iropt_wasi_libc}")
# Modules of WebAssembly have one kind of code.
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(IROPT_PLAIN_SYSTEM ON)
