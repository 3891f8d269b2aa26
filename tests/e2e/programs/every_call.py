#!/usr/bin/env python3
"""Writes every_call.txt as a program in C (which is C++, too) or Fortran, that books each call with its bytes.

    every_call.py c|mpif.h|mpi|mpi_f08 [--large] > program

The program writes <prefix>.<rank>.csv, as those with book.h do; usage: program PREFIX, with 2 to 64 ranks.
cases/languages.py imports this and leaves out what the MPI at hand does not have."""

import argparse
import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
LANGUAGES = ("c", "mpif.h", "mpi", "mpi_f08")

Line = collections.namedtuple("Line", "name twin words bytes first_rank_only")

# Words that are spelled the same in every program, but for the array of requests.
CONSTANTS = {"world": "MPI_COMM_WORLD", "self": "MPI_COMM_SELF", "ignore": "MPI_STATUS_IGNORE",
             "ignores": "MPI_STATUSES_IGNORE", "info": "MPI_INFO_NULL", "sum": "MPI_SUM"}
C_WORDS = {**CONSTANTS, "double": "MPI_DOUBLE", "long": "MPI_LONG", "false": "0", "pair1": "&pair[0]", "pair2": "&pair[1]"}
FORTRAN_WORDS = {**CONSTANTS, "double": "MPI_DOUBLE_PRECISION", "long": "MPI_INTEGER8", "false": ".false.", "pair1": "pair(1)",
                 "pair2": "pair(2)"}
# c:NUMBER is a count, d: one that is an address elsewhere, k: one that is large in every form, a: an address, o: an offset
# in a file. Only Fortran has to be told; (without large counts, with).
KINDS = {"c": (None, "MPI_COUNT_KIND"), "d": ("MPI_ADDRESS_KIND", "MPI_COUNT_KIND"), "k": ("MPI_COUNT_KIND",) * 2,
         "a": ("MPI_ADDRESS_KIND",) * 2, "o": ("MPI_OFFSET_KIND",) * 2}
# Variables that have another type with large counts: there, _l is appended. (C type, Fortran kind) of that.
COUNTS = ("counts", "each", "onetwo", "froms")
PLACES = ("places", "steps", "spans", "apart")
POSITIONS = ("position", "restart", "aposition", "arestart")
WIDENED = COUNTS + PLACES + POSITIONS


def read(path=HERE / "every_call.txt"):
    """The paragraphs, each a list of Lines."""
    paragraphs = [[]]
    for text in path.read_text().splitlines():
        if text.startswith("#"):
            continue
        if not text.strip():
            paragraphs.append([])
            continue
        call, size = text.split(" = ")
        first_rank_only = call.startswith("0: ")
        words = (call[3:] if first_rank_only else call).split()
        paragraphs[-1].append(Line(words[0].rstrip("*"), words[0].endswith("*"), words[1:], size, first_rank_only))
    return [p for p in paragraphs if p]


def chosen(paragraphs, has):
    """The lines of the paragraphs whose functions this MPI has all; `has` answers for "Send" and "Send_c"."""
    return [line for paragraph in paragraphs if all(has(line.name) for line in paragraph) for line in paragraph]


def called(line, large, has):
    """The name of the function that a line calls."""
    return line.name + "_c" if large and line.twin and has(line.name + "_c") else line.name


def c_word(word, large):
    if ":" in word:
        return word.partition(":")[2]
    name = word.lstrip("&")
    return C_WORDS.get(word) or (word + "_l" if large and name in WIDENED else word)


def fortran_word(word, large):
    kind, colon, number = word.partition(":")
    if colon:
        name = KINDS[kind][large]
        return f"int({number}, {name})" if name else number
    name = word.lstrip("&")
    return FORTRAN_WORDS.get(word) or (name + "_l" if large and name in WIDENED else name)


def c_program(lines, large, has):
    body = []
    for line in lines:
        name = called(line, large, has)
        words = ", ".join(c_word(word, name != line.name) for word in line.words)
        condition = "if (rank == 0) " if line.first_rank_only else ""
        body.append(f'    {condition}{{ MPI_{name}({words}); expect("MPI_{name}", {line.bytes}); }}')
    # An MPI without large counts may not know MPI_Count either.
    wide = "\n".join([f"    static MPI_Count {', '.join(name + '_l[64]' for name in COUNTS)};",
                      f"    static MPI_Aint {', '.join(name + '_l[64]' for name in PLACES)};",
                      f"    MPI_Count {', '.join(name + '_l = 0' for name in POSITIONS)};"]
                     + [f"    for (int i = 0; i < 64; ++i) {name}_l[i] = {name}[i];" for name in COUNTS + PLACES])
    return C_PROGRAM.replace("@WIDE@", wide if large else "").replace("@CALLS@", "\n".join(body))


def fortran_program(lines, language, large, has):
    f08 = language == "mpi_f08"
    body = []
    for line in lines:
        name = called(line, large, has)
        words = [fortran_word(word, name != line.name) for word in line.words] + ([] if f08 else ["ierror"])
        body += ["    if (rank == 0) then"] * line.first_rank_only
        body += [f"    call MPI_{line.name}({', '.join(words)})", f"    call expect('MPI_{name}', {line.bytes})"]
        body += ["    end if"] * line.first_rank_only
    wide = [f"    integer(MPI_COUNT_KIND) :: {', '.join(name + '_l(64)' for name in COUNTS)}",
            f"    integer(MPI_ADDRESS_KIND) :: {', '.join(name + '_l(64)' for name in PLACES)}",
            f"    integer(MPI_COUNT_KIND) :: {', '.join(name + '_l = 0' for name in POSITIONS)}"]
    widening = [f"    {name}_l = {name}" for name in COUNTS + PLACES]
    text = FORTRAN_PROGRAM.replace("@USE@", "" if language == "mpif.h" else f"use {language}")
    text = text.replace("@INCLUDE@", "include 'mpif.h'" if language == "mpif.h" else "")
    text = text.replace("@STATUS@", "type(MPI_Status) :: status" if f08 else "integer :: status(MPI_STATUS_SIZE)")
    text = re.sub(r"@(\w+)@", lambda m: m[0] if m[1] in ("WIDE", "WIDENING", "CALLS") else f"type(MPI_{m[1]})" if f08 else "integer", text)
    return (text.replace("@WIDE@", "\n".join(wide) if large else "").replace("@WIDENING@", "\n".join(widening) if large else "")
            .replace("@CALLS@", "\n".join(body)))


def program(language, large=False, has=lambda name: True):
    lines = chosen(read(), has)
    return c_program(lines, large, has) if language == "c" else fortran_program(lines, language, large, has)


C_PROGRAM = """// Written by every_call.py.
#include <mpi.h>

#include "book.h"

static double out[1024], in[1024], window[64], work[1024], packed[1024];

int main(int argc, char** argv) {
    static int counts[64], places[64], each[64], steps[64], spans[64], froms[64], apart[64], onetwo[64];
    static MPI_Datatype types[64];
    static MPI_Aint gaps[2] = {0, 8};
    int rank, size, from[2], to[2], parts[2] = {3, 4}, position = 0, restart = 0;
    long origin = 1, compare = 0, answer;
    MPI_Aint aposition = 0, arestart = 0;
    MPI_Offset bytes;
    MPI_Request r, s, pair[2];
    MPI_Message message;
    MPI_Info hints;
    MPI_Status status;
    MPI_Comm graph;
    MPI_Win win;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("MPI_Comm_rank", 0);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    expect("MPI_Comm_size", 0);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    from[0] = to[1] = left;
    from[1] = to[0] = right;
    for (int i = 0; i < 64; ++i) {
        counts[i] = i + 1;
        places[i] = i * (i + 1) / 2 % 1000;  // what lies behind the last rank does not matter
        each[i] = 2;
        steps[i] = 2 * i;
        spans[i] = 16 * i;
        types[i] = MPI_DOUBLE;
    }
    froms[0] = left + 1;
    froms[1] = right + 1;
    apart[1] = 64;
    onetwo[0] = 1;
    onetwo[1] = 2;
@WIDE@

@CALLS@

    printf("every_call: rank %d of %d is done\\n", rank, size);
    write_book(argv[1], rank);
    MPI_Finalize();
    return 0;
}
"""

FORTRAN_PROGRAM = """! Written by every_call.py.
program every_call
    @USE@
    implicit none
    @INCLUDE@
    double precision, save :: out(1024), in(1024), window(64), work(1024), packed(1024)
    integer, save :: counts(64), places(64), each(64), steps(64), spans(64), froms(64), apart(64), onetwo(64)
    @Datatype@, save :: types(64)
    integer(MPI_ADDRESS_KIND), save :: gaps(2) = [0, 8]
    integer :: ierror, rank, size, left, right, i, unit, from(2), to(2), parts(2) = [3, 4], position = 0, restart = 0
    integer(8), save :: origin = 1, compare = 0, answer
    integer(MPI_ADDRESS_KIND) :: aposition = 0, arestart = 0
    integer(MPI_OFFSET_KIND) :: bytes
    @Request@ :: r, s, pair(2)
    @Message@ :: message
    @Info@ :: hints
    @STATUS@
    @Comm@ :: graph
    @Win@ :: win
    @File@ :: file
    character(len=256) :: prefix, path
    integer :: booked = 0
    character(len=40) :: book_call(512)
    integer(8) :: book_bin(512), book_calls(512), book_bytes(512)
@WIDE@

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call expect('MPI_Comm_rank', 0)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    call expect('MPI_Comm_size', 0)
    right = mod(rank + 1, size)
    left = mod(rank + size - 1, size)
    from = [left, right]
    to = [right, left]
    out = 0
    in = 0
    work = 0
    packed = 0
    window = 0
    do i = 1, 64
        counts(i) = i
        places(i) = mod(i * (i - 1) / 2, 1000)
        each(i) = 2
        steps(i) = 2 * (i - 1)
        spans(i) = 16 * (i - 1)
        types(i) = MPI_DOUBLE_PRECISION
    end do
    froms = 0
    froms(1:2) = [left + 1, right + 1]
    apart = 0
    apart(2) = 64
    onetwo = 0
    onetwo(1:2) = [1, 2]
@WIDENING@

@CALLS@

    print '(a,i0,a,i0,a)', 'every_call: rank ', rank, ' of ', size, ' is done'
    call get_command_argument(1, prefix)
    write (path, '(a,".",i0,".csv")') trim(prefix), rank
    open (newunit=unit, file=path, action='write')
    write (unit, '(a)') 'rank,call,bin_max_bytes,calls,bytes'
    do i = 1, booked
        write (unit, '(i0,",",a,3(",",i0))') rank, trim(book_call(i)), book_bin(i), book_calls(i), book_bytes(i)
    end do
    close (unit)
    call MPI_Finalize(ierror)
contains
    ! Bins are 0, then upper-inclusive powers of two, from 4.
    subroutine expect(call_name, bytes)
        character(len=*), intent(in) :: call_name
        integer, intent(in) :: bytes
        integer(8) :: bin
        integer :: row
        bin = 0
        if (bytes > 0) bin = 4
        do while (bin < bytes)
            bin = 2 * bin
        end do
        do row = 1, booked
            if (book_call(row) == call_name .and. book_bin(row) == bin) exit
        end do
        if (row > booked) then
            booked = row
            book_call(row) = call_name
            book_bin(row) = bin
            book_calls(row) = 0
            book_bytes(row) = 0
        end if
        book_calls(row) = book_calls(row) + 1
        book_bytes(row) = book_bytes(row) + bytes
    end subroutine
end program
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=LANGUAGES)
    parser.add_argument("--large", action="store_true", help="with large counts, where a function has them")
    arguments = parser.parse_args()
    sys.stdout.write(program(arguments.language, arguments.large))


if __name__ == "__main__":
    main()
