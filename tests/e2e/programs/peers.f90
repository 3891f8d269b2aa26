! Messages between ranks in Fortran, through `use mpi` or, compiled with -DF08, `use mpi_f08`. Each rank writes what it did to
! expected.<rank>.txt, as peers.c does. Compile with -cpp; run on 4 ranks.
#ifdef F08
#define REQUEST type(MPI_Request)
#define COMM type(MPI_Comm)
#define STATUS(n) type(MPI_Status) :: n
#define STATUSES(n, m) type(MPI_Status) :: n(m)
#define SOURCE(s) s%MPI_SOURCE
#define SOURCES(s, i) s(i)%MPI_SOURCE
#define IERROR
#else
#define REQUEST integer
#define COMM integer
#define STATUS(n) integer :: n(MPI_STATUS_SIZE)
#define STATUSES(n, m) integer :: n(MPI_STATUS_SIZE, m)
#define SOURCE(s) s(MPI_SOURCE)
#define SOURCES(s, i) s(MPI_SOURCE, i)
#define IERROR , ierror
#endif
program peers
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    implicit none
    integer, parameter :: sent = 1, received = 2
    integer :: ierror, rank, size, i, j, next, before, there, back, n, mine, kind, any_messages
    integer :: messages(2, 0:63), bytes(2, 0:63)
    double precision :: out(64), in(64)
    character(len=40) :: path
    REQUEST :: request, requests(4)
    COMM :: part
    STATUS(status)
    STATUSES(all, 4)

    messages = 0
    bytes = 0
    any_messages = 0
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank IERROR)
    call MPI_Comm_size(MPI_COMM_WORLD, size IERROR)
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, part IERROR)
    call MPI_Comm_rank(part, mine IERROR)
    n = size
    next = mod(mine + 1, n)
    before = mod(mine + n - 1, n)
    there = size - 1 - next   ! in MPI_COMM_WORLD: the order is reversed
    back = size - 1 - before
    out = rank
    do i = 1, 12
        call MPI_Isend(out, i, MPI_DOUBLE_PRECISION, next, 1, part, request IERROR)
        call note(sent, there, 8 * i)
        if (mod(i, 3) == 0) then
            call MPI_Recv(in, 64, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, part, status IERROR)
        else if (mod(i, 3) == 1) then
            call MPI_Recv(in, 64, MPI_DOUBLE_PRECISION, before, 1, part, status IERROR)
        else
            call MPI_Recv(in, i, MPI_DOUBLE_PRECISION, before, 1, part, MPI_STATUS_IGNORE IERROR)
        end if
        call note(received, back, 8 * i)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
    end do
    do i = 1, 5
        call MPI_Irecv(in, 7, MPI_DOUBLE_PRECISION, before, 2, part, requests(1) IERROR)
        call MPI_Irecv(in(8:14), 7, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3, part, requests(2) IERROR)
        call MPI_Isend(out, 7, MPI_DOUBLE_PRECISION, next, 2, part, requests(3) IERROR)
        call MPI_Isend(out, 7, MPI_DOUBLE_PRECISION, next, 3, part, requests(4) IERROR)
        call note(sent, there, 56)
        call note(sent, there, 56)
        call note(received, back, 56)
        if (i < 4) then
            call MPI_Waitall(4, requests, all IERROR)
            call note(received, size - 1 - SOURCES(all, 2), 56)
        else
            call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE IERROR)
            any_messages = any_messages + 1
        end if
    end do
    do i = 1, 3
        call MPI_Sendrecv(out, 3, MPI_DOUBLE_PRECISION, next, 4, in, 3, MPI_DOUBLE_PRECISION, before, 4, part, status IERROR)
        call MPI_Sendrecv(out, 4, MPI_DOUBLE_PRECISION, next, 4, in, 4, MPI_DOUBLE_PRECISION, before, 4, part, MPI_STATUS_IGNORE IERROR)
        call MPI_Sendrecv_replace(in, 2, MPI_DOUBLE_PRECISION, before, 5, next, 5, part, MPI_STATUS_IGNORE IERROR)
        call note(sent, there, 24)
        call note(received, back, 24)
        call note(sent, there, 32)
        call note(received, back, 32)
        call note(sent, back, 16)
        call note(received, there, 16)
    end do
    call MPI_Send(out, 4, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 4, part IERROR)
    call MPI_Barrier(MPI_COMM_WORLD IERROR)
    call MPI_Comm_free(part IERROR)
    write (path, '("expected.", i0, ".txt")') rank
    open (newunit=j, file=path)
    do kind = sent, received
        do i = 0, size - 1
            if (messages(kind, i) > 0) write (j, '(a, 3(1x, i0))') trim(merge('sent    ', 'received', kind == sent)), i, messages(kind, i), bytes(kind, i)
        end do
    end do
    if (any_messages > 0) write (j, '("any 0 ", i0, 1x, i0)') any_messages, 56 * any_messages
    close (j)
    call MPI_Finalize(ierror)
contains
    subroutine note(what, whom, many)
        integer, intent(in) :: what, whom, many
        messages(what, whom) = messages(what, whom) + 1
        bytes(what, whom) = bytes(what, whom) + many
    end subroutine
end program
