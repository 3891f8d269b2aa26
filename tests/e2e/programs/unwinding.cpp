// Leaves MPI calls from within, by a C++ exception or a longjmp out of a user's error handler, and then makes calls
// above, at and below the depth that was left: on a stack where the frames of the call that never returned may still
// lie untouched. Books the calls that returned. usage: unwinding throw|longjmp PREFIX
#include <mpi.h>
#include <setjmp.h>

extern "C" {
#include "book.h"
}

namespace {

struct Error {
    int code;
};

bool throws;
jmp_buf jump;
int rank, caught, wrong;

void handler(MPI_Comm*, int* code, ...) {
    int r;
    MPI_Comm_rank(MPI_COMM_WORLD, &r);  // part of the call that fails
    if (r != rank) ++wrong;
    if (throws) throw Error{*code};
    longjmp(jump, 1);
}

// Calls `function` some frames further down. A frame holds room that nobody writes to.
template <class Function>
[[gnu::noinline]] void below(int frames, Function function) {
    volatile char room[700];
    room[0] = 1;
    if (frames == 0)
        function();
    else
        below(frames - 1, function);
    room[1] = 1;  // no tail call
}

[[gnu::noinline]] void good_calls(MPI_Comm comm) {
    int in = rank, out = 0;
    MPI_Comm_size(comm, &out);
    expect("MPI_Comm_size", 0);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MAX, comm);
    expect("MPI_Allreduce", 4);
    MPI_Sendrecv(&in, 1, MPI_INT, rank, 0, &out, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv", 8);
    if (out != rank) ++wrong;
}

template <class Function>
[[gnu::noinline]] void caught_from(Function failing_call) {
    if (throws) {
        try {
            failing_call();
        } catch (const Error& error) {
            if (error.code != MPI_SUCCESS) ++caught;
        }
    } else if (setjmp(jump) == 0) {
        failing_call();
    } else {
        ++caught;
    }
}

void leave_and_go_on(MPI_Comm comm, int depth, int next_depth) {
    char byte = 0;
    caught_from([&] { below(depth, [&] { MPI_Send(&byte, 1, MPI_CHAR, -99, 0, comm); }); });
    below(next_depth, [&] { good_calls(comm); });
    caught_from([&] { below(depth, [&] { MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER); }); });
    below(next_depth, [&] { good_calls(comm); });
    below(next_depth, [&] { good_calls(comm); });
}

}  // namespace

int main(int argc, char** argv) {
    throws = argc > 1 && strcmp(argv[1], "throw") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect("MPI_Comm_rank", 0);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect("MPI_Comm_dup", 0);
    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(handler, &errhandler);
    expect("MPI_Comm_create_errhandler", 0);
    MPI_Comm_set_errhandler(comm, errhandler);
    expect("MPI_Comm_set_errhandler", 0);
    int rounds = 0;
    for (int depth = 0; depth < 12; depth += 3)
        for (int next_depth = 0; next_depth < 16; ++next_depth) {
            leave_and_go_on(comm, depth, next_depth);
            ++rounds;
        }
    if (caught != 2 * rounds) ++wrong;
    MPI_Errhandler_free(&errhandler);
    expect("MPI_Errhandler_free", 0);
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free", 0);
    if (wrong || rank == 0) printf("unwinding: %d calls left, %d wrong\n", caught, wrong);
    write_book(argv[2], rank);
    MPI_Finalize();
    return wrong != 0;
}
