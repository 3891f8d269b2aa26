// Words to operands, operands to Jobs, lines to times.
#include "report/commands/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>
#include <utility>

#include "report/analysis/completeness.h"
#include "report/commands/load.h"
#include "report/commands/no_profile.h"
#include "report/commands/say.h"
#include "report/merge/merge.h"
#include "report/read/file.h"
#include "report/read/job_dir.h"
#include "report/views/progress_line.h"

namespace mpiprof::report {
namespace {

bool exists(const std::string& path) {
    std::error_code error;
    return !path.empty() && std::filesystem::exists(path, error);
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\"");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r\"") - first + 1);
}

// DIR:JOB, where DIR is there and DIR:JOB is not.
void take_job(Operand& operand) {
    const auto colon = operand.path.rfind(':');
    if (colon == std::string::npos || exists(operand.path) || !exists(operand.path.substr(0, colon))) return;
    operand.job = operand.path.substr(colon + 1);
    operand.path.resize(colon);
}

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');) fields.push_back(trimmed(field));
    return fields;
}

// Which field is what, by the headings that people give them; N first and the time second where there are none.
struct Columns {
    std::size_t n = 0, seconds = 1, series = 2;

    static Columns of(const std::vector<std::string>& headings) {
        const std::map<std::string, std::size_t Columns::*> known{
            {"n", &Columns::n},           {"ranks", &Columns::n},          {"nodes", &Columns::n},
            {"gpus", &Columns::n},        {"cores", &Columns::n},          {"seconds", &Columns::seconds},
            {"time", &Columns::seconds},  {"time (s)", &Columns::seconds}, {"t", &Columns::seconds},
            {"series", &Columns::series}, {"label", &Columns::series}};
        Columns columns;
        columns.series = headings.size();
        for (std::size_t i = 0; i < headings.size(); ++i) {
            std::string heading = headings[i];
            std::transform(heading.begin(), heading.end(), heading.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
            if (const auto found = known.find(heading); found != known.end()) columns.*found->second = i;
        }
        return columns;
    }
};

}  // namespace

std::string Operand::name() const {
    if (!label.empty() || is_pair()) return label;
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
    std::string last = whole.filename().string();
    if (constexpr std::string_view merged = ".mpiprof"; last.size() > merged.size() && last.ends_with(merged))
        last.resize(last.size() - merged.size());
    const std::string directory = last.empty() ? whole.parent_path().filename().string() : last;
    return job.empty() ? directory : directory + ":" + job;
}

std::optional<double> positive_of(const std::string& text) {
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_all = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return is_all && std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<double> size_of(const std::string& text) {
    constexpr double most = 1e9;
    const auto value = positive_of(text);
    return value && *value >= 1 && *value <= most && *value == std::floor(*value) ? value : std::nullopt;
}

Operand operand_of(const std::string& word) {
    Operand operand{.word = word, .label = {}, .path = word, .job = {}, .n = {}, .seconds = {}};
    if (exists(word)) return operand;
    const auto last = word.rfind('=');
    if (last != std::string::npos && positive_of(word.substr(last + 1))) {
        const std::string before = word.substr(0, last);
        const auto first = before.rfind('=');
        const std::string n = first == std::string::npos ? before : before.substr(first + 1);
        if (size_of(n) && !exists(word.substr(last + 1)))
            return {.word = word,
                    .label = first == std::string::npos ? "" : before.substr(0, first),
                    .path = {},
                    .job = {},
                    .n = n,
                    .seconds = word.substr(last + 1)};
    }
    take_job(operand);
    if (exists(operand.path)) return operand;
    if (const auto equals = word.find('='); equals != std::string::npos) {
        operand.label = word.substr(0, equals);
        operand.path = word.substr(equals + 1);
        take_job(operand);
    }
    return operand;
}

void name_job(Options& options) {
    if (options.paths.size() != 1 || exists(options.paths.front())) return;
    const Operand operand = operand_of(options.paths.front());
    if (operand.is_pair() || !exists(operand.path)) return;
    options.paths.front() = operand.path;
    if (options.choice.job.empty()) options.choice.job = operand.job;
}

namespace {

// Which launches of a directory are meant, oldest first.
Result<std::vector<std::size_t>> chosen_of(const Options& options, const Operand& operand, const Found& found) {
    if (found.launches.empty()) return problem("", explain_no_profile(found));
    std::vector<std::size_t> chosen;
    const std::string& job_name = operand.job.empty() ? options.choice.job : operand.job;
    const bool takes_all = options.takes_all_launches;
    if (takes_all) {
        for (std::size_t i = found.launches.size(); i-- > 0;)
            if (job_name.empty() || found.launches[i].job == job_name) chosen.push_back(i);
    }
    if (chosen.empty()) {
        const auto one = choose_launch(found.launches, {job_name, takes_all ? "" : options.choice.launch});
        if (!one) return tl::make_unexpected(one.error());
        chosen.push_back(*one);
    }
    return chosen;
}

bool has_ended(const Options& options, const Operand& operand) {
    Progress progress;
    const Found found = find_profiles({operand.path}, options.threads, progress);
    const auto chosen = chosen_of(options, operand, found);
    return chosen && std::all_of(chosen->begin(), chosen->end(), [&](std::size_t i) {
               const auto job = job_of(found, i, options.threads, progress);
               return job && is_final(*job);
           });
}

// Until all its ranks have ended, or no longer.
void wait_for(const Options& options, const Operand& operand, LoadRemarks& remarks) {
    using Clock = std::chrono::steady_clock;
    if (!options.wait_s) return;
    if (!remarks.wait_until)
        remarks.wait_until =
            Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*options.wait_s));
    bool is_said = false;
    while (!has_ended(options, operand)) {
        const auto left = *remarks.wait_until - Clock::now();
        if (left <= Clock::duration::zero()) return;
        if (!is_said && !options.is_quiet)
            say(fmt::format("{}: waiting up to {:.0f} s for all ranks to finish", operand.word,
                            std::chrono::duration<double>(left).count()));
        is_said = true;
        std::this_thread::sleep_for(std::min<Clock::duration>(left, std::chrono::milliseconds(500)));
    }
}

}  // namespace

std::string Labels::apart(const std::string& label) {
    const unsigned times = ++times_[label];
    return times == 1 ? label : apart(fmt::format("{} ({})", label, times));
}

Result<std::monostate> load_runs(const Options& options, const Operand& operand,
                                 const std::function<void(LoadedRun&&)>& take, LoadRemarks& remarks) {
    if (!exists(operand.path)) return problem(operand.word, "is no directory or file", std::string(remarks.or_else));
    wait_for(options, operand, remarks);
    Progress progress;
    const ProgressLine line(progress, !options.is_quiet);
    const Found found = find_profiles({operand.path}, options.threads, progress);
    const auto chosen = chosen_of(options, operand, found);
    if (!chosen) return tl::make_unexpected(chosen.error());
    if (!options.takes_all_launches && found.launches.size() > 1)
        remarks.lines.push_back(fmt::format("{}: launch {} of {} (job {}); --all-launches takes each as a run",
                                            operand.path, chosen->front() + 1, found.launches.size(),
                                            found.launches[chosen->front()].job));
    remarks.lines.insert(remarks.lines.end(), found.problems.begin(), found.problems.end());
    std::error_code error;
    for (const std::size_t i : *chosen) {
        Result<Job> job = merge(found.launches[i], options.threads, progress);
        if (!job) return tl::make_unexpected(job.error());
        job->is_partial_on_purpose = found.only_files;
        remarks.lines.insert(remarks.lines.end(), job->problems.begin(), job->problems.end());
        remarks.is_complete &= completeness_of(*job).is_complete;
        const std::string source = job->launch + " " + std::filesystem::weakly_canonical(operand.path, error).string();
        take({std::move(*job), operand.name(), source, &found.launches[i]});
    }
    return std::monostate{};
}

int load_each(const Options& options, const std::vector<std::string>& words, std::string_view instead,
              const std::function<void(LoadedRun&&)>& take, LoadRemarks& remarks) {
    for (const std::string& word : words) {
        const Operand operand = operand_of(word);
        if (operand.is_pair()) return fail({word, "is a bare time", std::string(instead)}, usage_error);
        if (const auto ok = load_runs(options, operand, take, remarks); !ok) return fail(ok.error(), no_profile);
    }
    return fine;
}

std::vector<std::string> words_of(const Options& options) {
    return options.paths.empty() ? std::vector<std::string>{"."} : options.paths;
}

Result<Sides> sides_of(const Options& options, const std::vector<std::string>& against) {
    const std::vector<std::string>& before = options.paths;
    if (!against.empty() && !before.empty()) return Sides{before, against};
    if (against.empty() && before.size() == 2) return Sides{{before[0]}, {before[1]}};
    return problem("diff", "needs two runs", "diff A B, or with repeats diff A1 A2 ... --against B1 B2 ...");
}

Result<std::vector<TimeRow>> read_times(const std::string& path) {
    FileReader reader;
    const auto file = reader.read(path);
    if (!file) return tl::make_unexpected(file.error());
    const std::string bytes(reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size());
    std::istringstream in(bytes);
    std::vector<TimeRow> rows;
    Columns columns;
    bool has_headings = false;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        const std::string text = trimmed(line);
        if (text.empty() && !rows.empty()) break;  // the next table of ours
        if (text.empty() || text[0] == '#') continue;
        const std::vector<std::string> fields = fields_of(line);
        const auto field = [&](std::size_t i) { return i < fields.size() ? fields[i] : std::string(); };
        const auto n = size_of(field(columns.n));
        const auto seconds = positive_of(field(columns.seconds));
        if (!n || !seconds) {
            if (!rows.empty() || has_headings)
                return problem(fmt::format("{}:{}", path, number), "is not N,SECONDS", "try a line like 4,95.2");
            columns = Columns::of(fields);
            has_headings = true;
            continue;
        }
        rows.push_back({*n, *seconds, field(columns.seconds), field(columns.series)});
    }
    if (rows.empty()) return problem(path, "has no lines of n,seconds");
    return rows;
}

}  // namespace mpiprof::report
