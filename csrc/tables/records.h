/* Where records of a text table end, by the rules of Arrow's parser and of Python's `csv`. A quote
 * that is the first byte of a cell opens a quoted part. In this part, two quotes are one quote
 * character, and a single quote closes it. Any other quote is an ordinary byte. Outside of quoted
 * parts a record ends after \n, \r\n, or \r.
 *
 * Its slow twin is tests/reference/tables/records.py.
 */
#ifndef DPF_RECORDS_H
#define DPF_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/* Reads n bytes, which begin with a record. Returns how many of these bytes are whole records, and
 * sets `rows` to the number of records. Empty lines are records only if `empty` is set. If `quotes`
 * is 0, a quote is an ordinary byte. If the bytes are the `last` ones of the file, the bytes after
 * the last line end are a record, too, unless a quote is open there. If not, they are not a record,
 * and neither is one that ends in a final \r, because \n may follow. */
size_t dpf_records(const uint8_t *x, size_t n, uint8_t delimiter, int quotes, int empty, int last,
                   size_t *rows);

#endif
