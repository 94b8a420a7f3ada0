/* Returns what is in STRETCH bytes; x[-1] is read, too. */
static struct seen DPF_NAME(look)(const uint8_t *x, uint8_t quote, uint8_t empty)
{
    uint8_t quotes = 0, ends = 0, rows = 0;
    for (size_t i = 0; i < STRETCH; i++) {
        const uint8_t c = x[i], before = x[(ptrdiff_t)i - 1];
        const uint8_t end = IS_END(c);
        quotes |= c == quote;
        ends |= end;
        rows += end & COUNTS(c, before, empty);
    }
    return (struct seen){quotes, ends, rows};
}
