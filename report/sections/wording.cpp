// Whole words only: names of functions, files and libraries stay as they are.
#include "report/sections/wording.h"

#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <variant>

namespace mpiprof::report {
namespace {

struct Replacement {
    std::string_view word, by;
};
// Longer words first.
constexpr std::array without_mpi{
    Replacement{"Init to Finalize", "first communicator to exit"},
    Replacement{"Init to", "first communicator to"},
    Replacement{"MPI_Finalize", "exit"},
    Replacement{"MPI_Init", "the first communicator"},
    Replacement{"MPI", "NCCL"},
};
constexpr std::array beside_mpi{
    Replacement{"%MPI", "%COMM"},
    Replacement{"Open MPI", "Open MPI"},
    Replacement{"MPI library", "MPI library"},
    Replacement{"MPI", "MPI and NCCL"},
};

bool is_part_of_a_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '/' || c == '.';
}

bool stands_alone(std::string_view text, std::size_t at, std::size_t length) {
    const std::size_t end = at + length;
    const bool ends_a_sentence =
        end < text.size() && text[end] == '.' && (end + 1 == text.size() || text[end + 1] == ' ');
    return (at == 0 || !is_part_of_a_name(text[at - 1])) &&
           (end == text.size() || ends_a_sentence || !is_part_of_a_name(text[end]));
}

template <std::size_t N>
std::string reworded(std::string_view text, const std::array<Replacement, N>& replacements) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const Replacement* found = nullptr;
        for (const Replacement& r : replacements)
            if (!found && text.substr(at).starts_with(r.word) && stands_alone(text, at, r.word.size())) found = &r;
        if (found)
            result += found->by;
        else
            result += text[at];
        at += found ? found->word.size() : 1;
    }
    return result;
}

// Whose cells are sentences of ours rather than names.
bool has_sentences(const Table& table) { return table.id == "spread" || table.id == "efficiency"; }

}  // namespace

std::string worded(std::string text, const Job& job) {
    if (job.is_without_mpi()) return reworded(text, without_mpi);
    return job.has(Family::nccl) ? reworded(text, beside_mpi) : text;
}

void word(Table& table, const Job& job) {
    if (!job.is_without_mpi() && !job.has(Family::nccl)) return;
    const auto in = [&](std::string& text) { text = worded(std::move(text), job); };
    in(table.title);
    for (Column& column : table.columns) in(column.title);
    for (Note& note : table.notes)
        for (Note::Part& part : note.parts) in(part.text);
    if (has_sentences(table))
        for (auto& row : table.rows)
            for (Value& value : row)
                if (auto* text = std::get_if<std::string>(&value)) in(*text);
    if (auto* bar = std::get_if<StackedBar>(&table.picture))
        for (StackedBar::Segment& segment : bar->segments) in(segment.label);
    if (auto* remarks = std::get_if<Remarks>(&table.picture))
        for (Remarks::Remark& remark : remarks->remarks) in(remark.text);
    // The headline's first line is the command.
    if (auto* headline = std::get_if<Headline>(&table.picture); headline && job.is_without_mpi())
        for (std::size_t i = 1; i < headline->items.size(); ++i) in(headline->items[i].text);
}

}  // namespace mpiprof::report
