// A set of functions that the user names: MPIPROF_FUNCTIONS, MPIPROF_COLLECTIVE_BARRIER. Made once, at start, from a
// text and the catalogue; asked for by call id whenever a function is called for the first time.
#pragma once

#include "libmpiprof/record/catalogue.h"

namespace mpiprof {

class Selection {
  public:
    bool has(std::uint16_t call) const { return bits_[call / 64 % words] >> (call % 64) & 1; }

    // "all", "none", or names such as "MPI_Allreduce,Bcast,MPI_I*": with or without MPI_, in any case, `*` for any end;
    // large-count forms are meant, too. A name behind "-" is left out again; a list that begins so begins with all.
    // `may_have` says which calls count; `unknown` is given each word that names none of them.
    template <class Unknown>
    void choose(const char* list, const Catalogue& catalogue, bool (*may_have)(const CallInfo&), Unknown unknown) {
        const Choice all{catalogue, may_have};
        if (*list == '-') choose_word("all", 3, true, all);
        while (*list) {
            std::size_t length = 0;
            while (list[length] && list[length] != ',') ++length;
            const bool leaves_out = *list == '-';
            if (length > leaves_out && !choose_word(list + leaves_out, length - leaves_out, !leaves_out, all))
                unknown(list, static_cast<int>(length));
            list += length + (list[length] == ',');
        }
    }

    void set(std::uint16_t call, bool on);

  private:
    static constexpr std::size_t words = Catalogue::barrier_before / 64;

    struct Choice {
        const Catalogue& catalogue;
        bool (*may_have)(const CallInfo&);
    };
    bool choose_word(const char* word, std::size_t length, bool on, const Choice& choice);

    std::uint64_t bits_[words] = {};
};

}  // namespace mpiprof
