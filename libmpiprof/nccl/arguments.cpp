// One case for each call that makes communicators.
#include "libmpiprof/nccl/arguments.h"

#include <stdlib.h>
#include <string.h>

namespace mpiprof::nccl {
namespace {

// ncclConfig_t: what every version since 2.14 has, and the name, which came with 2.27.
struct Config {
    std::size_t size;
    unsigned magic;
    unsigned version;
    int is_blocking;
    int integers_1[3];
    const char* net_name;
    int integers_2[2];
    const char* name;
};
static_assert(offsetof(Config, net_name) == 32 && offsetof(Config, name) == 48);

const Config* config_at(Word config) {
    const auto* c = reinterpret_cast<const Config*>(config);
    return c && c->magic == 0xcafebeef ? c : nullptr;
}

// The user's NCCL_COMM_BLOCKING comes first, then the configuration; without one a communicator is as its parent is.
bool is_nonblocking(const Config* config, bool is_parent_nonblocking) {
    if (const char* set = getenv("NCCL_COMM_BLOCKING"); set && (strcmp(set, "0") == 0 || strcmp(set, "1") == 0))
        return *set == '0';
    return config ? config->is_blocking == 0 : is_parent_nonblocking;
}

void configure(MadeBy& made, Word config, bool is_parent_nonblocking = false) {
    const Config* c = config_at(config);
    if (c && c->size >= sizeof(Config)) made.name = c->name;
    made.is_nonblocking = is_nonblocking(c, is_parent_nonblocking);
}

#if defined(__x86_64__) || defined(__aarch64__)
void init_rank(const Word* words, bool has_config, MadeBy& made) {
    made.where = words[0];
    made.size = static_cast<int>(words[1]);
    made.rank = static_cast<int>(words[word_of_rank]);
    made.id = hash_of_bytes(unique_id(words), unique_id_bytes);
    configure(made, has_config ? words[word_of_config] : 0);
}
#endif

// The ranks of a list have one hash in any order.
std::uint64_t hash_of_ranks(Word list, int n) {
    std::uint64_t result = 0;
    for (int i = 0; i < n; ++i)
        result += hash_of_id(6, static_cast<std::uint64_t>(reinterpret_cast<const int*>(list)[i]));
    return result;
}

}  // namespace

bool describe(Id id, const Word* words, Communicators& known, MadeBy& made) {
    made = {0, 1, 0, 0, 0, 0, false, nullptr, false};
    switch (id) {
#if defined(__x86_64__) || defined(__aarch64__)
        case Id::CommInitRank:
        case Id::CommInitRankConfig:
            init_rank(words, id == Id::CommInitRankConfig, made);
            made.tells_world = true;
            break;
#endif
        case Id::CommInitRankScalable: {  // newcomm, nranks, rank, ids, id*, config
            const int ids = static_cast<int>(words[3]);
            made.where = words[0];
            made.size = static_cast<int>(words[1]);
            made.rank = static_cast<int>(words[2]);
            made.id =
                hash_of_bytes(reinterpret_cast<const void*>(words[4]), static_cast<std::size_t>(ids) * unique_id_bytes);
            configure(made, words[5]);
            made.tells_world = true;
            break;
        }
        case Id::CommInitAll: {  // comms, devices, list: all members are this process
            static constinit std::atomic<std::uint64_t> before{0};
            made.where = words[0];
            made.communicators = made.size = static_cast<int>(words[1]);
            made.id = hash_of_id(hash_of_id(7, static_cast<std::uint64_t>(getpid())), before++);
            break;
        }
        case Id::CommSplit:  // comm, color, key, newcomm, config
            made.where = words[3];
            made.parent = known.id_of(words[0]);
            made.id = known.id_of_child(words[0], static_cast<std::uint64_t>(static_cast<int>(words[1])));
            configure(made, words[4], known.is_nonblocking(words[0]));
            break;
        case Id::CommShrink:  // comm, excluded, n, newcomm, config, flags
            made.where = words[3];
            made.parent = known.id_of(words[0]);
            made.id = known.id_of_part(words[0], hash_of_ranks(words[1], static_cast<int>(words[2])));
            configure(made, words[4], known.is_nonblocking(words[0]));
            break;
        case Id::CommGrow:  // comm or null, size, id, rank or -1, newcomm, config: the new ones know no parent, so no
                            // common id
            made.where = words[4];
            made.parent = words[0] != 0 ? known.id_of(words[0]) : 0;
            configure(made, words[5], known.is_nonblocking(words[0]));
            break;
        default:
            return false;
    }
    return made.where != 0;
}

}  // namespace mpiprof::nccl
