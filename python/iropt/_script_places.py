"""Places in the source of a script: errors of the reader are about a text in which captured values are written."""
import linecache

from ._core import Error


class Places:
    """What was changed in a source before it was read, to find the places of the text in the file of the program."""

    def __init__(self, path, first_line, source):
        self.path, self.first_line = path, first_line
        self.lines = source.split("\n")
        self.edits = []  # (line, column, last line, end column, text), from 0
        self.inserted = []  # lines of the source before which a line was inserted
        self.dedents = {}  # columns that were removed, by line
        self.before = []  # texts before this one: (their places, the number of their lines)

    def insert(self, places, lines):
        """Notes that a text with other places is put before this one."""
        self.before.insert(0, (places, lines))

    def _original(self, line, column):
        """The place in the source of one in the text; both count from 0."""
        for index in sorted(self.inserted):
            line -= index < line
        column += self.dedents.get(line, 0)
        begin, begin_in_text = 0, 0
        while True:
            edits = [edit for edit in self.edits if edit[0] == line and edit[1] >= begin]
            edit = min(edits, default=None)
            start = None if edit is None else begin_in_text + edit[1] - begin
            if edit is None or column < start:
                return line, begin + column - begin_in_text
            if column < start + len(edit[4]):
                return line, edit[1]
            line, begin, begin_in_text = edit[2], edit[3], start + len(edit[4])

    def of(self, place):
        """The place in the file: (name, line, column, last line, end column), from 1."""
        if place is None or place[0] != self.path:
            return place
        offset = place[1] - self.first_line
        for places, count in self.before:
            if offset < count:
                first = offset + places.first_line
                return places.of((places.path, first, place[2], first + place[3] - place[1], place[4]))
            offset -= count
        begin = self._original(offset, place[2] - 1)
        end = self._original(offset + place[3] - place[1], place[4] - 1)
        if not 0 <= begin[0] < len(self.lines):
            return place
        line = linecache.getline(self.path, begin[0] + self.first_line) or self.lines[begin[0]]
        indent = max(line.find(self.lines[begin[0]].rstrip()), 0)
        return (self.path, begin[0] + self.first_line, begin[1] + indent + 1, end[0] + self.first_line, end[1] + indent + 1)

    def error(self, error):
        """The error with its places in the file of the program."""
        diagnostics = [{**item, "place": self.of(item["place"]),
                        "notes": [(message, self.of(place)) for message, place in item["notes"]]}
                       for item in error.diagnostics]
        text = "\n".join(self._text(item) for item in diagnostics)
        result = Error(text or str(error))
        result.diagnostics, result.code = diagnostics, error.code
        result.__cause__ = error.__cause__
        return result

    def _text(self, diagnostic):
        text = self._marked(diagnostic["place"], f"{diagnostic['severity']}: {diagnostic['message']}")
        return "\n".join([text] + [self._marked(place, f"note: {message}") for message, place in diagnostic["notes"]])

    def _marked(self, place, head):
        """A message with its line of the file and a mark under the place."""
        if place is None:
            return head
        name, line, column, last, end = place
        index = line - self.first_line
        source = linecache.getline(name, line).rstrip() or (self.lines[index] if 0 <= index < len(self.lines) else "")
        width = (end if last == line else len(source) + 1) - column
        marks = " " * (column - 1) + "^" + "~" * (width - 1)
        return f"{name}:{line}:{column}: {head}\n  {source}\n  {marks.rstrip()}"
