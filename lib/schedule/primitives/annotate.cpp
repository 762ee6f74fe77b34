// Annotations of blocks and loops.
#include <fmt/format.h>

#include "schedule/primitive_call.h"
#include "schedule/stmt_tools.h"

namespace iropt::schedule {

namespace {

const DictAttr* AnnotationsOf(const Ref* ref) {
  return ref->is_loop() ? ref->loop().annotations : ref->block().annotations;
}

void SetAnnotations(State& state, Ref* ref, const DictAttr* annotations) {
  if (ref->is_loop()) {
    auto* copy = state.workspace().New<tir::For>(ref->loop());
    copy->annotations = annotations;
    state.Replace(ref, copy);
  } else {
    auto* copy = state.workspace().New<tir::Block>(ref->block());
    copy->annotations = annotations;
    state.Replace(ref, copy, {{&ref->block(), copy}});
  }
}

// The annotation as TVM stores it: numbers have 32 bits.
Result<const Attr*> MakeAnnotation(PrimitiveCall& call, const Value& value) {
  if (const auto* v = value.As<bool>()) return IntAttr::Bool(*v);
  if (const auto number = call.NumberOf(value)) return IntAttr::Get(*number);
  if (const auto* v = value.As<double>()) return FloatAttr::Get(*v, DataType::Float(32));
  if (const auto* v = value.As<std::string>()) return StrAttr::Get(*v);
  if (const auto* v = value.As<const IndexMapAttr*>()) return *v;
  if (const auto* list = value.As<Value::List>()) {
    std::vector<const Attr*> items;
    for (const Value& item : *list) {
      IROPT_ASSIGN_OR_RETURN(const Attr* attr, MakeAnnotation(call, item));
      items.push_back(attr);
    }
    return ListAttr::Get(items);
  }
  if (const auto* dict = value.As<Value::Dict>()) {
    std::vector<DictAttr::Entry> entries;
    for (const auto& [key, item] : *dict) {
      IROPT_ASSIGN_OR_RETURN(const Attr* attr, MakeAnnotation(call, item));
      entries.emplace_back(key, attr);
    }
    return DictAttr::Get(entries);
  }
  return call.Refuse(
      "unknown kind of annotation: expected strings, numbers, results of sampling, and lists and dictionaries of "
      "these");
}

}  // namespace

Status ApplyAnnotate(PrimitiveCall& call, const args::Annotate<Resolved>& args) {
  Ref* ref = args.block_or_loop;
  const std::string& key = args.ann_key;
  IROPT_ASSIGN_OR_RETURN(const Attr* value, MakeAnnotation(call, args.ann_val));
  if (!AnnotationsOf(ref)->Find(key)) SetAnnotations(call.state(), ref, AnnotationsOf(ref)->With(key, value));
  return {};
}

Status ApplyUnannotate(PrimitiveCall& call, const args::Unannotate<Resolved>& args) {
  Ref* ref = args.block_or_loop;
  const std::string& key = args.ann_key;
  if (!AnnotationsOf(ref)->Find(key)) return call.Refuse(fmt::format("unknown annotation '{}'", key));
  SetAnnotations(call.state(), ref, AnnotationsOf(ref)->Without(key));
  return {};
}

}  // namespace iropt::schedule
