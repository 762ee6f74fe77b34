"""The rows of operators as constants of C++: OpInfo with its operands, attributes and parameters, see include/iropt/op/ops.def.

A row that contradicts itself is refused.
"""
import dataclasses
import sys

KINDS = {"Any": "kExpr", "Tensor": "kTensor", "Scalar": "kScalar", "Shape": "kShape", "Prim": "kPrimValue", "TupleOf": "kTuple",
         "CallArgs": "kCallArgs", "TextArg": "kString", "DtypeArg": "kDataType", "Func": "kFunc", "Rest": "kExpr"}
REQUIRED, NONE = "{}", "OpDefault::None()"


class WrongRow(Exception):
    pass


def take(values, what, least=1, most=1):
    """The arguments of a property; there are so many of them."""
    if not least <= len(values) <= most:
        raise WrongRow(f"{what} has {len(values)} arguments")
    return values


def quoted(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def same_as(parameter):
    return f"OpDefault{{OpDefault::Kind::kSameAs, 0, 0, {quoted(parameter)}}}"


def default(item):
    """The OpDefault of an argument."""
    if item.value is not None:
        return f"OpDefault::String({quoted(item.value)})"
    if item.name == "SameAs":
        return same_as(item.args[0].value)
    if item.text == "None":
        return NONE
    if item.text in ("true", "false"):
        return f"OpDefault::Bool({item.text})"
    try:
        float(item.text)
    except ValueError:
        raise WrongRow(f"'{item.text}' is not a default") from None
    return f"OpDefault::{'Float' if set(item.text) & set('.e') else 'Int'}({item.text})"


def braces(values):
    """The initializer of a struct, without the members that have their defaults."""
    return "{" + ", ".join(f".{key} = {value}" for key, value in values.items() if value not in (None, "")) + "}"


@dataclasses.dataclass
class Param:
    name: str
    role: str
    index: int
    fallback: str
    rest: bool = False

    def text(self, keyword_only):
        flags = ", ".join(str(flag).lower() for flag in (self.rest, keyword_only))
        return f"{{{quoted(self.name)}, OpParam::Role::{self.role}, {self.index}, {flags}, {self.fallback}}}"


class Arg:
    """An operand: Tensor("x").As("y").Or(0)."""

    def __init__(self, item):
        if not item.calls or item.name not in KINDS:
            raise WrongRow(f"'{item.text}' is not an operand")
        self.registered, self.rest, self.fallback = item.args[0].value, item.name == "Rest", REQUIRED
        self.members = {"name": quoted(self.registered), "registered": quoted(self.registered), "kind": f"ArgKind::{KINDS[item.name]}",
                        "absence": "", "copies": "", "keyword": "", "since": "", "until": "", "attr_since": "", "attr_place": ""}
        self.name = self.registered
        for word, args in item.calls[1:]:
            self.set(word, args)

    def set(self, word, args):
        members, texts = self.members, [arg.text for arg in args]
        if word == "As":
            self.name = take(args, word)[0].value
            members["name"] = quoted(self.name)
        elif word == "Or":
            self.fallback = default(take(args, word)[0])
        elif word in ("Optional", "OrVoid"):
            take(args, word, 0, 0)
            self.fallback = NONE
            members["absence"] = "ArgAbsence::" + {"Optional": "kOmitted", "OrVoid": "kVoid"}[word]
        elif word == "Since":
            members["since"], members["absence"] = take(texts, word)[0], "ArgAbsence::kOmitted"
        elif word in ("Until", "Copies"):
            members[word.lower()] = take(texts, word)[0]
        elif word == "AttrSince":
            members["attr_since"], members["attr_place"] = take(texts, word, 2, 2)
        elif word == "Keyword":
            members["keyword"] = "true"
        else:
            raise WrongRow(f"there is no property '{word}' of operands")

    @property
    def may_be_missing(self):
        return self.members["absence"] == "ArgAbsence::kOmitted"


class Attr:
    """A field of a record: (kind, name, default, properties...)."""

    def __init__(self, kind, name, *rest):
        self.name, self.copies = name.text, "0"
        self.members = {"name": quoted(self.name), "kind": f"AttrKind::{kind.text}", "fallback": default(rest[0]) if rest else REQUIRED,
                        "copies": "", "padding": "", "since": "", "until": "", "renamed_since": "", "renamed": "", "unwritten": ""}
        for item in rest[1:]:
            self.set(item.name or item.text, item.args)

    def set(self, word, args):
        if word in ("PerAxis", "PerSide"):
            self.copies = word
        elif word == "Copies":
            self.copies = take(args, word)[0].text
        elif word in ("Since", "Until"):
            self.members[word.lower()] = take(args, word)[0].text
        elif word == "Renamed":
            self.members["renamed"], self.members["renamed_since"] = (arg.text for arg in take(args, word, 2, 2))
        else:
            raise WrongRow(f"there is no property '{word}' of attributes")

    def set_copies(self, axes):
        if self.copies in ("PerAxis", "PerSide"):
            if not axes:
                raise WrongRow("the operator must say Axes()")
            self.members["padding"] = "true" if self.copies == "PerSide" else ""
            self.copies = str(axes * (2 if self.copies == "PerSide" else 1))
        self.members["copies"] = "" if self.copies == "0" else self.copies


class Attrs:
    """The attributes of an operator: Attrs(record, changes...)."""

    def __init__(self, args, records):
        record, axes = args[0].text, 0
        if record not in records:
            raise WrongRow(f"there is no record '{record}'")
        self.key, self.rows = f"relax.attrs.{record}", [Attr(*field.items) for field in records[record]]
        for item in args[1:]:
            if item.name == "Key":
                self.key = take(item.args, "Key")[0].value
            elif item.name == "Axes":
                axes = int(take(item.args, "Axes")[0].text)
            else:
                self.change(item.name, item.args)
        for row in self.rows:
            row.set_copies(axes)

    def change(self, word, args):
        members = next((row.members for row in self.rows if args and row.name == args[0].value), None)
        if members is None:
            raise WrongRow(f"{word}() names an unknown attribute")
        if word == "With":
            members["fallback"] = default(take(args, word, 2, 2)[1])
        elif word == "Required":
            members["fallback"] = REQUIRED
        elif word == "Unwritten":
            members["unwritten"] = "true"
        else:
            raise WrongRow(f"there is no change '{word}' of a record")


class Row:
    """A row of IROPT_OP; `records` has the fields of each record by its name."""

    def __init__(self, args, number, records):
        self.id, self.name, self.number = args[0].text, args[1].text, number
        self.info = {"pattern": f"OpPattern::{args[5].text}", "mixed_precision": f"MixedPrecision::{args[6].text}"}
        if args[7].name != "Args":
            raise WrongRow("Args() is missing")
        self.args = [Arg(item) for item in args[7].args]
        if any(arg.rest for arg in self.args[:-1]):
            raise WrongRow("only the last operand can repeat")
        attrs = Attrs(args[8].args, records) if args[8].name == "Attrs" else None
        self.attrs, self.key = (attrs.rows, attrs.key) if attrs else ([], "")
        self.alias, self.layouts, self.order = "", [], None
        self.extra, self.device, self.types = [], [], []
        for item in args[9:]:
            self.set(item.name or item.text, item.args)
        self.params = self.make_params()
        self.check()

    def set(self, word, args):
        values = [arg.value for arg in args]
        if word in ("Since", "Packed"):
            self.info[word.lower()] = take(args, word)[0].text
        elif word == "Impure":
            self.info["pure"] = "false"
        elif word == "TvmLacksLayout":
            self.info["tvm_lacks_layout"] = "true"
        elif word == "Params":
            self.order = take(values, word)[0].split()
        elif word == "Alias":
            self.alias = take(values, word)[0]
        elif word == "LayoutChoices":
            self.info["required_layouts"], self.layouts = args[0].text, values[1:]
        else:
            self.set_form(word, args, values)

    def set_form(self, word, args, values):
        if word == "OutTypes":
            self.types, self.info["form"] = [Param("out_sinfo", "kResultTypes", 0, REQUIRED)], "ScriptForm::kOutTypes"
        elif word == "Types":
            fallback = default(args[1]) if len(take(args, word, 1, 2)) == 2 else REQUIRED
            self.types = [Param(values[0], "kResultTypes", 0, fallback)]
        elif word == "Device":
            self.device, self.info["form"] = [Param(take(values, word)[0], "kDevice", 0, REQUIRED)], "ScriptForm::kDevice"
        elif word == "VDeviceForm":
            self.info["form"] = "ScriptForm::kVDevice"
        elif word == "Extra":
            self.extra = [Param(take(values, word, 2, 2)[0], "kExtra", 0, NONE)]
            self.info["extended"] = args[1].text
        else:
            raise WrongRow(f"there is no property '{word}' of operators")

    def make_params(self):
        """The parameters of the function in scripts. A device stands for the first two attributes."""
        args = [Param(arg.name, "kArg", i, arg.fallback, arg.rest) for i, arg in enumerate(self.args)]
        attrs = [Param(attr.name, "kAttr", i, attr.members["fallback"]) for i, attr in enumerate(self.attrs)]
        params = args + self.extra + self.device + attrs[2 if self.device else 0:] + self.types
        if self.order is None:
            return params
        if sorted(self.order) != sorted(param.name for param in params):
            raise WrongRow("Params() names an unknown parameter, one twice, or not all")
        return [next(param for param in params if param.name == name) for name in self.order]

    def check(self):
        for arg, following in zip(self.args, self.args[1:]):
            if arg.may_be_missing and not following.may_be_missing:
                raise WrongRow("an operand that may be missing stands before one that may not")
        names = [same_as(param.name) for param in self.params]
        if any("kSameAs" in param.fallback and param.fallback not in names for param in self.params):
            raise WrongRow("SameAs() names no parameter")

    @property
    def variadic(self):
        return bool(self.args) and self.args[-1].rest

    def arg_order(self):
        """The places of the operands in the signature; nothing if they are in order, or if they repeat."""
        order = [param.index for param in self.params if param.role == "kArg"]
        return [] if self.variadic or order == sorted(order) else [str(index) for index in order]

    def texts(self):
        """The constants that the row refers to, by the member of OpInfo."""
        rests = [i for i, param in enumerate(self.params) if param.rest]
        return {"args": ("OpArg", [braces(arg.members) for arg in self.args]), "arg_order": ("uint8_t", self.arg_order()),
                "attrs": ("OpAttr", [braces(attr.members) for attr in self.attrs]),
                "params": ("OpParam", [param.text(bool(rests) and i > rests[0]) for i, param in enumerate(self.params)]),
                "layout_axes": ("std::string_view", [quoted(axes) for axes in self.layouts])}

    def definitions(self):
        return "".join(f"constexpr {kind} {member}_{self.id}[] = {{\n    {(',' + chr(10) + '    ').join(values)}}};\n"
                       for member, (kind, values) in self.texts().items() if values)

    def text(self):
        """The row as an OpRow."""
        spans = {member: f"{member}_{self.id}" if values else "{}" for member, (_, values) in self.texts().items()}
        info = self.info
        members = {"name": quoted("relax." + self.name), "script": quoted("R." + self.name), "args": spans["args"],
                   "variadic": "true" if self.variadic else "", "arg_order": spans["arg_order"], "attrs_key": quoted(self.key),
                   "attrs": spans["attrs"], "params": spans["params"], "since": info.get("since"), "pure": info.get("pure"),
                   "mixed_precision": info["mixed_precision"], "pattern": info["pattern"], "form": info.get("form"),
                   "extended": info.get("extended", '""'), "packed": info.get("packed", '""'), "layout_axes": spans["layout_axes"],
                   "required_layouts": info.get("required_layouts"), "tvm_lacks_layout": info.get("tvm_lacks_layout"),
                   "functions": "{}", "id": f"OpId{{{self.number}}}"}
        return f"    {{{braces(members)},\n     {quoted(self.alias)}}},\n"


def source(operators):
    """The definition of GraphOpRows, of operators as (arguments of the row, number, records)."""
    rows = []
    for args, number, records in operators:
        try:
            rows.append(Row(args, number, records))
        except WrongRow as error:
            sys.exit(f"the operator {args[0].text}: {error}")
    definitions = "".join(row.definitions() for row in rows)
    table = "".join(row.text() for row in rows)
    return (f"namespace op_detail {{\n\nnamespace {{\n\nusing enum TextVersion;\n\n{definitions}\nconstexpr OpRow kRows[] = {{\n{table}}};\n\n"
            f"}}  // namespace\n\nstd::span<const OpRow> GraphOpRows() {{ return kRows; }}\n\n}}  // namespace op_detail\n")
