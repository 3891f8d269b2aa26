// Two tables: variables and codes. The environment may be changed by the program later; it is read at start.
#include "libmpiprof/process/compat.h"

#include <stdlib.h>
#include <string.h>

#include "libmpiprof/base/text.h"

namespace mpiprof {
namespace {

enum class Tool : std::uint8_t { none, mpitrace, mpip, ipm };

Tool tool() {
    const char* name = getenv("MPIPROF_COMPAT");
    if (!name) return Tool::none;
    if (strcmp(name, "mpitrace") == 0) return Tool::mpitrace;
    if (strcmp(name, "mpip") == 0) return Tool::mpip;
    return strcmp(name, "ipm") == 0 ? Tool::ipm : Tool::none;
}

struct Variable {
    Tool tool;
    Setting setting;
    char name[24];
    char option;  // mpiP's: a letter within MPIP="-f dir -o"; 0 = the whole value
    char yes[8];  // what "yes" stands for; empty = the value itself
};
constexpr Variable variables[] = {
    {Tool::mpitrace, Setting::text, "SAVE_ALL_TASKS", 0, "all"},  // before SAVE_LIST: it says more
    {Tool::mpitrace, Setting::text, "SAVE_ALL_RANKS", 0, "all"},
    {Tool::mpitrace, Setting::text, "SAVE_LIST", 0, ""},
    {Tool::mpitrace, Setting::directory, "TRACE_DIR", 0, ""},
    {Tool::mpitrace, Setting::begin_time, "PROFILE_BEGIN_TIME", 0, ""},
    {Tool::mpitrace, Setting::end_time, "PROFILE_END_TIME", 0, ""},
    {Tool::mpitrace, Setting::collective_barrier, "COLLECTIVE_BARRIER", 0, "all"},  // =yes; all and lists are as ours
    {Tool::mpitrace, Setting::collective_barrier, "COLLECTIVE_BARRIER", 0, ""},
    {Tool::mpip, Setting::directory, "MPIP", 'f', ""},
    {Tool::ipm, Setting::directory, "IPM_LOGDIR", 0, ""},
};

struct Code {
    Tool tool;
    int level;
    Control means;
};
constexpr Code codes[] = {
    {Tool::none, 0, Control::pause},       {Tool::none, 1, Control::resume},     {Tool::mpitrace, 0, Control::pause},
    {Tool::mpitrace, 1, Control::resume},  {Tool::mpip, 0, Control::pause},      {Tool::mpip, 1, Control::resume},
    {Tool::mpip, 2, Control::new_region},  // "reset": what was counted so far stays, in the region before
    {Tool::ipm, 1, Control::begin_region}, {Tool::ipm, -1, Control::end_region},
};

// The word behind "-f" in "-k 2 -f dir -o", copied to a place that lasts.
const char* option_of(const char* options, char letter) {
    static char word[4096];
    for (const char* c = options; *c; ++c) {
        const bool begins_word = c == options || c[-1] == ' ' || c[-1] == '\t';
        if (!begins_word || c[0] != '-' || c[1] != letter) continue;
        const char* from = c + 2;
        while (*from == ' ' || *from == '\t') ++from;
        word[0] = 0;
        append(word, from);
        cut(word, " \t");
        return word;
    }
    return nullptr;
}

bool is_yes(const char* value) { return value[0] == 'y' || value[0] == 'Y' || value[0] == '1'; }

}  // namespace

const char* compat_value(Setting setting) {
    const Tool named = tool();
    if (named == Tool::none) return nullptr;
    for (const Variable& v : variables) {
        if (v.tool != named || v.setting != setting) continue;
        const char* value = getenv(v.name);
        if (value && v.option) value = option_of(value, v.option);
        if (!value || !*value) continue;
        if (!v.yes[0]) return value;
        if (is_yes(value)) return v.yes;
    }
    return nullptr;
}

bool compat_begins_paused() {
    const char* options = tool() == Tool::mpip ? getenv("MPIP") : nullptr;
    return options && option_of(options, 'o');
}

Control meaning_of_pcontrol(int level) {
    const Tool named = tool();
    for (const Code& code : codes)
        if (code.tool == named && code.level == level) return code.means;
    return Control::nothing;
}

}  // namespace mpiprof
