# instruments.sh IR_OPT PLUGINS INPUT FOLDER: lets an instrument throw in each of its hooks, with an old output in
# FOLDER, and prints the output of ir-opt and its exit code.
ir_opt=$1 plugins=$2 input=$3 folder=$4
echo "old output" > "$folder/out.ir"
run() {
  local name=$1 options=$2
  "$ir_opt" -load-pass-plugin="$plugins/misbehave.so" -passes=FoldConstant -instruments="test.misbehaving<$options>" \
    "$input" -o "$folder/out.ir"
  echo "$name $?"
}
for hook in enter before after should-run exit factory nothing; do
  run $hook "hook=$hook"
done
run error "hook=before;how=error"
cat "$folder/out.ir"
ls "$folder"
echo end
