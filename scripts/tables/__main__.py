"""Makes what follows from the rows of the .def files.

  tables passes_rows FILE FOLDER   the rows of passes for the registry, their options, and functions that make them
  tables configs_rows FILE FOLDER, tables pipelines_rows FILE FOLDER, tables names_rows FILE FOLDER
                                   the rows of configuration options, of pipelines and of other names for the registry
  tables instruments FILE FOLDER   the headers of options of instruments
  tables configs FILE FOLDER       those of the configuration of a PassContext
  tables primitives FILE FOLDER    the arguments of the primitives of schedules, and calls of them
  tables ops FILE FOLDER COMPILER [INCLUDE]
                                   ids, attributes and calls of operators; INCLUDE has tables in place of some of FILE's
  tables documents FOLDER OPERATORS
                                   the documents of docs with their tables; OPERATORS is the program that prints that of operators
  tables table NAME [OPERATORS]    prints a table of a document

The modules of these tables say more: options, passes, primitives, operators and documents.
"""
import sys

import documents
import grammar
import operators
import options
import passes
import primitives
from files import write

HEADERS = {"passes_rows": passes.headers, "configs_rows": passes.config_rows, "pipelines_rows": passes.pipeline_rows,
           "names_rows": passes.name_rows,
           "instruments": options.instrument_headers, "configs": options.config_headers,
           "primitives": primitives.headers}


def main():
    kind, *args = sys.argv[1:] or [""]
    if kind in HEADERS and len(args) == 2:
        path, folder = args
        write(folder, list(HEADERS[kind](grammar.read(path))))
    elif kind == "ops" and len(args) in (3, 4):
        path, folder, compiler, *changed = args
        write(folder, list(operators.headers(compiler, path, changed)))
    elif kind == "documents" and len(args) == 2:
        documents.make(*args)
    elif kind == "table" and len(args) in (1, 2):
        print(documents.table(args[0], *args[1:] or [None]))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
