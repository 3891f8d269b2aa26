// librsvg draws on a surface of cairo, which writes to memory. Both are loaded when a picture is asked for: no other
// command waits for the forty libraries behind them, and a reporter that is copied elsewhere runs without.
#include "report/plots/picture.h"

#ifdef MPIPROF_HAS_RSVG
#include <cairo-pdf.h>
#include <cairo.h>
#include <dlfcn.h>
#include <librsvg/rsvg.h>
#include <algorithm>

#include <memory>
#endif

namespace mpiprof::report {
namespace {

#ifdef MPIPROF_HAS_RSVG

constexpr bool has_rsvg = true;
constexpr double width = 640, height = 440;  // of a chart
constexpr double pixels = 2;                 // of a PNG for each of them: sharp on dense screens and in print

// The functions that are called, by their declarations.
struct Libraries {
    void* rsvg = dlopen("librsvg-2.so.2", RTLD_LAZY);
    void* cairo = dlopen("libcairo.so.2", RTLD_LAZY);
    void* gobject = dlopen("libgobject-2.0.so.0", RTLD_LAZY);

    template <class Function>
    static Function* find(void* library, const char* name) {
        return library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
    }
#define MPIPROF_FUNCTION(library, name) decltype(::name)* name = find<decltype(::name)>(library, #name)
    MPIPROF_FUNCTION(rsvg, rsvg_handle_new_from_data);
    MPIPROF_FUNCTION(rsvg, rsvg_handle_render_document);
    MPIPROF_FUNCTION(gobject, g_object_unref);
    MPIPROF_FUNCTION(cairo, cairo_pdf_surface_create_for_stream);
    MPIPROF_FUNCTION(cairo, cairo_image_surface_create);
    MPIPROF_FUNCTION(cairo, cairo_surface_write_to_png_stream);
    MPIPROF_FUNCTION(cairo, cairo_surface_finish);
    MPIPROF_FUNCTION(cairo, cairo_surface_destroy);
    MPIPROF_FUNCTION(cairo, cairo_create);
    MPIPROF_FUNCTION(cairo, cairo_scale);
    MPIPROF_FUNCTION(cairo, cairo_destroy);
#undef MPIPROF_FUNCTION

    bool are_there() const {
        return rsvg_handle_new_from_data && rsvg_handle_render_document && g_object_unref &&
               cairo_pdf_surface_create_for_stream && cairo_image_surface_create && cairo_surface_write_to_png_stream &&
               cairo_surface_finish && cairo_surface_destroy && cairo_create && cairo_scale && cairo_destroy;
    }
};

cairo_status_t append(void* to, const unsigned char* bytes, unsigned count) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
}

template <class T, class Free>
std::unique_ptr<T, Free*> owned(T* object, Free* free) {
    return {object, free};
}

Result<std::string> drawn(const std::string& svg, PictureFormat format) {
    const Libraries lib;
    if (!lib.are_there())
        return problem("", "librsvg cannot be loaded here", "name it .svg and convert it in a browser");
    const auto handle =
        owned(static_cast<void*>(lib.rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()),
                                                               static_cast<gsize>(svg.size()), nullptr)),
              lib.g_object_unref);
    if (!handle) return problem("", "librsvg does not read the picture");
    std::string bytes;
    const bool is_pdf = format == PictureFormat::pdf;
    const auto surface =
        owned(is_pdf ? lib.cairo_pdf_surface_create_for_stream(append, &bytes, width, height)
                     : lib.cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width * pixels),
                                                      static_cast<int>(height * pixels)),
              lib.cairo_surface_destroy);
    const auto drawing = owned(lib.cairo_create(surface.get()), lib.cairo_destroy);
    if (!is_pdf) lib.cairo_scale(drawing.get(), pixels, pixels);
    const RsvgRectangle all{0, 0, width, height};
    if (!lib.rsvg_handle_render_document(static_cast<RsvgHandle*>(handle.get()), drawing.get(), &all, nullptr))
        return problem("", "librsvg does not draw the picture");
    if (!is_pdf && lib.cairo_surface_write_to_png_stream(surface.get(), append, &bytes) != CAIRO_STATUS_SUCCESS)
        return problem("", "cairo does not write the picture");
    lib.cairo_surface_finish(surface.get());
    return bytes;
}

#else

constexpr bool has_rsvg = false;
Result<std::string> drawn(const std::string&, PictureFormat) { return problem("", "this build draws SVG alone"); }

#endif

}  // namespace

Result<PictureFormat> picture_format(const std::string& path) {
    std::string name = path;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (name.ends_with(".svg")) return PictureFormat::svg;
    const bool is_png = name.ends_with(".png");
    if (!is_png && !name.ends_with(".pdf")) return problem("-o " + path, "is no picture", "name it .svg, .png or .pdf");
    if (!has_rsvg)
        return problem("-o " + path, "this mpiprof-report was built without librsvg and writes SVG alone",
                       "name it .svg and convert it with rsvg-convert");
    return is_png ? PictureFormat::png : PictureFormat::pdf;
}

Result<std::string> picture_of(const std::string& svg, PictureFormat format) {
    return format == PictureFormat::svg ? Result<std::string>(svg) : drawn(svg, format);
}

}  // namespace mpiprof::report
