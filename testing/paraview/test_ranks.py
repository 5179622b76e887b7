# SPDX-License-Identifier: BSD-3-Clause
"""An error on one rank is an error on all, and none waits for another. Each rank runs this script: mpirun pvbatch
--sym. Arguments: two .bat files with different numbers of particles."""
from bat_test import *
from paraview.modules.vtkRemotingCore import vtkProcessModule
from vtkmodules.vtkCommonCore import vtkOutputWindow

rank = vtkProcessModule.GetProcessModule().GetPartitionId()
messages = []


def keep(window, event, text):
    messages.append(text)


keep.CallDataType = "string0"
vtkOutputWindow.GetInstance().AddObserver("ErrorEvent", keep)


def load(names, error):
    """What this rank has of the file that it names."""
    reader = BATReader(FileName=names[rank])
    reader.UpdatePipeline()
    reader.UpdatePropertyInformation()
    count = reader.GetClientSideObject().GetOutputDataObject(0).GetNumberOfPoints()
    assert error in reader.Error if error else reader.Error == "", (rank, reader.Error)
    assert (count > 0) == (not error), (rank, count, error)
    expect(len(messages), 1 if error and rank == 0 else 0, "messages %r of rank %d" % (messages, rank))
    messages.clear()
    Delete(reader)


one, other = sys.argv[1:]
load([one, one], "")
load([one, "missing.bat"], "missing.bat: cannot open")
load(["missing.bat", one], "missing.bat: cannot open")
load([one, other], "other processes have opened another file")
load([one, one], "")
print("rank %d: all checks passed" % rank)
sys.stdout.flush()
