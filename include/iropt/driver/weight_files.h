// The files of weights that modules refer to, and those that get the big constants of modules.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "iropt/data/tensor_files.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/driver/compiler_options.h"
#include "iropt/driver/externalizer.h"
#include "iropt/ir/module.h"
#include "iropt/support/result.h"
#include "iropt/text/script/parser.h"

namespace iropt {

class WeightFiles {
 public:
  // Both must outlive it.
  WeightFiles(const CompilerOptions& options, DiagnosticEngine& diagnostics)
      : options_(options), diagnostics_(diagnostics) {}

  TensorFiles& files() { return files_; }
  // Opens the tensors that a text refers to: those of the file `weights`, or of files in the folder. Both must outlive
  // it.
  TensorOpener OpenerFor(const std::string& folder, const std::optional<std::string>& weights);
  // Reports the constants in files that were used since the last call and do not have their hashes.
  Status Check();
  // The file that the options name was bound to parameters by their names.
  void set_bound() { are_bound_ = true; }
  // After all modules were read: warns if none of them needs the file that the options name.
  void WarnOfUnused();
  // Fails if the file at the path has weights that were read.
  Status CheckOutputPath(const std::string& path) const;

  // From now on, big constants of modules that are given to Externalize are printed as references to a file.
  void SetExternalizer(std::unique_ptr<ConstantExternalizer> externalizer) { externalizer_ = std::move(externalizer); }
  // Null if there is nothing to externalize.
  ConstantExternalizer* externalizer() const { return externalizer_.get(); }
  void Externalize(const Module& module);

 private:
  const CompilerOptions& options_;
  DiagnosticEngine& diagnostics_;
  bool are_bound_ = false;
  TensorFiles files_;
  std::unique_ptr<ConstantExternalizer> externalizer_;
};

}  // namespace iropt
