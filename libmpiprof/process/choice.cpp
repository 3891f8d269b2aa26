// Comparing names and drawing lots. Reads settings and nothing else.
#include "libmpiprof/process/choice.h"

#include "libmpiprof/base/basics.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/format/rank_choice.h"
#include "libmpiprof/process/settings.h"

namespace mpiprof {
namespace {

// "hydra_*" and "*-smi": a star stands for anything. `pattern` ends at `end`.
bool fits(const char* pattern, const char* end, const char* name) {
    for (; pattern != end; ++pattern, ++name) {
        if (*pattern != '*') {
            if (*pattern != *name) return false;
            continue;
        }
        for (; *name; ++name)
            if (fits(pattern + 1, end, name)) return true;
        return pattern + 1 == end;
    }
    return *name == 0;
}

format::RankChoice choice_of(std::uint32_t size) {
    return format::choose_ranks(size, amount_of(Setting::max_files), amount_of(Setting::max_bytes));
}

}  // namespace

bool is_chosen_rank(std::uint32_t rank, std::uint32_t size) {
    return names_rank(value_of(Setting::ranks), rank) && choice_of(size).has(rank);
}

bool is_chosen_program(const char* executable) {
    const char* name = executable;
    for (const char* c = executable; *c; ++c)
        if (*c == '/') name = c + 1;
    for (const char* word = value_of(Setting::exclude); *word;) {
        const char* end = word;
        while (*end && *end != ',') ++end;
        if (end != word && fits(word, end, name)) return false;
        word = *end ? end + 1 : end;
    }
    return true;
}

// With a finaliser, since the names of jobs that follow each other differ in the last digit alone.
bool is_drawn(const char* job) {
    return ((mix(hash_of(job)) >> 32) * 1'000'000'000u) >> 32 < share_of(Setting::sample);
}

Share share_of_rank(std::uint32_t size) {
    const std::uint64_t files = amount_of(Setting::max_files), bytes = amount_of(Setting::max_bytes);
    const std::uint64_t ranks = choice_of(size).count(size);
    if (ranks == 0) return {1, 0};
    const std::uint64_t launches = files / ranks;
    return {files == 0 ? 0 : launches != 0 ? launches : 1, bytes / ranks};
}

}  // namespace mpiprof
