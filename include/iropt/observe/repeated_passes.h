// The times of passes in repeated runs of a pipeline, for -repeat.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "iropt/pass/timing.h"

namespace iropt {

class RepeatedPasses {
 public:
  // Adds a run of the same pipeline on the same module.
  void Add(const PassTimingInstrument& timing);

  // A table with the median, the least and greatest time and the spread of each position of the pipeline, nested as
  // the pipeline is. Times are elapsed ones, with those of nested passes.
  std::string Render() const;
  // Renders the table as a line of JSON. `subject` names the input.
  std::string RenderJson(std::string_view subject) const;

 private:
  struct Position {
    std::string name;
    int depth = 0;
    std::vector<double> seconds = {};  // by run
  };

  void AddProfiles(const std::vector<PassProfile>& profiles, int depth, size_t& next);

  std::vector<Position> positions_ = {};
  size_t num_runs_ = 0;
};

}  // namespace iropt
