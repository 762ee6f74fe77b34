// The sources of the page, which the build compiles into the library.
#pragma once

#include <string_view>

namespace iropt {

struct PageSources {
  std::string_view page;    // with @@style@@, @@script@@ and @@data@@
  std::string_view style;   // CSS
  std::string_view script;  // JavaScript
};

PageSources ReportPageSources();

}  // namespace iropt
