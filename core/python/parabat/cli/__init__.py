# SPDX-License-Identifier: BSD-3-Clause
"""The command `parabat`: one file per subcommand, each with add_arguments(parser) and
run(arguments).

Exit codes: 0, success, or the answer is yes; 1, the answer is no (`validate`: a file is invalid;
`diff`: the particles differ); 2, invalid arguments; 3, a file cannot be read or written, or a
package is missing; 130, interrupted.
"""

import argparse
import difflib
import importlib
import importlib.util
import os
import re
import sys

from ._common import TROUBLE, USAGE, explained, say

VERBS = {
    "info": "show what files and series contain",
    "validate": "verify every checksum and every rule of the format",
    "query": "count matching particles, and show their ranges and the first of them",
    "export": "export particles to tables and formats of other programs, grids to .npy, .npz or .vti",
    "follow": "export the tracks of selected particles through a series to .csv, .npz or .vtp",
    "diff": "compare two datasets: the same particles, in any order, or the same samples",
    "convert": "convert files of other programs to .bat, grids to .idx, velocity fields to .bricks.series",
    "repack": "rewrite particles with other compression, bounds or indexes",
    "web": "create a folder to publish, with the browser viewer and the data",
    "serve": "serve the viewer on this machine",
    "paraview": "start ParaView with the Python plugin",
    "completion": "print the command completion for bash or zsh",
}


def verbs():
    """Returns the installed subcommands with their summaries."""
    return {verb: summary for verb, summary in VERBS.items()
            if importlib.util.find_spec(f"{__name__}.{verb}")}


class _Version(argparse.Action):
    """Loads the library, which is needed only once the action is known."""

    def __call__(self, parser, *unused):
        from .. import __version__  # pylint: disable=import-outside-toplevel
        print(f"parabat {__version__}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """A parser that reports errors in one line. Options may stand between arguments, even where one
    takes several."""

    _is_within = False

    def parse_known_args(self, args=None, namespace=None):
        if self._is_within or self._subparsers:  # argparse cannot intermix these
            return super().parse_known_args(args, namespace)
        self._is_within = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_within = False

    def error(self, message):
        wrong = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        near = difflib.get_close_matches(wrong[1], re.findall(r"[\w.+-]+", wrong[2]), 3, 0.75) if wrong else []
        wrong = re.search(r"unrecognized arguments: (--[\w-]+)", message)
        parsers = [self, *(one for action in self._actions if isinstance(action, argparse._SubParsersAction) for one in action.choices.values())]
        known = sorted({option for parser in parsers for option in parser._option_string_actions})
        near += difflib.get_close_matches(wrong[1], known, 3, 0.75) if wrong else []
        if near:
            message += " (did you mean " + " or ".join(f"'{one}'" for one in near) + "?)"
        say(f"{message}; see '{self.prog} --help'")
        self.exit(USAGE)


def parser_of(chosen):
    """Returns a parser that knows the arguments of the given subcommands."""
    parser = _Parser(
        prog="parabat", description="Work with large particle data (.bat) and structured grids (.idx) on the command line.",
        epilog="exit codes: 0 success or yes; 1 no (validate, diff); 2 invalid request; 3 a file cannot be read or written; 130 interrupted")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parser.add_argument("--debug", action="store_true", help="print a traceback with errors")
    commands = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_Parser)
    for verb, summary in verbs().items():
        own = commands.add_parser(verb, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if verb in chosen:
            module = importlib.import_module(f"{__name__}.{verb}")
            module.add_arguments(own)
            own.set_defaults(run=module.run)
    return parser


# argparse mistakes -inf, -1e9, -1,0,0, -5..3 and -1: (for --steps) for options; with a leading space they are
# values.
_ONE = r"(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf(inity)?)"
_NUMBER = re.compile(rf"-({_ONE}((,|\.\.|:)[+-]?{_ONE})*,?|\d+:[-\d:]*)", re.I)


# Options with a fixed number of numbers, which commas may separate instead of spaces.
_TUPLES = {"--box": 6, "--unwrap-box": 6, "--sphere": 4}


def _split_tuples(argv):
    """Returns the words with --box 0,0,0,1,1,1 and --box=0,0,0,1,1,1 split into one word per number."""
    words = []
    for word in argv:
        option, equals, text = word.partition("=")
        size = _TUPLES.get(option if equals else words[-1] if words else None)
        parts = re.split(r"[\s,]+", (text if equals else word).strip())
        words += [word] if size is None or len(parts) != size else [option, *parts] if equals else parts
    return words


def _run(arguments):
    """Returns the exit code, and the reason if it is not 0, or None."""
    try:
        code = arguments.run(arguments)
        sys.stdout.flush()
        return code, None
    except (Exception, KeyboardInterrupt) as error:  # pylint: disable=broad-except
        return explained(error, getattr(arguments, "file", None))


def main(argv=None):
    """Returns the exit code."""
    argv = [" " + word if _NUMBER.fullmatch(word) else word
            for word in _split_tuples(sys.argv[1:] if argv is None else argv)]
    chosen = next((word for word in argv if not word.startswith("-")), None)
    try:
        arguments = parser_of({chosen}).parse_args(argv)
    except SystemExit as end:
        return end.code
    except OSError as error:  # the help could not be written
        say(f"cannot write: {error.strerror}")
        return TROUBLE
    if arguments.debug:
        return arguments.run(arguments)
    code, why = _run(arguments)
    if why:
        say(why)
    return code


def program():
    """Runs main() and exits the process."""
    if sys.stdout is None:  # stdout was closed: printing fails visibly
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # pylint: disable=consider-using-with
    for stream in filter(None, (sys.stdout, sys.stderr)):
        # Passes file names through unchanged, even those that are not valid text.
        stream.reconfigure(errors="surrogateescape" if stream.encoding.lower() == "utf-8" else "backslashreplace")
    code = main()
    try:
        sys.stdout.flush()
    except OSError:  # main() has reported it; Python would do so again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
