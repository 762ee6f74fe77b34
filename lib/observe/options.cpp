#include "iropt/observe/options.h"

#include "iropt/support/check.h"

namespace iropt {

std::string_view NameOf(ChangePrinting mode) {
  switch (mode) {
    case ChangePrinting::Off: return "";
    case ChangePrinting::All: return "all";
    case ChangePrinting::Quiet: return "quiet";
    case ChangePrinting::Diff: return "diff";
    case ChangePrinting::ColourDiff: return "cdiff";
  }
  IROPT_UNREACHABLE("a way to print changes {}", static_cast<int>(mode));
}

ChangePrinting ChangePrintingOf(std::string_view word) {
  for (const ChangePrinting mode :
       {ChangePrinting::All, ChangePrinting::Quiet, ChangePrinting::Diff, ChangePrinting::ColourDiff}) {
    if (NameOf(mode) == word) return mode;
  }
  return ChangePrinting::Off;
}

}  // namespace iropt
