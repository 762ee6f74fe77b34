// The whole of ir-run but its command line: reads a module, runs passes on it, runs one of its functions on tensors of
// files or on random ones, and writes, shows or compares what it returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "iropt/driver/driver_options.h"

namespace iropt {

// How PrimFuncs are run.
enum class LoopMode : uint8_t {
  Interpret,  // every access is checked, and nothing is read that was not written
  Compile,    // as machine code
};

struct ProgramOptions {
  DriverOptions driver;  // the input, and the pipeline that runs before

  std::string entry = "main";
  // Files of tensors: names are those of parameters, or say positions ("0", "arr_0", "arg_0"); a tensor without a name
  // is for the next parameter that has none.
  std::vector<std::string> inputs;
  bool random_inputs = false;    // for what the files do not give
  uint64_t seed = 0;             // of random inputs and random operators
  std::vector<std::string> sym;  // "n=16": sizes of random inputs

  LoopMode loops = LoopMode::Interpret;
  std::string cache_dir;   // where compiled loops are kept between runs; empty: nowhere
  bool emit_llvm = false;  // show the code of the compiled loops on stdout, and run nothing

  // out0, out1, ...: the tensors that the function returns, those of tuples one after the other. Files hold no tensors
  // of rank 0: these have the shape (1,) there, as inputs may.
  std::optional<std::string> output;
  std::optional<std::string> check;  // a file with what is expected
  std::optional<double> relative_tolerance;
  std::optional<double> absolute_tolerance;
  bool print = false;  // what came out, on stdout
  bool time = false;   // a table of what was called, on stderr
  bool trace = false;  // each binding with its value in short, on stderr
};

// Does what the options ask for and returns the exit code: 6 where the run fails or what came out is not what was
// expected. Lines that the program prints go to stdout.
int RunProgram(const ProgramOptions& options);

}  // namespace iropt
