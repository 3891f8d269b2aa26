// Few ranks have a text each; of many ranks a part is one path.
#include "report/page/strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "report/model/units.h"
#include "report/model/visible.h"

namespace mpiprof::report::page {
namespace {

constexpr double width = 1000, high = 130, left = 64, top = 6;
constexpr std::size_t most_bars = 400, most_texts = 128, most_bands = 100, most_labels = 40;

double total(const std::vector<double>& ns) { return std::accumulate(ns.begin(), ns.end(), 0.0); }

struct Bar {
    const Strip::Rank *first, *last;
    std::vector<double> ns;
};

std::vector<Bar> bars_of(const Strip& of) {
    const std::size_t each = (of.ranks.size() + most_bars - 1) / most_bars;
    std::vector<Bar> bars;
    for (std::size_t begin = 0; begin < of.ranks.size(); begin += each) {
        const std::size_t end = std::min(begin + each, of.ranks.size());
        Bar bar{&of.ranks[begin], &of.ranks[end - 1], std::vector<double>(of.parts.size(), 0.0)};
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t p = 0; p < of.parts.size(); ++p)
                bar.ns[p] += of.ranks[i].ns[p] / static_cast<double>(end - begin);
        bars.push_back(std::move(bar));
    }
    return bars;
}

class Drawing {
  public:
    Drawing(const Strip& of, std::vector<Bar> bars) : of_(of), bars_(std::move(bars)) {
        for (const Bar& bar : bars_) most_ = std::max(most_, total(bar.ns));
        step_ = (width - left) / static_cast<double>(bars_.size());
    }

    std::string svg() const {
        return fmt::format(
            R"(<svg class="strip" width="100%" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="Time of each rank by its parts; the table has the figures">{}{}{}</svg>{})",
            width, top + high + 22, bands(), bars_.size() <= most_texts ? single_bars() : paths(), axes(), legend());
    }

  private:
    double x(std::size_t bar) const { return left + static_cast<double>(bar) * step_; }
    double y(double ns) const { return top + high * (1 - (most_ > 0 ? ns / most_ : 0)); }

    // Behind the bars of every second node, where a reader can see them.
    std::string bands() const {
        std::string out;
        std::size_t number = 0;
        for (std::size_t begin = 0, end; begin < bars_.size(); begin = end, ++number) {
            end = begin + 1;
            while (end < bars_.size() && bars_[end].first->node == bars_[begin].first->node) ++end;
            if (number % 2 == 1)
                out += fmt::format(R"(<rect class="band" x="{:.1f}" y="0" width="{:.1f}" height="{:.0f}"/>)", x(begin),
                                   x(end) - x(begin), top + high + 4);
        }
        return number <= most_bands ? out : "";
    }

    std::string single_bars() const {
        std::string out;
        for (std::size_t i = 0; i < bars_.size(); ++i) {
            std::string text = fmt::format("rank {}", bars_[i].first->number);
            if (!bars_[i].first->node.empty()) text += " on " + bars_[i].first->node;
            std::string boxes;
            double below = 0;
            for (std::size_t p = 0; p < of_.parts.size(); ++p) {
                const double above = below + bars_[i].ns[p];
                text += fmt::format("{} {} {}", p == 0 ? ":" : ",", of_.parts[p].name, human_time(bars_[i].ns[p]));
                boxes += fmt::format(R"(<rect fill="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)",
                                     of_.parts[p].colour, x(i), y(above), step_ * 0.94, y(below) - y(above));
                below = above;
            }
            out += fmt::format("<g><title>{}</title>{}</g>", in_markup(visible(text, true)), boxes);
        }
        return out;
    }

    std::string paths() const {
        std::string out;
        std::vector<double> below(bars_.size(), 0.0);
        for (std::size_t p = 0; p < of_.parts.size(); ++p) {
            std::string d;
            for (std::size_t i = 0; i < bars_.size(); ++i) {
                const double above = below[i] + bars_[i].ns[p];
                const double tall = y(below[i]) - y(above);
                if (tall >= 0.1)
                    d += fmt::format("M{:.1f} {:.1f}v{:.1f}h{:.1f}v-{:.1f}z", x(i), y(above), tall, step_, tall);
                below[i] = above;
            }
            out += fmt::format(R"(<path fill="{}" d="{}"/>)", of_.parts[p].colour, d);
        }
        return out;
    }

    std::string axes() const {
        const auto text = [](double x, double y, std::string_view anchor, const std::string& words) {
            return fmt::format(R"(<text x="{:.0f}" y="{:.0f}" text-anchor="{}">{}</text>)", x, y, anchor, words);
        };
        std::string out = text(left - 6, top + 10, "end", human_time(most_)) + text(left - 6, top + high, "end", "0");
        if (bars_.size() <= most_labels) {
            for (std::size_t i = 0; i < bars_.size(); ++i)
                out += text(x(i) + 0.47 * step_, top + high + 17, "middle", fmt::format("{}", bars_[i].first->number));
            return out + text(left - 6, top + high + 17, "end", "rank");
        }
        return out + text(left, top + high + 17, "start", fmt::format("rank {}", bars_.front().first->number)) +
               text(width, top + high + 17, "end", fmt::format("rank {}", bars_.back().last->number));
    }

    std::string legend() const {
        std::string out;
        for (const Strip::Part& part : of_.parts)
            out += fmt::format(
                R"(<li><svg width="11" height="11" aria-hidden="true"><rect width="11" height="11" fill="{}"/></svg> {}</li>)",
                part.colour, in_markup(part.name));
        const std::size_t each = (of_.ranks.size() + most_bars - 1) / most_bars;
        if (each > 1) out += fmt::format("<li>a bar: the mean of {} ranks</li>", each);
        return "<ul class=\"legend\">" + out + "</ul>";
    }

    const Strip& of_;
    std::vector<Bar> bars_;
    double most_ = 0, step_ = 1;
};

}  // namespace

std::string strip(const Strip& of) { return of.ranks.size() < 2 ? "" : Drawing(of, bars_of(of)).svg(); }

}  // namespace mpiprof::report::page
