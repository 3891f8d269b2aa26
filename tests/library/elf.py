"""What readelf says of a shared library, as Python values."""

import collections
import re
import subprocess

Symbol = collections.namedtuple("Symbol", "name version kind bind defined")


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], text=True, check=True, stdout=subprocess.PIPE).stdout


class Library:
    def __init__(self, path):
        self.dynamic = collections.defaultdict(list)
        for tag, value in re.findall(r"^ 0x[0-9a-f]+ \((\w+)\)\s+(.*)$", readelf("-d", path), re.M):
            self.dynamic[tag].append(value.strip())
        self.needed = re.findall(r"\[(.*?)\]", " ".join(self.dynamic["NEEDED"]))
        self.relocations = [line.split()[2] for line in readelf("-r", path).splitlines()
                            if re.match(r"[0-9a-f]{12,} ", line)]
        self.segments = re.findall(r"^  ([A-Z_]+)\s+0x\S+ 0x\S+ 0x\S+ 0x\S+ 0x\S+ ([R ][W ][E ])",
                                   readelf("-l", path), re.M)
        self.sections = set(re.findall(r"^\s+\[ *\d+\] (\S+)", readelf("-S", path), re.M))
        self.symbols = list(self._symbols(path))

    @staticmethod
    def _symbols(path):
        for line in readelf("--dyn-syms", path).splitlines():
            fields = line.split()
            if len(fields) < 8 or not fields[0].endswith(":") or fields[7] == "Name": continue
            if fields[3] == "SECTION": continue  # aarch64's linker names sections there, too
            name, _, version = fields[7].partition("@")
            yield Symbol(name, version.strip("@"), fields[3], fields[4], fields[6] != "UND")

    def size_of(self, tag):
        """Bytes of a dynamic entry such as INIT_ARRAYSZ; 0 where it is absent."""
        return sum(int(value.split()[0], 0) for value in self.dynamic.get(tag, []))
