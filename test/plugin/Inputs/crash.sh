# crash.sh IR_OPT PLUGINS INPUT FOLDER: runs passes that crash, with an old output in FOLDER, and prints the output of
# ir-opt and its exit code.
ir_opt=$1 plugins=$2 input=$3 folder=$4
echo "old output" > "$folder/out.ir"
ulimit -c 0
run() {
  local name=$1 plugin=$2
  shift 2
  "$ir_opt" -load-pass-plugin="$plugins/$plugin.so" "$@" "$input" -o "$folder/out.ir"
  echo "$name $?"
}
for how in segv abort fpe ill bus terminate recurse check exit; do
  run $how misbehave "-passes=test.Misbehave<how=$how>"
done
run "in the second function" misbehave -threads=2 \
  -passes='Normalize,Sequential<name=inner>(test.MisbehaveInFunction<how=segv;only=second>)'
run "in an instrument" misbehave -passes=FoldConstant -instruments='test.misbehaving<hook=before;how=segv>'
run "in a factory" misbehave -passes=FoldConstant -instruments='test.misbehaving<hook=factory;how=segv>'
IROPT_TEST_BUG=crashes-while-adding run "in a plugin" broken
run "in a constructor" throwing_constructor
cat "$folder/out.ir"
ls "$folder"
echo end
