# complete.bash SCRIPT TOOL: for each line of the standard input, what the completion offers at its end, on one line.
source "$1"
name=${2##*/}
while IFS= read -r line; do
  COMP_LINE=$line COMP_POINT=${#line}
  "_${name//-/_}" "$2"
  mapfile -t replies < <(printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort)
  echo "$line| ${replies[*]}"
done
