# SPDX-License-Identifier: BSD-3-Clause
"""Runs convert.py on one argument list after another: pvbatch takes longer to start than most conversions take.
Arguments: the folder of convert.py, the lists as JSON. A line on both streams marks where each begins, and one on
stderr how it ended if it failed."""
import gc
import json
import sys

folder, commands = sys.argv[1:]
sys.path.insert(0, folder)
import bat_ranks
import convert

# Instead of ending all ranks with this status.
bat_ranks.leave_all = lambda status: bat_ranks.tell("status %d" % status)
# The remains of a conversion are removed while rank 0 runs no script for all ranks, in which the others would wait
# for ever.
gc.disable()
for words in json.loads(commands):
    for stream in (sys.__stdout__, sys.__stderr__):
        stream.write("\nnext in turn\n")
        stream.flush()
    sys.argv = ["convert.py", *words]
    convert.main()
    gc.collect()
