// Said a few times in a run: a changed label is a further record, so that no reader ever sees half of a value.
#include "libmpiprof/record/labels.h"

#include <string.h>

#include "libmpiprof/base/text.h"

namespace mpiprof {

using format::Label;

void Labels::set(Image& image, const char* key, std::size_t key_length, const char* value, std::size_t value_length) {
    if (key_length == 0) return;
    Label wanted{};
    append(wanted.key, key, key_length);
    append(wanted.value, value, value_length);
    if (key_length >= sizeof wanted.key || value_length >= sizeof wanted.value)
        count_drop(image.header().drops.strings);
    for (unsigned i = count_; i-- > 0;) {
        if (strcmp(records_[i]->key, wanted.key) != 0) continue;
        if (strcmp(records_[i]->value, wanted.value) == 0) return;
        break;
    }
    Label* record = count_ == most ? nullptr : rows_.add(image, wanted);
    if (!record) return count_drop(image.header().drops.strings);
    records_[count_++] = record;
}

void Labels::keep(const char* key, const char* value) {
    if (!*key) return;
    if (!early_) early_ = static_cast<Label*>(private_pages(most_early * sizeof(Label)));
    unsigned i = 0;
    while (early_ && i < early_count_ && strncmp(early_[i].key, key, sizeof early_[i].key - 1) != 0) ++i;
    if (!early_ || i == most_early) {
        ++early_lost_;
        return;
    }
    copy(early_[i].key, key);
    copy(early_[i].value, value);
    if (i == early_count_) ++early_count_;
}

void Labels::move_to(Image& image) {
    for (unsigned i = 0; i < early_count_; ++i)
        set(image, early_[i].key, length_of(early_[i].key), early_[i].value, length_of(early_[i].value));
    for (; early_lost_ > 0; --early_lost_) count_drop(image.header().drops.strings);
    early_count_ = 0;
}

}  // namespace mpiprof
