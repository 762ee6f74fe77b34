// The answer of -precision: a table, JSON, or a page.
#pragma once

#include <optional>
#include <string>

#include "iropt/precision/choice.h"
#include "iropt/support/result.h"

namespace iropt {

struct PrecisionSummary {
  const precision::Choice& choice;
  const NumberFormat& format;
  std::optional<double> tolerance = {};  // nothing: all operators that may have the format
  size_t num_samples = 0;
  bool is_random = false;
  std::optional<double> checked = {};  // the error of the module that is written
  double seconds = 0;
};

// A line with the errors, then the operators that stay and those with the greatest errors.
std::string RenderPrecisionTable(const PrecisionSummary& summary);

// Writes all operators: as a page if the name of the file ends in .html, else as JSON.
Status WritePrecisionReport(const PrecisionSummary& summary, const std::string& path);

}  // namespace iropt
