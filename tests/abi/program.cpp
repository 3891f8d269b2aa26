// Calls every function of the table through whatever is preloaded, with registers as a compiler may leave them: rubbish
// in the upper halves of ints, negative offsets beyond 32 bits, up to 13 arguments. The fake library behind compares
// what arrives. Books its calls as the programs of tests/e2e do, and its failed calls in PREFIX.errors. usage: program
// all|again PREFIX      (again: MPI begins, ends and begins once more, by sessions)
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <string>

#include "libmpiprof/calls/call.h"
#include "libmpiprof/wrap/parameters.h"
#include "tests/abi/abi.h"

using mpiprof::Role;

// ---- the functions ----
#ifdef FAKE_STANDARD
#define FORTRAN(name, arity)
#define FORTRAN_POINTERS(name) nullptr, nullptr
#else
#define FORTRAN(name, arity)                                                                            \
    Word mpi_##name##_(MPIPROF_PARAMETERS_##arity MPIPROF_COMMA_##arity Word ierror, Word h0, Word h1); \
    Word mpi_##name##_f08_(MPIPROF_PARAMETERS_##arity MPIPROF_COMMA_##arity Word ierror, Word h0, Word h1);
#define FORTRAN_POINTERS(name) reinterpret_cast<void*>(mpi_##name##_), reinterpret_cast<void*>(mpi_##name##_f08_)
#endif
#define MPI_SPECIAL(...)
#define MPI_PASSED(...)

extern "C" {
#define MPI(Name, name, arity, ...)              \
    Word MPI_##Name(MPIPROF_PARAMETERS_##arity); \
    FORTRAN(name, arity)
#define MPI_C(Name, name, arity, ...) MPI(Name, name, arity) Word MPI_##Name##_c(MPIPROF_PARAMETERS_##arity);
#include "libmpiprof/mpi/calls.def"
#undef MPI
#undef MPI_C
int MPI_Init(int*, char***);
int MPI_Finalize();
int MPI_Session_init(Word, Word, Word*);
int MPI_Session_finalize(Word*);
}

namespace {

struct Function {
    const char *name, *lower;
    int arity;
    bool large;
    mpiprof::SizeRule rule;
    mpiprof::Roles roles;
    void *c, *fortran, *f08;
};
using mpiprof::SizeRule;

template <class Words>
consteval mpiprof::Roles roles_of(Words words, int arity) {
    return mpiprof::parse_roles(words(), arity);
}
const Function functions[] = {
#define ROLES(words, arity) roles_of([] { return words; }, arity)
#define MPI(Name, name, arity, treatment, traffic, rule, words, ...) \
    {"MPI_" #Name,                                                   \
     #name,                                                          \
     arity,                                                          \
     false,                                                          \
     SizeRule::rule,                                                 \
     ROLES(words, arity),                                            \
     reinterpret_cast<void*>(MPI_##Name),                            \
     FORTRAN_POINTERS(name)},
#define MPI_C(Name, name, arity, treatment, traffic, rule, words, ...)                               \
    MPI(Name, name, arity, treatment, traffic, rule, words){"MPI_" #Name "_c",                       \
                                                            #name,                                   \
                                                            arity,                                   \
                                                            true,                                    \
                                                            SizeRule::rule,                          \
                                                            ROLES(words, arity),                     \
                                                            reinterpret_cast<void*>(MPI_##Name##_c), \
                                                            nullptr,                                 \
                                                            nullptr},
#include "libmpiprof/mpi/calls.def"
};

Word invoke(void* function, const Word* w, int arguments) {
    switch (arguments) {
#define CASE(n, ...) \
    case n:          \
        return reinterpret_cast<Word (*)(MPIPROF_PARAMETERS_##n)>(function)(__VA_ARGS__);
        CASE(0)
        CASE(1, w[0])
        CASE(2, w[0], w[1])
        CASE(3, w[0], w[1], w[2])
        CASE(4, w[0], w[1], w[2], w[3])
        CASE(5, w[0], w[1], w[2], w[3], w[4])
        CASE(6, w[0], w[1], w[2], w[3], w[4], w[5])
        CASE(7, w[0], w[1], w[2], w[3], w[4], w[5], w[6])
        CASE(8, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
        CASE(9, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8])
        CASE(10, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9])
        CASE(11, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10])
        CASE(12, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11])
        CASE(13, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12])
    }
    using Long =
        Word (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
    return reinterpret_cast<Long>(function)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11],
                                            w[12], w[13], w[14], w[15]);
}

// ---- the book ----
#ifdef FAKE_UNKNOWN
constexpr bool sizes_are_known = false;
#else
constexpr bool sizes_are_known = true;
#endif
struct Sum {
    unsigned long long calls, bytes;
};
std::map<std::string, std::map<unsigned long long, Sum>> good;
std::map<std::string, unsigned long long> failed;
long wrong;

unsigned long long bin_of(unsigned long long bytes) {
    unsigned long long top = 4;
    if (bytes == 0) return 0;
    while (top < bytes) top *= 2;
    return top;
}

void expect(const char* name, unsigned long long bytes) {
    if (!sizes_are_known) bytes = 0;
    Sum& sum = good[name][bin_of(bytes)];
    ++sum.calls;
    sum.bytes += bytes;
}

void write_book(const std::string& prefix, int rank) {
    std::FILE* file = std::fopen((prefix + ".csv").c_str(), "w");
    std::FILE* errors = std::fopen((prefix + ".errors").c_str(), "w");
    if (!file || !errors) std::exit(9);
    std::fprintf(file, "rank,call,bin_max_bytes,calls,bytes\n");
    std::fprintf(errors, "rank,call,bin_max_bytes,calls,bytes\n");
    for (const auto& [name, bins] : good)
        for (const auto& [bin, sum] : bins)
            std::fprintf(file, "%d,%s,%llu,%llu,%llu\n", rank, name.c_str(), bin, sum.calls, sum.bytes);
    for (const auto& [name, calls] : failed) std::fprintf(errors, "%d,%s,0,%llu,0\n", rank, name.c_str(), calls);
    std::fclose(file);
    std::fclose(errors);
}

// ---- one call ----
constexpr Word good_result = static_cast<Word>(0xfeedface00000000u);  // an int 0: what is above it is nobody's business
constexpr Word bad_result = static_cast<Word>(0xfeedface00000007u);

void call(const char* name, void* function, int arguments, Expected e) {
    e.name = name;
    fake_expected = e;
    const long calls = fake_calls;
    const Word result = invoke(function, e.word, arguments);
    if (result == e.result && fake_calls == calls + 1) return;
    std::fprintf(stderr, "program: %s returned %#lx instead of %#lx, after %ld calls\n", name,
                 static_cast<unsigned long>(result), static_cast<unsigned long>(e.result), fake_calls - calls);
    ++wrong;
}

// ---- what a register may hold, by what the argument is ----
alignas(64) char memory[64][512];
HandleInMemory types_in_memory[64], comm_in_memory, request_in_memory;

Word address(const void* p) { return reinterpret_cast<Word>(p); }

bool frees(const Function& f) { return std::strstr(f.lower, "free") || std::strstr(f.lower, "disconnect"); }

Word word_in_c(const Function& f, Role role, int position, bool succeeds) {
    const Word elsewhere = address(memory[position]);
    switch (role) {
        case Role::count:
        case Role::scount:
        case Role::rcount:
            if (f.large) return succeeds ? 0 : Word{-5'000'000'000};
            return garbage(succeeds ? 0 : -7);
        case Role::type:
        case Role::stype:
        case Role::rtype:
            return handle(type_double);
        case Role::types:
        case Role::stypes:
        case Role::rtypes:
            return address(types_in_memory);
        case Role::dest:
        case Role::source:
        case Role::root:
        case Role::target:
        case Role::n:
        case Role::partitions:
            return garbage(0);
        case Role::comm:
            return handle(world);
        case Role::win:
            return handle(win);
        case Role::file:
            return 0x7f00bbbb0000;
        case Role::request:
            return address(&request_in_memory);
        case Role::newcomm:
            return address(&comm_in_memory);
        case Role::arg:
            return frees(f) ? elsewhere : Word{-5'000'000'000} - 8 * position;
        default:
            return elsewhere;
    }
}

// By reference, all of it; handles are INTEGERs.
int fortran_double = static_cast<int>(type_double), fortran_world = static_cast<int>(world),
    fortran_null = static_cast<int>(request_null);
int fortran_types[64];

Word word_in_fortran(Role role, int position) {
    switch (role) {
        case Role::type:
        case Role::stype:
        case Role::rtype:
            return address(&fortran_double);
        case Role::types:
        case Role::stypes:
        case Role::rtypes:
            return address(fortran_types);
        case Role::comm:
            return address(&fortran_world);
        case Role::request:
            return address(&fortran_null);
        default:
            return address(memory[position]);
    }
}

int strings_of(const mpiprof::Roles& roles) {
    int n = 0;
    for (const Role role : roles) n += role == Role::str;
    return n;
}

void call_by_table(const Function& f, void* function, const std::string& name, bool in_fortran, bool succeeds) {
    Expected e{};
    e.words = f.arity;
    e.status = e.ierror = -1;
    e.result = succeeds ? good_result : bad_result;
    std::memset(memory, 0, sizeof memory);
    for (int i = 0; i < f.arity; ++i) {
        e.word[i] = in_fortran ? word_in_fortran(f.roles[static_cast<std::size_t>(i)], i)
                               : word_in_c(f, f.roles[static_cast<std::size_t>(i)], i, succeeds);
        if (f.roles[static_cast<std::size_t>(i)] == Role::status) e.status = i;
    }
    if (in_fortran) {
        e.ierror = f.arity;
        e.word[f.arity] = address(memory[40]);
        e.word[f.arity + 1] = garbage(11);  // hidden lengths, ints in old compilers
        e.word[f.arity + 2] = garbage(13);
        e.words = f.arity + 1 + strings_of(f.roles);
    } else if (e.status >= 0 && succeeds) {
        e.word[e.status] = status_ignore;
    }
    call(name.c_str(), function, in_fortran ? 16 : f.arity, e);
    if (succeeds)
        expect(f.name, f.rule == SizeRule::one_element ? 8 : 0);
    else
        ++failed[f.name];
}

void call_everything() {
    for (const Function& f : functions)
        for (const bool succeeds : {true, false}) {
            call_by_table(f, f.c, f.name, false, succeeds);
            if (f.fortran) call_by_table(f, f.fortran, "mpi_" + std::string(f.lower) + "_", true, succeeds);
            if (f.f08) call_by_table(f, f.f08, "mpi_" + std::string(f.lower) + "_f08_", true, succeeds);
        }
}

// ---- sizes ----
struct By {
    int status = -1;
    std::uint64_t arrived = 0;
};

void moves(unsigned long long bytes, const char* name, void* function, std::initializer_list<Word> words, By by = {}) {
    Expected e{};
    e.words = static_cast<int>(words.size());
    int i = 0;
    for (const Word word : words) e.word[i++] = word;
    e.result = good_result;
    e.status = by.status;
    e.arrived = by.arrived;
    e.ierror = -1;
    call(name, function, e.words, e);
    expect(name, bytes);
}
#define MOVES(bytes, name, ...) moves(bytes, #name, reinterpret_cast<void*>(name), __VA_ARGS__)

void call_with_known_sizes() {
    const Word buffer = 0x7f00cccc0008, other = -0x123456789ab, comm = handle(world), d = handle(type_double);
    const Word null = handle(type_null), five_back = -5'000'000'000;
    int counts[ranks] = {1, 2, 3, 4}, places[ranks] = {0, 1, 3, 6};
    const Word c = address(counts), p = address(places);
    HandleInMemory types[ranks] = {static_cast<HandleInMemory>(type_int), static_cast<HandleInMemory>(type_double),
                                   static_cast<HandleInMemory>(type_byte), static_cast<HandleInMemory>(dynamic_type)};
    int ones[ranks] = {1, 1, 1, 1};
    char status[64];

    MOVES(24, MPI_Send, {buffer, garbage(3), d, garbage(2), garbage(-9), comm});
    MOVES(0, MPI_Send, {buffer, garbage(3), d, garbage(proc_null), garbage(-9), comm});
    MOVES(16, MPI_Recv, {buffer, garbage(3), d, garbage(2), garbage(-9), comm, address(status)}, {6, 16});
    MOVES(16, MPI_Recv, {buffer, garbage(3), d, garbage(2), garbage(-9), comm, status_ignore}, {6, 16});
    MOVES(3ull << 30, MPI_Recv_c,
          {buffer, Word{5} << 30, handle(type_byte), garbage(2), garbage(1), comm, address(status)}, {6, 3ull << 30});
    MOVES((1ull << 33) + 1, MPI_Send_c, {buffer, (Word{1} << 33) + 1, handle(type_byte), garbage(2), garbage(1), comm});
    MOVES(28, MPI_Sendrecv,
          {buffer, garbage(3), d, garbage(2), garbage(1), other, garbage(9), d, garbage(0), garbage(1), comm,
           address(status)},
          {11, 4});
    MOVES(24, MPI_Allreduce, {in_place, buffer, garbage(3), d, handle(0x58000003), comm});
    MOVES(8, MPI_Allgather, {in_place, garbage(0), null, buffer, garbage(1), d, comm});
    MOVES(16, MPI_Allgatherv, {buffer, garbage(2), d, other, c, p, d, comm});
    MOVES(10, MPI_Alltoallv, {buffer, c, p, handle(type_int), other, c, p, handle(type_int), comm});
    MOVES(12, MPI_Neighbor_alltoallv, {buffer, c, p, d, other, c, p, d, handle(self)});
    fake_dynamic_size = 24;
    MOVES(9, MPI_Alltoallw, {buffer, address(ones), p, address(types), other, address(ones), p, address(types), comm});
    MOVES(16, MPI_Gather, {buffer, garbage(2), d, other, garbage(-1), null, garbage(0), comm});
    MOVES(20, MPI_Gather, {in_place, garbage(0), null, other, garbage(5), handle(type_int), garbage(my_rank), comm});
    MOVES(16, MPI_Scatter, {other, garbage(-1), null, buffer, garbage(2), d, garbage(0), comm});
    MOVES(80, MPI_Reduce_scatter, {buffer, other, c, d, handle(0x58000003), comm});
    MOVES(96, MPI_Reduce_scatter_block, {buffer, other, garbage(3), d, handle(0x58000003), comm});
    MOVES(32, MPI_Put, {buffer, garbage(4), d, garbage(3), five_back, garbage(4), d, handle(win)});
    MOVES(16, MPI_Get_accumulate,
          {buffer, garbage(9), d, other, garbage(2), d, garbage(3), five_back, garbage(2), d, handle(0x58000003),
           handle(win)});
    MOVES(16, MPI_Rget_accumulate,
          {buffer, garbage(9), d, other, garbage(2), d, garbage(3), five_back, garbage(2), d, handle(0x58000003),
           handle(win), address(&request_in_memory)});
    MOVES(7, MPI_File_write_at, {0x7f00bbbb0000, five_back, buffer, garbage(7), handle(type_byte), status_ignore});
    // A handle whose type is freed may come back as another type.
    HandleInMemory dynamic = static_cast<HandleInMemory>(dynamic_type);
    MOVES(48, MPI_Bcast, {buffer, garbage(2), handle(dynamic_type), garbage(0), comm});
    MOVES(0, MPI_Type_free, {address(&dynamic)});
    fake_dynamic_size = 40;
    MOVES(80, MPI_Bcast, {buffer, garbage(2), handle(dynamic_type), garbage(0), comm});
    MOVES(8, MPI_Allreduce, {buffer, other, garbage(1), d, handle(0x58000003), handle(self)});
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    for (auto& type : types_in_memory) type = static_cast<HandleInMemory>(type_double);
    for (int& type : fortran_types) type = fortran_double;
    comm_in_memory = static_cast<HandleInMemory>(self);
    request_in_memory = static_cast<HandleInMemory>(request_null);
    if (std::strcmp(argv[1], "again") == 0) {
        Word session;
        for (int round = 0; round < 3; ++round) {  // the first moves nothing
            MPI_Session_init(0, 0, &session);
            if (round > 0)
                MOVES(24, MPI_Send, {0x1000, garbage(3), handle(type_double), garbage(0), garbage(0), handle(world)});
            MPI_Session_finalize(&session);
        }
        write_book(argv[2], 0);
    } else {
        MPI_Init(nullptr, nullptr);
        call_everything();
        call_with_known_sizes();
        write_book(argv[2], sizes_are_known ? my_rank : 0);
        MPI_Finalize();
    }
    std::printf("%ld calls, %ld wrong\n", fake_calls, fake_wrong + wrong);
    return fake_wrong + wrong != 0;
}
