# Precompiled headers: those of the standard library and of fmt that most sources use. They only save time: every file
# includes the headers that it needs, which -DIROPT_PCH=OFF checks. The project's own headers are not among them: ccache
# takes a precompiled header for the same when only comments differ, and then `#pragma once` no longer knows its files.
set(IROPT_PCH_HEADERS <algorithm> <array> <cstddef> <cstdint> <cstring> <functional> <map> <memory> <numeric> <optional>
                      <set> <span> <string> <string_view> <tuple> <unordered_map> <unordered_set> <utility> <variant>
                      <vector> <fmt/format.h> <fmt/ranges.h>)

# iropt_precompile_headers(<target> <group> [<compiler option>...])
#
# Precompiles the headers above. Targets of a group with the same additional options share the result of the first of
# them, so they are all libraries (-fPIC) or all programs (-fPIE), and have the same definitions and visibility. Options
# include the level of optimization: GCC 12 takes a header that was precompiled at another one, but then compiles some
# loops wrong, and Clang refuses it. Sources with a level of their own skip the headers (SKIP_PRECOMPILE_HEADERS).
function(iropt_precompile_headers target group)
  if(NOT IROPT_PCH)
    return()
  endif()
  string(MAKE_C_IDENTIFIER "${group} ${ARGN}" group)
  get_property(first GLOBAL PROPERTY iropt_pch_${group})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${IROPT_PCH_HEADERS})
    set_property(GLOBAL PROPERTY iropt_pch_${group} ${target})
  endif()
endfunction()
