"""Runs a command until a folder has a database with a record, kills it, and tells which files there are.

killed.py FOLDER COMMAND...
"""
import pathlib
import subprocess
import sys
import time

folder, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
records = folder / "database_tuning_record.json"
with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None and not (records.exists() and records.stat().st_size):
        time.sleep(0.01)
    print("running" if process.poll() is None else "ended")
    process.kill()
print(*sorted(path.name for path in folder.iterdir()))
