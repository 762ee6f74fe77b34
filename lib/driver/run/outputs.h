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

// The tolerance of the options, or the default of the dtype.
Tolerance ToleranceFor(const NDArray& expected, DataType dtype, const ProgramOptions& options);

// Tells that nothing was compared: a warning, or an error with ErrorCode::SemanticCheck if the options require it.
Status TellNothingCompared(std::string message, const ProgramOptions& options, CompilerInstance& compiler);

// Formats each tensor: its type, statistics, and the elements if they are few.
std::string RenderOutputs(const std::vector<NamedTensor>& outputs);

// Compares the outputs with the tensors of the -check file and reports each difference, with `hint` as a note unless it
// is empty. Prints the errors of the outputs that agree to stderr.
Status CheckOutputs(const std::vector<NamedTensor>& outputs, const ProgramOptions& options, std::string_view hint,
                    CompilerInstance& compiler);

}  // namespace iropt
