// Options of a CompilerInstance, common to all tools.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "iropt/exchange/format.h"

namespace iropt {

class OutputSink;

enum class DiagnosticFormat : uint8_t { Text, Json, Sarif };
enum class Colour : uint8_t { Auto, Always, Never };

struct CompilerOptions {
  std::optional<std::string> input_format = {};  // else it is detected, see formats.h
  std::optional<std::string> text_version = {};  // of kTextVersions: what is printed; else what the input is
  bool pep695 = false;                           // see PrintOptions
  bool print_locations = false;                  // comments say where statements come from
  bool no_verify = false;                        // check neither the input nor the result
  bool skip_type_check = false;                  // leave the type rules out of all checks
  bool allow_unknown_calls = false;              // see ParseOptions
  bool warnings_as_errors = false;
  bool quiet = false;            // show no remarks
  int threads = 1;               // 0: one per core
  int64_t inline_constants = 0;  // arrays of up to this many elements are printed inline
  // The data of bigger arrays, in bytes, are not printed. Nothing: they are left out of what is only to be looked at.
  std::optional<int64_t> elide_larger_than = {};
  std::optional<std::string> weights = {};     // the file of all constants in files, whatever files the text names
  bool verify_weights = false;                 // check the hashes of constants in files as soon as they are read
  std::vector<std::string> input_shapes = {};  // of -input-shape, see ParseStatedSizes
  std::vector<std::string> symbols = {};       // of -sym
  FormatOptions format_options = {};           // by the names of flags, see iropt/exchange/format.h
  DiagnosticFormat diagnostics = DiagnosticFormat::Text;
  Colour colour = Colour::Auto;
  std::vector<std::string> response_files = {};  // that the command line was read from
  std::string program = {};                      // the tool, named by messages that are not about an input
  std::string command = {};                      // the command line of the tool, for reports; empty: none
  OutputSink* console = nullptr;  // takes what goes to stderr, and must outlive the compiler; null: stderr
};

}  // namespace iropt
