// Columns are told apart by blanks, as versions of the tool align them by blanks or by tabs, and underline their
// heading.
#include "report/read/topology_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <variant>

#include "report/read/file.h"

namespace mpiprof::report {
namespace {

constexpr std::string_view advice = "save it on the node: nvidia-smi topo -m > FILE";
constexpr std::size_t most_devices = 256;

// Without the escapes that underline the heading.
std::string plain(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\033') {
            out += text[i];
            continue;
        }
        while (i < text.size() && text[i] != 'm' && text[i] != '\n') ++i;
    }
    return out;
}

std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    std::istringstream in(line);
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

bool is_gpu(std::string_view word) {
    return word.starts_with("GPU") && word.size() > 3 && word.find_first_not_of("0123456789", 3) == word.npos;
}

// "X", "SYS", "NV4": what the tool's own legend lists.
bool is_connection(std::string_view word) {
    constexpr std::array<std::string_view, 8> known{"X", "SYS", "NODE", "PHB", "PXB", "PIX", "PIX*", "N/A"};
    if (std::find(known.begin(), known.end(), word) != known.end()) return true;
    return word.starts_with("NV") && word.size() > 2 && word.size() <= 4 &&
           word.find_first_not_of("0123456789", 2) == word.npos;
}

// The devices of a heading; empty: it is none. Behind them stand "CPU Affinity", "NUMA Affinity", "GPU NUMA ID".
std::vector<std::string> devices_of(const std::vector<std::string>& words) {
    if (words.empty() || !is_gpu(words[0]) || (words.size() > 1 && is_connection(words[1]))) return {};
    const auto end = std::find_if(words.begin(), words.end(), [](const std::string& word) {
        return word == "CPU" || word == "NUMA" || word == "GPU";
    });
    return {words.begin(), end};
}

class Parser {
  public:
    Parser(std::string_view text, const std::string& source) : source_(source) {
        std::istringstream in(plain(text));
        for (std::string line; std::getline(in, line);) lines_.push_back(words_of(line));
    }

    Result<DeviceMatrix> parse() {
        std::size_t at = 0;
        while (at < lines_.size() && (names_ = devices_of(lines_[at])).empty()) ++at;
        if (names_.empty()) return problem(source_, "has no matrix of nvidia-smi topo -m", std::string(advice));
        if (names_.size() > most_devices) return damaged(fmt::format("it has {} devices", names_.size()));
        for (++at; at < lines_.size() && matrix_.devices.size() < names_.size(); ++at) {
            if (lines_[at].empty()) continue;
            if (lines_[at][0] != names_[matrix_.devices.size()]) break;
            if (auto ok = take_row(lines_[at]); !ok) return tl::make_unexpected(ok.error());
        }
        if (matrix_.devices.size() < names_.size())
            return damaged(fmt::format("the row of {} is missing", names_[matrix_.devices.size()]));
        if (auto ok = check(); !ok) return tl::make_unexpected(ok.error());
        name_adapters();
        matrix_.source = source_;
        return std::move(matrix_);
    }

  private:
    tl::unexpected<Problem> damaged(std::string what) const {
        return problem(source_, "is damaged: " + what, std::string(advice));
    }

    Result<std::monostate> take_row(const std::vector<std::string>& words) {
        DeviceMatrix::Device device{.name = words[0], .connections = {}, .cores = {}, .numa_node = {}};
        std::size_t i = 1;
        for (; i < words.size() && device.connections.size() < names_.size(); ++i) {
            if (!is_connection(words[i])) break;
            device.connections.push_back(words[i]);
        }
        if (device.connections.size() < names_.size())
            return damaged(fmt::format("the row of {} has {} of {} connections", device.name, device.connections.size(),
                                       names_.size()));
        if (i < words.size()) device.cores = words[i];
        if (i + 1 < words.size()) device.numa_node = words[i + 1];
        matrix_.devices.push_back(std::move(device));
        return std::monostate{};
    }

    // What one device says of another is what that one says of it.
    Result<std::monostate> check() const {
        const auto& devices = matrix_.devices;
        for (std::size_t i = 0; i < devices.size(); ++i)
            for (std::size_t k = 0; k <= i; ++k) {
                const std::string &there = devices[i].connections[k], &back = devices[k].connections[i];
                if ((there == "X") != (i == k) || there != back)
                    return damaged(
                        fmt::format("{} to {} is {}, and back {}", devices[i].name, devices[k].name, there, back));
            }
        return std::monostate{};
    }

    // Newer versions number them and say below who they are: "NIC0: mlx5_0".
    void name_adapters() {
        std::map<std::string, std::string> known;
        for (const auto& words : lines_)
            if (words.size() == 2 && words[0].ends_with(':')) known[words[0].substr(0, words[0].size() - 1)] = words[1];
        for (DeviceMatrix::Device& device : matrix_.devices)
            if (const auto found = known.find(device.name); found != known.end()) device.name = found->second;
    }

    std::string source_;
    std::vector<std::vector<std::string>> lines_;
    std::vector<std::string> names_;
    DeviceMatrix matrix_;
};

}  // namespace

Result<DeviceMatrix> parse_topology(std::string_view text, const std::string& source) {
    return Parser(text, source).parse();
}

Result<DeviceMatrix> read_topology(const std::string& path) {
    FileReader reader;
    const auto file = reader.read(path);
    if (!file) return tl::make_unexpected(file.error());
    return parse_topology({reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size()}, path);
}

}  // namespace mpiprof::report
