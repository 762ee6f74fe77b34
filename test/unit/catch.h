// Catch2 2 and 3 have different headers and some different names; tests include this header and use the older ones.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace Catch {
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }
inline auto StartsWith(const std::string& text) { return Matchers::StartsWith(text); }
inline auto EndsWith(const std::string& text) { return Matchers::EndsWith(text); }
}  // namespace Catch
#else
#include <catch2/catch.hpp>
#endif
