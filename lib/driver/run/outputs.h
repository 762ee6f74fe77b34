// What a run returns: written to a file, shown, compared with what is expected.
#pragma once

#include <string>
#include <vector>

#include "iropt/data/tensors.h"
#include "iropt/driver/compiler_instance.h"
#include "iropt/driver/run_program.h"
#include "iropt/runtime/value.h"

namespace iropt {

// The tensors of a value as out0, out1, ...: shapes and numbers become tensors, fields of tuples follow one another,
// and what is none of these is left out.
std::vector<NamedTensor> FlattenOutputs(const HostValue& value);

// The tensors as files hold them: those of rank 0 with the shape (1,).
std::vector<NamedTensor> ForFile(const std::vector<NamedTensor>& outputs);

// A line or more for each tensor: its type, what it holds in numbers, and the elements where they are few.
std::string RenderOutputs(const std::vector<NamedTensor>& outputs);

// Compares them with the tensors of the file that the options name; reports each difference.
Status CheckOutputs(const std::vector<NamedTensor>& outputs, const ProgramOptions& options, CompilerInstance& compiler);

}  // namespace iropt
