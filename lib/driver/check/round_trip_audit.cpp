#include "driver/check/round_trip_audit.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/session/module_part.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/structural.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"
#include "iropt/text/script/version.h"

namespace iropt {

namespace {

constexpr size_t kBigConstant = 4096;  // in bytes

// Stands for the values of big constants in a text: the printer refers to the tensors of a file that does not exist,
// and the reader gets the arrays back.
class ConstantTable {
 public:
  explicit ConstantTable(const Module& module) {
    struct Handler : WalkHandler {
      explicit Handler(ConstantTable& table) : table(table) {}
      void OnConstant(const Constant& constant) { table.Add(*constant.data); }
      ConstantTable& table;
    };
    Handler handler(*this);
    for (const ModuleEntry& entry : module.functions()) {
      if (const auto* function = As<Function>(entry.func)) Walk(function, handler);
    }
  }

  const ExternalArrays& references() const { return references_; }

  Result<std::shared_ptr<const NDArray>> Open(const FileTensor& tensor) const {
    const bool is_known = tensor.hash && tensor.hash->low < arrays_.size();
    if (!is_known) return Error{ErrorCode::Parse, fmt::format("the text has no tensor '{}'", tensor.name)};
    return arrays_[tensor.hash->low];
  }

 private:
  void Add(const NDArray& array) {
    const bool is_in_file = array.source() && array.source()->hash;
    if (!is_in_file && array.num_bytes() <= kBigConstant) return;
    FileTensor tensor;
    tensor.path = "constants.safetensors";
    tensor.name = fmt::format("constant{}", arrays_.size());
    tensor.hash = DataHash{0, arrays_.size()};
    if (references_.emplace(&array, std::move(tensor)).second) arrays_.push_back(array.shared_from_this());
  }

  ExternalArrays references_;
  std::vector<std::shared_ptr<const NDArray>> arrays_;
};

std::vector<const GlobalVar*> ChangedFunctions(const Module& before, const Module& after) {
  std::vector<const GlobalVar*> changed;
  for (const ModuleEntry& entry : after.functions()) {
    const ModuleEntry* old = before.Find(entry.var);
    if (old == nullptr || old->func != entry.func) changed.push_back(entry.var);
  }
  return changed;
}

// Describes what is wrong with the text of the module; nothing if it reads back as the same.
std::optional<std::string> RoundTripFailure(Module module, int threads) {
  CompleteForVersion(module);
  DiagnosticBuffer buffer;
  DiagnosticEngine found(&buffer);
  if (!CheckTextSize(module, found)) return std::nullopt;
  const ConstantTable constants(module);
  std::string text;
  OutputStream out(&text);
  PrintModule(module, {.threads = threads, .external = &constants.references()}, out);
  static_cast<void>(out.Flush());
  const ParseOptions reading{.threads = threads,
                             .open_tensor = [&](const FileTensor& tensor) { return constants.Open(tensor); },
                             .unknown_version = module.text_version()};
  std::optional<Module> again = ParseModule(text, 0, reading, found);
  if (!again) return fmt::format("does not read back: {}", buffer.diagnostics().front().message);
  const std::optional<std::string> difference =
      FirstDifference(WithoutBufferDeclarations(std::move(module)), WithoutBufferDeclarations(*std::move(again)),
                      {.map_free_vars = true});
  if (!difference) return std::nullopt;
  return fmt::format("reads back as another one: {}", *difference);
}

}  // namespace

Status RoundTripAudit::RunAfterPass(const Module& module, const PassInfo& info, PassOutcome outcome) {
  if (info.is_composite() || outcome != PassOutcome::Changed) return {};
  std::vector<const GlobalVar*> changed = ChangedFunctions(audit_->before(), module);
  if (changed.empty()) return {};
  std::optional<std::string> failure = RoundTripFailure(PartOf(module, changed), threads_);
  if (!failure) return {};
  if (const std::optional<OldFailure> old = FindOldFailure(module, changed)) {
    if (std::exchange(is_warned_, true)) return {};
    diagnostics_.Warning(
        {}, "roundtrip-mismatch",
        fmt::format("the text of function '{}' {}, already before pass '{}'; it is not checked whether "
                    "texts of such functions read back",
                    old->function->name, old->text, info.name));
    return {};
  }
  diagnostics_.Error({}, "roundtrip-mismatch",
                     fmt::format("pass '{}' made a module whose text {}", info.name, *failure));
  return Failure{ErrorCode::Rejected};
}

// The passes are innocent if the functions whose texts are wrong now are those whose texts were wrong before.
std::optional<RoundTripAudit::OldFailure> RoundTripAudit::FindOldFailure(
    const Module& module, const std::vector<const GlobalVar*>& changed) const {
  std::optional<OldFailure> found;
  for (const GlobalVar* function : changed) {
    if (!RoundTripFailure(PartOf(module, {function}), threads_)) continue;
    const Module& before = audit_->before();
    if (before.Find(function) == nullptr) return std::nullopt;
    std::optional<std::string> failure = RoundTripFailure(PartOf(before, {function}), threads_);
    if (!failure) return std::nullopt;
    if (!found) found = OldFailure{function, *std::move(failure)};
  }
  return found;
}

}  // namespace iropt
