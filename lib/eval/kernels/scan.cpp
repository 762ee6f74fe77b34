// Operators along one axis that keep its length: running sums and products, sorting.
#include "iropt/op/ops/scan.h"

#include "axis_loops.h"
#include "iropt/op/ops/sorting.h"
#include "sort_keys.h"

namespace iropt::eval {

namespace {

// The next sum or product; of booleans, whether any or all of them are true.
template <bool kSum, class T>
T Extend(T before, T value) {
  if constexpr (std::is_same_v<T, bool>)
    return kSum ? before || value : before && value;
  else
    return kSum ? WrapAdd(before, value) : WrapMul(before, value);
}

template <bool kSum, class T>
void RunScan(const AxisLoops& loops, bool exclusive, const T* x, T* out) {
  ForEachLine(loops, [&](int64_t at) {
    T total = Element<T>::Store(static_cast<MathOf<T>>(kSum ? 0 : 1));
    for (int64_t i = 0; i < loops.length; ++i, at += loops.inner) {
      const MathOf<T> before = Element<T>::Load(total);
      const MathOf<T> value = Element<T>::Load(x[at]);
      const T after = Element<T>::Store(Extend<kSum>(before, value));
      out[at] = exclusive ? total : after;
      total = after;
    }
  });
}

template <bool kSum>
Result<HostValue> EvalScan(KernelCall& call) {
  const auto attrs = call.attrs<ScanopAttrs>();
  IROPT_ASSIGN_OR_RETURN(Tensor x, call.TensorArg(0));
  int64_t axis = 0;
  if (const auto given = attrs.axis()) {
    IROPT_ASSIGN_OR_RETURN(axis, NormalizeAxis(call, *given, x->shape().size()));
  } else {
    x = Reshaped(x, {x->num_elements()});
  }
  const auto exclusive = attrs.exclusive();
  IROPT_ASSIGN_OR_RETURN(const Tensor values, CastTensor(call, x, DTypeOr(attrs.dtype(), x->dtype())));
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(values->num_elements())));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(values->dtype(), ShapeOf(*values)));
  DispatchElement(values->dtype(), [&]<class T>(std::type_identity<T>) {
    RunScan<kSum>(LoopsOf(*values, axis), exclusive != 0, values->As<T>().data(), out->MutableAs<T>().data());
  });
  return HostValue(Tensor(out));
}

}  // namespace

Result<HostValue> EvalCumsum(KernelCall& call) { return EvalScan<true>(call); }
Result<HostValue> EvalCumprod(KernelCall& call) { return EvalScan<false>(call); }

namespace {

// Calls emit(position, start, source) for each position along the axis and the element that is sorted to it; `source`
// counts along the axis from `start`. Equal elements keep their order.
template <class T, class F>
void ForEachSorted(const AxisLoops& loops, bool descending, const T* x, F&& emit) {
  std::vector<KeyedPosition> order(static_cast<size_t>(loops.length));
  ForEachLine(loops, [&](int64_t start) {
    for (int64_t i = 0; i < loops.length; ++i)
      order[static_cast<size_t>(i)] = {SortKey(Element<T>::Load(x[start + i * loops.inner]), descending), i};
    SortByKey(order);
    for (size_t i = 0; i < order.size(); ++i)
      emit(start + static_cast<int64_t>(i) * loops.inner, start, order[i].position);
  });
}

struct SortArgs {
  Tensor x;
  AxisLoops loops;
  bool descending = false;
};

Result<SortArgs> ReadSortArgs(KernelCall& call, int64_t given, bool descending) {
  SortArgs args;
  IROPT_ASSIGN_OR_RETURN(args.x, call.TensorArg(0));
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, given, args.x->shape().size()));
  args.loops = LoopsOf(*args.x, axis);
  args.descending = descending;
  if (!IsElementType(args.x->dtype())) return call.UnsupportedDType(args.x->dtype());
  // Sorting takes about n log n steps; 64 bounds every logarithm.
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(args.x->num_elements()) * 64));
  return args;
}

}  // namespace

Result<HostValue> EvalSort(KernelCall& call) {
  const auto attrs = call.attrs<SortAttrs>();
  IROPT_ASSIGN_OR_RETURN(const SortArgs args, ReadSortArgs(call, attrs.axis(), attrs.descending()));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> out, call.Allocate(args.x->dtype(), ShapeOf(*args.x)));
  DispatchElement(args.x->dtype(), [&]<class T>(std::type_identity<T>) {
    const T* x = args.x->As<T>().data();
    T* result = out->MutableAs<T>().data();
    ForEachSorted(args.loops, args.descending, x, [&](int64_t place, int64_t start, int64_t source) {
      result[place] = x[start + source * args.loops.inner];
    });
  });
  return HostValue(Tensor(out));
}

Result<HostValue> EvalArgsort(KernelCall& call) {
  const auto attrs = call.attrs<ArgsortAttrs>();
  IROPT_ASSIGN_OR_RETURN(const SortArgs args, ReadSortArgs(call, attrs.axis(), attrs.descending()));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> order, call.Allocate(DataType::Int(64), ShapeOf(*args.x)));
  DispatchElement(args.x->dtype(), [&]<class T>(std::type_identity<T>) {
    int64_t* result = order->MutableAs<int64_t>().data();
    ForEachSorted(args.loops, args.descending, args.x->As<T>().data(),
                  [&](int64_t place, int64_t, int64_t source) { result[place] = source; });
  });
  IROPT_ASSIGN_OR_RETURN(Tensor result, CastTensor(call, order, DTypeOr(attrs.dtype(), DataType::Int(32))));
  return HostValue(std::move(result));
}

// The first k elements of each sorted line, their indices, or both.
Result<HostValue> EvalTopk(KernelCall& call) {
  const auto attrs = call.attrs<TopKAttrs>();
  IROPT_ASSIGN_OR_RETURN(const Tensor x, call.TensorArg(0));
  const auto given = attrs.axis();
  IROPT_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(call, given, x->shape().size()));
  const auto largest = attrs.largest();
  int64_t k = attrs.k();
  const std::string_view wanted = attrs.ret_type();
  if (wanted != "both" && wanted != "values" && wanted != "indices")
    return call.Fail(fmt::format("the result '{}' is not known", wanted));
  const AxisLoops loops = LoopsOf(*x, axis);
  if (k < 1 || k > loops.length) k = loops.length;
  Shape shape = ShapeOf(*x);
  shape[static_cast<size_t>(axis)] = k;
  IROPT_RETURN_IF_ERROR(call.Charge(static_cast<uint64_t>(x->num_elements()) * 64));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> values, call.Allocate(x->dtype(), shape));
  IROPT_ASSIGN_OR_RETURN(const std::shared_ptr<NDArray> order, call.Allocate(DataType::Int(64), shape));
  DispatchElement(x->dtype(), [&]<class T>(std::type_identity<T>) {
    const T* in = x->As<T>().data();
    ForEachSorted(loops, largest != 0, in, [&](int64_t place, int64_t start, int64_t source) {
      const int64_t rank = (place - start) / loops.inner;
      if (rank >= k) return;
      const int64_t to =
          start / (loops.length * loops.inner) * k * loops.inner + start % loops.inner + rank * loops.inner;
      values->MutableAs<T>()[static_cast<size_t>(to)] = in[start + source * loops.inner];
      order->MutableAs<int64_t>()[static_cast<size_t>(to)] = source;
    });
  });
  IROPT_ASSIGN_OR_RETURN(const Tensor indices, CastTensor(call, order, DTypeOr(attrs.dtype(), DataType::Int(32))));
  if (wanted == "values") return HostValue(Tensor(values));
  if (wanted == "indices") return HostValue(indices);
  TupleValue both;
  both.fields = {HostValue(Tensor(values)), HostValue(indices)};
  return HostValue(std::move(both));
}

}  // namespace iropt::eval
