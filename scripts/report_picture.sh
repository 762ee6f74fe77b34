#!/usr/bin/env bash
# Takes the picture docs/pictures/report.png of the page of -report: a pass on the ResNet-18 of examples/resnet18.py. Needs
# Chromium, and ir-opt in the folder: scripts/report_picture.sh [build/bin]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=$(realpath -- "${1:-build/bin}")
picture=$PWD/docs/pictures/report.png
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 "$OLDPWD/examples/resnet18.py" resnet18.onnx
"$bin/ir-opt" -O3 -quiet -report=report.html resnet18.onnx -o small.onnx
# The page numbers the passes that are not groups of others.
pass=$("$bin/ir-opt" -O3 -quiet -explain-pipeline resnet18.onnx -o small.onnx 2>&1 |
       grep -vE '^ *(pipeline|default<|Sequential)' | grep -n -m1 BackwardFoldScaleAxis | cut -d: -f1)
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,800 --user-data-dir="$folder/profile" \
  --screenshot="$picture" "file://$folder/report.html#pass=$pass" 2> "$folder/log" || { cat "$folder/log" >&2; exit 1; }
echo "written: $picture"
