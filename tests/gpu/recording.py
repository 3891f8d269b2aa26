"""As much of a recording (tests/gpu/recorder; its lines are in docs/nccl-internals.md) as is asked of it where it is made: is it complete, and
what is in it."""

import collections
import re

COLLECTIVE, POINT_TO_POINT, KERNEL_LAUNCH = 2, 4, 2048  # events of NCCL's
EXTERNAL_CORRELATION = 39  # a record of CUPTI's


class Recording:
    def __init__(self, path):
        self.lines = path.read_text().splitlines()
        self.versions, self.operations, self.launches, self.kernels, self.linked, self.buffers, self.dropped = set(), 0, 0, 0, 0, 0, 0
        self.functions, self.cupti = collections.Counter(), None
        self.is_complete = bool(self.lines) and self.lines[-1] == f"done {len(self.lines) - 1}"
        for line in self.lines if self.is_complete else ():
            word, *rest = line.split()
            if word == "init": self.versions.add(int(rest[2]))
            elif word == "start": self.start(int(rest[3]), [text.split("=")[1] for text in rest[5:] if "=" in text])
            elif word == "cupti": self.cupti = int(rest[0]) if rest[1] == "0" else None
            elif word == "buffer": self.buffer(int(rest[1]), *rest[2:])
            elif word == "kernel": self.kernels += "nccl" in rest[1]

    def start(self, kind, texts):
        self.launches += kind == KERNEL_LAUNCH
        if kind not in (COLLECTIVE, POINT_TO_POINT): return
        self.operations += 1
        # The communicator's name may be before it.
        self.functions.update([text for text in texts if text != "name"][:1])

    def buffer(self, dropped, places="", bytes_="(0)"):
        """`linked`: calls of the driver that CUPTI says belong to a launch of NCCL's."""
        self.buffers, self.dropped, at = self.buffers + 1, self.dropped + dropped, 0
        data = b"".join(bytes(int(zeros)) if zeros else bytes.fromhex(digits) for zeros, digits in re.findall(r"\((\d+)\)|([0-9a-f]+)", bytes_))
        for step in filter(None, places.split(",")):
            at += int(step)
            self.linked += int.from_bytes(data[at:at + 4], "little") == EXTERNAL_CORRELATION

    def what_is_missing(self):
        """"": nothing."""
        if self.lines[:1] != ["mpiprof-recording 1"]: return "its first line"
        if not self.is_complete: return "its last line"
        if not self.operations: return "every operation of NCCL's"
        if self.dropped: return f"{self.dropped} records that CUPTI dropped"
        return ""
