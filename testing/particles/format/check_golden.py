#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the golden files with the second reader: valid, and exactly the content of NAME.json.

check_golden.py GOLDEN_FOLDER
"""

import filecmp
import glob
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "spec_reader"))
import bat_spec as spec
import bat_spec_write


def main(argv):
    """Runs the checks."""
    folder, = argv
    names = sorted(os.path.basename(path)[:-4] for path in glob.glob(os.path.join(folder, "*.bat")))
    for name in names:
        bat = spec.open_any(os.path.join(folder, name + ".bat"))
        bat.validate()
        with open(os.path.join(folder, name + ".json"), encoding="utf-8") as stream:
            assert spec.content(bat) == json.load(stream), name + ": the content differs"
    with tempfile.TemporaryDirectory() as made:
        bat_spec_write.main([made])
        files = sorted(os.path.relpath(os.path.join(where, name), made) for where, _, names in os.walk(made) for name in names)
        _, different, missing = filecmp.cmpfiles(made, folder, files, shallow=False)
        assert not different and not missing, "bat_spec_write.py makes other files: %s" % (different + missing)
        folders = [name for name in os.listdir(made) if name.endswith(".leaves")]
        extra = [name for name in folders if set(os.listdir(os.path.join(folder, name))) != set(os.listdir(os.path.join(made, name)))]
        assert not extra, "leaf files that no top file names: %s" % extra
        again = {name[:-4] for name in os.listdir(made) if name.endswith(".bat")}
    # test_golden writes files of the C++ writer again.
    assert {name for name in names if not name.startswith("written_")} == again, "files that no program makes"
    print("%d files are valid and have their content; %d were made again" % (len(names), len(again)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
