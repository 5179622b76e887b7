# SPDX-License-Identifier: BSD-3-Clause
"""Converts what ParaView can read to particle files (.bat), on one or many ranks. Run by pvbatch:

    pvbatch convert.py IN... OUT.bat
    mpirun -np 4 pvbatch convert.py 'steps/particles_*.vtp' OUT.bat --report times.jsonl

All ranks write one dataset. Of a time series, every step becomes a dataset: OUT_0000.bat, OUT_0001.bat ...
"""

import argparse
import glob
import json
import os
import re
import sys
import time
import traceback
import xml.etree.ElementTree

from vtkmodules.vtkCommonDataModel import vtkCompositeDataSet, vtkDataObject, vtkDataObjectTypes, vtkPointSet, vtkTable
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bat_ranks
import exact_files
import option_types
import step_order

AGGREGATIONS = {"adaptive": "Adaptive", "rank-border": "At Borders of Ranks", "aug": "Uniform Grid of Ranks"}

# Columns that the writer uses as coordinates by default.
USUAL_COLUMNS = ["Points", *"xyzXYZ", *(f"Points{place}" for i in "012" for place in (f":{i}", f"_{i}", f"[{i}]"))]


# Messages of the writer get the names of options for those of properties.
OPTIONS = (("XColumn, YColumn, ZColumn; ZColumn may be 'none'", "--columns X,Y,Z; Z may be none"),
           ("XColumn", "X of --columns"), ("YColumn", "Y of --columns"), ("ZColumn", "Z of --columns"))


class ConvertError(Exception):
    """The reason why a file cannot be converted."""


def in_options(text):
    for of_writer, option in OPTIONS:
        text = text.replace(of_writer, option)
    text = re.sub(r"^(.*: )sorted index(:| of)", r"\1--sorted-index\2", text)
    return re.sub(r"^(.*: )stable samples(:| of)", r"\1--stable-samples\2", text)


# --- on every rank

_seen = {}


def pass_on(program, arrays, columns, has_times):
    """Body of the filter between reader and writer: drops unwanted arrays and notes what came by. has_times: whether the
    times of the reader are those of the data, not places of files in a series."""
    given = program.GetInputDataObject(0, 0)
    passed = program.GetOutputDataObject(0)
    leaves = _leaves(given)
    _seen.clear()
    _seen.update(
        particles=sum(map(_count, leaves)),
        arrays=sorted({name for leaf in leaves if _is_particles(leaf) for name in _names(leaf)}
                      | set(exact_files.others())),
        refused="" if isinstance(given, vtkCompositeDataSet) or _is_particles(given) else given.GetClassName())
    if arrays is None:
        passed.ShallowCopy(given)
    elif isinstance(given, vtkCompositeDataSet):
        passed.CopyStructure(given)
        walk = given.NewIterator()
        while not walk.IsDoneWithTraversal():
            passed.SetDataSet(walk, _with_arrays(walk.GetCurrentDataObject(), arrays, columns))
            walk.GoToNextItem()
    else:
        passed.ShallowCopy(_with_arrays(given, arrays, columns))
    _pass_time(program, given, passed, has_times)


def _leaves(data):
    if not isinstance(data, vtkCompositeDataSet):
        return [data]
    leaves = []
    walk = data.NewIterator()
    while not walk.IsDoneWithTraversal():
        leaves.append(walk.GetCurrentDataObject())
        walk.GoToNextItem()
    return leaves


def _is_particles(leaf):
    return isinstance(leaf, (vtkPointSet, vtkTable))


def _count(leaf):
    if isinstance(leaf, vtkTable):
        return leaf.GetNumberOfRows()
    return leaf.GetNumberOfPoints() if isinstance(leaf, vtkPointSet) else 0


def _attributes(leaf):
    return [leaf.GetRowData()] if isinstance(leaf, vtkTable) else [leaf.GetPointData(), leaf.GetCellData()]


def _names(leaf):
    return [name for attributes in _attributes(leaf)
            for name in map(attributes.GetArrayName, range(attributes.GetNumberOfArrays())) if name]


def _with_arrays(leaf, arrays, columns):
    if not _is_particles(leaf):
        return leaf
    copy = leaf.NewInstance()
    copy.ShallowCopy(leaf)
    keep = set(arrays) | {"vtkGhostType"}
    if isinstance(leaf, vtkTable):
        keep |= {re.sub(r"\[\d+\]$", "", column) for column in columns}
        keep |= set() if columns else set(USUAL_COLUMNS)
    for name in _names(leaf):
        if name not in keep:
            for attributes in _attributes(copy):
                attributes.RemoveArray(name)
    return copy


def _pass_time(program, given, passed, has_times):
    """Passes the time of the data on, which many readers do not set."""
    key = vtkDataObject.DATA_TIME_STEP()
    time_key = vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP()
    request = program.GetOutputInformation(0)
    if not has_times:
        passed.GetInformation().Remove(key)
    elif given.GetInformation().Has(key):
        passed.GetInformation().Set(key, given.GetInformation().Get(key))
    elif request.Has(time_key):
        passed.GetInformation().Set(key, request.Get(time_key))


def hide_times(program):
    """Body of the request for information of the same filter: offers no times to the writer."""
    information = program.GetOutputInformation(0)
    information.Remove(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
    information.Remove(vtkStreamingDemandDrivenPipeline.TIME_RANGE())


def listen():
    _seen.clear()
    bat_ranks.listen()


def look():
    """Returns what was converted on this rank, and what VTK reported about it."""
    seen = dict({"particles": 0, "arrays": [], "refused": ""}, **_seen, reported=bat_ranks.reported(), problems=exact_files.problems())
    _seen.clear()
    return seen


# --- on rank 0

def parse(words):
    parser = argparse.ArgumentParser(
        prog="convert.py", description="Converts anything ParaView can read to particle files (.bat).",
        usage="[mpirun -np N] pvbatch convert.py IN... OUT.bat [options]")
    parser.add_argument("inputs", metavar="IN", nargs="+",
                        help="file that ParaView can read, or .csv, .tsv, .txt, .ply, which are read exactly; several files, or a quoted pattern, form "
                             "a time series")
    parser.add_argument("output", metavar="OUT.bat",
                        help="file to write; for a time series OUT_0000.bat, OUT_0001.bat ...")
    parser.add_argument("--steps", metavar="A:B:C", type=option_types.steps, default=slice(None),
                        help="steps from A to before B, every C-th, counted from 0 as in Python; or a single number")
    parser.add_argument("--arrays", metavar="NAME,...", type=option_types.any_names, help="write only these attributes")
    parser.add_argument("--columns", metavar="X,Y,Z", type=option_types.three_columns, default=[],
                        help="table columns with the coordinates; Z may be none")
    parser.add_argument("--delimiter", metavar="C", type=option_types.delimiter,
                        help="character between the columns of .csv, .tsv and .txt, or comma, tab, space (default: the first of tab, semicolon and "
                             "comma found in the first line, otherwise space)")
    parser.add_argument("--time-column", metavar="NAME",
                        help="column of a .csv, .tsv or .txt with the time of each row: its rows become one step per time; none keeps such a column as "
                             "an attribute (default: detected by name)")
    parser.add_argument("--target-size", metavar="SIZE", type=option_types.size, default=0,
                        help="target size of a leaf file, for example 8M; a plain number is in MiB. auto (default) chooses it")
    parser.add_argument("--aggregation", choices=AGGREGATIONS, default="adaptive",
                        help="method of dividing particles into leaf files (default: adaptive)")
    parser.add_argument("--block-particles", metavar="N", type=int, default=0,
                        help="maximum number of particles in a block, 16 to 65536; 0 (default) chooses it")
    parser.add_argument("--treelet-particles", metavar="N", type=int, default=8192,
                        help="maximum number of particles in a treelet, 256 to 65536 (default: 8192)")
    parser.add_argument("--sorted-index", metavar="NAME,...", type=option_types.any_names, default=[],
                        help="attributes to index for queries by value, for example id; each index takes 12 bytes per particle")
    parser.add_argument("--stable-samples", metavar="NAME,...", type=option_types.any_names, default=[],
                        help="integer attributes, for example id, that make qualities such as 0.1 show the same particles in all steps")
    parser.add_argument("--compression", choices=("none", "lossless", "bounded"), default="none",
                        help="lossless: smaller, with every bit of every value preserved; bounded: values may deviate by --error-bounds (default: none)")
    parser.add_argument("--error-bounds", metavar="NAME=BOUND,...", type=option_types.any_names, default=[],
                        help="maximum error of stored values, in the units of the array or, with %%, of its range: positions=0.01%%,temperature=0.5")
    parser.add_argument("--chunk-particles", metavar="N", type=int, default=0,
                        help="number of particles in a chunk, the part of a compressed column that is read as a whole, 256 to 65536; 0 (default) "
                             "chooses it")
    parser.add_argument("--report", metavar="FILE",
                        help="write one line of JSON per step to this file, or - for stdout")
    parser.add_argument("--progress", action="store_true",
                        help="show a progress bar even if stderr is not a terminal")
    options = parser.parse_args(words)
    if options.block_particles != 0 and not 16 <= options.block_particles <= 65536:
        parser.error(f"argument --block-particles: {options.block_particles}; allowed are 0 and 16 to 65536")
    if not 256 <= options.treelet_particles <= 65536:
        parser.error(f"argument --treelet-particles: {options.treelet_particles}; allowed are 256 to 65536")
    if options.chunk_particles != 0 and not 256 <= options.chunk_particles <= 65536:
        parser.error(f"argument --chunk-particles: {options.chunk_particles}; allowed are 0 and 256 to 65536")
    if bool(options.error_bounds) != (options.compression == "bounded"):
        parser.error("--error-bounds and --compression bounded must be used together")
    if not options.output.endswith(".bat"):
        parser.error(f"the last argument is the file to write and must end in .bat; found {options.output}")
    return options


def find_inputs(words):
    """Returns the files that names and patterns mean, in the order of the numbers in their names if only these differ."""
    files = []
    for word in words:
        if os.path.exists(word):
            files.append(word)
            continue
        matches = sorted(glob.glob(word), key=by_numbers)
        if not matches:
            raise ConvertError(f"{word}: no such file" + (
                ", and none matches the pattern" if glob.has_magic(word) else ""))
        files += matches
    for file in files:
        if not os.access(file, os.R_OK):
            raise ConvertError(f"{file}: cannot be read: permission denied")
    has_template = len({re.sub(r"\d+", "#", file) for file in files}) == 1
    return sorted(files, key=by_numbers) if has_template else files


def by_numbers(name):
    """A key that sorts v_2 before v_10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def files_behind(file):
    """The file, and those that it is a list of."""
    names = [file]
    try:
        if file.endswith(".series"):
            with open(file, encoding="utf-8") as text:
                names += [entry["name"] for entry in json.load(text)["files"]]
        elif file.endswith(".pbat"):  # of the paper's library, with leaf files beside it
            with open(file, "rb") as top:
                header = json.loads(top.read(min(int.from_bytes(top.read(8), "little"), 1 << 24)))
            leaf = re.compile(re.escape(header["bat_prefix"]) + r"\d+\.bat")
            names += [name for name in os.listdir(os.path.dirname(file) or ".") if leaf.fullmatch(name)]
        elif file.endswith((".pvd", ".vtm", ".pvtp", ".pvtu", ".vtpd", ".vtpc")):
            names += [place for element in xml.etree.ElementTree.parse(file).iter()
                      for place in (element.get("file"), element.get("Source")) if place]
    except (OSError, ValueError, KeyError, TypeError, xml.etree.ElementTree.ParseError):
        pass  # the reader says what is wrong with it
    return [os.path.join(os.path.dirname(file), name) for name in names[1:]] + names[:1]


def check_outputs(outputs, inputs):
    """No output is an input, or would take its leaf files away."""
    behind = {os.path.realpath(name) for file in inputs for name in files_behind(file)}
    identities = {(status.st_dev, status.st_ino) for status in map(os.stat, filter(os.path.exists, behind))}
    for output in outputs:
        folder = os.path.realpath(output + ".leaves") + os.sep
        same = os.path.exists(output) and (os.stat(output).st_dev, os.stat(output).st_ino) in identities
        if same or os.path.realpath(output) in behind or any(name.startswith(folder) for name in behind):
            raise ConvertError(f"{output}: is an input and cannot be overwritten; choose another name")
    parent = os.path.dirname(os.path.abspath(outputs[0]))
    if not os.path.isdir(parent):
        raise ConvertError(f"{outputs[0]}: the folder {parent} does not exist")


def output_names(output, numbers, steps):
    if len(numbers) == 1:
        return [output]
    width = max(4, len(str(steps - 1)))
    stem = output[:-len(".bat")]
    return [f"{stem}_{number:0{width}}.bat" for number in numbers]


class Bar:
    """Progress on stderr: steps done, and what is being done."""

    WIDTH = 30

    def __init__(self, shown, steps):
        self._shown = shown
        self._steps = steps
        self._done = 0
        self._text = None

    def show(self, what, share):
        """`share` of the current step is done."""
        if not self._shown:
            return
        part = (self._done + share) / self._steps
        full = round(part * self.WIDTH)
        step = min(self._done + 1, self._steps)
        text = (f"\r[{'#' * full}{'.' * (self.WIDTH - full)}] {part:4.0%}  step {step} of {self._steps}: "
                f"{what:8}")
        if text != self._text:
            bat_ranks.tell(text, end="")
            self._text = text

    def step_done(self):
        self._done += 1
        self.show("written", 0)

    def end(self):
        if self._text:
            bat_ranks.tell("")
            self._text = None


class Converter:
    """Reader, filter and writer of one conversion."""

    # Share of a step's progress for reading, which reports nothing while it runs.
    READ_SHARE = 0.3

    def __init__(self, options, inputs):
        from paraview import servermanager, simple

        self._options = options
        self._warned = set()
        self.empty = []
        self._label = inputs[0] if len(inputs) == 1 else f"{inputs[0]} ... {inputs[-1]}"
        bat_ranks.on_all_ranks(listen)
        try:
            files = exact_files.find(inputs)
        except exact_files.text_tables.TableError as error:
            raise ConvertError(error) from None
        self._check_table_options(files)
        self._named = []  # (number, time) of each step that rows of tables name
        if files:
            if files.kind == exact_files.TABLE and not files.has_list:
                self._named = bat_ranks.on_all_ranks(exact_files.split, names=files.names, options=self._table_options())[0]
                self._check(bat_ranks.on_all_ranks(look))
            if self._named:
                files.times = [float(i) for i in range(len(self._named))]
            self._reader = self._source(files)
            self.times = files.times or [None]
        else:
            self._open(inputs)
        # Without times, ParaView counts the files of a series; the writer is not asked for such a time.
        has_times = not self._named and (len(inputs) == 1 or self.times != list(range(len(self.times))))
        self._step = None if has_times else simple.ForceTime(Input=self._reader, IgnorePipelineTime=1)
        self._passed = simple.ProgrammableFilter(Input=self._step or self._reader)
        if not has_times:
            self._passed.RequestInformationScript = bat_ranks.script(sys.modules[__name__], "convert.hide_times(self)")
        self._passed.Script = bat_ranks.script(
            sys.modules[__name__], f"convert.pass_on(self, {options.arrays!r}, {options.columns!r}, {has_times!r})")
        self._writer = servermanager.writers.BATWriter(Input=self._passed)
        self._set_up(self._writer)

    def _check_table_options(self, files):
        for name in ("delimiter", "time_column"):
            if getattr(self._options, name) is None:
                continue
            option = name.replace("_", "-")
            if files is None or files.kind != exact_files.TABLE:
                raise ConvertError(f"argument --{option}: {self._label} is not a .csv, .tsv or .txt file")
            if name == "time_column" and files.has_list:
                raise ConvertError(f"argument --{option}: the list {self._label} has the times of its files")

    def _table_options(self):
        options = self._options
        requested = None if options.arrays is None else options.arrays + (options.columns or USUAL_COLUMNS)
        return exact_files.TableOptions(options.delimiter, requested, options.columns, options.time_column)

    def kept_steps(self, numbers):
        """Returns the selected steps without those that later ones repeat."""
        steps = [{"index": i, "step": self._named[i][0], "time": self._named[i][1]} for i in numbers] if self._named else []
        key, _ = step_order.choose_axis(steps) if steps else ("index", "")
        if key == "index":
            return numbers
        kept, dropped = step_order.resolve_repeats(steps, key, "keep-last")
        if dropped:
            self._warn("repeats", f"{self._label}: {step_order.describe_repeats(dropped, key)}")
        return sorted(step["index"] for step in kept)

    def _source(self, files):
        from paraview import simple

        source = simple.ProgrammableSource()
        source.OutputDataSetType = vtkDataObjectTypes.GetTypeIdFromClassName(files.kind)  # its names have changed
        source.ScriptRequestInformation = bat_ranks.script(exact_files, f"exact_files.offer(self, {files.times!r})")
        options = self._table_options()
        options = tuple(options._replace(time_column="none") if files.has_list else options)
        source.Script = bat_ranks.script(
            exact_files, f"exact_files.deliver(self, {files.names!r}, {files.times!r}, {files.kind!r}, {options!r}, {bool(self._named)!r})")
        return source

    def _open(self, inputs):
        from paraview import simple

        try:
            self._reader = simple.OpenDataFile(inputs if len(inputs) > 1 else inputs[0])
        except RuntimeError as error:  # ParaView's own words for a file without a reader
            raise ConvertError(f"{self._label}: {error}") from None
        if self._reader is None:
            raise ConvertError(f"{self._label}: ParaView has no reader for it")
        if self._reader.GetProperty("ParticleBudget"):  # of the BAT reader: a conversion takes all
            self._forget_saved_defaults()
            self._reader.ParticleBudget = 0
        self._reader.UpdatePipelineInformation()
        self._check(bat_ranks.on_all_ranks(look))
        times = getattr(self._reader, "TimestepValues", None)
        times = [] if times is None else times if hasattr(times, "__len__") else [times]
        self.times = list(times) or [None]
        if len(self.times) < len(inputs):
            raise ConvertError(f"{self._label}: {len(inputs)} files, but {self._reader.GetXMLLabel()} finds "
                               f"{len(self.times)} time step in them; convert them one by one")

    def _set_up(self, writer):
        options = self._options
        writer.LeafFileSize = options.target_size / (1 << 20)  # MiB
        writer.Aggregation = AGGREGATIONS[options.aggregation]
        writer.BlockParticles = options.block_particles
        writer.TreeletParticles = options.treelet_particles
        writer.SortedIndexes = options.sorted_index
        writer.StableSamples = options.stable_samples
        writer.Compression = options.compression
        writer.ErrorBounds = options.error_bounds
        writer.ChunkParticles = options.chunk_particles
        for axis, column in zip("XYZ", options.columns):
            setattr(writer, axis + "Column", column)

    def convert(self, number, output, bar):
        """Writes one step; returns what to report."""
        step_time = self.times[number]
        if self._step:
            self._step.ForcedTime, step_time = step_time, None
        when = [] if step_time is None else [step_time]
        if self._named:
            step_time = self._named[number][1]
        start = time.perf_counter()
        bar.show("reading", 0)
        self._passed.UpdatePipeline(*when)
        particles = self._check(bat_ranks.on_all_ranks(look))
        read = time.perf_counter()
        bar.show("writing", self.READ_SHARE)
        self._writer.FileName = output
        inner = self._writer.GetClientSideObject().GetWriter()
        observer = inner.AddObserver("ProgressEvent", lambda *_: bar.show(
            "writing", self.READ_SHARE + (1 - self.READ_SHARE) * inner.GetProgress()))
        self._writer.UpdatePipeline(*when)
        inner.RemoveObserver(observer)
        written = time.perf_counter()
        self._writer.UpdatePropertyInformation()
        report = self._writer.GetProperty("Report")[0]
        self._check(bat_ranks.on_all_ranks(look), output)
        if not report:
            raise ConvertError(f"{output}: was not written")
        report = json.loads(report)
        if not report["particles"]:
            self.empty.append(output)
        return {"step": number, "time": step_time, "output": output, "particles": report["particles"],
                "bytes": report["file_bytes"], "points_read": particles,
                "seconds_read": read - start, "seconds_write": written - read, "write": report}

    def _forget_saved_defaults(self):
        """Resets a quality or a filter saved as a default in ParaView, so that no particles are lost."""
        for name in self._reader.ListProperties():
            if not name.startswith("FileName"):
                self._reader.SMProxy.GetProperty(name).ResetToXMLDefaults()
        self._reader.SMProxy.UpdateVTKObjects()

    def _check(self, looks, output=None):
        """Raises for what went wrong on some rank, prints warnings; returns how many particles came by."""
        label = output or self._label
        for rank, seen in enumerate(looks):
            # Messages of the writer are agreed on by all ranks, and name the rank themselves.
            where = f"rank {rank}: " if len(looks) > 1 and output is None else ""
            for kind, key, text in seen["problems"]:
                if kind == "error":
                    raise ConvertError(text)
                self._warn(key, text, kind)
            for kind, text in seen["reported"]:
                text = in_options(text)
                named = text if label in text else f"{label}: {text}"
                if kind == "error":
                    raise ConvertError(where + named)
                self._warn(named, where + named)
            if seen["refused"]:
                raise ConvertError(f"{where}{label}: a {seen['refused']} cannot be written; particles are "
                                   "points (vtkPointSet) or rows of a table (vtkTable)")
        particles = sum(seen["particles"] for seen in looks)
        names = sorted(set().union(*(seen["arrays"] for seen in looks)))
        missing = [name for name in self._options.arrays or [] if name not in names]
        if particles and missing:
            raise ConvertError(f"{label}: unknown array '{missing[0]}'; available: {', '.join(names) or 'none'}")
        return particles

    def _warn(self, key, text, kind="warning"):
        """Once in a conversion."""
        if key not in self._warned:
            bat_ranks.tell(f"{kind}: {text}")
            self._warned.add(key)


def run(words):
    options = parse(words)
    bat_ranks.load_plugins()
    inputs = find_inputs(options.inputs)
    check_outputs([options.output], inputs)
    converter = Converter(options, inputs)
    numbers = range(len(converter.times))[options.steps]
    if not numbers:
        raise ConvertError(f"argument --steps: selects none of the {len(converter.times)} steps")
    kept = converter.kept_steps(numbers)
    outputs = [output for number, output in zip(numbers, output_names(options.output, numbers, len(converter.times))) if number in set(kept)]
    numbers = kept
    check_outputs(outputs + [options.report] * (options.report not in (None, "-")), inputs)
    bar = Bar(options.progress or sys.__stderr__.isatty(), len(numbers))
    report = None
    try:
        if options.report:
            report = sys.__stdout__ if options.report == "-" else open(options.report, "w", encoding="utf-8")
        for number, output in zip(numbers, outputs):
            line = converter.convert(number, output, bar)
            bar.step_done()
            if report:
                print(json.dumps(line), file=report, flush=True)
    except OSError as error:
        raise ConvertError(f"{options.report}: cannot be written: {error.strerror}") from None
    finally:
        bar.end()
        if converter.empty:
            names = ", ".join(converter.empty[:3]) + (f" and {len(converter.empty) - 3} others"
                                                      if len(converter.empty) > 3 else "")
            bat_ranks.tell(f"warning: {names}: the input has no particles")


def main():
    from paraview.modules.vtkRemotingCore import vtkProcessModule

    if vtkProcessModule.GetProcessModule().GetSymmetricMPIMode():
        if bat_ranks.rank() == 0:
            bat_ranks.tell("error: run pvbatch without --symmetric (--sym): rank 0 controls the others")
        bat_ranks.leave(2)
    status = 0
    try:
        run(sys.argv[1:])
    except SystemExit as stop:  # argparse has reported the reason
        status = stop.code
    except (ConvertError, bat_ranks.RankError) as error:
        bat_ranks.tell(f"error: {error}")
        status = 1
    except BaseException:
        bat_ranks.tell(traceback.format_exc())
        status = 1
    if status:
        bat_ranks.leave_all(status)


if __name__ == "__main__":
    # Programmable filters fill __main__ with numpy's sum, max and others; a module keeps its own.
    import convert

    convert.main()
