// Lines up the clocks of a job's nodes by the program's own collectives: nobody leaves a Barrier before the last has
// entered it, so each such call bounds how far two clocks are apart, and how fast they drift. For the part `arrivals`;
// no message of ours is needed, and nothing is known of nodes that share no such call with the first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace mpiprof::report {

class NodeClocks {
  public:
    // One call as the ranks of a node made it: when the last of them entered it and when the first left it, in
    // nanoseconds on the node's own clock.
    struct Moments {
        std::int64_t last_in = 0;
        std::int64_t first_out = 0;
    };

  private:
    // From a moment on; the offset changes by `slope` a nanosecond.
    struct Line {
        std::int64_t begin = 0, offset = 0;
        double slope = 0, error_ns = 0;
    };

  public:
    // That of one node, for whoever asks of many moments. It lasts as long as the NodeClocks.
    class Clock {
      public:
        // As NodeClocks::offset(); 0 where that is not known.
        std::int64_t offset(std::int64_t moment) const {
            if (lines_.empty()) return 0;
            const Line& line = lines_.size() == 1 ? lines_[0] : line_at(moment);
            return line.offset + static_cast<std::int64_t>(line.slope * static_cast<double>(moment - line.begin));
        }

      private:
        friend NodeClocks;
        explicit Clock(std::span<const Line> lines) : lines_(lines) {}
        const Line& line_at(std::int64_t moment) const;

        std::span<const Line> lines_;
    };

    explicit NodeClocks(std::uint32_t reference) : reference_(reference) {}
    std::uint32_t reference() const { return reference_; }

    // A call that waits for all, on the reference and on another node.
    void add(std::uint32_t node, const Moments& there, const Moments& at_reference);
    // When all are added.
    void solve();

    // What is to be added to a moment of this node's clock to have that of the reference; empty: not known.
    std::optional<std::int64_t> offset(std::uint32_t node, std::int64_t moment) const;
    Clock clock_of(std::uint32_t node) const;
    bool knows(std::uint32_t node) const { return node == reference_ || lines_.contains(node); }
    // How far such an offset may be off, at most; 0 on the reference itself.
    double error_ns(std::uint32_t node) const;

  private:
    struct Bound {  // least <= offset <= most
        std::int64_t at, least, most;
    };
    static std::optional<Line> line_through(const Bound* first, const Bound* last);
    static bool add_lines(const Bound* first, const Bound* last, std::vector<Line>& lines);

    std::uint32_t reference_;
    std::map<std::uint32_t, std::vector<Bound>> bounds_;  // by node
    std::map<std::uint32_t, std::vector<Line>> lines_;    // by their beginnings
};

}  // namespace mpiprof::report
