#!/usr/bin/env bash
# Optimizes the modules of a manifest without a build system: run.sh MANIFEST FOLDER [JOBS]
#
# The manifest has one path a line. Outputs go to the folder, each when it is complete, so those that are there after an
# interruption, even by kill -9, are right and are not made again. Also one part of an array job of Slurm:
#
#   sbatch --array=0-15 run.sh MANIFEST FOLDER
#
# in which each task takes every sixteenth module. IR_OPT is the program, ir-opt by default, and IROPT_FLAGS has flags.
# The exit code is 0 only if all of its modules were written.
set -euo pipefail
manifest=$1
folder=$2
jobs=${3:-$(nproc)}
task=$((${SLURM_ARRAY_TASK_ID:-0} - ${SLURM_ARRAY_TASK_MIN:-0}))
tasks=${SLURM_ARRAY_TASK_COUNT:-1}
same=$(sed 's|.*/||' "$manifest" | sort | uniq -d | head -n 1)
if [ -n "$same" ]; then
  echo "run.sh: two modules are called '$same'" >&2
  exit 1
fi
mkdir -p "$folder"

missing() {
  while IFS= read -r module; do
    if [ ! -e "$folder/$(basename "$module")" ]; then printf '%s\0' "$module"; fi
  done < <(awk -v task="$task" -v tasks="$tasks" 'NR % tasks == task' "$manifest")
}

optimize() { "${IR_OPT:-ir-opt}" -O3 "$2" -o "$1/"; }
export -f optimize
missing | xargs -0 -r -n 1 -P "$jobs" bash -c 'optimize "$0" "$1"' "$folder"
