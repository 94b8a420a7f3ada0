/* Fuzzes the scanner of text tables: against its slow twin, and a file in two reads against the
 * file in one. libFuzzer calls it with the sanitizers on (tests/fuzz/__main__.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/records.h"

static void require(int holds, const char *rule)
{
    if (!holds) {
        fprintf(stderr, "records: %s\n", rule);
        abort();
    }
}

static int is_end(uint8_t c)
{
    return c == '\n' || c == '\r';
}

/* One byte at a time, as tests/reference/tables/records.py. */
static size_t twin(const uint8_t *x, size_t n, uint8_t delimiter, int quotes, int empty, int last,
                   size_t *rows)
{
    size_t start = 0, at = 0;
    int fresh = 1, quoted = 0;
    *rows = 0;
    while (at < n) {
        const uint8_t byte = x[at++];
        const int more = at < n;
        if (quoted) {
            if (byte == '"' && more && x[at] == '"')
                at++;
            else if (byte == '"')
                quoted = 0;
        } else if (byte == '"' && fresh && quotes) {
            quoted = 1;
            fresh = 0;
        } else if (is_end(byte)) {
            if (byte == '\r' && !more && !last)
                return start;
            if (byte == '\r' && more && x[at] == '\n')
                at++;
            size_t some = 0;
            for (size_t i = start; i < at; i++)
                some |= !is_end(x[i]);
            *rows += empty || some;
            start = at;
            fresh = 1;
        } else {
            fresh = byte == delimiter;
        }
    }
    if (last && start < n && !quoted) {
        ++*rows;
        start = n;
    }
    return start;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t delimiters[] = {',', ';', '\t', '|', ' ', 'a', ':', 0x1f};
    if (size < 2)
        return 0;
    const uint8_t delimiter = delimiters[data[0] & 7];
    const int quotes = data[0] >> 3 & 1, empty = data[0] >> 4 & 1, last = data[0] >> 5 & 1;
    const size_t n = size - 2, cut = n ? data[1] % (n + 1) : 0;
    uint8_t *x = malloc(n ? n : 1), *rest;
    memcpy(x, data + 2, n); /* so that a read past the end is one past an allocation */
    size_t rows, twin_rows, first_rows, rest_rows;
    const size_t end = dpf_records(x, n, delimiter, quotes, empty, last, &rows);
    require(end <= n, "more bytes than there are");
#ifdef PLANTED
    rows += n > 70 && x[70] == '"';
#endif
    require(end == twin(x, n, delimiter, quotes, empty, last, &twin_rows), "other bytes than its twin");
    require(rows == twin_rows, "other rows than its twin");

    /* The reader scans what it has, keeps the bytes of no whole record, and reads on. */
    uint8_t *part = malloc(cut ? cut : 1);
    memcpy(part, x, cut);
    const size_t kept = dpf_records(part, cut, delimiter, quotes, empty, 0, &first_rows);
    require(kept <= cut, "more bytes than were read");
    rest = malloc(n - kept ? n - kept : 1);
    memcpy(rest, x + kept, n - kept);
    const size_t after = dpf_records(rest, n - kept, delimiter, quotes, empty, last, &rest_rows);
    require(kept + after == end, "two reads end elsewhere than one");
    require(first_rows + rest_rows == rows, "two reads have other rows than one");
    free(rest);
    free(part);
    free(x);
    return 0;
}
