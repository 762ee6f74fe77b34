"""The grammar of the .def files, and of the arguments of their rows.

  file   = {row}                     comments and the lines of the preprocessor are left out
  row    = call
  items  = [item {"," item}]
  item   = string {string} | call {"." call} | word | "(" items ")" | "{" items "}" | tokens
  call   = word "(" items ")"

Whatever has another form is kept as its tokens: numbers, expressions of C++.
"""
import re

TOKEN = re.compile(
    r'(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.)*$)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_]\w*)'
    r"|(?P<other>::|->|[^\s\w\"]|\d[\w.]*)", re.MULTILINE | re.DOTALL)
CLOSING = {"(": ")", "{": "}", "[": "]"}


class Item:
    """An argument: `tokens` is its text, `calls` the calls of a chain of such, `items` what is in a pair of brackets,
    `value` that of a string literal; None if it is something else."""

    def __init__(self, tokens, calls=None, items=None, value=None):
        self.tokens, self.calls, self.items, self.value = tokens, calls, items, value

    @property
    def text(self):
        """The source, with single spaces where it needs any."""
        result = ""
        for token in self.tokens:
            result += (" " if re.search(r"\w$", result) and re.match(r"\w", token) or result.endswith('"') and token[0] == '"' else "") + token
        return result

    @property
    def name(self):
        """The name of the first call."""
        return self.calls[0][0] if self.calls else None

    @property
    def args(self):
        """The arguments of the first call."""
        return self.calls[0][1] if self.calls else []


def unquoted(literal):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), literal[1:-1])


class Parser:
    def __init__(self, text):
        self.tokens, self.at = [], 0
        while self.at < len(text):
            token = TOKEN.match(text, self.at)
            if not token:
                raise SyntaxError(f"line {text.count(chr(10), 0, self.at) + 1}: {text[self.at]!r} begins no token")
            if token.lastgroup != "skip":
                self.tokens.append((token.lastgroup, token[0], self.at))
            self.at = token.end()
        self.text, self.at = text, 0

    def peek(self):
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def fail(self, expected):
        begin = self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)
        raise SyntaxError(f"line {self.text.count(chr(10), 0, begin) + 1}: expected {expected}, not {self.peek()!r}")

    def take(self, token):
        if self.peek() != token:
            self.fail(repr(token))
        self.at += 1

    def group(self):
        """The items between brackets."""
        close = CLOSING[self.peek()]
        self.at += 1
        items = []
        while self.peek() != close:
            items.append(self.item(close))
            if self.peek() != close:
                self.take(",")
        self.at += 1
        return items

    def item(self, close):
        """The tokens up to the next comma or the end of the group, and what they are."""
        begin, parts = self.at, []
        while self.peek() not in (",", close):
            if self.at == len(self.tokens):
                self.fail(repr(close))
            kind, token, _ = self.tokens[self.at]
            if token in CLOSING:
                parts.append((token, self.group()))
            elif token in CLOSING.values():
                self.fail(repr(close))
            else:
                parts.append((kind if kind != "other" else token, token))
                self.at += 1
        tokens = [token for _, token, _ in self.tokens[begin:self.at]]
        if parts and all(kind == "string" for kind, _ in parts):
            return Item(tokens, value="".join(unquoted(token) for _, token in parts))
        if len(parts) == 1 and parts[0][0] in ("(", "{"):
            return Item(tokens, items=parts[0][1])
        # NAME (...) and .NAME (...) after it
        if len(parts) % 3 == 2 and all(kind == ("word", "(", ".")[i % 3] for i, (kind, _) in enumerate(parts)):
            return Item(tokens, calls=[(parts[i][1], parts[i + 1][1]) for i in range(0, len(parts), 3)])
        return Item(tokens)


def parse(text):
    """The macro and the arguments of each row."""
    parser, rows = Parser(text), []
    while parser.peek():
        name = parser.peek()
        if parser.tokens[parser.at][0] != "word":
            parser.fail("the name of a row")
        parser.at += 1
        if parser.peek() != "(":
            parser.fail("'(' after the name of a row")
        rows.append((name, parser.group()))
    return rows


def read(path):
    """The rows of a file."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        return parse(text)
    except SyntaxError as error:
        raise SystemExit(f"{path}: {error}") from None
