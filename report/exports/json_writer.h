// Writes JSON as it goes, without building it first. Knows where commas belong and nothing else.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "report/exports/export.h"
#include "report/model/visible.h"

namespace mpiprof::report {

class JsonWriter {
  public:
    explicit JsonWriter(const Sink& sink) : sink_(sink) {}
    ~JsonWriter() { flush(); }
    JsonWriter(const JsonWriter&) = delete;
    JsonWriter& operator=(const JsonWriter&) = delete;

    // Objects and arrays; `write` fills them. `on_new_line`: each element begins a line.
    template <class Write>
    void object(Write write) {
        nested('{', '}', write);
    }
    template <class Write>
    void object(std::string_view key, Write write) {
        name(key);
        nested('{', '}', write);
    }
    template <class Items, class Write>
    void array(std::string_view key, const Items& items, Write write) {
        name(key);
        nested('[', ']', [&] {
            for (const auto& item : items) {
                element();
                text_ += '\n';
                write(item);
            }
        });
    }
    // An element of an array that is an object.
    template <class Write>
    void item(Write write) {
        nested('{', '}', write);
        if (text_.size() > 1 << 16) flush();
    }

    template <class T>
    void field(std::string_view key, const T& value) {
        name(key);
        put(value);
    }
    template <class T>
    void put(const T& value) {
        if constexpr (std::is_same_v<T, bool>)
            text_ += value ? "true" : "false";
        else if constexpr (std::is_arithmetic_v<T>)
            fmt::format_to(std::back_inserter(text_), "{}", value);
        else
            text_ += json_string(value);
        is_first_ = false;
    }
    template <class T>
    void put(const std::optional<T>& value) {
        if (value)
            put(*value);
        else
            text_ += "null";
        is_first_ = false;
    }
    void raw(std::string_view text) {
        text_ += text;
        is_first_ = false;
    }
    void flush() {
        sink_(text_);
        text_.clear();
    }

  private:
    void element() {
        if (!is_first_) text_ += ',';
        is_first_ = true;
    }
    void name(std::string_view key) {
        if (!is_first_) text_ += ", ";
        text_ += json_string(key);
        text_ += ": ";
    }
    template <class Write>
    void nested(char open, char close, Write write) {
        text_ += open;
        is_first_ = true;
        write();
        text_ += close;
        is_first_ = false;
    }

    const Sink& sink_;
    std::string text_;
    bool is_first_ = true;
};

}  // namespace mpiprof::report
