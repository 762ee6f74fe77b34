// The outputs of a run: conversion, formatting and comparison.
#pragma once

#include <string>
#include <vector>

#include "iropt/data/tensors.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/run_program.h"
#include "iropt/runtime/compare.h"
#include "iropt/runtime/value.h"
#include "iropt/support/function_ref.h"
#include "tolerance.h"

namespace iropt {

// Calls f for each tensor of a value with its name: that of the value, followed by the indices of fields of tuples,
// "t.1.0". Shapes and numbers become tensors, other values are dropped.
void ForEachNamedTensor(const HostValue& value, const std::string& name,
                        FunctionRef<void(const std::string& name, const Tensor& tensor)> f);

// The tensors of a value, named out0, out1, ...: tuples are flattened, shapes and numbers become tensors, other values
// are dropped.
std::vector<NamedTensor> FlattenOutputs(const HostValue& value);

// Converts tensors for files: those of rank 0 get the shape (1,).
std::vector<NamedTensor> ForFile(const std::vector<NamedTensor>& outputs);

// The tensor as in files: one of rank 0 gets the shape (1,).
Tensor WithDimension(const Tensor& tensor);

// Tells that something was not compared: a warning, or an error with ErrorCode::SemanticCheck if the options require
// it.
Status TellNotCompared(std::string message, const ProgramOptions& options, CompilerInstance& compiler);

// Formats each tensor: its type, statistics, and the elements if they are few.
std::string RenderOutputs(const std::vector<NamedTensor>& outputs);

// Compares the tensors of the value with the expected ones, and reports each difference, with `hint` as a note unless
// it is empty, and what was not compared. Prints the errors of the outputs that agree to stderr. `source` names the
// expected ones in messages, and `precision` is that of the run that gave the value.
Status CompareOutputs(const HostValue& value, const std::vector<NamedTensor>& expected, const std::string& source,
                      const RunPrecision& precision, const std::string& hint, const ProgramOptions& options,
                      CompilerInstance& compiler);

}  // namespace iropt
