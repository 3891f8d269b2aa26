// Few ranks have a text each; of many ranks a part is one path.
#include "report/plots/strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "report/model/units.h"
#include "report/model/visible.h"

namespace mpiprof::report {
namespace {

constexpr double left = 64, top = 6, foot = 26;
struct Size {
    double width, high;  // of the bars, and what stands left of them
};
constexpr Size on_page{1000, 130}, alone{624, 440 - 66 - top - foot};  // as large as other pictures
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
    Drawing(const Strip& of, std::vector<Bar> bars, Size size)
        : of_(of), bars_(std::move(bars)), width_(size.width), high_(size.high) {
        for (const Bar& bar : bars_) most_ = std::max(most_, total(bar.ns));
        step_ = (width_ - left) / static_cast<double>(bars_.size());
    }

    std::string within_page() const {
        return fmt::format(
            R"(<svg class="strip" width="100%" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="Time of each rank by its parts; the table has the figures">{}</svg>{})",
            width_, top + high_ + 22, inside(), list());
    }

    std::string picture() const {
        constexpr double above = 66, beside = 16;
        return fmt::format(
            R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#333333">
<title>{2}</title>
<rect width="{0:.0f}" height="{1:.0f}" fill="#ffffff"/>
<text x="{3:.0f}" y="20" font-size="15" text-anchor="middle">{2}</text>
<text x="{3:.0f}" y="36" font-size="11" text-anchor="middle">{4}</text>
{5}<g transform="translate(0 {6:.0f}) ">{7}</g></svg>
)",
            width_ + beside, above + top + high_ + foot, in_markup(of_.title), width_ / 2, in_markup(of_.of), key(),
            above, inside());
    }

  private:
    std::string inside() const { return bands() + (bars_.size() <= most_texts ? single_bars() : paths()) + axes(); }
    double x(std::size_t bar) const { return left + static_cast<double>(bar) * step_; }
    double y(double ns) const { return top + high_ * (1 - (most_ > 0 ? ns / most_ : 0)); }

    // Behind the bars of every second node, where a reader can see them.
    std::string bands() const {
        std::string out;
        std::size_t number = 0;
        for (std::size_t begin = 0, end; begin < bars_.size(); begin = end, ++number) {
            end = begin + 1;
            while (end < bars_.size() && bars_[end].first->node == bars_[begin].first->node) ++end;
            if (number % 2 == 1)
                out += fmt::format(
                    R"(<rect class="band" fill="#e9edf3" x="{:.1f}" y="0" width="{:.1f}" height="{:.0f}"/>)", x(begin),
                    x(end) - x(begin), top + high_ + 4);
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
        std::string out = text(left - 6, top + 10, "end", human_time(most_)) + text(left - 6, top + high_, "end", "0");
        if (bars_.size() <= most_labels) {
            for (std::size_t i = 0; i < bars_.size(); ++i)
                out += text(x(i) + 0.47 * step_, top + high_ + 17, "middle", fmt::format("{}", bars_[i].first->number));
            return out + text(left - 6, top + high_ + 17, "end", "rank");
        }
        return out + text(left, top + high_ + 17, "start", fmt::format("rank {}", bars_.front().first->number)) +
               text(width_, top + high_ + 17, "end", fmt::format("rank {}", bars_.back().last->number));
    }

    std::vector<std::pair<std::string, std::string>> legend() const {
        std::vector<std::pair<std::string, std::string>> lines;
        for (std::size_t p = 0; p < of_.parts.size(); ++p)
            if (std::ranges::any_of(bars_, [&](const Bar& bar) { return bar.ns[p] > 0; }))
                lines.emplace_back(of_.parts[p].colour, of_.parts[p].name);
        const std::size_t each = (of_.ranks.size() + most_bars - 1) / most_bars;
        if (each > 1) lines.emplace_back("", fmt::format("a bar: the mean of {} ranks", each));
        return lines;
    }
    // Below the picture, on a page.
    std::string list() const {
        std::string out;
        for (const auto& [colour, text] : legend())
            out +=
                (colour.empty()
                     ? "<li>"
                     : fmt::format(
                           R"(<li><svg width="11" height="11" aria-hidden="true"><rect width="11" height="11" fill="{}"/></svg> )",
                           colour)) +
                in_markup(text) + "</li>";
        return "<ul class=\"legend\">" + out + "</ul>";
    }
    // Above it, in a picture alone.
    std::string key() const {
        constexpr double letter = 6.6;
        std::string out;
        double at = left;
        for (const auto& [colour, text] : legend()) {
            if (!colour.empty())
                out += fmt::format(R"(<rect x="{:.0f}" y="45" width="11" height="11" fill="{}"/>)", at, colour);
            out += fmt::format("<text x=\"{:.0f}\" y=\"55\">{}</text>\n", at + 16, in_markup(text));
            at += 40 + letter * static_cast<double>(text.size());
        }
        return out;
    }

    const Strip& of_;
    std::vector<Bar> bars_;
    double width_, high_;
    double most_ = 0, step_ = 1;
};

}  // namespace

std::string svg_of(const Strip& strip) { return Drawing(strip, bars_of(strip), alone).picture(); }
std::string within_page(const Strip& strip) {
    return strip.ranks.size() < 2 ? "" : Drawing(strip, bars_of(strip), on_page).within_page();
}

}  // namespace mpiprof::report
