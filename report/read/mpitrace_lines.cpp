#include "report/read/mpitrace_lines.h"

#include <algorithm>
#include <array>

#include "report/model/visible.h"
#include "report/read/mpitrace_columns.h"

namespace mpiprof::report {

namespace {

// More than any real file shows.
constexpr std::size_t most_routines = 4096;
constexpr std::uint64_t most_calls = 1'000'000'000'000'000;

PrintedRange seconds(Decimal number) { return range_of(number, ns_per_second); }
PrintedRange mean_bytes(Decimal mean, std::uint64_t calls) { return range_of(mean, calls); }

bool starts_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool contains(std::string_view text, std::string_view what) { return text.find(what) != std::string_view::npos; }

// The words of a line, at most as many as any line that matters has.
struct Words {
    std::array<std::string_view, 16> word{};
    std::size_t size = 0;
    bool is_longer = false;

    explicit Words(std::string_view line) {
        while (true) {
            const auto begin = line.find_first_not_of(" \t\r");
            if (begin == std::string_view::npos) return;
            if (size == word.size()) {
                is_longer = true;
                return;
            }
            line.remove_prefix(begin);
            const auto length = std::min(line.find_first_of(" \t\r"), line.size());
            word[size++] = line.substr(0, length);
            line.remove_prefix(length);
        }
    }
    std::string_view operator[](std::size_t i) const { return i < size ? word[i] : std::string_view{}; }
};

enum class Section : std::uint8_t { before, routines, sizes, job, ranks, other };

// What a line must contain to begin a section, whatever else follows in the file. The first that fits counts.
struct Title {
    std::string_view begins;
    Section section;
};
constexpr std::array titles{
    Title{"Message size distributions", Section::sizes},
    Title{"Communication summary for all tasks", Section::job},
    Title{"Summary for all tasks", Section::job},
    Title{"Histogram of times spent in MPI", Section::other},
    Title{"MPI timing summary for all ranks", Section::ranks},
    Title{"MPI tasks sorted by communication time", Section::ranks},
    // Parts that mpitrace adds on request: their rows look like those above and must not be counted again.
    Title{"Profile by call", Section::other},
    Title{"Call Graph Section", Section::other},
    Title{"Profile data by communicator size", Section::other},
    Title{"Summary for on-node communication", Section::other},
    Title{"On-node message size distributions", Section::other},
    Title{"Data for context", Section::other},
};

// "total elapsed time       = 15.548 seconds."
struct Total {
    std::string_view name;
    std::optional<PrintedRange> MpitraceText::*place;
};
constexpr std::array totals{
    Total{"total communication time", &MpitraceText::communication},
    Total{"synchronization time", &MpitraceText::synchronization},
    Total{"total MPI-IO time", &MpitraceText::io},
    Total{"total elapsed time", &MpitraceText::elapsed},
    Total{"exclusive elapsed time", &MpitraceText::exclusive},
    Total{"user cpu time", &MpitraceText::user},
    Total{"system time", &MpitraceText::system},
    Total{"max resident set size", &MpitraceText::resident},
    Total{"maximum memory size", &MpitraceText::resident},
};

struct ClaimTitle {
    std::string_view name;
    std::optional<Claim> MpitraceText::*place;
};
constexpr std::array time_claims{
    ClaimTitle{"minimum", &MpitraceText::minimum},
    ClaimTitle{"median", &MpitraceText::median},
    ClaimTitle{"maximum", &MpitraceText::maximum},
};

// Bytes to one of a unit as the text spells it; 0 = no unit of memory.
Wide unit_of_memory(std::string_view unit) {
    for (const std::string_view mib : {"MBytes", "MiB", "MB"})
        if (unit == mib) return 1024 * 1024;
    for (const std::string_view kib : {"KBytes", "KiB", "KB"})
        if (unit == kib) return 1024;
    return 0;
}

class Parser {
  public:
    Result<MpitraceText> parse(std::string_view bytes, std::string_view path) {
        while (!bytes.empty() && !wrong_) {
            const auto end = std::min(bytes.find('\n'), bytes.size());
            ++line_number_;
            is_cut_ = end == bytes.size();
            line(bytes.substr(0, end));
            bytes.remove_prefix(std::min(end + 1, bytes.size()));
        }
        if (wrong_) return problem(path, what_is_wrong(), "fix the line, or leave the file out");
        if (section_ == Section::before) return problem(path, "has no line \"Data for MPI rank R of N:\"");
        if (text_.size == 0 || text_.rank >= text_.size)
            return problem(path, fmt::format("says it is of rank {} of {}", text_.rank, text_.size));
        say_what_is_missing(path);
        sort_ranks(path);
        return std::move(text_);
    }

  private:
    // What a number of a row is, if it can be read: a word that is meant as one and cannot be read makes the whole file
    // unreadable. A number that nobody has read is not 0.
    template <typename T>
    std::optional<T> read(std::optional<T> number, std::string_view word) {
        if (!number && !wrong_ && !is_cut_ && is_meant_as_number(word)) wrong_ = std::string(word.substr(0, 40));
        return number;
    }
    std::optional<Decimal> decimal(std::string_view word) { return read(parse_decimal(word), word); }
    template <typename T>
    std::optional<T> integer(std::string_view word) {
        return read(parse_integer<T>(word), word);
    }

    std::string what_is_wrong() const {
        const auto comma = wrong_->find(',');
        const bool is_decimal_comma = comma != std::string::npos && comma == wrong_->rfind(',') && comma != 0 &&
                                      parse_integer<std::uint64_t>(wrong_->substr(0, comma)).has_value();
        return fmt::format("line {}: the number {} cannot be read{}", line_number_, visible(*wrong_, false),
                           is_decimal_comma ? ", it has a decimal comma" : "");
    }

    // The last line, if it has no end: its last number may be the beginning of a longer one.
    bool is_left_out() {
        if (is_cut_) is_row_cut_ = true;
        return is_cut_;
    }

    void line(std::string_view line) {
        const Words words(line);
        if (words.size == 0 || begins_section(line, words)) return;
        switch (section_) {
            case Section::before:
            case Section::other:
                return;
            case Section::routines:
                return routine_or_total(line, words);
            case Section::sizes:
                return size(words);
            case Section::job:
                return claim(words);
            case Section::ranks:
                return rank(words);
        }
    }

    bool begins_section(std::string_view line, const Words& words) {
        if (section_ == Section::before) {
            if (starts_with(line, "Data for MPI rank ")) head(words);
            return true;
        }
        if (starts_with(words[0], "-----")) {  // a rule ends the sizes
            if (section_ == Section::sizes && has_sizes_) section_ = Section::other;
            return true;
        }
        const auto first = line.find_first_not_of(' ');
        for (const Title& title : titles) {
            if (!starts_with(line.substr(first), title.begins)) continue;
            const bool is_again = title.section == Section::sizes && had_sizes_;
            section_ = is_again ? Section::other : title.section;
            had_sizes_ |= title.section == Section::sizes;
            return true;
        }
        return false;
    }

    void head(const Words& words) {  // Data for MPI rank 0 of 16:
        const std::string_view size = words[6].substr(0, words[6].find(':'));
        const auto rank = integer<std::uint32_t>(words[4]);
        const auto of = integer<std::uint32_t>(size);
        if (!rank || !of) return;
        text_.rank = *rank;
        text_.size = *of;
        section_ = Section::routines;
    }

    void routine_or_total(std::string_view line, const Words& words) {
        if (starts_with(line, "Times ")) {
            text_.is_pcontrol = contains(line, "Pcontrol") || contains(line, "summary_start");
            return;
        }
        if (starts_with(words[0], "MPI_")) return routine(words);
        if (words[0] == "Rank") return claim(words);
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) return;
        for (const Total& total : totals)
            if (starts_with(line, total.name)) return put_total(total, Words(line.substr(equals + 1)));
    }

    void put_total(const Total& total, const Words& words) {
        const auto number = decimal(words[0]);
        if (!number || (!words[1].ends_with('.') && is_left_out())) return;
        const std::string_view unit = words[1].substr(0, words[1].find('.'));
        const Wide memory = unit_of_memory(unit);
        text_.*total.place = memory != 0 ? range_of(*number, memory) : seconds(*number);
    }

    void routine(const Words& words) {  // MPI_Bcast     123       117124.9          0.018
        if (words.size != 4) return;
        const auto calls = integer<std::uint64_t>(words[1]);
        const auto mean = decimal(words[2]);
        const auto time = decimal(words[3]);
        if (!calls || !mean || !time || is_left_out()) return;
        if (*calls == 0 || *calls > most_calls || text_.routines.size() == most_routines) return;
        if (find(words[0]) != nullptr) return;
        text_.routines.push_back({.name = std::string(words[0]),
                                  .calls = *calls,
                                  .bytes = mean_bytes(*mean, *calls),
                                  .time = seconds(*time),
                                  .bins = {}});
    }

    void size(const Words& words) {
        if (starts_with(words[0], "MPI_")) {  // MPI_Bcast                 #calls    avg. bytes      time(sec)
            routine_of_sizes_ = find(words[0]);
            has_sizes_ = true;
            return;
        }
        if (words.size != 3 || routine_of_sizes_ == nullptr) return;
        const auto calls = integer<std::uint64_t>(words[0]);
        const auto mean = decimal(words[1]);
        const auto time = decimal(words[2]);
        if (!calls || !mean || !time || is_left_out()) return;
        if (*calls == 0 || *calls > most_calls) return;
        routine_of_sizes_->bins.push_back(
            {.calls = *calls, .bytes = mean_bytes(*mean, *calls), .time = seconds(*time)});
    }

    void claim(const Words& words) {
        if (words[0] == "Rank") {  // Rank 3 reported the largest memory utilization : 1873.82 MBytes
            if (words.size < 8) return;
            const auto rank = integer<std::uint32_t>(words[1]);
            const auto number = decimal(words[words.size - 2]);
            if (!rank || !number) return;
            const Wide memory = unit_of_memory(words[words.size - 1]);
            if (memory != 0)
                text_.largest_memory = {*rank, range_of(*number, memory)};
            else
                text_.largest_elapsed = {*rank, seconds(*number)};
            return;
        }
        // minimum communication time = 10.602 sec for task 0
        if (words.size != 9 || words[1] != "communication") return;
        const auto number = decimal(words[4]);
        const auto rank = integer<std::uint32_t>(words[8]);
        if (!number || !rank || is_left_out()) return;
        for (const ClaimTitle& title : time_claims)
            if (words[0] == title.name) text_.*title.place = Claim{*rank, seconds(*number)};
    }

    void rank(const Words& words) {
        if (words.is_longer) return;
        if (words[0] == "taskid") {
            columns_.clear();
            for (std::size_t i = 0; i < words.size; ++i) columns_.push_back(column_of(words[i]));
            return;
        }
        if (words.size != columns_.size()) {
            // A name or a number is missing, or two have run into each other: which is which nobody knows.
            const bool is_row = words.size > 2 && !columns_.empty() && parse_integer<std::uint32_t>(words[0]);
            if (is_row && !is_left_out()) ++rows_left_out_;
            return;
        }
        TextRank line;
        for (std::size_t i = 0; i < words.size; ++i) {
            const bool is_put = put(line, columns_[i], words[i]);
            if (!read(is_put ? std::optional(true) : std::nullopt, words[i])) return;
        }
        if (is_left_out()) return;
        if (line.rank < text_.size) text_.ranks.push_back(std::move(line));
    }

    TextRoutine* find(std::string_view name) {
        for (TextRoutine& routine : text_.routines)
            if (routine.name == name) return &routine;
        return nullptr;
    }

    void say_what_is_missing(std::string_view path) {
        if (!text_.elapsed) text_.notes.push_back(fmt::format("{} ends before its totals: it may be truncated", path));
        if (text_.synchronization && text_.synchronization->value != 0)
            text_.notes.push_back(fmt::format(
                "{}: {:.3f} s of synchronization before collectives (COLLECTIVE_BARRIER) are in none of its rows", path,
                static_cast<double>(text_.synchronization->value) / 1e9));
        if (is_row_cut_) text_.notes.push_back(fmt::format("{}: its last line has no end, and is left out", path));
        if (rows_left_out_ != 0)
            text_.notes.push_back(
                fmt::format("{}: {} lines of its table of ranks have other columns than its heading, "
                            "and are left out",
                            path, rows_left_out_));
    }

    void sort_ranks(std::string_view path) {
        std::stable_sort(text_.ranks.begin(), text_.ranks.end(),
                         [](const TextRank& a, const TextRank& b) { return a.rank < b.rank; });
        const auto same = [](const TextRank& a, const TextRank& b) { return a.rank == b.rank; };
        const auto end = std::unique(text_.ranks.begin(), text_.ranks.end(), same);
        if (end != text_.ranks.end())
            text_.notes.push_back(fmt::format("{}: its table of ranks names a rank twice", path));
        text_.ranks.erase(end, text_.ranks.end());
    }

    MpitraceText text_;
    Section section_ = Section::before;
    bool had_sizes_ = false;  // the section began
    bool has_sizes_ = false;  // and has a routine
    TextRoutine* routine_of_sizes_ = nullptr;
    std::size_t line_number_ = 0;
    bool is_cut_ = false;      // this line has no end
    bool is_row_cut_ = false;  // and was left out for that
    std::size_t rows_left_out_ = 0;
    std::optional<std::string> wrong_;  // a number of this line that cannot be read
    std::vector<RankColumn> columns_;
};

}  // namespace

Result<MpitraceText> parse_mpitrace(std::string_view text, std::string_view path) { return Parser().parse(text, path); }

}  // namespace mpiprof::report
