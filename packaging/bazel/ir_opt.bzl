"""A rule of Bazel that optimizes a module.

    load("//tools:ir_opt.bzl", "ir_opt")

    ir_opt(
        name = "model_o3",
        src = "model.ir",
        out = "model.o3.ir",
        flags = ["-O3"],
        data = ["model.safetensors"],
    )

`ir_opt` is the label of the program, by default the one that the workspace calls @ir_opt//:ir-opt. In a sandbox, ir-opt
sees only the files that are named here, so a file that is missing in `data` is an error rather than a dependency that
Bazel does not know.
"""

def _ir_opt_impl(ctx):
    args = ctx.actions.args()
    args.add_all(ctx.attr.flags)
    if ctx.attr.passes:
        args.add(ctx.attr.passes, format = "-passes=%s")
    if ctx.file.pipeline:
        args.add(ctx.file.pipeline, format = "-pipeline=%s")
    if ctx.file.weights:
        args.add(ctx.file.weights, format = "-weights=%s")
    for plugin in ctx.files.plugins:
        args.add(plugin, format = "-load-pass-plugin=%s")
    args.add(ctx.file.src)
    args.add("-o", ctx.outputs.out)
    named = [file for file in [ctx.file.src, ctx.file.pipeline, ctx.file.weights] if file]
    ctx.actions.run(
        executable = ctx.executable.ir_opt,
        arguments = [args],
        inputs = named + ctx.files.plugins + ctx.files.data,
        outputs = [ctx.outputs.out],
        mnemonic = "IrOpt",
        progress_message = "Optimizing %{input}",
    )
    return [DefaultInfo(files = depset([ctx.outputs.out]))]

ir_opt = rule(
    implementation = _ir_opt_impl,
    attrs = {
        "src": attr.label(allow_single_file = True, mandatory = True, doc = "The module."),
        "out": attr.output(mandatory = True, doc = "The optimized module; its extension decides on the format."),
        "flags": attr.string_list(doc = "Flags such as -O3."),
        "passes": attr.string(doc = "The value of -passes."),
        "pipeline": attr.label(allow_single_file = [".json"], doc = "The file of -pipeline."),
        "weights": attr.label(allow_single_file = True, doc = "The file of -weights."),
        "plugins": attr.label_list(allow_files = [".so"], doc = "The files of -load-pass-plugin."),
        "data": attr.label_list(allow_files = True, doc = "Other files that the pipeline and the module name."),
        "ir_opt": attr.label(default = "@ir_opt//:ir-opt", executable = True, cfg = "exec", allow_files = True),
    },
    doc = "Runs ir-opt on a module.",
)
