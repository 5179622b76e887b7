# SPDX-License-Identifier: BSD-3-Clause
"""Run by test_remote_ranks.py in pvbatch: reads files at addresses and compares them with the local ones. Arguments: the
address of the folder on the server up to the segment, the local folder, the cases as JSON, addresses that must fail."""
from bat_test import *

server, folder, cases, failing = sys.argv[1:5]


def arrays_of(data):
    attributes = data.GetPointData()
    arrays = {attributes.GetArrayName(i): vtk_to_numpy(attributes.GetArray(i)) for i in range(attributes.GetNumberOfArrays())}
    if data.IsA("vtkPointSet"):
        arrays["positions"] = vtk_to_numpy(data.GetPoints().GetData())
    return arrays


for case in json.loads(cases):
    readers = [OpenDataFile(f"{place}/{case['file']}") for place in (server + case["segment"], folder)]
    for reader in readers:
        for name, value in case["properties"].items():
            setattr(reader, name, value)
    found, expected = (arrays_of(fetch(reader)) for reader in readers)
    assert expected, case
    expect(list(found), list(expected), f"arrays of {case}")
    for name in expected:
        expect(found[name], expected[name], f"{name} of {case}")
    for reader in readers:
        Delete(reader)

for address in json.loads(failing):
    reader = IDXReader(FileName=server + address) if address.endswith(".idx") else BATReader(FileName=[server + address])
    try:
        UpdatePipeline(proxy=reader)
    except RuntimeError:
        pass
    reader.UpdatePropertyInformation()
    assert "503" in reader.Error, (address, reader.Error)
    Delete(reader)
print("done")
