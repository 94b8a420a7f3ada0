/* Where records of a text table end, by the rules of Arrow's parser (and of Python's `csv`): a
 * quote opens a quoted part where it is the first byte of a cell; there, two are one quote, and a
 * single one closes it; all others are bytes like any other. Outside of quotes a record ends after
 * \n, \r\n, or \r.
 *
 * Its slow twin is tests/reference/tables/records.py.
 */
#ifndef DPF_RECORDS_H
#define DPF_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/* Reads n bytes, of which the first is the first one of a record. Returns how many of them are
 * whole records, and in `rows` how many these are; lines of no byte count only if `empty`. `quotes`
 * 0: a quote is a byte like any other. If these bytes are the `last` ones of the file, what follows
 * the last line end is a record, too, unless a quote is open there; if not, neither is it, nor is
 * one that ends in a final \r, which \n may follow. */
size_t dpf_records(const uint8_t *x, size_t n, uint8_t delimiter, int quotes, int empty, int last,
                   size_t *rows);

#endif
