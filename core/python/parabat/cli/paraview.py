# SPDX-License-Identifier: BSD-3-Clause
"""parabat paraview [FILE]: starts ParaView with the Python plugin, and opens a file."""

import os
import pathlib
import shutil

from ..errors import refuse

PLUGIN = "parabat_paraview.py"


def add_arguments(parser):
    """Adds the arguments of `paraview`."""
    parser.add_argument("file", nargs="?", metavar="FILE", help=".bat, .pbat or .bat.series")
    parser.add_argument("--program", metavar="PATH", default="paraview",
                        help="ParaView program to start (default: %(default)s, found in PATH)")
    parser.add_argument("--folder", action="store_true",
                        help="only print the plugin folder, for PV_PLUGIN_PATH")


def plugin_folder():
    """Returns the plugin's path: in the package if installed, next to the library in a build tree."""
    here = pathlib.Path(os.path.abspath(__file__)).parent.parent
    folders = [here / "paraview"]
    for start in dict.fromkeys((here, here.resolve())):
        folders += [parent / lib / "parabat" / "paraview" for parent in start.parents for lib in ("lib", "build/lib")]
    for folder in folders:
        if (folder / PLUGIN).is_file():
            return folder
    refuse(f"{PLUGIN} is not in {folders[0]}; install the wheel, or build the project")
    return None


def run(arguments):
    """Returns the exit code."""
    folder = plugin_folder()
    if arguments.folder:
        print(folder)
        return 0
    if arguments.file and not os.path.exists(arguments.file):
        refuse(f"{arguments.file}: does not exist")
    program = shutil.which(arguments.program)
    if program is None:
        refuse(f"--program {arguments.program}: not found; specify a ParaView program, such as --program ~/ParaView-5.13/bin/paraview")
    paths = [str(folder), *filter(None, [os.environ.get("PV_PLUGIN_PATH")])]
    environment = dict(os.environ, PV_PLUGIN_PATH=os.pathsep.join(paths))
    opened = [f"--data={os.path.abspath(arguments.file)}"] if arguments.file else []
    os.execve(program, [program, *opened], environment)
    return 0
