// Writes JSON as it goes, without building it first. Knows where commas belong and nothing else. For exports and views:
// whatever of ours is JSON is written by it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "report/model/visible.h"

namespace mpiprof::report {

using Sink = std::function<void(std::string_view text)>;

class JsonWriter {
  public:
    explicit JsonWriter(const Sink& sink) : sink_(sink) {}
    ~JsonWriter() { flush(); }
    JsonWriter(const JsonWriter&) = delete;
    JsonWriter& operator=(const JsonWriter&) = delete;

    // Objects and arrays; `write` fills them.
    template <class Write>
    void object(Write write) {
        nested('{', '}', write);
    }
    template <class Write>
    void object(std::string_view key, Write write) {
        name(key);
        nested('{', '}', write);
    }
    // Each element begins a line.
    template <class Items, class Write>
    void array(std::string_view key, const Items& items, Write write, std::string_view before = "\n") {
        name(key);
        nested('[', ']', [&] {
            for (const auto& item : items) {
                element(before);
                write(item);
            }
        });
    }
    // The same where `write` calls entry() for each of them, however they come.
    template <class Write>
    void entries(std::string_view key, Write write) {
        name(key);
        nested('[', ']', write);
    }
    template <class Write>
    void entry(Write write) {
        element("\n");
        item(write);
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
    // A value that is JSON already, such as a number in a form of its own.
    void raw_field(std::string_view key, std::string_view json) {
        name(key);
        raw(json);
    }
    // The next field or object begins a line.
    void break_line() { between_ = ",\n "; }
    template <class T>
    void put(const T& value) {
        if constexpr (std::is_same_v<T, bool>)
            text_ += value ? "true" : "false";
        else if constexpr (std::is_arithmetic_v<T>)
            text_ += fmt::format("{}", value);
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
    void element(std::string_view before) {
        if (!is_first_) text_ += ',';
        text_ += before;
        is_first_ = true;
    }
    void name(std::string_view key) {
        if (!is_first_) text_ += between_;
        between_ = ", ";
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
    std::string_view between_ = ", ";
    bool is_first_ = true;
};

}  // namespace mpiprof::report
