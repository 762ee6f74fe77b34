# complete.zsh SCRIPT TOOL WORD...: what the completion offers for the last word, a line for each.
script=$1
shift
compdef() { }
compadd() { print -l -- "${@[(r)--,-1][2,-1]}" }
source $script
words=("$@") CURRENT=$# PREFIX=${@[-1]}
_ir_opt
