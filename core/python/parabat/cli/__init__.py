"""The command `parabat`: one file per verb, each with add_arguments(parser) and run(arguments).

Exit codes: 0, done, and the answer is yes; 1, the answer is no (`validate`: a file is not sound;
`diff`: the particles differ); 2, what was asked cannot be; 3, a file cannot be read or written, or a
package is missing; 130, interrupted.
"""

import argparse
import importlib
import importlib.util
import os
import re
import sys

from ..errors import BatCancelledError, BatError, BatTypeError, BatValueError

YES, NO, USAGE, TROUBLE, INTERRUPTED = 0, 1, 2, 3, 130

VERBS = {
    "info": "what files and series hold",
    "validate": "check every checksum and every rule of the format",
    "query": "how many particles match, their ranges, the first of them",
    "export": "particles as .npz, .csv, .parquet or .vtp",
    "diff": "whether two datasets have the same particles, in whatever order",
    "convert": "files of other programs to .bat",
    "paraview": "start ParaView with the plugin in Python",
    "completion": "what bash or zsh needs to complete this command",
}


def verbs():
    """Those that are installed, with their summaries."""
    return {verb: summary for verb, summary in VERBS.items()
            if importlib.util.find_spec(f"{__name__}.{verb}")}


class _Version(argparse.Action):
    """Loads the library, which nothing else needs before it is known what to do."""

    def __call__(self, parser, *unused):
        from .. import __version__  # pylint: disable=import-outside-toplevel
        print(f"parabat {__version__}")
        parser.exit()


def parser_of(chosen):
    """A parser that knows the arguments of the chosen verbs."""
    parser = argparse.ArgumentParser(
        prog="parabat", description="Large particle data (.bat) on the command line.",
        epilog="exit codes: 0 done, or yes; 1 no (validate, diff); 2 what was asked cannot be; "
               "3 a file cannot be read or written; 130 interrupted")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parser.add_argument("--debug", action="store_true", help="errors with their traceback")
    commands = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb, summary in verbs().items():
        own = commands.add_parser(verb, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if verb in chosen:
            module = importlib.import_module(f"{__name__}.{verb}")
            module.add_arguments(own)
            own.set_defaults(run=module.run)
    return parser


# argparse takes -inf and -1e9 for options; with a space in front they are values.
_NUMBER = re.compile(r"-(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf(inity)?)", re.I)


def _say(text):
    print(f"parabat: {text}", file=sys.stderr)


def _run(arguments):
    """The exit code, and why it is not 0, or None."""
    try:
        code = arguments.run(arguments)
        sys.stdout.flush()
        return code, None
    except (BatCancelledError, KeyboardInterrupt):
        return INTERRUPTED, "interrupted"
    except (BatValueError, BatTypeError) as error:
        return USAGE, str(error)
    except BatError as error:
        return TROUBLE, str(error)
    except BrokenPipeError:  # whoever read has enough
        return TROUBLE, None
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        return TROUBLE, f"{name}{error.strerror or error}"
    except MemoryError:
        return TROUBLE, "out of memory; --quality, --box and --range ask for less"


def main(argv=None):
    """Returns the exit code."""
    argv = [" " + word if _NUMBER.fullmatch(word) else word
            for word in (sys.argv[1:] if argv is None else argv)]
    chosen = next((word for word in argv if not word.startswith("-")), None)
    try:
        arguments = parser_of({chosen}).parse_args(argv)
    except SystemExit as end:
        return end.code
    except OSError as error:  # the help could not be written
        _say(f"cannot write: {error.strerror}")
        return TROUBLE
    if arguments.debug:
        return arguments.run(arguments)
    code, why = _run(arguments)
    if why:
        _say(why)
    return code


def program():
    """The command: main(), of a process that ends with it."""
    code = main()
    try:
        sys.stdout.flush()
    except OSError:  # which main() has said; Python would say it at its end once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
