#!/usr/bin/env python3
"""Write PrimFuncs in TVMScript that consist of many statements of one sort.

  gen_prim_func.py --kind stores --size 10000 --funcs 1 -o out.ir

Each of --funcs functions has --size units of a few statements; the units of kinds in NESTED are nested in each other, as
deep as the square root of --size, and there are as many of these nests one after the other; those of DEEP are one nest.
Kinds:
"""
import math

import deep_expressions
import gen_program

SHARED = 'T.allocate([64], "float32", "shared")'


def indented(lines, by=1):
    return ["    " * by + line for line in lines]


def chained(unit):
    """The units one after the other, where a statement like T.allocate has all that comes after it as its body."""
    return lambda n: [line for k in range(n) for line in unit(k)]


def inside(head, unit):
    """All units in one statement."""
    return lambda n: [*head, *indented(chained(unit)(n))]


def nested(unit, levels=1):
    """Nests of units, each headers, as many as levels, and statements before the next header in it."""
    def lines(n):
        depth = max(1, math.isqrt(n))
        result = []
        for nest in range(max(1, n // depth)):
            for k in range(depth):
                result += indented(unit(nest, k), levels * k)
            result += indented(["A[m] = B[m]"], levels * depth)
        return result
    return lines


def stored(k):
    return [f"A[{k}] = B[{k}] + T.float32(1)"]


def same_element(k):
    return ["A[m] = A[m] + T.float32(1)"]


def overwritten(k):
    return [f"A[m] = T.float32({k})"]


def loops(k):
    return ["for i in range(16):", f"    A[i + {k}] = B[i + {k}] * T.float32(2)"]


def split_loops(k):
    return ["for i, j in T.grid(4, 16):", f"    A[(i * 16 + j) // 8 * 8 + (i * 16 + j) % 8 + {k}] = T.float32(0)"]


def ifs(k):
    return [f"if m < {k}:", f"    A[{k}] = T.float32(1)", "else:", f"    A[{k}] = B[{k}]"]


def hoisted(k):
    return ["for i in range(16):", f"    if m < {k}:", f"        A[i + {k}] = T.float32(1)"]


def likely(k):
    return ["for i in range(m):", f"    if T.likely(i + {k} < p):", f"        A[i + {k}] = B[i]"]


def likely_constant(k):
    return ["for i in range(16):", "    if T.likely(i < 14):", f"        A[i + {k}] = B[i]"]


def whiles(k):
    return [f"while B[m] < T.float32({k}):", "    B[m] = B[m] + T.float32(1)"]


def lets(k):
    return [f"x{k}: T.int32 = m * {k + 2}", f"A[x{k}] = B[x{k}]"]


def repeated_lets(k):
    return [f"x{k}: T.int32 = " + (f"x{k - 1} + {k}" if k % 100 else f"m * {k + 2}"), f"A[x{k} + 1] = B[x{k} + 1] + B[x{k} + {k + 1}]"]


def binding_chain(k):
    return [f"x{k}: T.int32 = " + (f"x{k - 1} + p" if k else "m"), f"A[x{k}] = B[{k}]"]


def binding_pairs(k):
    """Values that use the two before: written out, they would double at every step."""
    value = f"x{k - 1} + T.min(x{k - 2}, x{k - 1})" if k > 1 else f"m + {k}"
    return [f"x{k}: T.int32 = {value}", f"A[x{k}] = B[{k}]"]


def let_exprs(k):
    return [f"x{k} = T.int32()", f"A[{k}] = B[T.Let(x{k} + x{k} * 2, where={{x{k}: m + {k}}})]"]


def effects(k):
    return [f'e{k}: T.int32 = T.call_extern("int32", "f", {k})', f"A[{k}] = T.float32(0)"]


def asserts(k):
    return [f'assert m < {k + 100}, "too many"', f"A[{k}] = T.float32(0)"]


def attrs(k):
    return [f'T.attr(A.data, "storage_alignment", {k % 64 + 1})', f"A[{k}] = T.float32(0)"]


def allocations(k):
    return [f'd{k} = T.allocate([16], "float32", "global")', f"D{k} = T.Buffer((16,), data=d{k})",
            f"D{k}[0] = B[{k}]", f"A[{k}] = D{k}[0]"]


def scoped_allocations(k):
    return ["for i in range(4):", f'    d{k} = T.allocate([{k % 32 + 1}], "float32", "global")',
            f"    D{k} = T.Buffer(({k % 32 + 1},), data=d{k})", f"    D{k}[0] = B[{k}]", f"    A[{k}] = D{k}[0]"]


def live_allocations(n):
    """All are used until the end."""
    lines = []
    for k in range(n):
        lines += [f'd{k} = T.allocate([{k % 128 + 1}], "float32", "global")',
                  f"D{k} = T.Buffer(({k % 128 + 1},), data=d{k})", f"D{k}[0] = B[{k}]"]
    return lines + [f"A[{k}] = D{k}[0]" for k in range(n)]


def declared(k):
    return [f'D{k} = T.decl_buffer((16,), "float32", data=A.data)', f"D{k}[{k % 16}] = B[{k}]"]


def constants(k):
    return [f'c{k} = T.allocate_const([{k}, {k + 1}], "float32", [2])', f'C{k} = T.Buffer((2,), "float32", data=c{k})',
            f"A[{k}] = C{k}[0]"]


def realized(k):
    return [f'D{k} = T.Buffer((4, 16), "float32")', f'with T.realize(D{k}[0:4, 0:16], ""):',
            f"    D{k}[0, 1] = B[{k}]", f"    A[{k}] = D{k}[0, 1]"]


def async_copies(k):
    return ['with T.attr(0, "async_commit_queue_scope", 0):', "    for i in range(16):", f"        A[i + {k}] = B[i + {k}]",
            'with T.attr(0, "async_wait_queue_scope", 0):', '    with T.attr(0, "async_wait_inflight_count", 0):',
            f"        A[{k}] = T.float32(0)"]


def conditional_loads(k):
    return [f"L_1[{k % 16}] = T.if_then_else(m < {k}, B[{k}], T.float32(0))"]


def prefetched(k):
    return ["for i in range(16):", '    with T.attr(B, "prefetch_scope", 2):', f"        A[i + {k}] = B[i + {k}]"]


def rolling(k):
    return ["for i in range(2):", f'    T.realize(R{k}[i * 4:i * 4 + 6], "")',
            f'    T.attr(R{k}, "rolling_buffer_scope", T.bool(True))', "    for j in range(6):",
            f"        R{k}[j + i * 4] = B[j + i * 4]"]


def vectorized(k):
    return ["for i in T.vectorized(4):", f"    A[{k * 4} + i] = B[{k * 4} + i] * T.float32(2)"]


def vectorized_ifs(k):
    return ["for i in T.vectorized(4):", f"    if i + {k} < m:", f"        A[{k * 4} + i] = B[{k * 4} + i]"]


def unrolled(k):
    return ["for i in T.unroll(4):", f"    A[{k * 4} + i] = B[{k * 4} + i]"]


def parallel(k):
    return ["for i in T.parallel(16):", f"    A[i + {k}] = B[i]"]


def kernels(k):
    return ['with T.launch_thread("blockIdx.x", 4) as bx:', '    tx = T.launch_thread("threadIdx.x", 16)',
            f"    A[bx * 16 + tx + {k}] = B[bx * 16 + tx + {k}]"]


def target_regions(k):
    return ['with T.attr(T.target("cuda", host="llvm"), "target", 0):', '    bx = T.launch_thread("blockIdx.x", 4)',
            f"    A[bx + {k}] = B[bx + m]"]


def shared_memory(unit):
    def lines(n):
        return ['tx = T.launch_thread("threadIdx.x", 16)', f"s = {SHARED}",
                'S = T.Buffer((64,), data=s, scope="shared")', *chained(unit)(n)]
    return lines


def shared_memories(k):
    return [f"s{k} = {SHARED}", f'S{k} = T.Buffer((64,), data=s{k}, scope="shared")', f"S{k}[tx] = B[tx]",
            f"A[tx + {k}] = S{k}[15 - tx]"]


def awaited(k):
    return ['with T.attr(0, "async_wait_queue_scope", 0):', '    T.attr(0, "async_wait_inflight_count", 0)',
            f"    A[tx + {k}] = S[tx]"]


def bound_blocks(k):
    return ["for i in range(4):", '    for j in T.thread_binding(16, thread="threadIdx.x"):', f'        with T.block("b{k}"):',
            "            v, w = T.axis.remap(\"SS\", [i, j])", f"            A[v * 16 + w + {k}] = B[v * 16 + w + {k}]"]


def kernel_loops(k):
    return ['for i in T.thread_binding(4, thread="blockIdx.x"):', '    for j in T.thread_binding(16, thread="threadIdx.x"):',
            f"        A[i * 16 + j + {k}] = B[i * 16 + j]"]


def virtual_threads(k):
    return ['with T.launch_thread("vthread", 2) as v:', f"    A[v + {k}] = B[v]"]


def virtual_memory(k):
    return [f'd{k} = T.allocate([4], "float32", "local")', f'D{k} = T.Buffer((4,), data=d{k}, scope="local")',
            f"D{k}[0] = B[v + {k}]", f"A[v + {k}] = D{k}[0]"]


def double_buffers(k):
    return ["for i in range(8):", f'    d{k} = T.allocate([4], "float32", "shared")',
            f'    D{k} = T.Buffer((4,), data=d{k}, scope="shared")',
            f'    with T.attr(d{k}, "double_buffer_scope", 1):', f"        D{k}[0] = B[i + {k}]", f"    A[i + {k}] = D{k}[0]"]


def stage(k, written, read):
    return ['with T.block(""):', f"    T.reads({read})", f"    T.writes({written})", f"    {written} = {read} + T.float32({k})"]


def pipelines(k):
    note = 'annotations={"software_pipeline_order": [0, 1], "software_pipeline_stage": [0, 1]}'
    return [f"for i in T.serial(16, {note}):", f'    with T.block("p{k}"):', "        T.reads(B[i])", "        T.writes(A[i])",
            f"        D{k} = T.alloc_buffer((4,))", *indented(stage(k, f"D{k}[0]", "B[i]"), 2),
            *indented(stage(k, "A[i]", f"D{k}[0]"), 2)]


def long_pipeline(n, async_stages=""):
    orders = list(range(n))
    stages = [k * 2 // n for k in orders]
    note = f'{{{async_stages}"software_pipeline_order": {orders}, "software_pipeline_stage": {stages}}}'
    yield f"for i in T.serial(16, annotations={note}):"
    yield '    with T.block("p"):'
    yield "        T.reads(B[i])"
    yield "        T.writes(A[i])"
    for k in range(n - 1):
        yield f"        D{k} = T.alloc_buffer((4,))"
    for k in range(n):
        yield from indented(stage(k, f"D{k}[0]" if k < n - 1 else "A[i]", f"D{k - 1}[0]" if k else "B[i]"), 2)


def async_pipeline(n):
    return long_pipeline(n, '"software_pipeline_async_stages": [0], ')


def elementwise_blocks(n):
    for k in range(n):
        yield f"D{k} = T.alloc_buffer((16,))"
    for k in range(n):
        yield "for i in range(16):"
        yield f'    with T.block("b{k}"):'
        yield "        v = T.axis.spatial(16, i)"
        yield f"        D{k}[v] = {f'D{k - 1}' if k else 'B'}[v] + T.float32(1)"


def one_loop_blocks(n):
    """All blocks in one loop, whose iterations use one element of each buffer."""
    yield from (f"D{k} = T.alloc_buffer((16,))" for k in range(n))
    yield "for i in range(16):"
    for k in range(n):
        yield f'    with T.block("b{k}"):'
        yield "        v = T.axis.spatial(16, i)"
        yield f"        D{k}[v] = {f'D{k - 1}' if k else 'B'}[v] + T.float32(1)"


def reductions(k):
    return ["for i, j in T.grid(16, 8):", f'    with T.block("r{k}"):', '        v, w = T.axis.remap("SR", [i, j])',
            "        with T.init():", f"            A[v + {k}] = T.float32(0)", f"        A[v + {k}] = A[v + {k}] + B[v * 8 + w]"]


def thread_reductions(k):
    return ["for i in range(16):", '    for j in T.thread_binding(8, thread="threadIdx.x"):', f'        with T.block("r{k}"):',
            '            v, w = T.axis.remap("SR", [i, j])', "            with T.init():",
            f"                A[v + {k}] = T.float32(0)", f"            A[v + {k}] = A[v + {k}] + B[v * 8 + w]"]


def matched(k):
    return ["for i in range(16):", f'    with T.block("m{k}"):', f"        T.reads(B[i + {k}])", f"        T.writes(A[i + {k}])",
            f"        M{k} = T.match_buffer(A[i + {k}], (1,), offset_factor=1)", f"        M{k}[0] = B[i + {k}]"]


def annotated_blocks(note, target, shape, allocated_in="local"):
    def lines(n):
        yield from (f'S{k} = T.alloc_buffer({shape}, "float16", scope="{target}")' for k in range(n))
        for k in range(n):
            yield "for i, j in T.grid(8, 64):"
            yield f'    with T.block("a{k}"):'
            yield '        v, w = T.axis.remap("SS", [i, j])'
            if note:
                yield f"        T.block_attr({note})"
            yield f"        S{k}[v, w] = T.float16(1)"
    return lines


def local_stages(n):
    for k in range(n):
        yield f'S{k} = T.alloc_buffer((8,), scope="shared")'
    for k in range(n):
        yield "for i in range(8):"
        yield f'    with T.block("s{k}"):'
        yield f"        T.reads(B[i + {k}])"
        yield f"        T.writes(S{k}[i])"
        yield '        T.block_attr({"tir.manifest_shared_memory_local_stage": 1})'
        yield f"        S{k}[i] = B[i + {k}]"


def weight_layouts(n):
    for k in range(n):
        yield f"W{k} = T.alloc_buffer((4, 4))"
    for k in range(n):
        yield "for i in range(16):"
        yield f'    with T.block("l{k}"):'
        yield "        v = T.axis.spatial(16, i)"
        yield f'        T.block_attr({{"meta_schedule.layout_rewrite_preproc": T.bool(True)}})'
        yield f"        W{k}[v % 4, v // 4] = R{k}[v]"
    for k in range(n):
        yield "for i in range(16):"
        yield f'    with T.block("u{k}"):'
        yield "        v = T.axis.spatial(16, i)"
        yield f"        A[v] = W{k}[v % 4, v // 4]"


def repeated(k):
    return [f"A[m * {k + 1} + p] = B[m * {k + 1} + p] * B[m * {k + 1}]"]


def common(k):
    return [f"A[m * p + {k}] = B[m * p + {k}]"]


def expression(n):
    return ["A[0] = " + " + ".join(f"B[{k}]" for k in range(n))]


def index_expression(n):
    return ["A[" + " + ".join(f"m * {k % 7 + 1}" for k in range(n)) + "] = T.float32(0)"]


def selects(k):
    return [f"A[{k}] = T.Select(m < {k}, B[m + {k}], T.float32(0))"]


def assumed(k):
    return ["for i in range(16):", f"    T.assume(i < 14 or B[i + {k}] == T.float32(0))", "for i in range(16):",
            f"    A[i + {k}] = T.if_then_else(14 <= i, T.float32(0), B[i + {k}] * T.float32(2))"]


def overcomputed(k):
    return ["for i in range(16):", "    if i < 14:", f"        A[i + {k}] = T.float32(1)", "    else:",
            f"        A[i + {k}] = T.float32(1)"]


def junction(word):
    """One condition of all units, in a loop that it does not depend on."""
    def lines(n):
        condition = f" {word} ".join(f"m * {k % 7 + 2} < p + {k}" for k in range(n))
        return ["for i in range(16):", f"    if {condition}:", "        A[i] = B[i]"]
    return lines


def undefined(k):
    return [f'A[{k}] = T.undef(dtype="float32")']


def packed_calls(k):
    return [f'T.call_packed("f", A.data, m, {k})']


def array_calls(k):
    shape = 'T.tvm_stack_make_shape(4, 2)'
    array = f'T.tvm_stack_make_array(A.data, {shape}, T.reinterpret("handle", T.uint64(0)), T.uint32(2), T.float32(0), 0)'
    return [f'T.call_packed("f", {array}, {k})']


def contexts(k):
    return [f'T.call_extern("int32", "f", T.tvm_thread_context(T.call_extern("handle", "c", {k})))']


def intrinsics(k):
    return [f"A[{k}] = T.exp(B[(m + {k}) // p]) + T.fabs(B[(m + {k}) % p])"]


def private_calls(k):
    return [f"Module.helper(T.address_of(A[{k}]))"]


def low_precision(dtype):
    return chained(lambda k: [f'L[{k}] = L[{k}] + T.Cast("{dtype}", B[{k}])'])


def textures(k):
    return [f"A[{k}] = X[m, m, m, m]"]


def bounds(k):
    return ["for i in range(16):", f"    A[i + {k}] = B[i + m]"]


def long_indices(k):
    return ["for i in range(T.int64(16)):", f"    A[i + T.int64({k})] = B[i * T.int64(2) + T.int64({k})]"]


def loop_nest(nest, k):
    return [f"for i{k} in range(2):", f"    A[i{k} + {k}] = B[i{k}]"]


def if_nest(nest, k):
    return [f"if m < {k + nest}:", f"    A[{k}] = B[m]"]


def deep(unit):
    """One nest, as deep as there are units."""
    def lines(n):
        return [" " * k + line for k in range(n) for line in unit(k)] + [" " * n + "A[m] = B[m]"]
    return lines


def block_nest(nest, k):
    return [f"for i{k} in range(2):", f'    with T.block("b{nest}_{k}"):', f"        v{k} = T.axis.spatial(2, i{k})",
            "        T.reads(B[0:1000])", "        T.writes(A[0:1000])", f"        A[v{k} + {k}] = B[v{k}]"]


def axis_pair(nest, k):
    """Axes that use both axes around: written out, they would double at every step."""
    x, y = (f"x{k - 1}", f"y{k - 1}") if k else ("m", "m")
    return [f'with T.block("b{nest}_{k}"):', f"    x{k} = T.axis.spatial(1000, {x} + {y})",
            f"    y{k} = T.axis.spatial(1000, {x} * 2 + {y})", f"    A[x{k}] = B[y{k}]"]


# The lines of n units.
KINDS = {
    "stores": chained(stored),
    "same_element": chained(same_element),
    "overwritten": chained(overwritten),
    "loops": chained(loops),
    "one_loop": inside(["for i in range(16):"], stored),
    "split_loops": chained(split_loops),
    "ifs": chained(ifs),
    "one_if": inside(["if m < 3:"], stored),
    "hoisted": chained(hoisted),
    "one_loop_ifs": inside(["for i in range(16):"], ifs),
    "likely": chained(likely),
    "likely_constant": chained(likely_constant),
    "whiles": chained(whiles),
    "lets": chained(lets),
    "repeated_lets": chained(repeated_lets),
    "binding_chain": chained(binding_chain),
    "binding_pairs": chained(binding_pairs),
    "let_exprs": chained(let_exprs),
    "effects": chained(effects),
    "asserts": chained(asserts),
    "attrs": chained(attrs),
    "allocations": chained(allocations),
    "scoped_allocations": chained(scoped_allocations),
    "live_allocations": live_allocations,
    "declared": chained(declared),
    "constants": chained(constants),
    "async_copies": chained(async_copies),
    "conditional_loads": lambda n: ['L = T.allocate([16], "float32", "local")',
                                    'L_1 = T.Buffer((16,), data=L, scope="local")', *chained(conditional_loads)(n)],
    "realized": chained(realized),
    "prefetched": chained(prefetched),
    "rolling": chained(rolling),
    "vectorized": chained(vectorized),
    "vectorized_ifs": chained(vectorized_ifs),
    "one_vectorized": inside(["for i in T.vectorized(4):"], lambda k: [f"A[{k * 4} + i] = B[{k * 4} + i]"]),
    "unrolled": chained(unrolled),
    "parallel": chained(parallel),
    "kernels": chained(kernels),
    "target_regions": chained(target_regions),
    "shared": shared_memory(lambda k: [f"S[tx + {k % 16}] = B[tx]", f"A[tx + {k}] = S[tx]"]),
    "shared_own": shared_memory(lambda k: [f"S[tx] = B[tx + {k}]", f"A[tx + {k}] = S[tx]"]),
    "shared_written": shared_memory(lambda k: [f"S[tx + {k}] = B[tx + {k}]"]),
    "shared_memories": lambda n: ['tx = T.launch_thread("threadIdx.x", 16)', *chained(shared_memories)(n)],
    "awaited": shared_memory(awaited),
    "bound_blocks": chained(bound_blocks),
    "kernel_loops": chained(kernel_loops),
    "virtual_threads": chained(virtual_threads),
    "one_virtual_thread": inside(['with T.launch_thread("vthread", 2) as v:'], lambda k: [f"A[v + {k}] = B[v]"]),
    "virtual_memory": inside(['with T.launch_thread("vthread", 2) as v:'], virtual_memory),
    "double_buffers": chained(double_buffers),
    "pipelines": chained(pipelines),
    "long_pipeline": long_pipeline,
    "async_pipeline": async_pipeline,
    "blocks": elementwise_blocks,
    "one_loop_blocks": one_loop_blocks,
    "reductions": chained(reductions),
    "thread_reductions": chained(thread_reductions),
    "matched": chained(matched),
    "permuted": annotated_blocks('{"permuted_layout": 1}', "shared", "(8, 64)"),
    "matrices": annotated_blocks("", "m16n8k8.matrixC", "(16, 64)"),
    "local_stages": local_stages,
    "weight_layouts": weight_layouts,
    "repeated": chained(repeated),
    "common": chained(common),
    "expression": expression,
    "index_expression": index_expression,
    "selects": chained(selects),
    "assumed": chained(assumed),
    "overcomputed": chained(overcomputed),
    "undefined": chained(undefined),
    "packed_calls": chained(packed_calls),
    "array_calls": chained(array_calls),
    "contexts": chained(contexts),
    "intrinsics": chained(intrinsics),
    "private_calls": chained(private_calls),
    "bfloat16": low_precision("bfloat16"),
    "float8": low_precision("e4m3_float8"),
    "textures": chained(textures),
    "bounds": chained(bounds),
    "long_indices": chained(long_indices),
    "params": lambda n: [f"A[{k}] = R{k}[0]" for k in range(n)],
    "functions": lambda n: loops(n),
    "loop_nests": nested(loop_nest),
    "if_nests": nested(if_nest),
    "block_nests": nested(block_nest, 2),
    "axis_pairs": nested(axis_pair),
    "conjuncts": junction("and"),
    "disjuncts": junction("or"),
    **deep_expressions.KINDS,
    "deep_loops": deep(lambda k: [f"for i{k} in range(2):"]),
    "deep_ifs": deep(lambda k: [f"if m * {k % 7 + 2} < p + {k}:"]),
    "deep_loop_ifs": deep(lambda k: [f"for i{k} in range(2):" if k % 2 else f"if m * {k % 7 + 2} < p + {k}:"]),
}
# The units are nested.
NESTED = ["loop_nests", "if_nests", "block_nests", "axis_pairs"]
# They are one nest.
DEEP = ["deep_loops", "deep_ifs", "deep_loop_ifs", *deep_expressions.KINDS]
# More parameters, and the attributes of the function.
PARAMS = {
    **dict.fromkeys(["rolling", "weight_layouts", "params"], lambda n: [f'R{k}: T.Buffer((16,), "float32")' for k in range(n)]),
    "bfloat16": lambda n: ['L: T.Buffer((200000,), "bfloat16")'],
    "float8": lambda n: ['L: T.Buffer((200000,), "e4m3_float8")'],
    "textures": lambda n: ['X: T.Buffer((2, 8, 8, 4), "float32", scope="global.texture-nhwc")'],
}
ATTRS = {
    **dict.fromkeys(["realized", "prefetched"], '{"from_legacy_te_schedule": True}'),
    "assumed": '{"op_pattern": 0}',
}
HEADS = {"bounds": ['T.attr(A.data, "buffer_bound", T.tvm_tuple(200000))', 'T.attr(B.data, "buffer_bound", T.tvm_tuple(200000))']}
HELPER = """    @T.prim_func(private=True)
    def helper(x: T.handle("float32")):
        X = T.decl_buffer((1,), "float32", data=x)
        X[0] = X[0] + T.float32(1)

"""


def write(out, kind, size, funcs):
    out.write("# from tvm.script import ir as I\n# from tvm.script import tir as T\n\n@I.ir_module\nclass Module:\n")
    if kind == "private_calls":
        out.write(HELPER)
    if kind == "functions":
        funcs, size = funcs * size, 1
    extent = "T.int64(200000)" if kind == "long_indices" else "200000"
    params = [f'{name}: T.Buffer(({extent},), "float32")' for name in "AB"]
    params += [*(PARAMS[kind](size) if kind in PARAMS else []), "m: T.int32", "p: T.int32"]
    for k in range(funcs):
        out.write(f"    @T.prim_func\n    def f{k}({', '.join(params)}):\n")
        if kind in ATTRS:
            out.write(f"        T.func_attr({ATTRS[kind]})\n")
        for line in [*HEADS.get(kind, []), *KINDS[kind](size)]:
            out.write(f"        {line}\n")
        out.write("\n")


if __name__ == "__main__":
    gen_program.run(__doc__ + "  " + ", ".join(KINDS), KINDS, "stores", write)
