# SPDX-License-Identifier: BSD-3-Clause
"""The formats that convert.py reads itself: delimited text and PLY, every value exactly, divided among any number
of processes. Without ParaView."""
import os
import struct
import tempfile

import numpy as np
import ply_vertices
import text_tables

BIG = 2 ** 53 + 1  # not a double
path = os.path.join(tempfile.mkdtemp(prefix="bat_exact_"), "file")


def put(content):
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def table(content, parts=1, delimiter=None, requested=None):
    """Columns and remarks of a text, read in this many shares."""
    put(content)
    layout = text_tables.look(path, delimiter)
    shares = [text_tables.Share(path, layout, part, parts, requested) for part in range(parts)]
    types, remarks = text_tables.agree(layout, [share.facts for share in shares], requested)
    columns = [share.columns(types) for share in shares]
    return {name: np.concatenate([each[name] for each in columns]) for name in types}, [words for _, words in remarks]


def same(found, requested):
    assert list(found) == list(requested), (list(found), list(requested))
    for name, values in requested.items():
        assert found[name].dtype == values.dtype, (name, found[name].dtype, values.dtype)
        assert found[name].tobytes() == values.tobytes(), (name, found[name], values)


def fails(function, *texts):
    try:
        function()
    except (text_tables.TableError, ply_vertices.PlyError) as error:
        for text in texts:
            assert text in str(error), (text, str(error))
        return
    raise AssertionError(f"no error: {texts}")


def i8(*values):
    return np.array(values, "i8")


def f8(*values):
    return np.array(values, "f8")


# Every value, whatever the delimiter and the number of shares.
random = np.random.default_rng(1)
ids = BIG + np.arange(3000)
keys = np.array([2 ** 64 - 1 - i for i in range(3000)], "u8")
x = random.normal(size=3000) * 10.0 ** random.integers(-300, 300, 3000)
requested = {"id": ids.astype("i8"), "key": keys, "x": x}
for delimiter in ",;\t ":
    rows = [delimiter.join(("id", "key", "x"))] + [
        delimiter.join((str(i), str(k), repr(float(v)))) for i, k, v in zip(ids, keys, x)]
    for end in ("\n", "\r\n"):
        for parts in (1, 2, 3, 7):
            found, remarks = table(end.join(rows) + (end if parts == 1 else ""), parts)
            same(found, requested)
            assert remarks == [], remarks
fast, text_tables._FAST = text_tables._FAST, False  # as with older numpy
same(table("\n".join(rows), 3)[0], requested)
text_tables._FAST = fast
text_tables.CHUNK = 100  # chunks of a few rows, whose types differ
content = "a,b\n" + "".join("%d,%d\n" % (i, i) for i in range(100)) + "0.5,18446744073709551615\n" + "1,2\n" * 50
for parts in (1, 3):
    same(table(content, parts)[0], {"a": f8(*range(100), 0.5, *[1] * 50),
                                    "b": np.array([*range(100), 2 ** 64 - 1, *[2] * 50], "u8")})
for parts in (1, 50):
    same(table("a\n1\n", parts)[0], {"a": i8(1)})
    same(table("7", parts)[0], {"Field 0": i8(7)})

# Names.
same(table("\ufeff# made by us\n# id x\n\n1 2.5\n 3\t4 \n")[0], {"id": i8(1, 3), "x": f8(2.5, 4)})
found, remarks = table("1,2\n3,4\n")
same(found, {"Field 0": i8(1, 3), "Field 1": i8(2, 4)})
assert "Field 0" in remarks[0], remarks
found, remarks = table("a,a,\n1,2,\n3,4,\n")
same(found, {"a": i8(1, 3), "a_2": i8(2, 4)})
assert "two columns are named 'a'" in remarks[0] and "'Field 2'" in remarks[1], remarks
same(table('"Points:0","b;c"\n"1",-2\n3,"+4"\n')[0], {"Points:0": i8(1, 3), "b;c": i8(-2, 4)})
same(table("a|b\n1|2\n", delimiter="|")[0], {"a": i8(1), "b": i8(2)})
same(table("a,b  c\n1\t2\n", delimiter=" ")[0], {"a,b": i8(1), "c": i8(2)})
same(table("a,b\n1,2\n", requested=["b"])[0], {"b": i8(2)})
same(table("a,b\n")[0], {"a": f8(), "b": f8()})

# Losses are reported, or are errors.
found, remarks = table("x,name\n1,Alice\n2,Bob\n")
same(found, {"x": i8(1, 2)})
assert remarks == ["non-numeric columns are not written: 'name' ('Alice' ...)"], remarks
for content in ("id,m\n%d,1\n4,\n", "id,m\n4,\n%d,1\n"):
    found, remarks = table(content % BIG)
    assert found["id"].dtype == np.int64 and np.isnan(found["m"]).sum() == 1, found
    assert len(remarks) == 1 and "'m' lacks values, the first in line" in remarks[0], remarks
for filler in ("", "1\n2\n" * 100):  # in one chunk, and in several
    for parts in (1, 2):
        found, remarks = table("id,x\n%d,1\n%s,2\n" % (BIG, filler.replace("\n", ",0\n") + ""), parts)
        assert found["id"].dtype == np.float64, found
        assert any(str(BIG) in each and "rounded" in each for each in remarks), remarks
found, remarks = table("id\n-1\n18446744073709551615\n")
assert found["id"].dtype == np.float64 and "no 64-bit type" in remarks[0], remarks
found, remarks = table("id\n1\n18446744073709551616000\n")
assert found["id"].dtype == np.float64, found
same(table("a\n1\n\n \n2\n")[0], {"a": i8(1, 2)})
fails(lambda: table(""), "is empty")
fails(lambda: table("\n \n"), "is empty")
fails(lambda: table("a,b\n1,2\n3\n", 2), "line 3 has 1 fields instead of 2")
fails(lambda: table("a,b\n" + "1,2\n" * 50 + "3,4,5\n", 3), "line 52 has 3 fields instead of 2")
fails(lambda: table("a,b\n" + "1,2\n" * 50 + "3,abc\n", 3), "line 52", "'abc'", "'b'")
fails(lambda: table("a,b\n1,2\n0x10,4\n"), "line 3", "'0x10'")
fails(lambda: table("a,b\n1,2\n1_0,4\n"), "line 3", "'1_0'")
fails(lambda: table('a,b\n1,"x\ny"\n'), "quotation marks")
fails(lambda: table("a,b\n1,2\n".encode("utf-16")), "UTF-16")
fails(lambda: table("a,b\r1,2\r"), "carriage returns")
fails(lambda: table(b"\0\1\2\n"), "zero bytes")

# PLY: every type, texts and both byte orders, other elements before and after.
KINDS = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f", "double": "d",
         "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "float32": "f",
         "float64": "d"}
N = 50
properties = [("x", "float"), ("y", "float"), ("z", "float")] + [("p_" + kind, kind) for kind in KINDS]
values = {}
for name, kind in properties:
    code = np.dtype(KINDS[kind])
    values[name] = (random.normal(size=N).astype(code) if code.kind == "f" else
                    random.integers(np.iinfo(code).min, np.iinfo(code).max, N, code, endpoint=True))
header = "ply\nformat %s 1.0\ncomment by a test\nelement camera 2\nproperty list uchar int views\nproperty float f\n"
header += "element vertex %d\n" % N + "".join("property %s %s\n" % (kind, name) for name, kind in properties)
header += "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
text = header % "ascii" + "2 7 8 0.5\n0 1.5\n" + "".join(
    " ".join(repr(values[name][i].item()) if values[name].dtype.kind == "f" else str(values[name][i])
             for name, _ in properties) + "\n" for i in range(N)) + "3 0 1 2\n"
contents = [text.encode(), text.replace("\n", "\r\n").encode()]
for order, name in ("<", "binary_little_endian"), (">", "binary_big_endian"):
    content = (header % name).encode() + struct.pack(order + "BiifBf", 2, 7, 8, 0.5, 0, 1.5)
    for i in range(N):
        for name, kind in properties:
            content += struct.pack(order + KINDS[kind], values[name][i].item())
    contents.append(content + struct.pack(order + "Biii", 3, 0, 1, 2))
ply_vertices.CHUNK = 500
for content, ply_vertices._FAST in [*((each, ply_vertices._FAST) for each in contents), (contents[0], False)]:
    put(content)
    layout = ply_vertices.look(path)
    assert [element.name for element in layout.elements] == ["camera", "vertex", "face"]
    for parts in (1, 2, 3, 60):
        found = [ply_vertices.read(path, layout, part, parts) for part in range(parts)]
        same({name: np.concatenate([each[name] for each in found]) for name in values}, values)


ply_vertices._FAST = fast


def ply(body, properties="property float x\nproperty float y\nproperty float z\nproperty uchar c\n", count=2,
        form="ascii 1.0"):
    put(("ply\nformat %s\nelement vertex %d\n%send_header\n" % (form, count, properties)).encode() + body)
    return ply_vertices.read(path, ply_vertices.look(path))


same({"c": ply(b"1 2 3 255\n1 2 nan 0\n")["c"]}, {"c": np.array([255, 0], "u1")})
fails(lambda: ply(b"1 2 3 4\n"), "ends after 1 of 2 vertices")
fails(lambda: ply(b"\0" * 14, form="binary_little_endian 1.0"), "ends after 1 of 2 vertices")
fails(lambda: ply(b"1 2 3 4\n1 2 3 256\n"), "vertex 1", "'c'", "0 to 255")
fails(lambda: ply(b"1 2 3 4\n1 2 3 1.5\n"), "'1.5' is not a valid uint8")
fails(lambda: ply(b"1 2 3 4\n1 2 3\n"), "vertex 1 has 3 values instead of 4")
fails(lambda: ply(b"", "property float x\nproperty float y\n"), "no property 'z'")
fails(lambda: ply(b"", "property list uchar int x\n"), "no property 'x'")
same({"z": ply(b"1 2 1 7 3\n4 5 0 6\n", "property float x\nproperty float y\nproperty list uchar int l\nproperty float z\n")["z"]},
     {"z": np.array([3, 6], "f4")})
fails(lambda: ply(b"", "property quad x\n"), "property quad x")
fails(lambda: ply(b"", form="binary 1.0"), "format 'binary'")
put(b"plx\n")
fails(lambda: ply_vertices.look(path), "'ply'")
put(b"ply\nformat ascii 1.0\n")
fails(lambda: ply_vertices.look(path), "ends within its header")
put(b"ply\nformat ascii 1.0\nelement face 0\nend_header\n")
fails(lambda: ply_vertices.look(path), "no element 'vertex'", "face")
os.remove(path)
os.rmdir(os.path.dirname(path))
print("all checks passed")
