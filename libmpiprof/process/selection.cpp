// Names are compared here, once; by the C library's rules for letters in no locale, since those may change.
#include "libmpiprof/process/selection.h"

#include <string.h>

#include <initializer_list>

#include "libmpiprof/base/text.h"

namespace mpiprof {
namespace {

bool begins_with(const char* name, const char* word, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i)
        if (!name[i] || lower(name[i]) != lower(word[i])) return false;
    return true;
}

bool is_meant(const char* name, const char* word, std::size_t length) {
    const bool any_end = length > 0 && word[length - 1] == '*';
    if (any_end) --length;
    const char* library = strchr(name, '_');  // MPI_Send is Send, too
    for (const char* from : {name, library ? library + 1 : name}) {
        if (!begins_with(from, word, length)) continue;
        const char* rest = from + length;
        if (any_end || *rest == 0 || strcmp(rest, "_c") == 0) return true;
    }
    return false;
}

}  // namespace

void Selection::set(std::uint16_t call, bool on) {
    const std::uint64_t bit = std::uint64_t{1} << (call % 64);
    if (on)
        bits_[call / 64] |= bit;
    else
        bits_[call / 64] &= ~bit;
}

bool Selection::choose_word(const char* word, std::size_t length, bool on, const Choice& choice) {
    const auto is = [&](const char* text) { return length == strlen(text) && begins_with(text, word, length); };
    if (is("none")) return true;
    bool any = false;
    for (std::uint16_t call = 0; call < choice.catalogue.size; ++call) {
        if (!choice.may_have(choice.catalogue.calls[call])) continue;
        if (!is("all") && !is_meant(choice.catalogue.row_name(call), word, length)) continue;
        set(call, on);
        any = true;
    }
    return any;
}

}  // namespace mpiprof
