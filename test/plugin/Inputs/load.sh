# load.sh IR_OPT PLUGINS INPUT: loads files that cannot be loaded, and prints the output of ir-opt and its exit code.
ir_opt=$1 plugins=$2 input=$3
load() {
  local name=$1
  shift
  "$ir_opt" "$@" "$input" -o /dev/null
  echo "$name $?"
}
load missing -load-pass-plugin="$plugins/missing.so"
load folder -load-pass-plugin="$plugins"
load text -load-pass-plugin="$input"
head -c 20000 "$plugins/broken.so" > "$plugins/cut.so"
load cut -load-pass-plugin="$plugins/cut.so"
load no_entry -load-pass-plugin="$plugins/no_entry.so"
load unresolved -load-pass-plugin="$plugins/unresolved.so"
load "not found" -load-pass-plugin=nowhere.so
for bug in nothing old-version other-build no-build own-state no-name bad-name reserved-name no-factory taken-name taken-instrument \
    requires-itself circle throws throws-while-adding; do
  IROPT_TEST_BUG=$bug load $bug -load-pass-plugin="$plugins/broken.so" -passes=test.RenameModule
done
folder=$(mktemp -d)
cp "$input" "$folder"
printf '{\n  "plugins": ["none.so", "two.ir"],\n  "passes": []\n}\n' > "$folder/both.json"
load "in a file" -pipeline="$folder/both.json"
rm -r "$folder"
load loaded -load-pass-plugin="$plugins/broken.so" -passes=test.RenameModule
