// The first lines of a screen: what ran and for how long, or how much in all. summary, watch and peers begin with them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "report/model/table.h"

namespace mpiprof::report {

// Rows of the headline: line, key, value, and how a screen says it.
class Headline {
  public:
    explicit Headline(std::string id = "job") {
        table_ = {.id = std::move(id),
                  .title = {},
                  .picture = Picture::headline,
                  .columns = {{.id = "line", .title = {}, .unit = Unit::count, .only_screen = true},
                              {.id = "key", .title = {}},
                              {.id = "value", .title = {}},
                              {.id = "text", .title = {}, .only_screen = true}},
                  .rows = {},
                  .notes = {}};
    }
    void add(std::uint64_t line, std::string key, Value value, std::string text) {
        table_.rows.push_back({line, std::move(key), std::move(value), std::move(text)});
    }
    // Only for csv and json.
    void add(std::string key, Value value) { add(0, std::move(key), std::move(value), ""); }
    Table take() { return std::move(table_); }

  private:
    Table table_;
};

}  // namespace mpiprof::report
