// What a function of a module computes, as terms of its parameters.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "iropt/analysis/relax/inference_calls.h"
#include "iropt/ir/module.h"
#include "semantics/proof/failures.h"
#include "semantics/proof/loop_prover.h"
#include "semantics/proof/op_encoder.h"
#include "semantics/proof/unranked_encoder.h"

namespace iropt::proof {

class FunctionEncoder {
 public:
  struct Outcome {
    const Term* result = nullptr;
    std::vector<const Term*> effects = {};  // in their order
    FailureSet failures = {};
    std::string obstacle = {};  // why the function has no encoding
  };

  FunctionEncoder(const Module& module, TermBuilder& terms, FunctionNames& names, NetworkMode mode)
      : module_(module), terms_(terms), indices_(terms.indices()), ops_(terms), names_(names), mode_(mode) {}

  // The numbers of the parameters, and the values of those that are constants.
  struct Params {
    const std::vector<size_t>& numbers;
    const std::vector<std::pair<size_t, std::shared_ptr<const NDArray>>>& constants;
  };
  // With these values of its symbolic variables.
  Outcome Encode(const Function& function, const SymVarMap& sizes, const Params& params);

 private:
  struct Frame {
    const SymVarMap* sizes;
    LookupMap<const Var*, Value> values = {};
    std::unordered_set<const Call*> inference_calls = {};
  };

  Value EncodeBody(const Function& function, Frame& frame, std::span<const Var* const> constant_params = {});
  Value Encode(const Expr* expr, Frame& frame);
  Value EncodeSeq(const SeqExpr& seq, Frame& frame);
  Value EncodeIf(const If& branch, Frame& frame);
  Value EncodeBranch(const Expr* branch, const Term* condition, std::string text, Frame& frame);
  Value EncodeConstant(const Constant& constant);
  Value EncodeMatchCast(const MatchCast& cast, Frame& frame);
  Value EncodeCall(const Call& call, Frame& frame);
  Value EncodeOpCall(const Call& call, const Op& op, Frame& frame);
  // Nothing if an operand is not constant, or the operator cannot be evaluated.
  std::optional<Value> EvaluateConstants(const OpCall& call);
  Value EncodeInlined(const Function& callee, const GlobalVar& var, const Call& call, Frame& frame);
  // Finds the values of the symbolic variables of a callee.
  bool Bind(const Type* type, const Value& value, SymVarMap& sizes);
  // The value has to be of the type: what is not known may fail.
  void Check(const Type* type, const Value& value, Frame& frame);
  // The result of a call of which nothing is known but that equal operands give equal results.
  Value Unknown(const Call& call, const Op* op, std::string text, const std::vector<Value>& args, Frame& frame);
  Value OfArray(const std::shared_ptr<const NDArray>& array);

  // A part of the value of this type that a closed term stands for.
  Value Leaf(const Term* base, const Type* type, Frame& frame);
  // The value as a closed term.
  const Term* Close(const Value& value);
  const Term* TypeTerm(const Type* type, Frame& frame);
  const Term* Text(std::string text);
  const PrimExpr* Dim(const PrimExpr* dim, Frame& frame);
  bool ReadDims(const TensorType& type, Frame& frame, Dims& dims);
  Value Fail(std::string reason);

  const Module& module_;
  TermBuilder& terms_;
  IndexSpace& indices_;
  OpEncoder ops_;
  UnrankedEncoder unranked_{terms_};
  FunctionNames& names_;
  NetworkMode mode_;
  std::vector<const Term*> effects_;
  FailureSet failures_;
  std::vector<const GlobalVar*> inlined_;
  // What calls of functions without effects make of their arguments, and how often functions were looked into.
  struct Inlined {
    Value result;
    FailureSet failures;
  };
  std::map<std::pair<const Function*, std::vector<const Term*>>, Inlined> known_calls_;
  size_t num_inlined_ = 0;
  std::string obstacle_;
};

}  // namespace iropt::proof
