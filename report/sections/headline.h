// The first lines of a screen: what ran and for how long, or how much in all. summary, watch and peers begin with them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "report/model/table.h"

namespace mpiprof::report {

class HeadlineTable {
  public:
    explicit HeadlineTable(std::string id = "job") : id_(std::move(id)) {}
    void add(std::uint64_t line, std::string key, Value value, std::string text) {
        headline_.items.push_back({line, std::move(key), std::move(value), std::move(text)});
    }
    // Only for csv and json.
    void add(std::string key, Value value) { add(0, std::move(key), std::move(value), ""); }
    Table take() {
        return {
            .id = std::move(id_), .title = {}, .columns = {}, .rows = {}, .notes = {}, .picture = std::move(headline_)};
    }

  private:
    std::string id_;
    Headline headline_;
};

}  // namespace mpiprof::report
