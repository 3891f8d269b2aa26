// One page of A4 as a PDF file: text in the fonts that every reader has, and filled boxes. It knows neither tables nor
// jobs. For the card.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mpiprof::report::page {

enum class Font : std::uint8_t { regular, bold, fixed };  // Helvetica, Helvetica-Bold, Courier

class Pdf {
  public:
    static constexpr double width = 595, height = 842;  // points

    // At the left end of its base line, `y` from the top. Letters beyond Latin-1 are shown as "?".
    void text(double x, double y, Font font, double size, std::string_view text);
    void box(double x, double y, double wide, double high, std::string_view color);  // "#2f6fde"

    std::string file(std::string_view title) const;

  private:
    std::string content_;
};

// How wide a text is, in points: exact for Courier, of the others what English text takes.
double width_of(std::string_view text, Font font, double size);

}  // namespace mpiprof::report::page
