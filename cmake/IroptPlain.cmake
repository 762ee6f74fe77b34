# Builds for a plain system: one thread, no processes, no shared objects, files that are read and written (the preset `wasm`).
# lib/AREA/plain/NAME.cpp then replaces lib/AREA/NAME.cpp.
option(IROPT_PLAIN_SYSTEM "Build without threads, processes and shared objects" OFF)

# iropt_choose_sources(<list>): leaves the sources of the system that is built for.
function(iropt_choose_sources list)
  set(plain ${${list}})
  list(FILTER plain INCLUDE REGEX "/plain/[^/]+\\.cpp$")
  set(sources ${${list}})
  if(IROPT_PLAIN_SYSTEM)
    list(TRANSFORM plain REPLACE "/plain/([^/]+)$" "/\\1" OUTPUT_VARIABLE replaced)
    list(REMOVE_ITEM sources ${replaced} "")
  else()
    list(REMOVE_ITEM sources ${plain} "")
  endif()
  set(${list} ${sources} PARENT_SCOPE)
endfunction()

if(NOT IROPT_PLAIN_SYSTEM)
  return()
endif()

# The libraries that are headers, which Debian has for all machines, in a folder without the headers of this machine.
set(iropt_headers "${PROJECT_BINARY_DIR}/packages")
file(MAKE_DIRECTORY "${iropt_headers}")
# Small and fast: what takes time has loops that -O3 unrolls for little.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
foreach(header fmt nlohmann rapidjson CLI protozero xxhash.h eigen3/Eigen)
  get_filename_component(name "${header}" NAME)
  if(NOT EXISTS "/usr/include/${header}")
    message(FATAL_ERROR "/usr/include/${header} was not found; scripts/web.sh installs what is needed")
  endif()
  file(CREATE_LINK "/usr/include/${header}" "${iropt_headers}/${name}" SYMBOLIC)
endforeach()
# A function of the header changes a field and is const, which Clang refuses even where nothing calls it.
file(COPY "/usr/include/dtl" DESTINATION "${iropt_headers}")
file(READ "${iropt_headers}/dtl/Diff.hpp" header)
string(REPLACE "void enableTrivial () const" "void enableTrivial ()" header "${header}")
file(WRITE "${iropt_headers}/dtl/Diff.hpp" "${header}")
foreach(library fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11 Eigen3::Eigen)
  add_library(${library} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${library} SYSTEM INTERFACE "${iropt_headers}")
endforeach()
set(RAPIDJSON_INCLUDE_DIRS "${iropt_headers}")
set(XXHASH_INCLUDE_DIR "${iropt_headers}")
set(DTL_INCLUDE_DIR "${iropt_headers}")
set(PROTOZERO_INCLUDE_DIR "${iropt_headers}")

# zlib's sources, of which unpacking and checksums are used.
file(GLOB iropt_zlib_folder "${PROJECT_BINARY_DIR}/zlib-*")
if(NOT iropt_zlib_folder)
  message(FATAL_ERROR "the sources of zlib were not found in ${PROJECT_BINARY_DIR}; scripts/web.sh puts them there")
endif()
enable_language(C)
list(TRANSFORM iropt_zlib_folder APPEND "/" OUTPUT_VARIABLE iropt_zlib)
set(iropt_zlib_sources adler32.c crc32.c inffast.c inflate.c inftrees.c zutil.c)
list(TRANSFORM iropt_zlib_sources PREPEND "${iropt_zlib}")
add_library(iropt_zlib STATIC ${iropt_zlib_sources})
set_target_properties(iropt_zlib PROPERTIES UNITY_BUILD OFF)
target_include_directories(iropt_zlib SYSTEM PUBLIC "${iropt_zlib_folder}")
target_compile_options(iropt_zlib PRIVATE -w -O2)
add_library(ZLIB::ZLIB ALIAS iropt_zlib)

# iropt_link_wasi(<program>): links the program with the C library, libc++, web/runtime and web/prepare.cpp.
function(iropt_link_wasi program)
  file(GLOB runtime CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/web/runtime/*.cpp")
  add_library(iropt_wasi_runtime OBJECT ${runtime})
  set_target_properties(iropt_wasi_runtime PROPERTIES UNITY_BUILD OFF)
  # The loops of these functions are not calls of themselves.
  set_source_files_properties("${PROJECT_SOURCE_DIR}/web/runtime/memory.cpp" PROPERTIES COMPILE_OPTIONS -fno-builtin)
  target_link_libraries(iropt_wasi_runtime PRIVATE fmt::fmt)
  target_compile_features(iropt_wasi_runtime PRIVATE cxx_std_20)
  target_sources(${program} PRIVATE $<TARGET_OBJECTS:iropt_wasi_runtime> "${PROJECT_SOURCE_DIR}/web/prepare.cpp")
  set_target_properties(${program} PROPERTIES SUFFIX ".wasm")
  target_link_options(${program} PRIVATE -nostdlib LINKER:--gc-sections LINKER:--strip-all LINKER:--import-memory
                      LINKER:--export-memory LINKER:--export=__global_base LINKER:--export=__data_end
                      LINKER:--export=__heap_base LINKER:--export=__stack_pointer LINKER:--initial-memory=50331648 LINKER:--max-memory=4294967296 LINKER:-z,stack-size=16777216)
  # CLI11 reads numbers as long double, for which the C library has a part of its own.
  target_link_libraries(${program} PRIVATE "/usr/lib/wasm32-wasi/crt1.o" "-L/usr/lib/wasm32-wasi"
                        "-L${iropt_llvm}/lib/wasm32-wasi" c++ c++abi wasi-emulated-signal wasi-emulated-getpid
                        wasi-emulated-process-clocks c-printscan-long-double c
                        "${iropt_llvm}/lib/clang/22/lib/wasi/libclang_rt.builtins-wasm32.a")
endfunction()

# iropt_build_in_formats(<program>): links the shared objects of formats into the program. Where several have a function of the
# same name, the format's name is appended to that of all but one.
function(iropt_build_in_formats program)
  set(declared "")
  set(tables "")
  set(objects "")
  set(types "")
  set(taken "")
  get_property(formats GLOBAL PROPERTY iropt_formats)
  list(REVERSE formats)
  foreach(format IN LISTS formats)
    set(symbols "")
    get_target_property(sources ${format} SOURCES)
    foreach(source IN LISTS sources)
      file(STRINGS "${source}" lines REGEX "^extern \"C\" const iropt::")
      foreach(line IN LISTS lines)
        string(REGEX MATCH "const iropt::([A-Za-z]+)\\* (iropt[A-Za-z]+)\\(\\)" matched "${line}")
        set(type "${CMAKE_MATCH_1}")
        set(name "${CMAKE_MATCH_2}")
        set(own_name "${name}")
        if(name IN_LIST taken)
          set(own_name "${name}_${format}")
          target_compile_definitions(${format} PRIVATE "${name}=${own_name}")
        endif()
        list(APPEND taken "${name}")
        list(APPEND types "${type}")
        string(APPEND declared "extern \"C\" const iropt::${type}* ${own_name}();\n")
        string(APPEND symbols "{\"${name}\", reinterpret_cast<void*>(&${own_name})}, ")
      endforeach()
    endforeach()
    string(APPEND tables "const BuiltInSymbol ${format}[] = {${symbols}};\n")
    string(APPEND objects "{\"lib${format}.so\", ${format}}, ")
    target_link_libraries(${program} PRIVATE ${format})
  endforeach()
  list(REMOVE_DUPLICATES types)
  set(forward "")
  foreach(type IN LISTS types)
    string(APPEND forward "struct ${type};\n")
  endforeach()
  set(source "${PROJECT_BINARY_DIR}/generated/built_in_objects.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT "// Made by cmake/IroptPlain.cmake.
#include \"support/plain/built_in_objects.h\"

namespace iropt {
${forward}}

${declared}
namespace iropt {

namespace {

${tables}
const BuiltInObject objects[] = {${objects}};

}  // namespace

std::span<const BuiltInObject> BuiltInObjects() { return objects; }

}  // namespace iropt
")
  target_sources(${program} PRIVATE "${source}")
  target_include_directories(${program} PRIVATE "${PROJECT_SOURCE_DIR}/lib")
endfunction()
