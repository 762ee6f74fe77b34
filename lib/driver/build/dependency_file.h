// Dependency files as compilers write them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace iropt {

// The rule "target: files", in the syntax that Make and Ninja have in common: blanks and '#' get a backslash, '$' is
// doubled.
std::string RenderDependencies(std::string_view target, std::span<const std::string> files);

// The path with the extension .d instead of its own.
std::string DependencyFileOf(const std::string& output);

}  // namespace iropt
