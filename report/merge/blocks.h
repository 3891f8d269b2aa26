// Records of ranks as they come, in blocks that go from one part of a merge to another as they are: however many ranks
// there are, no record is ever in memory twice, but for those of one block. For parts that keep a record of every rank.
// It sorts nothing and knows no rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace mpiprof::report {

template <class T>
class Blocks {
  public:
    T& add(T&& record) {
        if (blocks_.empty() || blocks_.back().size() == most) {
            blocks_.emplace_back();
            if (blocks_.size() > 1) blocks_.back().reserve(most);  // the first grows: most jobs are small
        }
        return blocks_.back().emplace_back(std::move(record));
    }
    // Afterwards the other has none.
    void absorb(Blocks&& other) {
        if (of_last(*this) < of_last(other)) std::swap(blocks_, other.blocks_);
        std::vector<T> few;  // that are moved one by one
        if (of_last(other) < most && !other.blocks_.empty()) {
            few = std::move(other.blocks_.back());
            other.blocks_.pop_back();
        }
        const auto at = blocks_.end() - (blocks_.empty() ? 0 : 1);
        blocks_.insert(at, std::make_move_iterator(other.blocks_.begin()),
                       std::make_move_iterator(other.blocks_.end()));
        other.blocks_.clear();
        for (T& record : few) add(std::move(record));
    }
    template <class Use>
    void each(Use use) {
        for (std::vector<T>& block : blocks_)
            for (T& record : block) use(record);
    }
    std::size_t size() const { return blocks_.empty() ? 0 : (blocks_.size() - 1) * most + blocks_.back().size(); }
    // All of them, in one piece. None are left.
    std::vector<T> take() {
        std::vector<T> all;
        if (blocks_.size() == 1)
            all = std::move(blocks_.front());
        else
            all.reserve(size());
        for (std::vector<T>& block : std::exchange(blocks_, {})) {
            std::move(block.begin(), block.end(), std::back_inserter(all));
            block = std::vector<T>();  // each goes when it was moved, not all in the end
        }
        return all;
    }

  private:
    // So large that malloc gives the memory of each back to the system.
    static constexpr std::size_t most = std::max<std::size_t>(1, (std::size_t{1} << 20) / sizeof(T));

    static std::size_t of_last(const Blocks& some) { return some.blocks_.empty() ? 0 : some.blocks_.back().size(); }

    std::vector<std::vector<T>> blocks_;  // all but the last are full
};

}  // namespace mpiprof::report
