// What a file of settings is: "NAME=value" a line, "#" for remarks, and when it can be trusted. Read by the library,
// which obeys it, and by mpiprof-report doctor, which says what the library makes of it. Touches no file itself.
#pragma once

#include <sys/stat.h>

#include <cstddef>

namespace mpiprof::format {

inline constexpr char config_for_everyone[] = "/etc/mpiprof.conf";
inline constexpr char no_config[] = "none";  // as MPIPROF_CONFIG: not even the one for everyone
inline constexpr std::size_t most_config_bytes = 16384;

// Why a file does not count; null: it does. One that others can write to says what they want.
inline const char* why_config_does_not_count(const struct stat& file, uid_t user) {
    if ((file.st_mode & S_IFMT) != S_IFREG) return "is not a file";
    if (file.st_uid != 0 && file.st_uid != user) return "is neither root's nor yours";
    if ((file.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "can be written by others (chmod go-w)";
    return file.st_size >= static_cast<off_t>(most_config_bytes) ? "is longer than 16 KiB" : nullptr;
}

inline bool is_config_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// `  export NAME = "value"` becomes `NAME=value`, terminated: a file that a shell can source is one, too. Returns how
// many bytes that takes, none for a remark; `to` is never behind `from`.
inline std::size_t take_config_line(const char* from, const char* end, char* to) {
    constexpr char word[] = {'e', 'x', 'p', 'o', 'r', 't', ' '};
    const auto skip_blanks = [&] {
        while (from < end && is_config_blank(*from)) ++from;
    };
    skip_blanks();
    while (end > from && is_config_blank(end[-1])) --end;
    if (from == end || *from == '#') return 0;
    std::size_t same = 0;
    while (same < sizeof word && from + same < end && from[same] == word[same]) ++same;
    if (same == sizeof word) from += same;
    skip_blanks();
    std::size_t used = 0;
    while (from < end && *from != '=' && !is_config_blank(*from)) to[used++] = *from++;
    skip_blanks();
    if (from < end && *from == '=') {
        to[used++] = *from++;
        skip_blanks();
        const bool is_quoted = end - from >= 2 && (*from == '"' || *from == '\'') && end[-1] == *from;
        if (is_quoted) ++from, --end;
    } else if (from < end) {
        to[used++] = ' ';  // no setting: it is said as it stands
    }
    while (from < end) to[used++] = *from++;
    to[used++] = 0;
    return used;
}

// In place; the lines stand one behind the other, and an empty one ends them. `text` has room for two bytes more than
// `length`. A byte of zero would end a line early: it is a blank.
inline void take_config_apart(char* text, std::size_t length) {
    char* to = text;
    for (std::size_t i = 0; i < length; ++i)
        if (text[i] == 0) text[i] = ' ';
    const char* const end = text + length;
    for (const char* from = text; from < end;) {
        const char* line_end = from;
        while (line_end < end && *line_end != '\n') ++line_end;
        const char* next = line_end < end ? line_end + 1 : line_end;
        to += take_config_line(from, line_end, to);
        from = next;
    }
    *to = 0;
}

}  // namespace mpiprof::format
