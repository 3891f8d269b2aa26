// What most parts of a merge hold: sums by a key, and values with numbers. Either is added up over the ranks of a
// thread, then over threads. Neither knows what it holds, or what a rank is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace mpiprof::report {

// Sums by key, in the order of the keys. Those of one key are added by their own +=. Where a bound is given, more keys
// come from damaged files alone, and what has no room is left out.
template <class Key, class Sums, std::size_t most = ~std::size_t{0}>
class Keyed {
  public:
    bool has_room_for(const Key& key) const { return sums_.size() < most || sums_.contains(key); }
    void add(const Key& key, Sums&& sums) {
        if (!has_room_for(key)) return;
        const auto [found, is_new] = sums_.try_emplace(key, std::move(sums));
        if (!is_new) found->second += std::move(sums);
    }
    void absorb(Keyed&& other) {
        for (auto& [key, sums] : other.sums_) add(key, std::move(sums));
    }
    // Of this key, whether there is room or not.
    Sums& operator[](const Key& key) { return sums_[key]; }
    // Null: none.
    const Sums* find(const Key& key) const {
        const auto found = sums_.find(key);
        return found == sums_.end() ? nullptr : &found->second;
    }
    std::map<Key, Sums> take() { return std::move(sums_); }
    std::size_t size() const { return sums_.size(); }
    auto begin() { return sums_.begin(); }
    auto end() { return sums_.end(); }
    auto begin() const { return sums_.begin(); }
    auto end() const { return sums_.end(); }

  private:
    std::map<Key, Sums> sums_;
};

// Values with numbers, in the order in which they come; of one key the first counts. Some tables begin with a value
// that stands for what is not known: no key finds it.
template <class T, class Key = T>
class Numbered {
  public:
    Numbered() = default;
    explicit Numbered(T unknown) : values_{std::move(unknown)} {}

    std::uint32_t index_of(const Key& key, const T& value) {
        const auto [found, is_new] = index_.try_emplace(key, static_cast<std::uint32_t>(values_.size()));
        if (is_new) values_.push_back(value);
        return found->second;
    }
    std::uint32_t index_of(const T& value) { return index_of(value, value); }
    // The numbers here of the other's values, by their numbers there; what is not known stays number 0.
    std::vector<std::uint32_t> absorb(const Numbered& other) {
        std::vector<std::uint32_t> numbers(other.values_.size());
        for (const auto& [key, number] : other.index_) numbers[number] = index_of(key, other.values_[number]);
        return numbers;
    }
    T& operator[](std::uint32_t index) { return values_[index]; }
    const T& operator[](std::uint32_t index) const { return values_[index]; }
    const std::vector<T>& values() const { return values_; }

  private:
    std::vector<T> values_;
    std::map<Key, std::uint32_t> index_;
};

// Spreads the bits of a number over all 64: for keys that are made of several numbers.
inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

// What is kept as it comes and sorted in the end.
template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace mpiprof::report
