" Files of tensor programs. Python files keep their type.
autocmd BufRead,BufNewFile *.ir setfiletype tvmscript
