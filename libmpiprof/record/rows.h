// Records of one kind in the image, of one thread or of the whole rank: each is taken, filled, and then published, so
// that no reader ever sees half of one. One writer, or its owner's lock; what finds no room is null.
#pragma once

#include "libmpiprof/format/table_of.h"
#include "libmpiprof/record/image.h"

namespace mpiprof {

// The image grows by tables of `AtOnce` of them.
template <class Record, std::uint32_t AtOnce, format::TableType Type = format::table_of<Record>>
class Rows {
    static_assert(Type != format::TableType::none);

  public:
    // The next one, zero and not published yet.
    Record* next(Image& image, std::uint32_t thread = 0, std::uint32_t at_once = AtOnce) {
        if (newest_ && newest_->used != newest_->capacity) [[likely]]
            return &image.as<Record>(newest_->offset) + newest_->used;
        return static_cast<Record*>(image.next_record(newest_, Type, sizeof(Record), at_once, thread));
    }
    void publish() { Image::publish(newest_); }
    // So many in a row, to be published together; where the newest table has less room, as many as it has.
    Record* next_few(Image& image, std::uint32_t& count) {
        Record* first = next(image);
        if (first && count > newest_->capacity - newest_->used) count = newest_->capacity - newest_->used;
        return first;
    }
    void publish_few(std::uint32_t count) { Image::publish(newest_, count); }
    // One that is known as a whole.
    Record* add(Image& image, const Record& record) {
        Record* row = next(image);
        if (!row) return nullptr;
        *row = record;
        publish();
        return row;
    }
    // The table that grows; null: there is none yet.
    const format::Table* newest() const { return newest_; }
    // Records of it, none published, for one who writes them all at once or never ends.
    static Record* room_for(Image& image, std::uint32_t count, std::uint32_t thread, format::Table*& table) {
        table = image.add_table(Type, sizeof(Record), count, thread);
        return table ? &image.as<Record>(table->offset) : nullptr;
    }

  private:
    format::Table* newest_ = nullptr;
};

}  // namespace mpiprof
