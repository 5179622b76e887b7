"""One file for each format; what stands in them: parabat/convert/model.py."""
