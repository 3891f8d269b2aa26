"""The symbols that a row of calls.def stands for: C, the large-count twin, and every Fortran spelling."""

BUFFERS = {"buf", "sbuf", "rbuf"}


def of_mpif_h(name):
    """mpif.h and `use mpi`: what compilers make of a name (one underscore; two with gfortran's -fsecond-underscore)."""
    lower = "mpi_" + name.lower()
    return {lower + "_", lower + "__"}


def of_nobody(name):
    """What some compilers can be told to make of it, and any C library may own: never exported (docs/decisions/0011)."""
    return {"mpi_" + name.lower(), "MPI_" + name.upper()}


def of_f08(name, large, descriptors):
    """`use mpi_f08`. A choice buffer comes as a descriptor in MPICH (ts), as an address in Open MPI."""
    lower = "mpi_" + name.lower()
    kinds = ["_f08"] + ["_f08ts"] * descriptors
    found = {lower + kind + "_" for kind in kinds}
    if large:  # MPICH 4.0 calls these _large; the standard's own names (4.1) follow the C name
        found |= {lower + kind + "_large_" for kind in kinds} | {lower + "_c" + kind + "_" for kind in kinds}
    return found


# Open MPI's `use mpi` has a second name for what takes a TYPE(C_PTR).
WITH_C_POINTER = {"Alloc_mem", "Win_allocate", "Win_allocate_shared", "Win_shared_query"}
# Twins that have other arguments than their function, and so a row of their own. MPICH 4.0 calls them _large, too.
TWINS_OF_OTHER_SHAPE = {"Type_get_envelope_c", "Type_get_contents_c"}


def of_row(row, descriptors):
    if row.passed: return set()
    found = {"MPI_" + row.name} | of_mpif_h(row.name) | of_f08(row.name, row.large, descriptors)
    if row.large: found.add("MPI_%s_c" % row.name)
    if row.name in WITH_C_POINTER: found |= of_mpif_h(row.name + "_cptr")
    if row.name in TWINS_OF_OTHER_SHAPE: found.add("mpi_%s_f08_large_" % row.name.lower()[:-2])
    return found


def needed(rows):
    """What programs can call. Only functions with a choice buffer have descriptors to pass."""
    return set().union(*(of_row(row, bool(BUFFERS & set(row.words))) for row in rows))


def possible(rows):
    """What may be exported: a descriptor's spelling more does no harm."""
    return set().union(*(of_row(row, True) for row in rows))
