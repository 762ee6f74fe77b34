#!/usr/bin/env bash
# Takes the pictures docs/pictures/page*.png of the page that runs ir-opt in the browser, from the screenshots of its tests. Needs
# Chromium and what scripts/web.sh builds: scripts/page_picture.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -B web/test/page.py --screenshots "$folder" > "$folder/log" || { cat "$folder/log" >&2; exit 1; }
cp "$folder/difference.png" docs/pictures/page.png
cp "$folder/values.png" docs/pictures/page_values.png
echo "written: docs/pictures/page.png docs/pictures/page_values.png"
