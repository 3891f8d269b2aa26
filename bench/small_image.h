// The image of a profile with what a job of a million ranks can be written with: calls, cells, sites, modules, facts
// and a few kept collectives, one behind the other on two pages. For bench/many_ranks. Histograms, bins of time,
// settings and what was seen of the network are left out; nothing is added.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "libmpiprof/format/layout.h"

namespace mpiprof::bench {

class SmallImage {
  public:
    static std::vector<char> of(std::vector<char> image) { return SmallImage(std::move(image)).out_; }

  private:
    static constexpr std::uint32_t kept_collectives = 8;
    static constexpr std::array left_out = {format::TableType::settings, format::TableType::histograms,
                                            format::TableType::histogram_blocks, format::TableType::activity,
                                            format::TableType::network_use};
    struct Moved {
        std::uint64_t from, bytes, to;
    };

    explicit SmallImage(std::vector<char> image) : image_(std::move(image)) {
        out_.assign(image_.begin(), image_.begin() + sizeof(format::Header));
        std::vector<format::Table> tables = tables_to_keep();
        const std::uint64_t directory = room_for(sizeof(format::Directory) + tables.size() * sizeof(format::Table));
        for (format::Table& table : tables) {
            const std::uint64_t bytes = std::uint64_t{table.used} * table.record_size, to = room_for(bytes);
            std::memcpy(out_.data() + to, image_.data() + table.offset, bytes);
            moved_.push_back({table.offset, bytes, to});
            table.offset = to;
        }
        for (const format::Table& table : tables) point_to_what_moved(table);
        const format::Directory head{.next = 0,
                                     .used = static_cast<std::uint32_t>(tables.size()),
                                     .capacity = static_cast<std::uint32_t>(tables.size())};
        std::memcpy(out_.data() + directory, &head, sizeof head);
        std::memcpy(out_.data() + directory + sizeof head, tables.data(), tables.size() * sizeof(format::Table));
        auto& header = *reinterpret_cast<format::Header*>(out_.data());
        header.directory_offset = directory;
        header.image_bytes = out_.size();
        header.mapped_bytes = 0;
    }

    std::uint64_t room_for(std::uint64_t bytes) {
        const std::uint64_t at = (out_.size() + 7) / 8 * 8;
        out_.resize(at + bytes);
        return at;
    }

    std::vector<format::Table> tables_to_keep() {
        std::vector<format::Table> tables;
        for (std::uint64_t at = reinterpret_cast<format::Header*>(image_.data())->directory_offset; at != 0;) {
            const auto* block = reinterpret_cast<const format::Directory*>(image_.data() + at);
            const auto* first = reinterpret_cast<const format::Table*>(block + 1);
            for (format::Table table : std::span(first, block->used)) {
                if (std::ranges::find(left_out, table.type) != left_out.end()) continue;
                if (table.type == format::TableType::arrivals) table.used = std::min(table.used, kept_collectives);
                if (table.type == format::TableType::counters) table.used = counters_in_use(table);
                table.capacity = table.used;
                tables.push_back(table);
            }
            at = block->next;
        }
        return tables;
    }

    std::uint32_t counters_in_use(const format::Table& table) const {
        const auto* counters = reinterpret_cast<const format::Counter*>(image_.data() + table.offset);
        std::uint32_t used = table.used;
        while (used > 0 && counters[used - 1].calls == 0) --used;
        return used;
    }

    // What a record says of places in the file.
    void move(std::uint64_t& offset) const {
        for (const Moved& moved : moved_)
            if (offset >= moved.from && offset < moved.from + moved.bytes) {
                offset += moved.to - moved.from;
                return;
            }
    }

    template <class Record>
    std::span<Record> records(const format::Table& table) {
        return {reinterpret_cast<Record*>(out_.data() + table.offset), table.used};
    }

    void point_to_what_moved(const format::Table& table) {
        using enum format::TableType;
        if (table.type == facts)
            for (auto& fact : records<format::Fact>(table)) move(fact.value_offset);
        if (table.type == modules)
            for (auto& module : records<format::Module>(table)) move(module.path_offset), move(module.function_offset);
        if (table.type == cells)
            for (auto& cell : records<format::Cell>(table)) cell.histogram = 0;
        if (table.type != communicators) return;
        for (auto& communicator : records<format::Communicator>(table))
            communicator.collectives = std::min<std::uint64_t>(communicator.collectives, kept_collectives);
    }

    std::vector<char> image_, out_;
    std::vector<Moved> moved_;
};

}  // namespace mpiprof::bench
