"""Changes of a dataflow block, one binding after another."""
from .._core import Error, native, require
from .expr import DataflowBlock, DataflowVar, Var, VarBinding
from .utils import replace_vars


class DataflowBlockRewrite:
    """Changes a dataflow block of a function. Nodes stay as they are: `mutated_dfb` and `mutated_root_fn` are new ones."""

    def __init__(self, dfb, root_fn):
        require(dfb=dfb, root_fn=root_fn)
        self._original = root_fn
        self._dfb, self._root_fn = dfb, root_fn
        blocks = root_fn.body.blocks
        self._index = next((i for i, block in enumerate(blocks) if block.same_as(dfb)), None)
        if self._index is None:
            raise Error("the dataflow block is not one of the function")

    def mutated_dfb(self):
        """The block with all changes."""
        return self._dfb

    def mutated_root_fn(self):
        """The function with all changes."""
        return self._root_fn

    def mutate_irmodule(self, irmodule):
        """A copy of a module, with the changed function where it has the original one."""
        changed = irmodule.copy()
        for name, func in irmodule.items():
            if func.same_as(self._original):
                changed[name] = self._root_fn
        return changed

    def add_binding(self, binding):
        """Adds a binding at the end of the block."""
        self._set_bindings([*self._dfb.bindings, binding])

    def add(self, expr, name=None, is_dfvar=False):
        """Adds a new variable with the value of an expression; it is visible after the block unless `is_dfvar`."""
        name = name or self._free_name()
        self.add_binding(VarBinding((DataflowVar if is_dfvar else Var)(name, expr.struct_info), expr))

    def replace_all_uses(self, old_var, new_var):
        """Replaces a variable by another one wherever it is used."""
        blocks = []
        for block in self._root_fn.body.blocks:
            bindings = [native.copy_with(item, {"value": replace_vars(item.value, {old_var: new_var})})
                        for item in block.bindings]
            blocks.append(type(block)(bindings))
        self._set_blocks(blocks, replace_vars(self._root_fn.body.body, {old_var: new_var}))

    def remove_unused(self, var, allow_undef=False):
        """Removes the binding of a variable that nothing uses.

        allow_undef: whether the variable may be one that the block does not define; nothing is changed then.
        """
        rest = [binding for binding in self._dfb.bindings if not binding.var.same_as(var)]
        if len(rest) == len(self._dfb.bindings):
            if not allow_undef:
                raise Error(f"the dataflow block does not define '{var.name_hint}'")
            return
        if native.node_id(var) in self._used():
            raise Error(f"'{var.name_hint}' is used")
        self._set_bindings(rest)

    def remove_all_unused(self):
        """Removes all bindings of dataflow blocks that nothing uses."""
        blocks = list(self._root_fn.body.blocks)
        used = _uses(self._root_fn.body.body)
        for i, block in reversed(list(enumerate(blocks))):
            kept = []
            for binding in reversed(block.bindings):
                if not isinstance(block, DataflowBlock) or native.node_id(binding.var) in used:
                    kept.insert(0, binding)
                    used |= _uses(binding.value)
            blocks[i] = type(block)(kept)
        self._set_blocks(blocks)

    def _used(self):
        used = _uses(self._root_fn.body.body)
        for block in self._root_fn.body.blocks:
            for binding in block.bindings:
                used |= _uses(binding.value)
        return used

    def _free_name(self):
        names = {binding.var.name_hint for block in self._root_fn.body.blocks for binding in block.bindings}
        number = 0
        while f"tmp{number}" in names:
            number += 1
        return f"tmp{number}"

    def _set_bindings(self, bindings):
        blocks = list(self._root_fn.body.blocks)
        if self._index == len(blocks) or not blocks[self._index].same_as(self._dfb):
            blocks.insert(self._index, self._dfb)
        blocks[self._index] = DataflowBlock(bindings)
        self._set_blocks(blocks)

    def _set_blocks(self, blocks, result=None):
        """The function with other blocks; empty ones are left out."""
        self._dfb = blocks[self._index]
        self._index -= sum(not block.bindings for block in blocks[:self._index])
        fields = {"blocks": [block for block in blocks if block.bindings]}
        body = native.copy_with(self._root_fn.body, fields if result is None else {**fields, "body": result})
        self._root_fn = native.copy_with(self._root_fn, {"body": body})


def _uses(expr):
    """The variables in an expression."""
    from .analysis import all_vars

    return {native.node_id(var) for var in all_vars(expr)}
