# misbehave.sh IR_OPT PLUGINS INPUT FOLDER: runs passes that misbehave, with an old output in FOLDER, and prints the
# output of ir-opt and its exit code.
ir_opt=$1 plugins=$2 input=$3 folder=$4
echo "old output" > "$folder/out.ir"
run() {
  local name=$1
  shift
  "$ir_opt" -load-pass-plugin="$plugins/misbehave.so" "$@" "$input" -o "$folder/out.ir"
  echo "$name $?"
}
run throw -passes='test.Misbehave<how=throw>'
run throw-number -passes='test.Misbehave<how=throw-number>'
run bad-alloc -passes='test.Misbehave<how=bad-alloc>'
run "throw in functions" -threads=2 -passes='test.MisbehaveInFunction<how=throw>'
run "throw in the second function" -passes='test.MisbehaveInFunction<how=throw-number;only=second>'
run factory -passes=test.ThrowingFactory
run "other factory" -passes=test.OtherFactory
run deep -passes='fixpoint(repeat<2>(Sequential(Sequential(test.Misbehav))))'
run nested -passes='FoldConstant,fixpoint(repeat<2>(Sequential(Normalize,Sequential(test.Misbehave))))'
cat "$folder/out.ir"
ls "$folder"
echo end
