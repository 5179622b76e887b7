# SPDX-License-Identifier: BSD-3-Clause
"""Makes pictures small enough for the repository: at most 256 colours, and as wide as they are shown.

usage: python3 small_picture.py FROM.png TO.png [WIDTH]   needs Pillow (python3-pil)
"""
import sys

from PIL import Image


def small(source, target, width=0):
    with Image.open(source) as picture:
        picture = picture.convert("RGB")
    if 0 < width < picture.width:
        picture = picture.resize((width, round(picture.height * width / picture.width)), Image.LANCZOS)
    # Flat parts stay flat, and rounding errors are diffused, so that colour bars have no steps.
    palette = picture.quantize(256, kmeans=4)
    picture.quantize(palette=palette, dither=Image.FLOYDSTEINBERG).save(target, optimize=True)


if __name__ == "__main__":
    small(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0)
