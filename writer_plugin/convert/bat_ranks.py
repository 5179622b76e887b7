# SPDX-License-Identifier: BSD-3-Clause
"""Python on every rank of a pvbatch job, for convert.py and the benchmarks.

pvbatch runs a script on rank 0 only; the other ranks wait for commands. A ProgrammableSource is a
command that they run Python for. Messages go through VTK's own controller, so that mpi4py is not
needed.
"""

import importlib
import json
import os
import re
import signal
import sys
import traceback

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.util.misc import calldata_type
from vtkmodules.vtkCommonCore import VTK_STRING, vtkLogger, vtkOutputWindow, vtkUnsignedCharArray
from vtkmodules.vtkParallelCore import vtkMultiProcessController

_answers = None
_messages = None


class RankError(Exception):
    """A failure, that of the lowest rank that failed."""


def controller():
    """Returns the controller of all ranks."""
    return vtkMultiProcessController.GetGlobalController()


def rank():
    return controller().GetLocalProcessId()


def ranks():
    return controller().GetNumberOfProcesses()


def barrier():
    controller().Barrier()


def gather(value):
    """The values of all ranks (anything that JSON can say), on every rank. Collective."""
    if ranks() == 1:
        return [value]
    text = json.dumps(value).encode()
    sizes = _all_gather(np.array([len(text)], np.int64).view(np.uint8)).view(np.int64)
    padded = np.zeros(int(sizes.max()), np.uint8)
    padded[:len(text)] = np.frombuffer(text, np.uint8)
    texts = _all_gather(padded).reshape(len(sizes), -1)
    return [json.loads(texts[i, :size].tobytes()) for i, size in enumerate(sizes)]


def _all_gather(local):
    everyone = vtkUnsignedCharArray()
    everyone.SetNumberOfValues(len(local) * ranks())
    controller().AllGather(numpy_to_vtk(local), everyone)
    return vtk_to_numpy(everyone).copy()


def answer(module, function, arguments):
    """Called on every rank by the script of on_all_ranks()."""
    global _answers
    try:
        local = [getattr(importlib.import_module(module), function)(**json.loads(arguments)), None]
    except Exception:  # pylint: disable=broad-except
        local = [None, traceback.format_exc()]
    _answers = gather(local)


def script(module, call):
    """Text for a Script property: imports a module from this folder or that of the module, runs `call`."""
    folders = {os.path.dirname(os.path.abspath(__file__)),
               os.path.dirname(os.path.abspath(module.__file__))}
    return (f"import sys\nfor folder in {sorted(folders)!r}:\n"
            "    if folder not in sys.path:\n        sys.path.insert(0, folder)\n"
            f"import bat_ranks, {module.__name__}\n{call}\n")


def on_all_ranks(function, **arguments):
    """Called on rank 0: calls a function of a module on every rank and returns all results. Raises
    RankError if it failed on one; a function that sends messages must not fail between them."""
    from paraview.simple import Delete, ProgrammableSource, UpdatePipeline

    global _answers
    _answers = None
    module = sys.modules[function.__module__]
    program = ProgrammableSource()
    program.Script = script(
        module, f"bat_ranks.answer({module.__name__!r}, {function.__name__!r}, {json.dumps(arguments)!r})")
    UpdatePipeline(proxy=program)
    Delete(program)
    if _answers is None:
        raise RankError(f"{function.__name__} was not run")
    for number, (_, failure) in enumerate(_answers):
        if failure is not None:
            raise RankError(f"rank {number}: {failure}")
    return [value for value, _ in _answers]


def leave(status):
    """Called on every rank by the script of leave_all(). Ends all processes together: a process that
    mpirun must kill prints a stack trace."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.__stdout__.flush()
    barrier()
    os._exit(status)


def leave_all(status):
    """Called on rank 0: makes every rank exit with this status."""
    from paraview.simple import ProgrammableSource, UpdatePipeline

    program = ProgrammableSource()
    program.Script = script(sys.modules[__name__], f"bat_ranks.leave({status})")
    UpdatePipeline(proxy=program)


def listen():
    """Keeps this rank's VTK errors and warnings for said(), instead of printing them. What Python
    writes to sys.stderr becomes an error of VTK in pvbatch; only tell() still reaches people."""
    global _messages
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
    window = vtkOutputWindow.GetInstance()
    if _messages is None:
        for event in ("ErrorEvent", "WarningEvent"):
            window.AddObserver(event, _hear)
    _messages = []


def tell(text, end="\n"):
    """Prints to the terminal's stderr."""
    sys.__stderr__.write(text + end)
    sys.__stderr__.flush()


@calldata_type(VTK_STRING)
def _hear(_, event, text):
    # The message omits the place in the source and the address of the object.
    words = re.sub(r"^(ERROR|Warning): In .*, line \d+\s*", "", text.strip())
    words = " ".join(re.sub(r"^\w+ \(0x[0-9a-f]+\): ", "", words).split())
    message = ["error" if event == "ErrorEvent" else "warning", words]
    if message not in _messages:
        _messages.append(message)


def reported():
    """Returns what VTK reported on this rank since the last call: pairs of "error" or "warning" and a text."""
    global _messages
    heard, _messages = _messages, []
    if heard and heard[0][1].startswith("Traceback"):
        return [["error", "\n".join(text for _, text in heard)]]  # it came in pieces
    return heard


def load_plugins():
    """Called on rank 0: loads the BAT plugins on all ranks, unless PV_PLUGIN_PATH has: those in the
    folder next to this one's (build and install tree), else in build/ of this source tree. Raises RankError."""
    from paraview import servermanager, simple

    here = os.path.dirname(os.path.abspath(__file__))
    folders = [os.path.join(os.path.dirname(here), *names, "paraview-plugins") for names in ((), ("build", "lib"))]
    for name, group in (("BATWriter", servermanager.writers), ("BATReader", servermanager.sources)):
        if hasattr(group, name):
            continue
        files = [os.path.join(folder, name, name + ".so") for folder in folders]
        found = next((file for file in files if os.path.exists(file)), None)
        if found is None:
            raise RankError(f"the ParaView plugin {name} was not found; set PV_PLUGIN_PATH to the folder paraview-plugins of a build or an "
                            f"installation. Searched {' and '.join(files)}")
        simple.LoadPlugin(found, remote=True, ns=vars(simple))
