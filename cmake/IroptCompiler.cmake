# Compiler settings: language level, warnings, optimization, sanitizers, and faster tools where installed.
include(CheckLinkerFlag)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
# Assertions are IROPT_CHECK, which no build type turns off.
option(IROPT_QUICK_BUILD "Optimize less, to build sooner" OFF)
if(IROPT_QUICK_BUILD)
  # Quicker than -O0: functions of headers are inlined instead of being compiled and assembled by themselves. xxHash forces
  # functions to be inlined that GCC does not inline at this level.
  set(CMAKE_CXX_FLAGS_RELEASE "-Og -DNDEBUG -DXXH_NO_INLINE_HINTS=1 -w")
else()
  set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(pch_default ON)
else()
  set(pch_default OFF)  # Clang gains little
endif()
option(IROPT_PCH "Compile the headers of the standard library and of fmt once" ${pch_default})

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(IROPT_CCACHE ccache)
  if(IROPT_CCACHE)
    # Paths are relative for the compiler, so that clones share what was compiled. The second setting is required by
    # ccache's manual, "Precompiled headers".
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}")
    if(IROPT_PCH)
      list(APPEND CMAKE_CXX_COMPILER_LAUNCHER "CCACHE_SLOPPINESS=pch_defines,time_macros")
    endif()
    list(APPEND CMAKE_CXX_COMPILER_LAUNCHER "${IROPT_CCACHE}")
  endif()
endif()
if(IROPT_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)
elseif(IROPT_PCH)
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()

# Every operation is rounded, also on processors with fused multiply-add: values do not depend on the machine.
add_compile_options(-ffp-contract=off)

add_compile_options(-Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Clang's warning has no level that allows constructor parameters named like fields.
  add_compile_options(-Wshadow=local)
  # GCC 12 warns of overlapping copies inside of std::string's own operator+ (GCC bug 105651).
  add_compile_options(-Wno-restrict)
  # Below -O3, GCC 12 does not see that moving an optional or a variant reads only the value that it has.
  add_compile_options(-Wno-maybe-uninitialized)
  # GCC 12 crashes in this pass when it compiles much at once, and programs are as fast without.
  add_compile_options(-fno-ipa-cp)
  # GCC collects garbage when its heap has grown by a third. That takes a tenth of its time, and few sources need more
  # than 1 GB without.
  add_compile_options("SHELL:--param ggc-min-heapsize=800000" "SHELL:--param ggc-min-expand=100")
endif()
if(IROPT_WERROR)
  add_compile_options(-Werror)
endif()
# Messages of failed checks and debug information name files within the project, not where it was built: with absolute
# paths, and with those that ccache makes of them.
file(RELATIVE_PATH iropt_source_dir "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}")
add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=" "-ffile-prefix-map=${iropt_source_dir}=")

find_program(IROPT_MOLD NAMES mold ld.mold)
find_program(IROPT_LLD NAMES ld.lld)
foreach(linker mold lld)
  string(TOUPPER "IROPT_${linker}" found)
  if(${found} AND NOT IROPT_LTO AND NOT IROPT_PLAIN_SYSTEM)
    check_linker_flag(CXX "-fuse-ld=${linker}" IROPT_HAVE_LINKER_${linker})
    if(IROPT_HAVE_LINKER_${linker})
      add_link_options("-fuse-ld=${linker}")
      break()
    endif()
  endif()
endforeach()

if(IROPT_LTO)
  include(CheckIPOSupported)
  check_ipo_supported(LANGUAGES CXX)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

# What Debian's packages are compiled with (dpkg-buildflags, "hardening=+all"), and assertions of the standard library.
if(IROPT_HARDEN)
  add_compile_options(-D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong -fstack-clash-protection
                      -Wformat -Werror=format-security)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    add_compile_options(-fcf-protection)
  endif()
  add_link_options(LINKER:-z,relro LINKER:-z,now)
endif()

# Plugins are compiled with these, too.
set(iropt_sanitizer_flags "")
if(IROPT_SANITIZE)
  set(iropt_sanitizer_flags "-fsanitize=${IROPT_SANITIZE}")
  add_compile_options("${iropt_sanitizer_flags}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options("${iropt_sanitizer_flags}")
endif()
