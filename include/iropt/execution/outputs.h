// The outputs of a run: conversion and formatting.
#pragma once

#include <string>
#include <vector>

#include "iropt/data/tensors.h"
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

// Renames the outputs of a function to the names that the model had for them, if it is known.
std::vector<NamedTensor> NameOutputs(std::vector<NamedTensor> outputs, const BaseFunc& function);

// The tensor with a dimension: one of rank 0 gets the shape (1,), which it has in files of TVM.
Tensor WithDimension(const Tensor& tensor);

// Formats each tensor: its type, statistics, and the elements if they are few.
std::string RenderOutputs(const std::vector<NamedTensor>& outputs);

}  // namespace iropt
