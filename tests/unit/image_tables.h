// Reads an image as a reader of the file would: by its directory. For the tests of the recorder, so that they check
// what lies in the profile and not what the recorder remembers of it.
#pragma once

#include <string>
#include <vector>

#include "libmpiprof/format/histogram.h"
#include "libmpiprof/record/image.h"

namespace mpiprof::test {

inline std::vector<format::Table> tables_of(const Image& image) {
    std::vector<format::Table> tables;
    for (std::uint64_t at = image.header().directory_offset; at != 0;) {
        const auto* block = reinterpret_cast<const format::Directory*>(image.at(at));
        const auto* entries = reinterpret_cast<const format::Table*>(block + 1);
        tables.insert(tables.end(), entries, entries + block->used);
        at = block->next;
    }
    return tables;
}

template <class Record>
std::vector<Record> records_of(const Image& image, format::TableType type) {
    std::vector<Record> records;
    for (const format::Table& table : tables_of(image)) {
        if (table.type != type) continue;
        const auto* first = reinterpret_cast<const Record*>(image.at(table.offset));
        records.insert(records.end(), first, first + table.used);
    }
    return records;
}

inline std::vector<format::Cell> cells_of(const Image& image) {
    std::vector<format::Cell> used;
    for (const auto& cell : records_of<format::Cell>(image, format::TableType::cells))
        if (cell.calls != 0 || cell.errors != 0) used.push_back(cell);
    return used;
}

struct Sums {
    std::uint64_t calls, bytes, ticks, errors;
    bool operator==(const Sums&) const = default;
};
inline Sums sums_of(const Image& image) {
    Sums sums{};
    for (const format::Cell& cell : cells_of(image)) {
        sums.calls += cell.calls;
        sums.bytes += cell.bytes;
        sums.ticks += cell.ticks;
        sums.errors += cell.errors;
    }
    return sums;
}

// A histogram's entries, as many times as they were counted, by the middle of their bucket, ascending.
inline std::vector<double> durations_in(const Image& image, const format::Histogram& histogram) {
    std::vector<double> durations;
    for (unsigned octave = 0; octave < format::histogram_octaves; ++octave) {
        if (histogram.block[octave] == 0) continue;
        const auto* block =
            reinterpret_cast<const format::HistogramBlock*>(image.at(std::uint64_t{histogram.block[octave]} * 8));
        for (unsigned sub = 0; sub < format::histogram_sub_buckets; ++sub) {
            const double middle = static_cast<double>(format::bucket_begin(octave, sub)) +
                                  static_cast<double>(format::bucket_width(octave) - 1) / 2;
            durations.insert(durations.end(), block->count[sub], middle);
        }
    }
    return durations;
}

inline std::vector<std::string> names_in_dictionary(const Image& image) {
    std::vector<std::string> names;
    for (const auto& record : records_of<format::CallRecord>(image, format::TableType::calls))
        names.emplace_back(record.name);
    return names;
}

}  // namespace mpiprof::test
