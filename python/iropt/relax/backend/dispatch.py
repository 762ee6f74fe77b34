"""Passes that make sorting, scanning and sampling functions for the target."""
from ... import topi
from ...ir import Op
from ...ir.transform import module_pass
from .. import Function, TensorStructInfo
from .. import op as _op
from .utils import BackendDispatcher


class _Dispatcher(BackendDispatcher):
    """Replaces the calls of some operators by those of PrimFuncs."""

    def visit_call_(self, op):
        call = super().visit_call_(op)
        method = getattr(self, "_" + call.op.name.removeprefix("relax."), None) if isinstance(call.op, Op) else None
        return call if method is None else method(call, self._get_target(call.struct_info))


class SamplingDispatcher(_Dispatcher):
    """Draws samples of rows by the sums of their probabilities."""

    def _multinomial_from_uniform(self, call, target):
        prob, sample, rows = call.args
        for tensor in (sample, rows):
            shape, _ = self.get_shape_dtype(tensor)
            if len(shape) != 2 or shape[1] != 1:
                raise ValueError(f"expected a shape (samples, 1) of '{tensor.name_hint}', not {list(shape)}")
        dtypes = [self.get_shape_dtype(tensor)[1] for tensor in (prob, sample, rows)]
        sums = _op.cumsum(prob, axis=1, dtype=dtypes[0], exclusive=False)
        func = self.builder_.add_func(_sample_index(*dtypes, call.attrs.dtype), "get_sample_index")
        return _op.call_tir(func, [sums, sample, rows], out_sinfo=call.struct_info)


def _sample_index(prob_dtype, sample_dtype, rows_dtype, dtype):
    """The PrimFunc that finds, for each sample, the first place where the sum of its row exceeds it."""
    from ...script import tir as T

    @T.prim_func(private=True)
    def get_sample_index(var_prob: T.handle, var_sample: T.handle, var_rows: T.handle, var_result: T.handle):
        batch, vocab_size = T.int64(), T.int64()
        prob = T.match_buffer(var_prob, (batch, vocab_size), prob_dtype)
        samples = T.int64()
        sample = T.match_buffer(var_sample, (samples, 1), sample_dtype)
        rows = T.match_buffer(var_rows, (samples, 1), rows_dtype)
        result = T.match_buffer(var_result, (samples, 1), dtype)
        for ax0, ax1 in T.grid(samples, vocab_size):
            with T.block("T_get_sample_index"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                if (sample[v_ax0, T.int64(0)] < prob[rows[v_ax0, T.int64(0)], v_ax1]
                        or v_ax1 + T.int64(1) == vocab_size):
                    if v_ax1 == T.int64(0):
                        result[v_ax0, 0] = T.cast(T.int64(0), dtype)
                    else:
                        if sample[v_ax0, T.int64(0)] >= prob[rows[v_ax0, T.int64(0)], v_ax1 - T.int64(1)]:
                            result[v_ax0, 0] = T.cast(v_ax1, dtype)

    return get_sample_index


class SortScanDispatcher(_Dispatcher):
    """Sorts and scans by functions of topi, which are those of the host also for GPUs; the rule Fallback schedules what it can."""

    def __init__(self, mod):
        super().__init__(mod)
        self.calls_to_update = {}

    def _sort(self, call, target):
        del target
        return self.builder_.call_te(topi.sort, call.args[0], call.attrs.axis, not call.attrs.descending)

    def _argsort(self, call, target):
        del target
        return self.builder_.call_te(topi.argsort, call.args[0], axis=call.attrs.axis, is_ascend=not call.attrs.descending,
                                     dtype=call.attrs.dtype)

    def _topk(self, call, target):
        attrs = call.attrs
        return self._scheduled(self.builder_.call_te(topi.topk, call.args[0], k=attrs.k, axis=attrs.axis, ret_type=attrs.ret_type,
                                                     is_ascend=not attrs.largest, dtype=attrs.dtype), target)

    def _scan(self, function, call, target):
        if not isinstance(call.struct_info, TensorStructInfo) or call.struct_info.shape is None:
            raise ValueError(f"the shape of '{call.op.name}' is not known")
        return self._scheduled(self.builder_.call_te(function, call.args[0], call.attrs.axis, call.attrs.dtype,
                                                     call.attrs.exclusive), target)

    def _cumsum(self, call, target):
        return self._scan(topi.cumsum, call, target)

    def _cumprod(self, call, target):
        return self._scan(topi.cumprod, call, target)

    def _scheduled(self, call, target):
        if self.is_gpu_target(target):
            self.calls_to_update[call.args[0]] = target
        return call

    def apply_dlight_gpu_fallback(self):
        """Schedules what was made for GPUs."""
        from ...dlight import gpu
        from ...dlight.rules import scheduled_mark

        for name, target in self.calls_to_update.items():
            sch = gpu.Fallback().apply(self.builder_.get()[name], target, tunable=False)
            if sch is not None:
                self.builder_.update_func(name, sch.mod["main"].with_attr("tir.is_scheduled", scheduled_mark()))


def _dispatch(dispatcher, mod):
    for name, func in mod.items():
        if isinstance(func, Function):
            dispatcher.builder_.update_func(name, dispatcher.visit_expr(func))
    return dispatcher


@module_pass(opt_level=0, name="DispatchSampling")
class DispatchSampling:
    """Replaces operators that draw samples by sums and PrimFuncs."""

    def transform_module(self, mod, ctx):
        del ctx
        return _dispatch(SamplingDispatcher(mod), mod).builder_.finalize()


@module_pass(opt_level=0, name="DispatchSortScan")
class DispatchSortScan:
    """Replaces operators that sort and scan by PrimFuncs for their targets."""

    def transform_module(self, mod, ctx):
        del ctx
        dispatcher = _dispatch(SortScanDispatcher(mod), mod)
        dispatcher.apply_dlight_gpu_fallback()
        return dispatcher.builder_.finalize()
