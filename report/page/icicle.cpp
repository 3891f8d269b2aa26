// What is narrower than a pixel is left out: the table beside it has all.
#include "report/page/icicle.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/model/units.h"
#include "report/model/visible.h"

namespace mpiprof::report::page {
namespace {

constexpr double width = 1000, row = 19, letter = 6.4;
constexpr double least_share = 0.001;

struct Node {
    double ns = 0;
    std::map<std::string, Node> below;
};

Node tree_of(const std::vector<Stack>& stacks) {
    Node root;
    for (const Stack& stack : stacks) {
        root.ns += stack.ns;
        Node* at = &root;
        for (const std::string& frame : stack.frames) {
            at = &at->below[frame];
            at->ns += stack.ns;
        }
    }
    return root;
}

class Drawing {
  public:
    explicit Drawing(double all) : all_(all) {}

    void add(const std::string& name, const Node& node, double from, std::size_t depth) {
        const double share = node.ns / all_;
        if (share < least_share) return;
        deepest_ = std::max(deepest_, depth);
        const double y = static_cast<double>(depth) * row;
        const std::string text = visible(name, true);
        body_ += fmt::format(
            R"(<g data-x="{:.5g}" data-w="{:.5g}"><title>{}: {}, {}</title><rect class="{}" x="{:.1f}" y="{:.0f}" width="{:.1f}" height="{:.0f}"/>)",
            from, share, in_markup(text), human_share(share), human_time(node.ns),
            node.below.empty() ? "call" : "frame", from * width, y, share * width, row - 1);
        const auto fits = static_cast<std::size_t>(std::max(0.0, share * width / letter - 1));
        body_ += fmt::format(R"(<text x="{:.1f}" y="{:.0f}">{}</text></g>)", from * width + 3, y + 13,
                             in_markup(fits < 3 ? "" : fitting(text, fits)));
        std::vector<const std::pair<const std::string, Node>*> below;
        for (const auto& child : node.below) below.push_back(&child);
        std::ranges::stable_sort(below, [](const auto* a, const auto* b) { return a->second.ns > b->second.ns; });
        for (const auto* child : below) {
            add(child->first, child->second, from, depth + 1);
            from += child->second.ns / all_;
        }
    }

    std::string svg() const {
        return fmt::format(
            R"(<svg class="icicle" width="100%" viewBox="0 0 {0:.0f} {1:.0f}" role="img" aria-label="Call paths by time; the table has the same in words">{2}</svg>)",
            width, static_cast<double>(deepest_ + 1) * row, body_);
    }

  private:
    double all_;
    std::size_t deepest_ = 0;
    std::string body_;
};

}  // namespace

std::string icicle(const std::vector<Stack>& stacks) {
    const Node root = tree_of(stacks);
    const bool has_callers = std::ranges::any_of(stacks, [](const Stack& stack) { return stack.frames.size() > 1; });
    if (!(root.ns > 0) || !has_callers) return "";
    Drawing drawing(root.ns);
    drawing.add("all recorded calls", root, 0, 0);
    return drawing.svg();
}

}  // namespace mpiprof::report::page
