"""Reads what a profile holds about NCCL, GPUs and orders, straight from the bytes of docs/file-format.md, for cases that ask whether the
library wrote it right, and for tests/gpu/run, which has no report beside it. Everything that a report shows is asked of
mpiprof-report instead."""

import struct
from collections import namedtuple

CALLS, CELLS, BLOCKS, COMMUNICATORS, CHOICES, FACTS, TIMES, DURATIONS, SEQUENCES, WORK = 1, 3, 4, 9, 18, 19, 23, 24, 25, 26
SOURCES = {0: "none", 1: "events", 2: "cupti", 3: "launches"}
ORIGIN_WORLD = 1
EXCHANGE, REPLAYS = 2, 4  # among the flags of a time
KINDS = {1: "nccl", 2: "kernels", 3: "to device", 4: "to host", 5: "on device", 6: "between devices", 7: "copies", 8: "graphs"}

Time = namedtuple("Time", "call bin source communicator flags operations bytes ns min_ns max_ns kernels others durations")
Work = namedtuple("Work", "count bytes ns overlapped_ns in_graphs")


class Tables:
    def __init__(self, path):
        self.data = path.read_bytes()

    def records(self, table):
        """(offset, bytes) of each record of all tables of this type."""
        at, = struct.unpack_from("<Q", self.data, 112)
        while at:
            following, used, _ = struct.unpack_from("<QII", self.data, at)
            for i in range(used):
                kind, size, offset, records, _, _, _ = struct.unpack_from("<IIQIIII", self.data, at + 16 + 32 * i)
                for r in range(records if kind == table else 0):
                    yield offset + r * size, self.data[offset + r * size:offset + (r + 1) * size]
            at = following

    def names(self):
        return {struct.unpack_from("<H", r)[0]: r[8:].split(b"\0")[0].decode() for _, r in self.records(CALLS)}

    def calls(self):
        """{name: (calls, bytes)}, over threads, sizes, sites and communicators; of timed calls."""
        names, found = self.names(), {}
        for _, r in self.records(CELLS):
            call, calls, size = struct.unpack_from("<H14xQQ", r)
            before = found.get(names.get(call, call), (0, 0))
            if calls: found[names.get(call, call)] = before[0] + calls, before[1] + size
        return found

    def chosen(self):
        """{(name, algorithm, protocol, channels): (operations, bytes)}, over sizes and communicators, as NCCL told its plugin."""
        names, found = self.names(), {}
        for _, r in self.records(CHOICES):
            call, channels, algorithm, protocol, operations, size = struct.unpack_from("<HxB4x16s16sQQ", r)
            key = names.get(call, call), *(text.split(b"\0")[0].decode() for text in (algorithm, protocol)), channels
            before = found.get(key, (0, 0))
            if operations: found[key] = before[0] + operations, before[1] + size
        return found

    def communicators(self):
        """(size, rank) of each, but for the one that stands for what is on none."""
        return [struct.unpack_from("<16xII", r) for _, r in self.records(COMMUNICATORS)][1:]

    def in_order_on_world(self):
        """How many calls on MPI_COMM_WORLD were counted in their order."""
        return sum(struct.unpack_from("<112xQ", r)[0] for _, r in self.records(COMMUNICATORS) if struct.unpack_from("<24xH", r)[0] == ORIGIN_WORLD)

    def histogram(self, place):
        """{lower end of its bucket: count}"""
        found = {}
        for octave, block in enumerate(struct.unpack_from("<61I", self.data, place * 8 + 8)) if place else ():
            for sub, count in enumerate(struct.unpack_from("<16Q", self.data, block * 8)) if block else ():
                if count: found[sub if octave == 0 else (16 + sub) << (octave - 1)] = count
        return found

    def times(self):
        names, found = self.names(), []
        for _, r in self.records(TIMES):
            call, size, source, communicator, flags, histogram, _, *numbers = struct.unpack_from("<HBBHHII7Q", r)
            found.append(Time(names.get(call, call), size, SOURCES[source], communicator, flags, *numbers, self.histogram(histogram)))
        return found

    def sequences(self):
        """{communicator: (source, enqueued, the times in nanoseconds, to a sixteenth of a microsecond)}"""
        found = {}
        for _, r in self.records(SEQUENCES):
            communicator, source, enqueued = struct.unpack_from("<HB5xQ", r)
            us16 = struct.unpack_from("<4096I", r, 16)
            found[communicator] = SOURCES[source], enqueued, [round(u * 1000 / 16) for u in us16[:min(enqueued, 4096)]]
        return found

    def work(self):
        return {(KINDS[kind], device): Work(*numbers)
                for kind, device, *numbers in (struct.unpack_from("<II5Q", r) for _, r in self.records(WORK)) if kind in KINDS}

    def busy(self):
        """{(what, device): (ns, of it beside others)} of what is counted once however many kernels share it."""
        return {({9: "recorded", 10: "nccl"}[kind], device): (ns, beside)
                for kind, device, _, _, ns, beside, _ in (struct.unpack_from("<II5Q", r) for _, r in self.records(WORK)) if kind not in KINDS}

    def facts(self):
        """{name: [values, in the order in which they were noted]}"""
        found = {}
        for _, r in self.records(FACTS):
            _, length, at = struct.unpack_from("<IIQ", r, 48)
            found.setdefault(r[:48].split(b"\0")[0].decode(), []).append(self.data[at:at + length].decode())
        return found
