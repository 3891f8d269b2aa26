// The functions of the pretend library.
#include "tests/compile/contract/relay.h"

using mpiprof::Word;
using mpiprof::relay::Id;
using mpiprof::relay::Relay;

#define EXPORT extern "C" [[gnu::visibility("default")]]
#define TEXT(name)                                  \
    namespace {                                     \
    struct Text_##name {                            \
        static const char* text() { return #name; } \
    };                                              \
    }
#define WRAP(row, name, ...) mpiprof::wrap::call<Relay, Id::row, 0, mpiprof::wrap::C<true>, Text_##name>(__VA_ARGS__)

TEXT(relay_put)
EXPORT Word relay_put(Word buffer, Word bytes, Word peer) { return WRAP(put, relay_put, buffer, bytes, peer); }
TEXT(relay_rank)
EXPORT Word relay_rank() { return WRAP(rank, relay_rank); }
