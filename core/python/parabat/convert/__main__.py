"""python3 -m parabat.convert: the verb `convert` of the command `parabat`."""

import argparse
import sys

from ..cli import convert

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="parabat convert", description=convert.__doc__.split("\n", maxsplit=1)[0])
    convert.add_arguments(parser)
    sys.exit(convert.run(parser.parse_args()))
