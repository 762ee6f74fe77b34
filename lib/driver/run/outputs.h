// The outputs of a run: conversion, formatting and comparison.
#pragma once

#include <string>
#include <vector>

#include "iropt/data/tensors.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/run_program.h"
#include "iropt/runtime/value.h"

namespace iropt {

// The tensors of a value, named out0, out1, ...: tuples are flattened, shapes and numbers become tensors, other values
// are dropped.
std::vector<NamedTensor> FlattenOutputs(const HostValue& value);

// Converts tensors for files: those of rank 0 get the shape (1,).
std::vector<NamedTensor> ForFile(const std::vector<NamedTensor>& outputs);

// Formats each tensor: its type, statistics, and the elements if they are few.
std::string RenderOutputs(const std::vector<NamedTensor>& outputs);

// Compares the outputs with the tensors of the -check file and reports each difference, with `hint` as a note unless it
// is empty. Prints the errors of the outputs that agree to stderr.
Status CheckOutputs(const std::vector<NamedTensor>& outputs, const ProgramOptions& options, std::string_view hint,
                    CompilerInstance& compiler);

}  // namespace iropt
