// Where things lie in CPython 3.9 to 3.13 on 64-bit machines; measured by compiling offsetof against each version's
// headers. A version that is not in the table is left alone, and so is one whose first frame does not look as the table
// says.
#include "libmpiprof/wrap/python.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <initializer_list>

#include "libmpiprof/base/basics.h"
#include "libmpiprof/base/text.h"
#include "libmpiprof/wrap/real.h"

namespace mpiprof::wrap {
namespace {

struct Layout {
    int minor;
    // From the thread state to its innermost frame: directly, or by way of a C frame.
    std::uint16_t thread_to, cframe_to;  // cframe_to: none, if direct
    std::uint16_t back, code, instruction;
    std::uint16_t code_begin;  // of a code object; 0: `instruction` is a number of `unit` bytes
    std::uint16_t unit;
    std::uint16_t owner;                   // a byte of a frame that is 3 where C called Python; 0: there are none such
    std::uint16_t text_ascii, text_other;  // of a str object: its characters
};
constexpr std::uint16_t none = 0xffff;
constexpr Layout layouts[] = {
    {9, 24, none, 24, 32, 104, 0, 1, 0, 48, 72},  {10, 24, none, 24, 32, 96, 0, 2, 0, 48, 72},
    {11, 56, 8, 48, 32, 56, 184, 0, 0, 48, 72},   {12, 56, 0, 8, 0, 56, 192, 0, 70, 40, 56},
    {13, 72, none, 8, 0, 56, 200, 0, 70, 40, 56},
};
// These are where all of them have them.
constexpr std::size_t object_type = 8, text_length = 16, text_state = 32;
constexpr std::size_t code_filename[] = {104, 112}, code_name[] = {112, 120};  // before 3.11, and since
constexpr std::size_t code_first_line[] = {40, 72, 68};                        // before 3.11, of 3.11, and since

struct Python {
    Layout layout;
    const void* code_type;  // PyCode_Type
    const char* (
        *thread_state)();  // PyGILState_GetThisThreadState: needs no GIL; null in threads that Python does not know
    int (*line_of)(const void* code, int instruction);  // PyCode_Addr2Line: reads the code object alone
};
constinit Python python{};

template <class T>
T at(const void* object, std::size_t offset) {
    T value;
    memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
    return value;
}

const void* first_frame(const char* thread) {
    const Layout& l = python.layout;
    const void* next = at<const void*>(thread, l.thread_to);
    return l.cframe_to == none || !next ? next : at<const void*>(next, l.cframe_to);
}

// A frame that C made to call Python has neither a file nor a line.
bool is_of_script(const void* frame, const void* code) {
    const Layout& l = python.layout;
    return code && at<const void*>(code, object_type) == python.code_type &&
           (l.owner == 0 || at<unsigned char>(frame, l.owner) != 3);
}

std::int32_t instruction_of(const void* frame, const void* code) {
    const Layout& l = python.layout;
    if (l.code_begin == 0) return at<std::int32_t>(frame, l.instruction) * l.unit;
    return static_cast<std::int32_t>(at<const char*>(frame, l.instruction) -
                                     (static_cast<const char*>(code) + l.code_begin));
}

std::size_t first_line_at() {
    return code_first_line[python.layout.minor < 11 ? 0 : python.layout.minor == 11 ? 1 : 2];
}

// Whether a str object is the one that lay here before: by its length, and its last characters.
std::uint64_t told_by(const char* text) {
    const auto length = at<std::uint64_t>(text, text_length);
    const auto state = at<std::uint32_t>(text, text_state);
    const unsigned width = state >> 2 & 7;
    const bool is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
    const std::uint64_t bytes = length * width;
    std::uint64_t last[2] = {};
    const char* characters = text + (is_ascii ? python.layout.text_ascii : python.layout.text_other);
    if (is_compact && width <= 4) {
        const std::uint64_t n = bytes < sizeof last ? bytes : sizeof last;
        memcpy(last, characters + bytes - n, n);
    }
    return mix(last[0] ^ mix(last[1] ^ length));
}

// Code objects come and go: what lies at one's address is another function if its file, its name or its first line is
// another.
std::uint64_t function_of(const void* code) {
    const unsigned since_11 = python.layout.minor >= 11;
    const auto* file = at<const char*>(code, code_filename[since_11]);
    const auto* name = at<const char*>(code, code_name[since_11]);
    const auto line = static_cast<std::uint64_t>(at<std::int32_t>(code, first_line_at()));
    return mix(reinterpret_cast<std::uintptr_t>(code) ^ mix(told_by(file) + line)) ^ told_by(name);
}

unsigned frames(ScriptFrame* frames, unsigned most) {
    const char* thread = python.thread_state();
    if (!thread) return 0;
    unsigned n = 0;
    constexpr int furthest = 64;  // among them those of C
    int passed = 0;
    for (const void* frame = first_frame(thread); frame && n < most && passed < furthest; ++passed) {
        const void* code = at<const void*>(frame, python.layout.code);
        if (is_of_script(frame, code)) frames[n++] = {code, instruction_of(frame, code), function_of(code)};
        frame = at<const void*>(frame, python.layout.back);
    }
    return n;
}

// The interpreter itself, ctypes by way of libffi, PyTorch, all of whose calls come from the same few lines of its C++,
// or an extension module: "MPI.cpython-311-x86_64-linux-gnu.so" defines PyInit_MPI.
bool look_up(Word return_address) {
    const auto* address = reinterpret_cast<const void*>(return_address);
    char name[128], function[160] = "PyInit_";
    name_of_object(address, name);
    if (name[0] == 0) return true;
    for (const char* library : {"libpython", "libffi", "libtorch"})
        if (strncmp(name, library, strlen(library)) == 0) return true;
    cut(name, ".");
    append(function, name);
    return find_beside(function, address) != nullptr;
}

// Places of 48 bits and the answer, in one word each, so that threads need no lock.
constinit std::atomic<std::uint64_t> answers[64]{};

bool is_its(std::intptr_t return_address) {
    const std::uint64_t wanted = static_cast<std::uint64_t>(return_address) << 1;
    std::atomic<std::uint64_t>& answer = answers[mix(wanted) >> 58];
    const std::uint64_t known = answer.load(std::memory_order_relaxed);
    if ((known | 1) == (wanted | 1) && known != 0) return known & 1;
    const bool its = look_up(return_address);
    answer.store(wanted | (its ? 1 : 0), std::memory_order_relaxed);
    return its;
}

// A character as UTF-8, 1 to 4 bytes.
template <std::size_t Size>
void add_character(char (&text)[Size], std::uint32_t c) {
    char bytes[5] = "";
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
    int n = 0;
    if (c < 0x80)
        bytes[n++] = static_cast<char>(c);
    else if (c < 0x800)
        bytes[n++] = static_cast<char>(0xc0 | c >> 6);
    else if (c < 0x10000)
        bytes[n++] = static_cast<char>(0xe0 | c >> 12);
    else
        bytes[n++] = static_cast<char>(0xf0 | (c >> 18 & 7));
    if (c >= 0x10000) bytes[n++] = tail(12);
    if (c >= 0x800) bytes[n++] = tail(6);
    if (c >= 0x80) bytes[n++] = tail(0);
    append(text, bytes);
}

// A str object: one, two or four bytes a character, directly behind its head.
template <std::size_t Size>
void copy_text(char (&text)[Size], const char* object) {
    const auto state = at<std::uint32_t>(object, text_state);
    const unsigned width = state >> 2 & 7;
    const bool is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
    const auto length = at<std::int64_t>(object, text_length);
    text[0] = 0;
    if (!is_compact || length < 0 || (width != 1 && width != 2 && width != 4)) return;
    const char* characters = object + (is_ascii ? python.layout.text_ascii : python.layout.text_other);
    // What does not fit loses its beginning: the end of a path says more.
    const auto fits = static_cast<std::int64_t>((Size - 1) / (is_ascii ? 1 : 4));
    for (std::int64_t i = length > fits ? length - fits : 0; i < length; ++i) {
        const char* c = characters + i * width;
        add_character(text, width == 1   ? at<std::uint8_t>(c, 0)
                            : width == 2 ? at<std::uint16_t>(c, 0)
                                         : at<std::uint32_t>(c, 0));
    }
}

void describe(const ScriptFrame& frame, ScriptPlace& place) {
    const unsigned since_11 = python.layout.minor >= 11;
    copy_text(place.file, at<const char*>(frame.code, code_filename[since_11]));
    copy_text(place.function, at<const char*>(frame.code, code_name[since_11]));
    place.line = python.line_of(frame.code, frame.instruction);
    place.first_line = at<std::int32_t>(frame.code, first_line_at());
}

// "3.11.2 (main, ...": one without a global lock, or another's implementation, is laid out otherwise.
const Layout* layout_of(const char* version) {
    if (strncmp(version, "3.", 2) != 0 || strstr(version, "free-threading") || strstr(version, "PyPy")) return nullptr;
    int minor;
    read_number(version + 2, minor);
    for (const Layout& layout : layouts)
        if (layout.minor == minor) return &layout;
    return nullptr;
}

// Reads without trusting an address.
bool peek(const void* address, const void*& value) {
    const iovec to{&value, sizeof value}, from{const_cast<void*>(address), sizeof value};
    return raw(SYS_process_vm_readv, getpid(), raw_address(&to), 1, raw_address(&from), 1, 0) == sizeof value;
}
bool peek(const void* object, std::size_t offset, const void*& value) {
    return object && peek(static_cast<const char*>(object) + offset, value);
}

// Whether the thread's innermost frame has a code object where the table says.
bool looks_right(const char* thread) {
    const Layout& l = python.layout;
    const void* frame = nullptr;
    if (!peek(thread, l.thread_to, frame)) return false;
    if (l.cframe_to != none && !peek(frame, l.cframe_to, frame)) return false;
    for (int passed = 0; passed < 8; ++passed) {
        const void *code = nullptr, *type = nullptr;
        if (!peek(frame, l.code, code)) return false;
        if (peek(code, object_type, type) && type == python.code_type) return true;
        if (l.owner == 0 || !peek(frame, l.back, frame)) return false;  // a frame of C's, maybe: the next one decides
    }
    return false;
}

template <class Function>
Function function(const char* name) {
    return reinterpret_cast<Function>(const_cast<void*>(find_in_program(name)));
}

enum Found : int { not_yet, no, idle, yes };

// Whether the program has a Python that we know. What it needs of the loader is asked once: NWChem is linked with a
// Python that it never starts.
Found find_functions() {
    const auto version = function<const char* (*)()>("Py_GetVersion");
    if (!version) return Found::no;
    const Layout* layout = sizeof(void*) == 8 ? layout_of(version()) : nullptr;
    python.code_type = find_in_program("PyCode_Type");
    python.thread_state = function<const char* (*)()>("PyGILState_GetThisThreadState");
    python.line_of = function<int (*)(const void*, int)>("PyCode_Addr2Line");
    if (!layout || !python.code_type || !python.thread_state || !python.line_of) return Found::no;
    python.layout = *layout;
    return Found::idle;
}

// Idle: Python does not know this thread, or has not begun; another call may tell.
Found look(Found known) {
    if (known == Found::not_yet) known = find_functions();
    if (known != Found::idle) return known;
    const char* thread = python.thread_state();
    if (!thread) return Found::idle;
    return looks_right(thread) ? Found::yes : Found::no;
}

}  // namespace

void forget_interpreters_code() {
    for (std::atomic<std::uint64_t>& answer : answers) answer.store(0, std::memory_order_relaxed);
}

const Interpreter* find_python() {
    static constinit Interpreter found{};
    static constinit Found state = Found::not_yet;
    static constinit Lock lock;
    const auto look_again = []() __attribute__((noinline)) {
        const Guard guard(lock);
        Found now = state;
        if (now != Found::yes && (now = look(now)) == Found::yes) found = {is_its, frames, describe};
        __atomic_store_n(&state, now, __ATOMIC_RELEASE);
        return now;
    };
    Found now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    if (now == Found::not_yet || now == Found::idle) [[unlikely]]
        now = look_again();
    return now == Found::yes ? &found : nullptr;
}

}  // namespace mpiprof::wrap
