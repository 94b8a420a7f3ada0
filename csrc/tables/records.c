#include "tables/records.h"

#include <string.h>

#include "core/isa.h"

#define STRETCH 64 /* so many bytes are read together; their number of rows fits into a byte */

#define IS_END(c) ((uint8_t)(((c) == '\n') | ((c) == '\r')))
/* Whether a byte that is a line end is the end of a row: not if it is the second byte of \r\n, or
 * ends an empty line. */
#define COUNTS(c, before, empty)                                                                   \
    ((uint8_t)((((before) != '\r') | ((c) != '\n')) & ((empty) | !IS_END(before))))

struct seen {
    uint8_t quotes, ends, rows;
};

#define DPF_BODY "tables/records_body.h"
#include "core/each_isa.h"

/* The index after the quote that closes a quoted part, or n + 1 if there is none. */
static size_t closed(const uint8_t *x, size_t i, size_t n)
{
    while (i < n) {
        const uint8_t *quote = memchr(x + i, '"', n - i);
        if (!quote)
            break;
        i = (size_t)(quote - x) + 1;
        if (i == n || x[i] != '"')
            return i;
        i++;
    }
    return n + 1;
}

size_t dpf_records(const uint8_t *x, size_t n, uint8_t delimiter, int quotes, int empty, int last,
                   size_t *rows)
{
    const uint8_t quote = quotes ? '"' : '\n', counted = empty != 0;
    size_t i = 0, end = 0, stretch = 0, count = 0;
    struct seen (*const look)(const uint8_t *, uint8_t, uint8_t) = DPF_CHOSEN(look);
    if (!last && n && x[n - 1] == '\r')
        n--;
    while (i < n) {
        if (i && n - i >= STRETCH) {
            const struct seen seen = look(x + i, quote, counted);
            if (!quotes || !seen.quotes) {
                i += STRETCH;
                count += seen.rows;
                if (seen.ends)
                    stretch = i;
                continue;
            }
        }
        for (const size_t stop = n - i < STRETCH ? n : i + STRETCH; i < stop;) {
            const uint8_t c = x[i], before = i ? x[i - 1] : '\n';
            if (quotes && c == '"' && (before == delimiter || IS_END(before))) {
                i = closed(x, i + 1, n);
            } else {
                i++;
                if (IS_END(c)) {
                    count += COUNTS(c, before, counted);
                    end = i;
                }
            }
        }
    }
    if (stretch > end)
        for (end = stretch; !IS_END(x[end - 1]);)
            end--;
    if (last && end < n && i == n) {
        count++;
        end = n;
    }
    *rows = count;
    return end;
}
