// The parts of completion scripts that do not depend on the tables, with marks @...@ where the tables go.
#pragma once

#include <string_view>

namespace iropt {

// bash: the words of COMP_WORDS are cut at '=', '(' and others, so that the script reads the line itself. What readline
// replaces is only the end of what is being typed; everything before it is taken off the replies.
inline constexpr std::string_view kBashScript =
    R"script(# Completion of ir-opt for bash: source <(ir-opt -print-completion=bash)

_ir_opt_passes='@PASSES@'
_ir_opt_groups='@GROUPS@'
_ir_opt_instruments='@INSTRUMENTS@'
_ir_opt_configs='@CONFIGS@'
_ir_opt_flags='@FLAGS@'

# What completes the value of a flag.
_ir_opt_kind() {
  case "$1" in
@CASES@    *) echo none ;;
  esac
}

# Sets cur to the word before the cursor without quotes, prev to the one before it, and word to the part of cur that
# readline replaces.
_ir_opt_read_line() {
  local line=${COMP_LINE:0:COMP_POINT} char quote='' i
  cur='' prev='' word=''
  for ((i = 0; i < ${#line}; i++)); do
    char=${line:i:1}
    if [[ -n $quote ]]; then
      if [[ $char == "$quote" ]]; then quote=''; else cur+=$char word+=$char; fi
    elif [[ $char == [\'\"] ]]; then
      quote=$char word=''
    elif [[ $char == [[:space:]] ]]; then
      [[ -n $cur ]] && prev=$cur
      cur='' word=''
    else
      cur+=$char
      if [[ $COMP_WORDBREAKS == *"$char"* ]]; then word=''; else word+=$char; fi
    fi
  done
}

# Offers those of the words that begin as the text does, behind what stands before the text.
_ir_opt_offer() {
  local before=$1 text=$2 words=$3 hidden=${cur%"$word"} candidate
  while IFS= read -r candidate; do
    [[ -n $candidate && $candidate == "$text"* ]] || continue
    candidate=$before$candidate
    COMPREPLY+=("${candidate#"$hidden"}")
  done <<< "$words"
}

_ir_opt_files() {
  local before=$1 text=$2 hidden=${cur%"$word"} file
  compopt -o filenames 2> /dev/null
  while IFS= read -r file; do
    file=$before$file
    COMPREPLY+=("${file#"$hidden"}")
  done < <(compgen -f -- "$text")
}

_ir_opt_value() {
  local before=$1 value=$2 kind
  kind=$(_ir_opt_kind "$3")
  local last=${value##*,} inner=${value##*[,(\[]}
  case "$kind" in
    file) _ir_opt_files "$before" "$value" ;;
    passes) _ir_opt_offer "$before${value%"$last"}" "$last" "$_ir_opt_passes" ;;
    pipeline)
      _ir_opt_offer "$before${value%"$inner"}" "$inner" "$_ir_opt_passes"
      _ir_opt_offer "$before${value%"$inner"}" "$inner" "$_ir_opt_groups"
      ;;
    instruments)
      if [[ $value == *'=['* && $value != *']>'* ]]; then
        _ir_opt_offer "$before${value%"$inner"}" "$inner" "$_ir_opt_passes"
      else
        _ir_opt_offer "$before${value%"$last"}" "$last" "$_ir_opt_instruments"
      fi
      ;;
    config) _ir_opt_offer "$before" "$value" "$_ir_opt_configs" ;;
    words*)
      kind=${kind#words }
      _ir_opt_offer "$before" "$value" "${kind// /$'\n'}"
      ;;
  esac
}

_ir_opt() {
  local cur prev word
  COMPREPLY=()
  _ir_opt_read_line
  local flag=${cur%%=*}
  flag=${flag#-}
  flag=${flag#-}
  compopt -o nospace 2> /dev/null
  if [[ $cur == -*=* ]]; then
    _ir_opt_value "${cur%%=*}=" "${cur#*=}" "$flag"
    return
  fi
  prev=${prev#-}
  case "${prev#-}" in
    @BEFORE_VALUES@)
      _ir_opt_value '' "$cur" "${prev#-}"
      return
      ;;
  esac
  if [[ $cur == --* ]]; then
    _ir_opt_offer - "${cur#-}" "$_ir_opt_flags"
  elif [[ $cur == -* ]]; then
    _ir_opt_offer '' "$cur" "$_ir_opt_flags"
  elif [[ $cur == @* ]]; then
    _ir_opt_files @ "${cur#@}"
  else
    _ir_opt_files '' "$cur"
  fi
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} != *= ]]; then compopt +o nospace 2> /dev/null; fi
}

complete -F _ir_opt ir-opt
)script";

inline constexpr std::string_view kZshScript = R"script(#compdef ir-opt
# Completion of ir-opt for zsh: in a folder of $fpath under the name _ir-opt.

_ir_opt_kind() {
  case "$1" in
@CASES@    *) echo none ;;
  esac
}

# The value of a flag; everything up to the last separator stays.
_ir_opt_value() {
  local -a kind names
  kind=(${(z)"$(_ir_opt_kind $1)"})
  case $kind[1] in
    file) _files ;;
    passes)
      compset -P '*,'
      names=(${(f)_ir_opt_passes})
      compadd -S '' -a names
      ;;
    pipeline)
      compset -P '*[,(]'
      names=(${(f)_ir_opt_passes} ${(f)_ir_opt_groups})
      compadd -S '' -a names
      ;;
    instruments)
      if [[ $PREFIX == *'=['* && $PREFIX != *']>'* ]]; then
        compset -P '*[,\[]'
        names=(${(f)_ir_opt_passes})
      else
        compset -P '*,'
        names=(${(f)_ir_opt_instruments})
      fi
      compadd -S '' -a names
      ;;
    config)
      names=(${(f)_ir_opt_configs})
      compadd -S '' -a names
      ;;
    words)
      names=($kind[2,-1])
      compadd -a names
      ;;
    *) _message 'value' ;;
  esac
}

_ir_opt() {
  local _ir_opt_passes='@PASSES@'
  local _ir_opt_groups='@GROUPS@'
  local _ir_opt_instruments='@INSTRUMENTS@'
  local _ir_opt_configs='@CONFIGS@'
  local -a flags
  flags=(
@FLAGS@  )
  local flag previous=${words[CURRENT-1]##-#}
  if [[ $PREFIX == -*=* ]]; then
    flag=${${PREFIX%%=*}##-#}
    compset -P 1 '*='
    _ir_opt_value $flag
    return
  fi
  if [[ ${words[CURRENT-1]} == -* ]]; then
    case $previous in
      @BEFORE_VALUES@)
        _ir_opt_value $previous
        return
        ;;
    esac
  fi
  if [[ $PREFIX == --* ]]; then
    flags=(-${^flags})
    _describe -o 'flag' flags -S ''
  elif [[ $PREFIX == -* ]]; then
    _describe -o 'flag' flags -S ''
  elif [[ $PREFIX == @* ]]; then
    compset -P '@'
    _files
  else
    _files
  fi
}

if [[ $funcstack[1] == _ir-opt ]]; then
  _ir_opt "$@"
else
  compdef _ir_opt ir-opt
fi
)script";

inline constexpr std::string_view kFishScript =
    R"script(# Completion of ir-opt for fish: ir-opt -print-completion=fish | source

set -g __ir_opt_passes (string split \n '@PASSES@')
set -g __ir_opt_groups (string split \n '@GROUPS@')
set -g __ir_opt_instruments (string split \n '@INSTRUMENTS@')
set -g __ir_opt_configs (string split \n '@CONFIGS@')

function __ir_opt_kind
    switch $argv[1]
@CASES@        case '*'
            echo none
    end
end

# The values of the flag in $argv[1], behind the text in $argv[2], as far as the value in $argv[3] goes.
function __ir_opt_value
    set -l kind (string split ' ' (__ir_opt_kind $argv[1]))
    set -l before $argv[2]
    set -l value "$argv[3]"
    switch $kind[1]
        case file
            for file in (__fish_complete_path $value)
                echo $before$file
            end
        case passes
            printf '%s\n' $before(string replace -r '[^,]*$' '' -- "$value")$__ir_opt_passes
        case pipeline
            printf '%s\n' $before(string replace -r '[^,(]*$' '' -- "$value"){$__ir_opt_passes,$__ir_opt_groups}
        case instruments
            printf '%s\n' $before(string replace -r '[^,]*$' '' -- "$value")$__ir_opt_instruments
        case config
            printf '%s\n' $before$__ir_opt_configs
        case words
            printf '%s\n' $before$kind[2..-1]
    end
end

function __ir_opt_complete
    set -l current (commandline -ct)
    set -l previous (commandline -opc)[-1]
    if string match -qr '^--?[a-zA-Z]' -- "$previous"; and not string match -q -- '*=*' "$previous"
        set -l name (string replace -r '^--?' '' -- $previous)
        switch $name
            case print-pipeline list-passes
            case '*'
                if test (__ir_opt_kind $name) != none
                    __ir_opt_value $name '' "$current"
                    return
                end
        end
    end
    if string match -qr '^--?[^=]+=' -- "$current"
        set -l parts (string split -m 1 = -- "$current")
        __ir_opt_value (string replace -r '^--?' '' -- $parts[1]) "$parts[1]=" "$parts[2]"
    else if not string match -q -- '-*' "$current"
        __fish_complete_path "$current"
    end
end

complete -c ir-opt -f -a '(__ir_opt_complete)'
@FLAGS@)script";

}  // namespace iropt
