# SPDX-License-Identifier: BSD-3-Clause
"""Runs conversions: finds inputs and steps, distributes steps to processes or ranks, names the datasets, and cleans up
after failures."""

import contextlib
import glob
import itertools
import json
import multiprocessing
import multiprocessing.connection
import multiprocessing.reduction
import multiprocessing.spawn
import os
import pickle
import re
import signal
import subprocess
import sys
import time
import traceback

from .._arguments import by_numbers
from . import order, registry, step_order
from ._output import INDEXES, has_attribute, remove, remove_temporary, write_particles, write_parts
from .model import ConvertError, Divided, Interrupted, listed, memory, resident

INTERRUPTED = "interrupted"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STUCK_SECONDS = 60
REPORT = "this is a bug in parabat, please report it:"  # before the lines of a traceback
MIN_ROOM = 64 << 20  # bytes needed to convert in parts
TIMES = 4              # memory to read and write a whole step, as a multiple of the size of its arrays
PART = 16              # a part of a step may take 1 / PART of the available memory
OF_OPENPMD = re.compile(r"%0?\d*T")  # iteration number in a file name pattern of openPMD


class Input:
    """A file, or several that belong together, of one format, given by name or as a FILE.py."""

    def __init__(self, path, row, format_name):
        self.path = path
        self.row = row
        self._format_name = format_name

    def __getstate__(self):  # another process has its own Format rows
        return self.path, self._format_name

    def __setstate__(self, state):
        self.path, self._format_name = state
        self.row = registry.named(self._format_name)


def find_inputs(words, format_name=None, apart=False, grids=False, part=False):
    """Returns the Inputs for file names and patterns; files that match a pattern are ordered by the numbers in their names.
    apart: detects formats in a separate process, since their libraries may crash. grids: look for grids instead of
    particles. part: each file is an input, even if it is one of several that belong together."""
    files = []
    for word in words:
        if os.path.exists(word):
            files.append(word)
            continue
        matches = sorted(glob.glob(OF_OPENPMD.sub("*", word)), key=by_numbers)
        if not matches:
            raise ConvertError(f"{word}: no such file" + (", and none matches the pattern" if glob.has_magic(word) else ""))
        files += matches
    chosen = registry.named(format_name, grids) if format_name else None
    found = in_a_child(lambda emit: _look(files, chosen, grids, part, emit)) if apart else _look(files, chosen, grids, part)
    rows = {row.name: row for row in registry.formats(grids)}
    return [Input(path, chosen or rows[name], format_name or name) for path, name in found]


def ordered(inputs, options, apart=False):
    """Returns the inputs in the order of their first steps, by order.sort_inputs(). apart: sorts in a separate process."""
    if not apart or len(inputs) < 2:
        return order.sort_inputs(inputs, options)
    try:
        places, known = in_a_child(lambda emit: ([inputs.index(one) for one in order.sort_inputs(inputs, options)], options.known))
        options.known.update(known)
    except Interrupted:
        raise
    except ConvertError:  # a library crashed; the conversion will report the file
        return inputs
    return [inputs[place] for place in places]


def _look(files, chosen, grids, part, emit=lambda news: None):
    """Returns (first file, format name) for each input."""
    inputs, taken = [], set()
    for path in files:
        if os.path.realpath(path) in taken:
            continue
        emit({"reading": path})
        with about(path):
            if not os.path.isfile(path) and not os.path.isdir(path):
                raise ConvertError("is not a regular file or a folder")  # a named pipe would block, and a device has no end
            row = chosen or registry.find_format(path, grids)
            registry.require(row)
            siblings = row.siblings(path) if row.siblings and not part else [path]
        if not taken.isdisjoint(map(os.path.realpath, siblings)):  # a virtual file follows the parts that it combines
            continue
        taken.update(map(os.path.realpath, siblings))
        inputs.append((siblings[0], row.name))
    return inputs


@contextlib.contextmanager
def about(path, options=None):
    """Turns errors into a ConvertError that begins with the file name. options: their notes on links are appended."""
    try:
        yield
    except ConvertError as error:
        notes = [] if options is None else [words for words in options.notes.values() if words not in str(error)]
        text = "; ".join([str(error), *notes[:1], *([f"{len(notes) - 1} more links"] if notes[1:] else [])])
        raise ConvertError(text if text.startswith(path) else f"{path}: {text}") from None
    except MemoryError:
        raise ConvertError(f"{path}: out of memory") from None
    except OSError as error:
        raise ConvertError(f"{path}: cannot be read: {error.strerror or error}") from None
    except Exception as error:  # raised by a format's library; its error types are not documented
        text = " ".join(str(error).split())[:300]
        raise ConvertError(f"{path}: cannot be read: {type(error).__name__}: {text}") from error


class Job:
    """A conversion: everything that is the same for all processes."""

    is_collective = False  # whether the ranks of `comm` convert each step together

    def __init__(self, inputs, output, options, steps=slice(None), settings=None, memory_bytes=0, shares=1):
        """memory_bytes: limit per process; 0 for half of the free memory, divided among `shares` processes."""
        self.inputs = inputs
        self.output = output
        self.options = options
        self.steps = steps
        self.settings = settings or {}
        self.memory_bytes = memory_bytes
        self.shares = shares
        self._has_room = False

    def room(self):
        """Returns the bytes that this process may use for particles."""
        if not self.memory_bytes:
            return max(MIN_ROOM, memory() // (2 * self.shares))
        own = resident()
        if self.memory_bytes - own < MIN_ROOM and not self._has_room:
            raise ConvertError(f"argument --memory: {_mib(self.memory_bytes)}; the program itself needs {_mib(own)}, so at least "
                               f"{_mib(own + MIN_ROOM)} are required")
        self._has_room = True  # memory of earlier particles stays with the process and is reused
        return max(MIN_ROOM, self.memory_bytes - own)

    def has_several(self):
        """Returns whether more than one step is selected, by walking the inputs from the beginning. Ignores errors, since
        reading the inputs reports them."""
        with contextlib.suppress(ConvertError, OSError), contextlib.closing(self.selected(lambda news: None)) as steps:
            return not self.is_one() and len(list(itertools.islice(steps, 2))) > 1
        return False

    def walk(self, emit=lambda news: None):
        """Yields (index, input, step) for all steps; the caller reads those it needs."""
        index = 0
        for one in self.inputs:
            emit({"reading": one.path})
            with about(one.path, self.options):
                for step in one.row.steps(one.path, self.options):
                    yield index, one, step
                    index += 1

    def selected(self, emit):
        """Yields (index, input, step) for the selected steps."""
        requested = self.steps
        if any(end is not None and end < 0 for end in (requested.start, requested.stop, requested.step)):
            numbers = set(range(sum(1 for _ in self.walk(emit)))[requested])
            last = max(numbers, default=-1)
        else:
            last = None if requested.stop is None else requested.stop - 1
            numbers = range(requested.start or 0, sys.maxsize if last is None else last + 1, requested.step or 1)
        if last is not None and last < 0:
            return
        for index, one, step in self.walk(emit):
            if index in numbers:
                yield index, one, step
            if index == last:
                return

    def check_repeats(self, apart=False):
        """Raises if selected steps repeat others. apart: checks in a separate process."""
        def check(emit):
            with contextlib.closing(self.selected(emit)) as steps:
                order.check_repeats(each for each in steps if not each[2].is_fixed)
        if apart:
            in_a_child(check)
        else:
            check(lambda news: None)

    def is_one(self):
        """Returns whether --steps selects exactly one step, whatever the inputs contain."""
        requested = self.steps
        return requested.start is not None and requested.stop is not None and 0 <= requested.start == requested.stop - 1

    def work(self, local, emit):
        """Converts the steps at the places for which local(place) is true; local() raises to stop the conversion. `emit`
        receives dicts: when an input or output begins or is done, progress, and remarks."""
        with contextlib.closing(self.selected(emit)) as steps:  # closing the generator also closes its files
            _work(self, steps, local, emit)

    @staticmethod
    def write(output, write, news, emit, check):
        """Calls write(progress) and emits news(its result). check() may raise during the write. Interruptions take effect
        in the progress callback, or after the dataset has been reported."""
        def at():
            check()
            _interrupts.check()
        with _interrupts.held():
            emit(news(write(shares(emit, f"writing {output}", at))))
        _interrupts.check()

    def name(self, index, species, is_series):
        stem = self.output[:-len(".bat")]
        return stem + (f"_{species}" if species else "") + (f"_{index:04}" if is_series else "") + ".bat"


def in_turn(job, steps, local, emit):
    """Yields (index, input, step, content) for each step after reading it."""
    for place, (index, one, step) in enumerate(steps):
        local(place)
        emit({"reading": one.path})
        job.options.at = shares(emit, f"reading {one.path}")
        with about(one.path, job.options):
            found = step.read()
        yield index, one, step, found
        del found  # frees the memory before the next read


def _work(job, steps, local, emit):
    inputs = {os.path.realpath(one.path) for one in job.inputs}
    remarks = _Remarks(emit)
    place = 0
    ahead = next(steps, None)
    while ahead is not None:
        index, one, step = ahead
        found, is_divided = [], False
        if local(place):
            emit({"reading": one.path})
            job.options.at = shares(emit, f"reading {one.path}")
            with about(one.path, job.options):
                found, is_divided = _of_step(job, one, step)
                request = _Request(job)
                if found and not is_divided:
                    request.look(found)
            local(place)
        is_series = place > 0
        if place == 0 and is_divided:  # its file must stay open
            is_series = job.has_several()
        elif place == 0:  # the name depends on whether another step follows
            ahead = next(steps, None)
            is_series = ahead is not None and not job.is_one()
        for each in found:
            output = job.name(index, each.species, is_series and not step.is_fixed)
            if os.path.realpath(output) in inputs:
                raise ConvertError(f"{output}: is an input and cannot be overwritten; choose another name")
            emit({"begin": output, "input": one.path, "index": index, "species": each.species})

            def check(place=place):
                local(place)
                _interrupts.check()
            settings = {"progress": shares(emit, f"writing {output}", check), **job.settings}

            def done(report, names, each=each, output=output, index=index, one=one, step=step, is_series=is_series):
                emit(_done(output, one, index, each, step, report, names, is_series and not step.is_fixed))
            with _input_is(one):
                _write(job, one, step, each, output, settings, remarks, request, each is found[-1], done)
            _interrupts.check()
        found = each = None  # frees the memory before the next read
        if place > 0 or is_divided:
            ahead = next(steps, None)
        place += 1
    if place == 0:
        raise ConvertError(f"{job.inputs[0].path}: no steps" + ("" if job.steps == slice(None) else
                                                                 " selected by --steps"))


def _of_step(job, one, step):
    """Returns (list, is_divided): the Particles of a step, or a Divided for each species if memory cannot hold them all."""
    divided = _of_species(step.divided(), job.options, step) if step.divided else None
    if divided is None and job.memory_bytes:
        raise ConvertError(f"argument --memory: the format {one.row.name} reads whole steps, regardless of their memory")
    if divided is not None and TIMES * sum(each.size for each in divided) > job.room():
        if any([each.prepare(job.room()) for each in divided]):  # pylint: disable=use-a-generator
            divided = _of_species(step.divided(), job.options, step)
        if TIMES * sum(each.size for each in divided) > job.room():
            return divided, True
    return _of_species(step.read(), job.options, step), False


def _write(job, one, step, each, output, settings, remarks, request, is_last, done):
    """Writes Particles, or a Divided part by part. is_last: this is the last species of the step. done(report, attribute
    names): called before an interruption takes effect, so that every dataset that exists has been reported."""
    if isinstance(each, Divided):
        names = set()
        write_parts(output, _parts(job, one, each, remarks, names, request, is_last), step, settings, job.room() * 3 // 4,
                    _interrupts.held, lambda report: done(report, names))
        return
    remarks.emit(one, each)
    size = each.positions.nbytes + sum(array.nbytes for array in each.attributes.values())
    if 0 < settings.get("target_bytes", 0) < size:
        write_parts(output, [each], step, settings, job.room(), _interrupts.held, lambda report: done(report, each.attributes))
        return
    with _interrupts.held():
        done(write_particles(output, each, step, settings), each.attributes)


def _parts(job, one, divided, remarks, names, request, is_last):
    """Yields the Particles of each part of a species."""
    maximum = min(max(job.room() // PART, 1 << 20), 64 << 20)
    count = max(1, -(-divided.size // maximum))
    at, passes = job.options.at, 1 + divided.varies

    def read(i, number):
        job.options.at = lambda share: at((number + (i + share) / count) / passes)
        return divided.read(i, count)
    with about(one.path, job.options):
        if divided.varies:
            divided.settle([divided.facts(read(i, 0)) for i in range(count)])
        for i in range(count):
            part = divided.conform(read(i, passes - 1))
            if i == 0:
                request.look([part], is_last)
                names.update(part.attributes)
            remarks.emit(one, part)
            yield part
            del part
            _interrupts.check()


class _Remarks:
    """Emits each remark once."""

    def __init__(self, emit):
        self._emit = emit
        self._reported = set()

    def emit(self, one, particles):
        for key, words in particles.remarks:
            if key not in self._reported:
                self._reported.add(key)
                self._emit({"remark": f"{one.path}: {words}", "key": key})


def _done(output, one, index, each, step, report, names, is_series):
    """Returns the dict that reports a complete dataset."""
    return {"done": output, "input": one.path, "index": index, "species": each.species, "step": step.number,
            "time": step.time, "particles": report.particles, "attributes": sorted(names), "bytes": report.file_bytes,
            "series": is_series, "texts": _texts_of(each)}


def _texts_of(each):
    """Returns the texts of each attribute that is codes, by code, as stored in the metadata."""
    if isinstance(each, Divided):
        return each.texts
    found = (about.get("texts") for about in each.metadata.values() if isinstance(about, dict))
    return {name: list(texts) for tables in found if isinstance(tables, dict) for name, texts in tables.items()}


class _Interrupts:
    """Handles the signals of a converting process. While the library writes, they take effect in its progress callback:
    an exception raised at an arbitrary point of a callback would be lost."""

    def __init__(self):
        self._is_held = self._came = False

    def __call__(self, *_):
        self._came = True
        if not self._is_held:
            raise KeyboardInterrupt

    def check(self):
        if self._came:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def held(self):
        before, self._is_held = self._is_held, True
        try:
            yield
        finally:
            self._is_held = before

    @contextlib.contextmanager
    def of_ranks(self):
        """Holds signals until agreed() passes them to all ranks: if one rank stopped alone, the others would wait for it
        forever. Only signals that the program handles are held."""
        self._came, before = False, {}
        with contextlib.suppress(ValueError):  # signal handlers can only be set in the main thread
            for number in SIGNALS:
                if callable(signal.getsignal(number)):
                    before[number] = signal.signal(number, self)
        try:
            with self.held():
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


_interrupts = _Interrupts()


def shares(emit, what, check=lambda: None):
    """Returns a progress function that emits every percent. check() is called each time."""
    last = [-1]

    def at(share):
        check()
        if int(100 * share) != last[0]:
            last[0] = int(100 * share)
            emit({"share": min(1.0, share), "what": what})
    return at


def _of_species(found, options, step):
    """Returns the selected species of a step, which are Particles or Divided."""
    if options.species is None or found is None:
        return found
    names = [each.species for each in found]
    known = {*names, *step.species}
    missing = [name for name in options.species if name not in known]
    if missing and any(known):
        raise ConvertError(f"unknown species '{missing[0]}'; available: {listed(sorted(known))}")
    if missing:
        raise ConvertError("argument --species: this format has no species names")
    found = [each for each in found if each.species in options.species]
    if len(options.species) == 1:
        for each in found:
            each.species = ""
    return found


class _Request:
    """Attributes requested by name; at least one species of a step must have each."""

    def __init__(self, job):
        self._arrays, self._settings = job.options.arrays, job.settings
        self._known, self._written = set(), set()

    def look(self, found, is_last=True):
        """Records the attributes of Particles. With is_last, raises for requested attributes that no species has."""
        for each in found:
            self._written |= set(each.attributes)
            self._known |= set(each.attributes) | each.others
        if not is_last:
            return
        for name in self._arrays or ():
            if name not in self._known:
                raise ConvertError(f"unknown attribute '{name}'; available: {listed(sorted(self._known))}")
        for setting, option in INDEXES.items() if found else ():
            for name in self._settings.get(setting) or ():
                if not has_attribute(name, self._written):
                    raise ConvertError(f"argument --{option}: no species has a written attribute '{name}'; available: {listed(sorted(self._written))}")


def _mib(size):
    return f"{size / 2 ** 20:.0f}M"


# --- One process, several, many ranks

class Outcome:
    """The result of a conversion: the outputs written, and the failure, if any."""

    def __init__(self, show, on_repeat="keep-last", is_one=False, lists=None):
        """on_repeat: one of order.ON_REPEAT. is_one: a single step was selected, which leaves a series of the same name
        as it is. lists: order.Lists of the series that may be written, or None."""
        self._show = show
        self._on_repeat = on_repeat
        self._is_one = is_one
        self._lists = lists
        self._keys = set()
        self._texts = {}  # (species, attribute) -> texts of the first step, by code
        self.begun = {}  # output -> input
        self._indexes = {}  # output -> index of its step
        self.done = []
        self.failure = None

    def take(self, news):
        self.keep(news)
        self.show(news)

    def keep(self, news):
        """Records what settle() needs in order to decide which datasets to keep."""
        if "begin" in news:
            self.begun[news["begin"]] = news["input"]
            self._indexes[news["begin"]] = news.get("index")
        elif "done" in news:
            self.done.append(news)

    def _compare_texts(self, species, texts):
        for name, found in texts.items():
            if self._texts.setdefault((species, name), found) != found:
                self.show({"remark": f"the codes of '{name}' differ between steps; the metadata of each step contains its texts",
                           "key": f"codes {name}"})

    def show(self, news):
        if "begin" in news and self._lists:
            self._lists.claim(news.get("species"))
        if "remark" in news:
            if news["key"] not in self._keys:
                self._keys.add(news["key"])
                self._show(news)
        elif "done" in news or "share" in news:
            self._compare_texts(news.get("species"), news.pop("texts", {}))
            self._show(news)

    def fail(self, failure, path=None):
        """Records the first failure. path: the input that was being converted."""
        self.failure = self.failure or (str(failure), path)

    def settle(self, output):
        """After success, writes the lists of steps. After a failure, removes the datasets of the failed input, or of all
        inputs if it is unknown, and returns lines that describe the remaining ones."""
        if self.failure is None:
            try:
                self._list_steps(output)
                return []
            except ConvertError as error:  # repeated steps found only by reading them
                self.fail(str(error))
        finished = {news["done"] for news in self.done}
        bad = self.failure[1]
        # An incomplete dataset did not replace an earlier one of the same name.
        removed = [name for name, path in self.begun.items() if name in finished and (bad is None or path == bad)]
        for name in removed:
            remove(name)
        lines = []
        lost = {news["index"] for news in self.done if news["done"] in removed and news["input"] == bad}
        lost -= {self._indexes[name] for name in self.begun if name not in finished}  # steps with a failed species
        if lost:
            end = next(index for index in range(min(lost), max(lost) + 2) if index not in lost)
            lines.append(f"nothing of this input is kept; use --steps {min(lost) or ''}:{end} for its complete part")
        left = sorted((news for news in self.done if news["done"] not in removed), key=lambda news: news["index"])
        if not left:
            return lines
        return lines + [f"{len(left)} datasets of other inputs are complete and kept: {left[0]['done']} ... {left[-1]['done']}" if len(left) > 1 else f"{left[0]['done']}, of another input, is complete and kept"]

    def _list_steps(self, output):
        """Writes the list of each series, without repeated steps, and removes the datasets of the lists that it replaces."""
        for species in sorted({news["species"] for news in self.done}):
            steps = sorted((news for news in self.done if news["species"] == species), key=lambda news: news["index"])
            name = order.list_name(output, species)
            steps = [news for news in steps if news["series"]]
            if not steps:
                if not self._is_one:
                    order.remove_list(name)
                continue
            key, note = step_order.choose_axis(steps)
            if note:
                self.show({"remark": note, "key": note})
            if self._on_repeat == "fail":
                order.refuse_repeats(steps)
            kept, dropped = step_order.resolve_repeats(steps, key, self._on_repeat)
            if dropped:
                note = step_order.describe_repeats(dropped, key, self._on_repeat, "--on-repeat")
                self.show({"remark": note, "key": note})
            for news in dropped:
                remove(news["done"])
                self.done.remove(news)
            others = order.write_list(name, kept, key)
            if others:
                self.show({"remark": f"{name}: keeps {others} entries that were not written by a conversion", "key": f"others {name}"})


@contextlib.contextmanager
def _input_is(one):
    """Marks errors raised while the output for an input is written as errors of that input."""
    try:
        yield
    except ConvertError as error:
        error.input = one.path
        raise


def _input_of(error, job):
    """Returns the input that an error refers to."""
    text = str(error)
    return getattr(error, "input", None) or next((one.path for one in job.inputs if text.startswith(one.path + ": ")), None)


def _guarded(job, do, emit):
    """Calls do() and emits "end" with its failure or None."""
    try:
        do()
        emit({"end": None})
    except ConvertError as error:
        emit({"end": str(error), "input": _input_of(error, job)})
    except KeyboardInterrupt:
        emit({"end": INTERRUPTED})
    except BaseException:  # pylint: disable=broad-except
        emit({"end": REPORT + "\n" + traceback.format_exc()})


def run_alone(job, outcome):
    def emit(news):
        if "end" in news:
            if news["end"] is not None:
                outcome.fail(news["end"], news.get("input"))
        else:
            outcome.take(news)
    _guarded(job, lambda: job.work(lambda place: True, emit), emit)


def run_processes(job, outcome, count, by_fork):
    """Converts in `count` processes, each of which handles every count-th step. After a failure, each stops as soon as it
    can; none is killed, unless the user interrupts twice. by_fork: forks this process, which must not have threads;
    otherwise starts new Python programs."""
    pipes = {}
    try:
        for number in range(count):
            with _signals_later():  # an unrecorded process would never be stopped
                pipe, process = (_fork if by_fork else _start)(_work_of_process, job, number, count)
                pipes[pipe] = process
        _listen(pipes, outcome)
    except KeyboardInterrupt:
        outcome.fail(INTERRUPTED)
        _stop(pipes)
        for process in pipes.values():
            process.terminate()  # interrupts it, unless it hangs in a library
        try:
            _listen(pipes, outcome)
        except KeyboardInterrupt:
            for process in pipes.values():
                process.kill()
            _listen(pipes, outcome)


@contextlib.contextmanager
def _signals_later():
    """Delays signals to this thread until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop(pipes):
    """Asks all processes to stop."""
    for pipe in pipes:
        with contextlib.suppress(OSError):  # it has already ended
            pipe.send("stop")


def _fork(function, *arguments):
    """Forks a process that calls function(*arguments, pipe). Returns the other end of the pipe, and the process."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=in_process, args=(there, function, *arguments), daemon=True)
    process.start()
    there.close()
    return here, process


class _Program(subprocess.Popen):
    """A Popen with the interface of multiprocessing.Process."""

    join = subprocess.Popen.wait
    exitcode = property(subprocess.Popen.poll)


def _start(function, *arguments):
    """Like _fork(), but starts a new Python program, which inherits neither threads nor __main__."""
    python = os.fspath(multiprocessing.spawn.get_executable() or "")
    here, there = multiprocessing.Pipe()
    code = ("import sys, multiprocessing.connection as c; pipe = c.Connection(int(sys.argv[1])); sys.path[:] = pipe.recv(); "
            "from parabat.convert.running import in_process; in_process(pipe, *pipe.recv())")
    try:
        message = multiprocessing.reduction.ForkingPickler.dumps((function, *arguments))
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise ConvertError(f"jobs: the work cannot be passed to other processes: {error}") from None
    with there:
        try:
            process = _Program([python, "-c", code, str(there.fileno())], pass_fds=[there.fileno()])
        except OSError as error:
            raise ConvertError(f"jobs: {python or 'no Python'} cannot be started: {error.strerror}") from None
    with contextlib.suppress(BrokenPipeError):  # the reader notices that it has ended
        here.send(sys.path)
        here.send_bytes(message)
    return here, process


def in_process(pipe, function, *arguments):
    """The main function of a process started by _fork() or _start()."""
    for number in SIGNALS:
        signal.signal(number, _interrupts)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    function(*arguments, pipe)


def in_a_child(function):
    """Returns function(emit), called in a forked process: if a library crashes there, raises ConvertError."""
    def call(there):
        try:
            there.send({"end": function(there.send)})
        except (ConvertError, OSError) as error:
            there.send({"raised": error})
        except KeyboardInterrupt:
            there.send({"raised": Interrupted(INTERRUPTED)})
    pipe, process = _fork(call)
    watch = _Watch(process)
    news = {}
    path = None
    while "end" not in news and "raised" not in news:
        if not pipe.poll(watch.interval):
            watch.look()
            continue
        try:
            news = pipe.recv()
        except EOFError:
            process.join()
            raise ConvertError(_died(process, path, watch)) from None
        path = news.get("reading", path)
    process.join()
    if "raised" in news:
        raise news["raised"]
    return news["end"]


class _Watch:
    """Watches a process that reads, since some libraries wait forever for the rest of a truncated file. Kills a process
    that for STUCK_SECONDS has neither computed, read or written, nor waited for a disk."""

    def __init__(self, process):
        self.is_stuck = False
        self.interval = STUCK_SECONDS / 20
        self._process = process
        self._seen, self._since = self._state(), time.monotonic()
        self._looked = self._since

    def look(self):
        """Checks the process; must be called often."""
        now, state = time.monotonic(), self._state()
        waited, self._looked = now - self._looked, now
        if state is None or self._seen is None:
            return
        if waited > 10 * self.interval:  # the process may have been waiting for this one
            self._since = now
        is_idle = state[0] == self._seen[0] and state[2] != "D" and (
            state[1] - self._seen[1] < 0.1 * (now - self._since) + 0.02)
        if not is_idle:
            self._seen, self._since = state, now
        elif now - self._since > STUCK_SECONDS:
            self.is_stuck = True
            self._process.kill()

    def _state(self):
        """Returns the bytes read and written, the CPU seconds, and the state letter of the process; None if unavailable."""
        try:
            with open(f"/proc/{self._process.pid}/io", encoding="ascii") as file:
                passed = [int(line.split()[1]) for line in file if line.startswith(("rchar", "wchar"))]
            with open(f"/proc/{self._process.pid}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except (OSError, ValueError):
            return None
        return passed, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0]


def _died(process, path, watch):
    """Describes the death of a process that was reading `path`."""
    code = process.exitcode
    if watch.is_stuck:
        return (f"{path}: " if path else "") + (f"its reader library did nothing for {STUCK_SECONDS} seconds and was stopped; the file may be truncated")
    why = {-signal.SIGKILL: ", possibly for lack of memory", -signal.SIGSEGV: "; the file may be damaged",
           -signal.SIGABRT: "; the file may be damaged", -signal.SIGBUS: "; the file may be damaged"}.get(code, "")
    name = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return (f"{path}: " if path else "") + f"its process ended unexpectedly ({name}){why}"


def _listen(pipes, outcome):
    """Receives messages of all processes until they have ended. Shows the progress of one of them."""
    at, writing = dict.fromkeys(pipes), dict.fromkeys(pipes)
    watches = {pipe: _Watch(process) for pipe, process in pipes.items()}
    while pipes:
        for pipe in pipes:
            watches[pipe].look()
        for pipe in multiprocessing.connection.wait(list(pipes), STUCK_SECONDS / 20):
            try:
                with _signals_later():
                    news = pipe.recv()
                    outcome.keep(news)
            except EOFError:
                process = pipes.pop(pipe)
                process.join()
                outcome.fail(_died(process, at[pipe], watches[pipe]), at[pipe])
                if writing[pipe]:
                    remove_temporary(writing[pipe])
                _stop(pipes)
                continue
            at[pipe] = news.get("reading", at[pipe])
            writing[pipe] = None if "done" in news else news.get("begin", writing[pipe])
            try:
                if "end" not in news:
                    if "share" not in news or pipe is next(iter(pipes)):
                        outcome.show(news)
                    continue
            except ConvertError as error:  # raised by the function that shows
                outcome.fail(error, news.get("input", at[pipe]))
            else:
                pipes.pop(pipe).join()
                if news["end"] is None:
                    continue
                outcome.fail(news["end"], news.get("input"))
            _stop(pipes)


def _work_of_process(job, number, count, pipe):
    def local(place):
        if pipe.poll():
            raise ConvertError("stopped, because another process failed")
        return place % count == number
    _guarded(job, lambda: job.work(local, pipe.send), pipe.send)


def run_ranks(job, outcome, comm):
    """Collective. Each rank of `comm` converts every size-th step, or a part of the only one. Afterwards rank 0 has the
    whole outcome, and all ranks have the failure."""
    news = []

    def emit(one):
        if "share" not in one:
            news.append(one)
        elif comm.rank == 0:
            outcome.take(one)
    if job.is_collective:
        job.comm = comm
        with _interrupts.of_ranks():
            _guarded(job, lambda: job.work(lambda place: _interrupts.check(), lambda one: emit(one) if comm.rank == 0 else None),
                     emit)
    elif _is_shared(job, comm):
        _guarded(job, lambda: _work_collectively(job, comm, emit), emit)
    else:
        _guarded(job, lambda: job.work(lambda place: place % comm.size == comm.rank, emit), emit)
    everybody = comm.gather(news)
    if comm.rank == 0:
        for one in (one for each in everybody for one in each):
            try:
                if "end" not in one:
                    outcome.take(one)
                elif one["end"] is not None:
                    outcome.fail(one["end"], one.get("input"))
            except ConvertError as error:  # raised by the function that shows
                outcome.fail(error, one.get("input"))
    outcome.failure = comm.bcast(outcome.failure)


def _is_shared(job, comm):
    """Collective. Returns whether only one step is selected and can be read in parts."""
    shared = False
    if comm.rank == 0:
        try:
            with contextlib.closing(job.selected(lambda news: None)) as steps:
                _, one, step = next(steps)
                with about(one.path):
                    shared = bool(step.divided and step.divided())
                shared = shared and next(steps, None) is None
        except (ConvertError, StopIteration):
            shared = False  # reading the step reports the error
    return comm.bcast(shared)


def _work_collectively(job, comm, emit):
    """Collective. Like work(), for a single step of which each rank reads a part."""
    remarks = _Remarks(emit)
    leads = comm.rank == 0
    with contextlib.closing(job.selected(emit)) as steps:
        index, one, step = agreed(comm, lambda: next(steps), job.inputs[0].path)
        job.options.at = shares(emit if leads else lambda news: None, f"reading {one.path}")
        found = agreed(comm, lambda: _of_species(step.divided(), job.options, step), one.path)
        request = _Request(job)
        for each in found:
            output = job.name(index, each.species, False)
            agreed(comm, lambda each=each: _check_share(job, each, comm.size), one.path)
            part = agreed(comm, lambda each=each: each.read(comm.rank, comm.size), one.path)
            if each.varies:
                facts = comm.allgather(each.facts(part))
                agreed(comm, lambda each=each, facts=facts: each.settle(facts), one.path)
            part = agreed(comm, lambda each=each, part=part: each.conform(part), one.path)
            agreed(comm, lambda part=part, is_last=each is found[-1]: request.look([part], is_last), one.path)
            if os.path.realpath(output) in {os.path.realpath(each.path) for each in job.inputs}:
                raise ConvertError(f"{output}: is an input and cannot be overwritten; choose another name")
            remarks.emit(one, part)
            emit({"begin": output, "input": one.path, "index": index, "species": each.species})
            report = write_particles(output, part, step, {
                "progress": shares(emit, f"writing {output}") if leads else None, **job.settings}, comm)
            if leads:
                emit(_done(output, one, index, each, step, report, part.attributes, False))


def _check_share(job, divided, ranks):
    """Raises if the memory limit is too low for a rank's part."""
    needed = TIMES * divided.size // ranks
    if job.memory_bytes and needed > job.room():
        raise ConvertError(f"argument --memory: {_mib(job.memory_bytes)}; each of the {ranks} ranks that share the only step needs about "
                           f"{_mib(needed + resident())}. Use more ranks to reduce this")


def agreed(comm, do, path):
    """Collective. Returns do(); if it raises on one rank, all ranks raise."""
    result = failure = None
    try:
        with about(path):
            result = do()
    except ConvertError as error:
        failure = str(error)
    except KeyboardInterrupt:
        failure = INTERRUPTED
    failures = [each for each in comm.allgather(failure) if each is not None]
    if INTERRUPTED in failures:  # the interruption made the others fail
        raise KeyboardInterrupt
    if failures:
        raise ConvertError(failures[0])
    return result


def world():
    """Returns COMM_WORLD of mpi4py if several ranks were started, otherwise None."""
    sizes = (os.environ.get(name) for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"))
    if max((int(size) for size in sizes if size and size.isdigit()), default=1) < 2:
        return None
    try:
        from mpi4py import MPI  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise ConvertError("was started on several ranks, which requires mpi4py; use --jobs for several processes without it") from None
    return MPI.COMM_WORLD
