# Succeeds if a value of the operator `first` reaches one of `second`: awk -v first=R.add -v second=R.exp -f uses.awk FILE
/ = / {
  uses = 0
  for (i = 2; i <= NF; ++i) {
    word = $i
    gsub(/^.*\(|[,)]*$/, "", word)
    uses = uses || (word in reached)
  }
  if (uses && index($0, second "(")) found = 1
  if (uses || index($0, first "(")) {
    sub(/:$/, "", $1)
    reached[$1] = 1
  }
}
END { exit !found }
