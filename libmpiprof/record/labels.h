// Labels: what the user or the program says of the run, as keys and values ("model", "resnet50"). What was said before
// there is a profile waits here for it. By the runtime, under its lock; never reads the environment.
#pragma once

#include "libmpiprof/record/rows.h"

namespace mpiprof {

class Labels {
  public:
    // Of one key the last value counts. What is longer than its field is cut.
    void set(Image& image, const char* key, std::size_t key_length, const char* value, std::size_t value_length);
    // The same where there is no profile yet, and maybe never will be.
    void keep(const char* key, const char* value);
    // There is one now: what was kept goes there.
    void move_to(Image& image);

  private:
    static constexpr unsigned most = 256;       // records of a profile
    static constexpr unsigned most_early = 32;  // a page

    Rows<format::Label, 8> rows_;
    format::Label* records_[most] = {};
    unsigned count_ = 0;
    format::Label* early_ = nullptr;
    unsigned early_count_ = 0, early_lost_ = 0;
};

// "model=resnet50,bucket_size=25": hands over each pair, without the blanks around it, and to `wrong` what is none.
template <class Pair, class Wrong>
void walk_labels(const char* text, Pair pair, Wrong wrong) {
    const auto trim = [](const char*& begin, const char*& end) {
        while (begin < end && *begin == ' ') ++begin;
        while (begin < end && end[-1] == ' ') --end;
    };
    for (const char* at = text; *at;) {
        const char *begin = at, *end = at;
        while (*end && *end != ',') ++end;
        at = *end ? end + 1 : end;
        trim(begin, end);
        if (begin == end) continue;  // a comma too many
        const char* equals = begin;
        while (equals < end && *equals != '=') ++equals;
        const char *key_end = equals, *value = equals < end ? equals + 1 : end, *value_end = end;
        trim(begin, key_end);
        trim(value, value_end);
        if (begin == key_end || value == value_end)
            wrong(begin, static_cast<std::size_t>(end - begin));
        else
            pair(begin, static_cast<std::size_t>(key_end - begin), value, static_cast<std::size_t>(value_end - value));
    }
}

}  // namespace mpiprof
