" TVMScript is Python with the prefixes I, R and T.
if exists("b:current_syntax")
  finish
endif
runtime! syntax/python.vim
unlet! b:current_syntax
syntax match tvmscriptPrefix /\<[IRT]\ze\./
syntax match tvmscriptType /\<[RT]\.\zs\(Tensor\|Shape\|Tuple\|Prim\|Callable\|Object\|Buffer\|handle\)\>/
syntax match tvmscriptLit /\(RUN\|CHECK\(-[A-Z]\+\)\?\|expected-\(error\|warning\|note\|remark\)\S*\):\?/ contained containedin=pythonComment
highlight default link tvmscriptPrefix Include
highlight default link tvmscriptType Type
highlight default link tvmscriptLit Todo
let b:current_syntax = "tvmscript"
