#include "tests/gpu/replay/recording.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace mpiprof::test {
namespace {

constexpr char first_line[] = "mpiprof-recording 1";
constexpr std::uint64_t kernel_launch = 1 << 11;
constexpr std::size_t pointer_bytes = 8, most_bytes = 1 << 24;

class Reader {
  public:
    explicit Reader(const char* path) : path_(path), in_(path) {
        if (!in_) fail("cannot be opened");
    }
    Recording read();

  private:
    [[noreturn]] void fail(const std::string& what) const {
        std::fprintf(stderr, "%s", path_);
        if (number_ != 0) std::fprintf(stderr, ":%zu", number_);
        std::fprintf(stderr, ": %s\n", what.c_str());
        std::exit(1);
    }
    void expect(bool is, const char* what) const {
        if (!is) fail(what);
    }
    bool next_line() {
        std::string text;
        if (!std::getline(in_, text)) return false;
        ++number_;
        words_ = std::istringstream(text);
        return true;
    }
    template <class Number>
    Number number() {
        Number n{};
        if (!(words_ >> n)) fail("a number is missing");
        return n;
    }
    std::string word() {
        std::string w;
        if (!(words_ >> w)) fail("a word is missing");
        return w;
    }
    std::vector<std::uint8_t> bytes();
    void read_init();
    void read_start();
    void read_pointer(const std::string& text, Told& told) const;
    void read_stop();
    void read_finalize();
    void read_cupti();
    void read_buffer();
    void read_places(Buffer& buffer);
    void read_kernel();
    void read_done();

    const char* path_;
    std::ifstream in_;
    std::size_t number_ = 0;
    std::istringstream words_;
    bool is_done_ = false;
    Recording recording_;
    std::set<std::uint64_t> contexts_, events_;
};

unsigned digit(char c) {
    return c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
           : c >= 'a' && c <= 'f' ? 10u + static_cast<unsigned>(c - 'a')
                                  : 16u;
}

// Hexadecimal digits; (12) is twelve bytes of 0.
std::vector<std::uint8_t> Reader::bytes() {
    const std::string text = word();
    std::vector<std::uint8_t> found;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == '(') {
            char* end = nullptr;
            const unsigned long zeros = std::strtoul(text.c_str() + i + 1, &end, 10);
            expect(*end == ')' && zeros <= most_bytes, "bytes of 0 without their number");
            found.resize(found.size() + zeros);
            i = static_cast<std::size_t>(end - text.c_str()) + 1;
            continue;
        }
        expect(i + 1 < text.size() && digit(text[i]) < 16 && digit(text[i + 1]) < 16, "what should be bytes is not");
        found.push_back(static_cast<std::uint8_t>(digit(text[i]) * 16 + digit(text[i + 1])));
        i += 2;
    }
    return found;
}

// ---- what NCCL told ----

void Reader::read_init() {
    Told told;
    told.what = Told::init;
    told.context = number<std::uint64_t>();
    told.thread = number<unsigned>();
    told.version = number<int>();
    told.id = number<std::uint64_t>();
    told.nodes = number<int>();
    told.size = number<int>();
    told.rank = number<int>();
    told.is_named = number<int>() != 0;
    expect(told.version >= 1 && told.version <= 6, "a version of NCCL's interface that is not 1 to 6");
    expect(contexts_.insert(told.context).second, "a context that began before");
    recording_.told.push_back(told);
}

// "32=AllReduce", "8@5", "24&": a text, an event, an address that nobody follows.
void Reader::read_pointer(const std::string& text, Told& told) const {
    char* end = nullptr;
    Pointer pointer{std::strtoul(text.c_str(), &end, 10), "", 0};
    expect(end != text.c_str() && pointer.at + pointer_bytes <= told.descriptor.size(),
           "a pointer outside of the descriptor");
    if (*end == '=')
        pointer.text = end + 1;
    else if (*end == '@')
        pointer.event = std::strtoull(end + 1, nullptr, 10);
    else
        expect(*end == '&', "a pointer to nothing that is known");
    expect(pointer.event == 0 || events_.count(pointer.event), "a parent that has not begun");
    told.pointers.push_back(pointer);
}

void Reader::read_start() {
    Told told;
    told.what = Told::start;
    told.event = number<std::uint64_t>();
    told.context = number<std::uint64_t>();
    told.thread = number<unsigned>();
    told.type = number<std::uint64_t>();
    expect(contexts_.count(told.context), "a context that has not begun");
    told.descriptor = bytes();
    for (std::string pointer; words_ >> pointer;) read_pointer(pointer, told);
    expect(events_.insert(told.event).second, "an event that began before");
    if (told.type == kernel_launch) ++recording_.launches;
    recording_.told.push_back(told);
}

void Reader::read_stop() {
    Told told;
    told.what = Told::stop;
    told.event = number<std::uint64_t>();
    told.thread = number<unsigned>();
    expect(events_.count(told.event), "an event that has not begun");
    recording_.told.push_back(told);
}

void Reader::read_finalize() {
    Told told;
    told.what = Told::finalize;
    told.context = number<std::uint64_t>();
    told.thread = number<unsigned>();
    expect(contexts_.count(told.context), "a context that has not begun");
    recording_.told.push_back(told);
}

// ---- what CUPTI handed over ----

void Reader::read_cupti() {
    recording_.cupti = number<std::uint32_t>();
    recording_.cupti_refused = number<int>();
}

// Each as so many bytes behind the one before.
void Reader::read_places(Buffer& buffer) {
    std::istringstream places(word());
    std::size_t at = 0;
    for (std::string step; std::getline(places, step, ',');)
        buffer.records.push_back(at += std::strtoul(step.c_str(), nullptr, 10));
}

void Reader::read_buffer() {
    Buffer buffer;
    const auto valid = number<std::size_t>();
    buffer.dropped = number<std::size_t>();
    expect(valid <= most_bytes, "more bytes than a buffer has");
    if (valid != 0) {
        read_places(buffer);
        buffer.bytes = bytes();
    }
    expect(buffer.bytes.size() == valid, "not as many bytes as it says");
    for (std::size_t i = 0; i < buffer.records.size(); ++i) {
        const std::size_t end = i + 1 < buffer.records.size() ? buffer.records[i + 1] : valid;
        expect(buffer.records[i] + sizeof(std::uint32_t) <= end && end <= valid,
               "records that do not lie in the buffer");
    }
    recording_.buffers.push_back(buffer);
}

void Reader::read_kernel() {
    expect(!recording_.buffers.empty(), "the name of a kernel without its buffer");
    Buffer& buffer = recording_.buffers.back();
    const auto at = number<std::size_t>();
    expect(at + 112 <= buffer.bytes.size(), "the name of a kernel that does not lie in the buffer");
    buffer.kernels.push_back({at, word()});
}

// ---- the whole ----

void Reader::read_done() {
    expect(number<std::size_t>() + 1 == number_, "lines are missing");
    is_done_ = true;
}

Recording Reader::read() {
    std::string text;
    std::getline(in_, text);
    if (text != first_line) fail("is not a recording of version 1: it begins with \"" + text.substr(0, 40) + "\"");
    number_ = 1;
    static constexpr struct {
        const char* word;
        void (Reader::*read)();
    } lines[] = {{"init", &Reader::read_init},         {"start", &Reader::read_start}, {"stop", &Reader::read_stop},
                 {"finalize", &Reader::read_finalize}, {"cupti", &Reader::read_cupti}, {"buffer", &Reader::read_buffer},
                 {"kernel", &Reader::read_kernel},     {"done", &Reader::read_done}};
    while (next_line()) {
        expect(!is_done_, "something follows the last line");
        const std::string first = word();
        bool is_known = false;
        for (const auto& line : lines)
            if (first == line.word) (this->*line.read)(), is_known = true;
        if (!is_known) fail("\"" + first + "\" is nothing that a recording has");
    }
    expect(is_done_, "is cut: the last line, \"done\", is missing");
    return recording_;
}

}  // namespace

Recording read_recording(const char* path) { return Reader(path).read(); }

}  // namespace mpiprof::test
